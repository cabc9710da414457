"""Measurements of speed and memory; a figure that hangs on the machine stands beside a floor of the same run.

`manage.py bench` runs the cases of `bench.cases` against sites of their own in a temporary folder, each round in
fresh processes. Nothing here touches the data of the site.
"""
