"""The joint score of systems by the order of the documents in the full context (Table 3)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from annotation.leaderboard.board import AVERAGES, Look, View, facts_of_scores
from benchmarks.leaderboard.board import ORDERS, scored_summaries
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.leaderboard import Scored, sensitivity
from benchmarks.scoring.stat import Stat

FIGURES = ("random", "top", "bottom", "sensitivity")


class OrderRow(NamedTuple):
    """A system, its `FIGURES` from 0 to 100, and on how many summaries they are."""

    system: str
    stats: dict[str, Stat]
    n_summaries: int


@dataclass(frozen=True, slots=True)
class OrderRows:
    """Every system that read the full context in a known order other than the random one."""

    rows: tuple[OrderRow, ...]


def rows_by_order(view: View) -> list[OrderRow]:
    """Of the view count haystacks, judge, score and average."""
    scored, entries = scored_summaries(haystacks=view.haystacks, judge=view.judge, score=view.score)
    order_of = {published: name for name, published in ORDERS.items()}
    systems: dict[str, dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    for one in scored:
        entry = entries[one.entry]
        if entry.retriever in order_of:
            systems[entry.system][order_of[entry.retriever]].append(one)
    rows = []
    for name, orders in sorted(systems.items()):
        if set(orders) - {"random"}:
            found = sensitivity(orders, average=AVERAGES[view.average])
            stats = {figure: getattr(found, figure).scaled(100) for figure in FIGURES}
            rows.append(OrderRow(name, stats, found.n_summaries))
    return rows


ORDER_FIGURES = register(
    Computation(
        "orders",
        options=Look,
        figures=OrderRows,
        compute=lambda look: OrderRows(tuple(rows_by_order(look.view))),
        facts=lambda look: facts_of_scores(look.haystacks, look.judge),
    )
)
