"""The joint score of systems by the order of the documents in the full context (Table 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.leaderboard.board import Look, View, behind_scores
from annotation.leaderboard.files import with_reason
from annotation.writing.finals import AVERAGES
from benchmarks.leaderboard.board import ORDERS, scored_summaries
from benchmarks.models import Haystack
from benchmarks.results.computation import Computation, register
from benchmarks.results.facts import contents, totals
from benchmarks.scoring.leaderboard import Scored
from benchmarks.scoring.sensitivity import sensitivity
from benchmarks.scoring.stat import Stat

FIGURES = ("random", "top", "bottom", "sensitivity")
DIFFERENCES = ("top_minus_random", "bottom_minus_random")


class OrderRow(NamedTuple):
    """A system, its `FIGURES` from 0 to 100, and on how many summaries they are.

    `differences` are the two signed ones, from −100 to 100; `p` is that of the sensitivity.
    """

    system: str
    stats: dict[str, Stat]
    n_summaries: int
    differences: dict[str, Stat]
    p: float | None


@dataclass(frozen=True, slots=True)
class OrderRows:
    """Every system that read the full context in a known order other than the random one."""

    rows: tuple[OrderRow, ...]


def rows_by_order(view: View) -> list[OrderRow]:
    """Of the view count haystacks, judge, score and average."""
    scored, entries = scored_summaries(haystacks=view.haystacks, judge=view.judge, score=view.score)
    order_of = {published: name for name, published in ORDERS.items()}
    systems: dict[str, dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    for text in scored:
        entry = entries[text.entry]
        if entry.retriever in order_of:
            systems[entry.system][order_of[entry.retriever]].append(text)
    rows = []
    for name, orders in sorted(systems.items()):
        if set(orders) - {"random"}:
            orders_row = sensitivity(orders, average=AVERAGES[view.average])
            stats, differences = (
                {figure: getattr(orders_row, figure).scaled(100) for figure in names}
                for names in (FIGURES, DIFFERENCES)
            )
            rows.append(OrderRow(name, stats, orders_row.n_summaries, differences, orders_row.p))
    return rows


def _facts(look: Look) -> object:
    haystacks = Haystack.objects.filter(pk__in=look.haystacks)
    return totals(*behind_scores(look.haystacks, look.judge)), contents(haystacks)


ORDER_FIGURES = register(
    Computation(
        "orders",
        options=Look,
        figures=OrderRows,
        compute=lambda look: OrderRows(tuple(rows_by_order(look.view))),
        facts=_facts,
        revision=2,
    )
)


def as_json(rows: Iterable[OrderRow], judge: str) -> list[dict[str, Any]]:
    """The rows as plain values: the two differences with their intervals, the other figures by value."""
    return [
        {
            "system": row.system,
            "judge": judge,
            **{figure: stat.value for figure, stat in row.stats.items()},
            **{name: {"value": stat.value} | with_reason(stat) for name, stat in row.differences.items()},
            "p": row.p,
            "n_summaries": row.n_summaries,
            "intervals": {figure: with_reason(stat) for figure, stat in row.stats.items()},
        }
        for row in rows
    ]
