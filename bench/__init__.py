"""Measurements of speed, weight and memory; every figure stands beside a floor taken in the same run.

A case is a function marked with `@case`; `manage.py bench` runs them against a server, a database and people of
their own, in a temporary folder. Nothing here touches the data of the site.
"""
