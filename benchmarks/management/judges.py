"""How commands find a judge by its name."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils import timezone

from benchmarks.engine.versions import judges_called, offline_judge
from benchmarks.judges.registry import OFFLINE
from benchmarks.models import Judge


def chosen(
    name: str, among: QuerySet[Judge, Judge] | None = None, *, what: str = "judge", also: tuple[str, ...] = ()
) -> Judge:
    """The newest version of a name, or “NAME v2”; of judges that are not archived unless `among` says others.

    Raises:
        CommandError: there is none; it lists those there are, and what `also` can be named.
    """
    judges = Judge.objects.counted() if among is None else among
    named = judges_called(name, judges)
    if not named:
        known = ", ".join(sorted({*also, *judges.order_by().values_list("name", flat=True)}))
        raise CommandError(f"There is no {what} “{name}”; known judges: {known or 'none'}.")
    return named[0]


def of_any_kind(name: str) -> Judge:
    """An offline judge as the code of today configures it, else as `chosen`."""
    return offline_judge(name=name, now=timezone.now()) if name in OFFLINE else chosen(name, also=tuple(OFFLINE))
