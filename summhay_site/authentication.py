"""Who is asking: Django's own accounts. Log-ins that are stored name this module by its path."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend


class AccountBackend(ModelBackend):
    """Accounts by password, under the name that web sessions hold: with another all would be logged out."""
