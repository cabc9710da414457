"""How commands find a judge by its name."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db.models import QuerySet

from benchmarks.engine.versions import judges_called
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
