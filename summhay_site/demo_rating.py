"""The rating part of the demo: two people and a judge have rated eight summaries, a third has all to do.

What they give is invented, from what the offline judge found in each summary: the more of the insights it covers,
the more informative, the shorter its bullets, the clearer; then each person strays by a step now and then. So does
the judge (`demo_batch`), since the offline one cannot rate.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from annotation.labelling import handling, summaries
from annotation.labelling.recording import record
from annotation.models import Annotator, LabelTask, Study
from annotation.rating import planning
from annotation.rating.recording import RATED, Rated
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from benchmarks.engine import judging
from benchmarks.models import Haystack, Summary, Verdict
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LOWEST
from benchmarks.scoring.summhay import worth
from benchmarks.scoring.text import lines_from_list, words_per_bullet
from summhay_site import demo_batch
from summhay_site.models import User

NAME = "Island ferry: how good are the summaries?"
N_OF_SYSTEMS, N_OF_PEOPLE = 6, 2
RATES = (0.25, 0.35)
"""How often each of those who are done is a step off."""
SECONDS = (40, 160)
"""The least and the most that somebody reads before the first rating."""


def load(
    *, haystack: Haystack, raters: Sequence[Annotator], newcomer: Annotator, researcher: User, now: datetime
) -> Study:
    """Set the study up and play its past; `newcomer` has everything still to do."""
    start = now - timedelta(days=2)
    of_systems = summaries.candidates([haystack], user=researcher, with_people=False)
    of_people = summaries.candidates([haystack], user=researcher, with_systems=False)
    drawn = [
        *summaries.draw(of_systems, N_OF_SYSTEMS, seed=5),
        *summaries.draw(of_people, N_OF_PEOPLE, seed=5),
    ]
    study = planning.create_study(
        details=lifecycle.Details(
            name=NAME,
            description="Read a summary beside its documents and rate it on five aspects.",
            contact="ada@example.org",
        ),
        plan=planning.RatingValues(people_per_item=3),
        summaries=drawn,
        guidelines=default_guidelines(Study.Kind.RATING),
        annotators=[*raters, newcomer],
        by=researcher,
        now=start,
    )
    study = lifecycle.open_study(study=study, by=researcher, now=start)
    expected = {one.pk: _expected(one, judge=judging.default_judge(now=start).pk) for one in drawn}
    for person, rate in zip(raters, RATES, strict=True):
        if not consent.is_given(person):
            consent.give(annotator=person, version=consent.ensure_default_consent(now=start).version, now=start)
        at = start + timedelta(hours=1)
        dice = random.Random(f"rating/{person.label}")  # noqa: S311 - the same demo every time
        for task in study.label_tasks.filter(annotator=person).select_related("item").order_by("position"):
            at = _rate(task, [_near(value, rate, dice) for value in expected[task.item.summary_id]], dice, at=at)
    demo_batch.rate(drawn, expected, now=start)
    return study


def _expected(summary: Summary, *, judge: int) -> list[int]:
    """A rating for each aspect, in their order."""
    labels = Verdict.objects.valid().filter(summary=summary, judge=judge).values_list("coverage", flat=True)
    found = [worth()[label] for label in labels]
    informativeness = LOWEST + round((HIGHEST - LOWEST) * sum(found) / (len(found) or 1))
    words = words_per_bullet(lines_from_list(summary.lines)).value or 0
    clear = HIGHEST if words < 25 else HIGHEST - 1 if words < 35 else LOWEST + 2
    borne_out = min(HIGHEST, informativeness + 1)
    return [round((informativeness + clear + borne_out) / 3), informativeness, clear, clear, borne_out]


def _near(value: int, rate: float, dice: random.Random) -> int:
    """The same, or a step off."""
    step = dice.choice([-1, 1]) if dice.random() < rate else 0
    return min(HIGHEST, max(LOWEST, value + step))


def _rate(task: LabelTask, values: Sequence[int], dice: random.Random, *, at: datetime) -> datetime:
    """Open a summary, read, rate one aspect after the other; gives when that was over."""
    own = LabelTask.objects.filter(pk=task.pk)
    handling.contact(tasks=own, now=at)
    at += timedelta(seconds=dice.uniform(*SECONDS))
    given: dict[str, Any] = {}
    for aspect, value in zip(ASPECTS, values, strict=True):
        at += timedelta(seconds=dice.uniform(3, 12))
        given[aspect] = value
        op_id = uuid5(NAMESPACE_URL, f"{task.uid}/{aspect}").hex
        record(kind=RATED, tasks=own, answer=Rated(**given), op_id=op_id, now=at)
    return at
