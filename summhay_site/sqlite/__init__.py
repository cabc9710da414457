"""A database backend: Django's SQLite with a queue in front of its single writer."""
