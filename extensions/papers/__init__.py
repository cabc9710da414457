"""The tables and figures of three papers beside what this program computes: `manage.py reproduce`."""
