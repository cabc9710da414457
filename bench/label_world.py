"""Many labels and verdicts, drawn from a seed: what agreement and exports are measured on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from annotation.models import Annotator, CoverageLabel, Membership, Study
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.scoring.summhay import COVERAGES

NAME = "Many labels"
N_INSIGHTS = 7
TEXT = "What is known:\n" + "\n".join(f"- Remark {n} of the report [{n}]." for n in range(1, N_INSIGHTS + 1))
BATCH = 2000


def make(*, n_summaries: int, n_people: int, n_judges: int, now: datetime) -> None:
    """An imported study in which everybody labelled all of 7 insights of each summary."""
    study = Study.objects.create(name=NAME, kind=Study.Kind.LINKING, state="closed", created_at=now)
    people = [Annotator.objects.create(label=f"person {n}", created_at=now) for n in range(n_people)]
    for number, person in enumerate(people, 1):
        Membership.objects.create(study=study, annotator=person, number=number, joined_at=now)
    judges = [
        Judge.objects.create(name=f"judge {n}", kind="imported", config_sha256=str(n), created_at=now)
        for n in range(n_judges)
    ]
    pairs = _pairs(n_summaries, now=now)
    dice = random.Random(7)  # noqa: S311  invented labels are no secret
    labels: list[CoverageLabel] = []
    verdicts: list[Verdict] = []
    for summary, insight in pairs:
        truth = dice.randrange(3)
        where = {"summary": summary, "insight_id": insight}
        labels += (
            CoverageLabel(
                study=study,
                annotator=one,
                is_complete=True,
                made_at=now,
                **where,
                **_noisy_answer(truth, 0.25, dice),
            )
            for one in people
        )
        verdicts += (
            Verdict(judge=one, created_at=now, is_imported=True, **where, **_noisy_answer(truth, 0.4, dice))
            for one in judges
        )
        if len(labels) + len(verdicts) > BATCH:
            _store(labels, verdicts)
    _store(labels, verdicts)


def _store(labels: list[CoverageLabel], verdicts: list[Verdict]) -> None:
    CoverageLabel.objects.bulk_create(labels, batch_size=500)
    Verdict.objects.bulk_create(verdicts, batch_size=500)
    labels.clear()
    verdicts.clear()


def _noisy_answer(truth: int, noise: float, dice: random.Random) -> dict[str, Any]:
    code = dice.randrange(3) if dice.random() < noise else truth
    lines = [2 + dice.randrange(2)] if code else []
    return {"coverage": COVERAGES[code], "lines": lines, "is_linked": bool(lines)}


def _pairs(n_summaries: int, *, now: datetime) -> Iterator[tuple[Summary, int]]:
    """Summaries of ten systems on as many subtopics as that takes, with their insights."""
    haystack = Haystack.objects.create(key="many", title="Many", dataset="many", created_at=now)
    systems = System.objects.bulk_create(
        System(key=f"many-{n}", summarizer=f"model {n // 2}", retriever=("vector", "")[n % 2]) for n in range(10)
    )
    for number in range(1, -(-n_summaries // len(systems)) + 1):
        subtopic = Subtopic.objects.create(
            haystack=haystack, number=number, key=f"many-{number}", name=f"Part {number}", query="What?"
        )
        insights = Insight.objects.bulk_create(
            Insight(subtopic=subtopic, number=n, key=f"many-{number}-{n}", text=f"Fact {number}.{n}")
            for n in range(1, N_INSIGHTS + 1)
        )
        summaries = Summary.objects.bulk_create(
            Summary(
                subtopic=subtopic,
                haystack=haystack,
                system=system,
                text=f"{TEXT}\n- Part {number}, by {system.key}.",
                text_sha256=f"{system.pk * 100_000 + number:064x}",
                created_at=now,
            )
            for system in systems[: n_summaries - (number - 1) * len(systems)]
        )
        for summary in summaries:
            yield from ((summary, insight.pk) for insight in insights)
