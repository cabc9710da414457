"""The argument by which commands choose haystacks."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from benchmarks.leaderboard import haystacks_named
from benchmarks.models import Haystack


def add_argument(parser: ArgumentParser, *, required: bool = False) -> None:
    """Declare `--haystack`; without it all are meant, unless it is required."""
    parser.add_argument(
        "--haystack",
        action="append",
        default=[],
        required=required,
        metavar="NAME",
        help="file, id, title or dataset; repeatable",
    )


def chosen(options: Mapping[str, Any]) -> QuerySet[Haystack]:
    """The haystacks that are named, those of a `domain` where the command has this argument too.

    Raises:
        CommandError: there are none.
    """
    found = haystacks_named(options["haystack"])
    if not found.exists():
        raise CommandError("There is no such haystack.")
    if domain := options.get("domain"):
        of_domain = found.filter(domain__in={domain, domain.removesuffix("s")})  # news, conversation(s)
        if not of_domain.exists():
            known = found.exclude(domain="").order_by("domain").values_list("domain", flat=True).distinct()
            raise CommandError(f"No haystack is of the domain {domain}; known: {', '.join(known) or 'none'}.")
        return of_domain
    return found
