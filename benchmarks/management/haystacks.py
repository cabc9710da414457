"""The argument by which commands choose haystacks."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from benchmarks.models import Haystack


def add_argument(parser: ArgumentParser, *, required: bool = False) -> None:
    """Declare `--haystack`; without it all are meant, unless it is required."""
    parser.add_argument(
        "--haystack",
        action="append",
        default=[],
        required=required,
        metavar="NAME",
        help="file, id, title, dataset or sample of sources; repeatable (archived ones only by file, id or title)",
    )


def chosen(options: Mapping[str, Any]) -> QuerySet[Haystack]:
    """The haystacks that are named, those of a `domain` where the command has this argument too.

    Without a name they are those that a study may use. Archived ones are found by a name of their own, sources by
    that of their dataset too; those for practice never.

    Raises:
        CommandError: there are none, or none of one of the names.
    """
    rows: QuerySet[Haystack] = _named(options["haystack"]) if options["haystack"] else Haystack.objects.for_work()
    if not rows.exists():
        raise CommandError("There is no such haystack.")
    if domain := options.get("domain"):
        of_domain = rows.filter(domain__in={domain, domain.removesuffix("s")})  # news, conversation(s)
        if not of_domain.exists():
            known = rows.exclude(domain="").order_by("domain").values_list("domain", flat=True).distinct()
            raise CommandError(f"No haystack is of the domain {domain}; known: {', '.join(known) or 'none'}.")
        return of_domain
    return rows


def _named(names: Iterable[str]) -> QuerySet[Haystack]:
    rows = Haystack.objects.filter(is_practice=False)
    keys: set[int] = set()
    for name in names:
        haystacks = rows.named(name) | rows.current().in_corpus(name)
        if not haystacks:
            raise CommandError(f"There is no such haystack: “{name}”.")
        keys.update(haystack.pk for haystack in haystacks)
    return rows.filter(pk__in=keys)
