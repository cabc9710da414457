"""Rows of the database as the frozen rows that formats print."""
