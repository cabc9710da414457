"""Mails that remind annotators of tasks that are due; only where the site sends mail."""
