"""Figures of people and judges: collected by a fixed number of queries, computed by pure functions, kept as rows.

Pages, downloads and `manage.py report` all take them from here; kinds of study do too, so nothing here knows one.
"""
