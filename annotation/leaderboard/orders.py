"""The joint score of systems by the order of the documents in the full context (Table 3)."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from django.db.models import Count, Max

from annotation.leaderboard.board import AVERAGES, View
from benchmarks.leaderboard import ORDERS, scored_summaries
from benchmarks.models import Summary, Verdict
from benchmarks.scoring.leaderboard import Scored, sensitivity
from benchmarks.scoring.stat import Stat
from benchmarks.web.memory import remembered

FIGURES = ("random", "top", "bottom", "sensitivity")


class OrderRow(NamedTuple):
    """A system, its `FIGURES` from 0 to 100, and on how many summaries they are."""

    system: str
    stats: dict[str, Stat]
    n_summaries: int


def rows_by_order(view: View) -> list[OrderRow]:
    """Every system that read the full context in a known order other than the random one.

    Of the view count haystacks, judge, score and average. Kept until a summary or a verdict changes.
    """
    haystacks = tuple(view.haystacks.order_by("pk").values_list("pk", flat=True))
    verdicts = Verdict.objects.filter(judge=view.judge).aggregate(Count("pk"), Max("pk"), Max("created_at"))
    texts = Summary.objects.filter(haystack__in=haystacks).counted().aggregate(Count("pk"), Max("pk"))
    facts = (haystacks, view.judge.pk, view.average, view.score.value, verdicts, texts)
    return remembered("orders", facts, lambda: _rows(view))


def _rows(view: View) -> list[OrderRow]:
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
