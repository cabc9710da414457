"""Choices of linking and of verification stored, each person on tasks of their own."""

from __future__ import annotations

from typing import Any

from bench.cases.drafts import figures, saving
from bench.driver import Case, Row
from bench.site import Site


def prepare(site: Site) -> Any:
    """People with open tasks of each kind."""
    return [site.call("bench.world", team, site.size.clients) for team in ("linkers", "verifiers")]


def measure(site: Site, teams: list[list[dict[str, Any]]]) -> Row:
    """Choose in one kind, then in the other."""
    with site.serve() as server:
        linked = saving(site, server, teams[0], "linked_")
    with site.serve() as server:
        return linked | saving(site, server, teams[1], "verified_")


CASE = Case("demo", [*figures("linked_", "links"), *figures("verified_", "key points")], measure, prepare)
