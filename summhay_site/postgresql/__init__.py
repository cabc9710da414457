"""A database backend: Django's PostgreSQL, with an end to every wait."""
