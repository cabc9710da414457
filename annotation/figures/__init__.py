"""Figures of people and judges: collected by a fixed number of queries, computed by pure functions, kept as rows.

Pages, downloads and `manage.py report` all take them from here. Modules here load numpy, so views import them
where they use them.
"""
