"""Celery tasks: shells around verbs that are commands too."""
