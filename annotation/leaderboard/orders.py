"""The joint score of systems by the order of the documents in the full context (Table 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from annotation.leaderboard.board import Look, View, behind_scores
from annotation.leaderboard.files import with_reason
from annotation.writing.results import AVERAGES
from benchmarks.leaderboard.board import ORDERS, scored_summaries
from benchmarks.models import Haystack
from benchmarks.results.computation import Computation, contents, register, totals
from benchmarks.results.sheet import Measure, Name, Note, Section, Sheet, Table, Unit, few_clusters
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.scoring.leaderboard import Scored, sensitivity
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


def orders_sheet(rows: Iterable[OrderRow], judge: str) -> Sheet:
    """Joint scores by the order of the documents, and how sensitive systems are to it."""
    points = Unit.POINTS
    measures = (
        Measure("random", "Random", points, has_badge=False),
        Measure("top", "Top", points, has_badge=False),
        Measure("bottom", "Bottom", points, has_badge=False),
        Measure("top_minus_random", "Top − Random", points, is_signed=True, has_badge=False),
        Measure("bottom_minus_random", "Bottom − Random", points, is_signed=True, has_badge=False),
        Measure("sensitivity", "Sensitivity", points, has_badge=False),
        Measure("p", "p"),
        Measure("n_summaries", "Summaries", Unit.COUNT),
    )
    about = (
        "The joint score, from 0 to 100 by judge %(judge)s, of systems that read the full context in more than "
        "one order, on the subtopics that all orders of a system have. Top is the published order %(top)s, with "
        "the documents of the subtopic first; Bottom is %(bottom)s, with them last; Random is %(random)s. Beside "
        "figures: 95 %% intervals over subtopics, of differences on the same ones. Sensitivity is the larger "
        "distance of Top and Bottom from Random: above 0 by chance alone, so it has no interval; p is how often "
        "it is as large when the orders are permuted within subtopics."
    ) % {"judge": judge, **ORDERS}
    shown = tuple(
        SheetRow((row.system,), {**row.stats, **row.differences, "p": row.p, "n_summaries": row.n_summaries})
        for row in rows
    )
    title = "Sensitivity to position"
    names = (Name("system", _("System")),)
    table = Table("sensitivity", title, names, measures, shown)
    return Sheet((Section("orders", title, (Note(about), table, *few_clusters(table))),))
