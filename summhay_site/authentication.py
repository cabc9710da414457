"""Who is asking: Django's own accounts. Log-ins that are stored name this module by its path."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend


class AccountBackend(ModelBackend):
    """Accounts by password, under the name that web sessions hold: with another all would be logged out."""

    def get_user_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """None: whoever may do something has a role that may, so no request asks for more than those of roles."""
        return set()
