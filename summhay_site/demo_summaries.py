"""The summarizer part of the demo: the offline baseline on its haystack, judged by the offline judge."""

from __future__ import annotations

from datetime import datetime

from benchmarks.engine import judging, summarizing
from benchmarks.engine.scopes import Scope
from benchmarks.engine.summarizing import Source
from benchmarks.models import Haystack, Summary

RETRIEVERS = ("random", "keywords", "oracle")


def load(*, haystack: Haystack, now: datetime) -> None:
    """Summarize from all documents in each order and from those of retrievers, whose scores are stored already."""
    judge = summarizing.extractive(now=now)
    subtopics = list(haystack.subtopics.select_related("haystack").order_by("number"))
    for source in (*(Source(order=order) for order in summarizing.ORDERS), *map(Source.named, RETRIEVERS)):
        run = judging.request_run(
            judge=judge,
            task=summarizing.TASK,
            subjects=summarizing.drafted(judge=judge, subjects=subtopics, shown=source, now=now),
            reason="demo",
            now=now,
            scope=source.scope(haystack.title),
        )
        if run is not None:
            judging.run_pending(run=run, clock=lambda: now)
    run = judging.request_run(
        judge=judging.default_judge(now=now),
        subjects=haystack.summaries.filter(origin=Summary.Origin.GENERATED),
        reason="demo",
        now=now,
        scope=Scope(haystack=haystack.title, systems=[str(judge)]).as_json(),
    )
    if run is not None:
        judging.run_pending(run=run, clock=lambda: now)
