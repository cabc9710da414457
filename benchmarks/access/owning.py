"""Who may change what somebody brought in, made or started: that person, and admins.

What came by command has no owner, so that only admins change it on the site.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Model

ADMIN = "benchmarks.delete_haystack"
"""The permission that admins have and researchers have not."""
OWNER = {"JudgeRun": "requested_by_id"}


class NotYours(Exception):
    """Somebody else's; the message says whose it is to change."""


def may_change_all(user: Any) -> bool:
    """Whether somebody may change what is others': admins, and the command line, for which `user` is None."""
    return user is None or user.has_perm(ADMIN)


def may_change(user: Any, row: Model) -> bool:
    """Whether the row is theirs; nobody's where it came by command or the account is gone."""
    owner: int | None = getattr(row, OWNER.get(type(row).__name__, "created_by_id"))
    return may_change_all(user) or owner == user.pk


def may_add(user: Any, versions: Iterable[Model]) -> bool:
    """Whether somebody may add to these versions of one thing: who made any of them, and admins."""
    return any(may_change(user, version) for version in versions)
