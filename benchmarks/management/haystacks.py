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
    if options.get("domain"):
        found = found.filter(domain=options["domain"])
    if not found.exists():
        raise CommandError("There is no such haystack.")
    return found
