"""The part of the demo on the position of content: sources, and experiments of two offline baselines on them.

One reads everything, so it matters little where the relevant document stands. The other reads a beginning only.
"""

from __future__ import annotations

from datetime import datetime

from benchmarks.demo.sources import N_PASSAGES, demo_sources
from benchmarks.engine import judging, summarizing
from benchmarks.engine.arranging import InTurn
from benchmarks.engine.summarizing import Source
from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.running import import_rows
from benchmarks.io.schemas import sources
from benchmarks.models import Judge, Subtopic
from benchmarks.summarizers.arrangements import EXPERIMENTS
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig
from summhay_site.models import User

DATASET = "demo-passages"
CUT = 400
"""Tokens that the second baseline reads: about half of what it is shown."""


def load(*, researcher: User, now: datetime) -> None:
    """Import the sources, and summarize them whole and as the experiments of position arrange them."""
    request = ImportRequest(now=now, options={"dataset": DATASET}, actor=researcher)
    import_rows(get_format("sources"), [("", sources.parse(demo_sources()))], request=request)
    subtopics = list(
        Subtopic.objects.filter(haystack__dataset=DATASET).select_related("haystack").order_by("haystack")
    )
    experiments = [InTurn(order=f"{name}-of-{N_PASSAGES}") for name in EXPERIMENTS]
    for judge in (summarizing.extractive(now=now), _reading_a_beginning(now=now)):
        for shown in (Source(), *experiments):
            _summarize(judge, subtopics, shown, now=now)


def _reading_a_beginning(*, now: datetime) -> Judge:
    config = ExtractiveConfig(truncate_to=CUT).as_mapping()
    return judging.ensure_judge(
        name=f"{EXTRACTIVE}-{CUT}",
        kind=Judge.Kind.LEXICAL,
        config=config,
        note=f"Reads the first {CUT} tokens.",
        now=now,
        role=Judge.Role.SUMMARIZER,
    )


def _summarize(judge: Judge, subtopics: list[Subtopic], shown: Source, *, now: datetime) -> None:
    run = judging.request_run(
        judge=judge,
        task=summarizing.TASK,
        subjects=summarizing.drafted(judge=judge, subjects=shown.fitting(subtopics), shown=shown, now=now),
        reason="demo",
        now=now,
        scope=shown.scope(DATASET),
    )
    if run is not None:
        judging.run_pending(run=run, clock=lambda: now)
