"""A rating study on the summaries of two systems, and the ratings of people and judges in it."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from annotation.labelling.recording import record
from annotation.models import LabelTask, RatingPlan, Study
from annotation.rating.answers import RATED, Rated
from annotation.rating.kind import create_study
from annotation.studies.lifecycle import Details, open_study
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import Judge, Summary, SummaryRating
from tests.makers import NOW, annotator_of, give_consent, make_haystack, make_summary


def make_rating_study(
    *,
    annotators: Iterable[Any] = (),
    summaries: Iterable[Summary] | None = None,
    researcher=None,
    name: str = "Ferry ratings",
    **plan,
) -> Study:
    """Make an open rating study; by default on two systems' summaries of both subtopics of a haystack."""
    if summaries is None:
        haystack = make_haystack()
        summaries = [
            make_summary(subtopic=subtopic, system=system)
            for subtopic in haystack.subtopics.order_by("number")
            for system in ("model-a", "model-b")
        ]
    people = [annotator_of(person) for person in annotators]
    give_consent(*people)
    study = create_study(
        details=Details(name=name, contact="study@example.org"),
        plan=RatingPlan(**plan),
        summaries=summaries,
        guidelines="Use the whole scale.",
        annotators=people,
        by=researcher,
        seed=7,
        now=NOW,
    )
    return open_study(study=study, by=researcher, now=NOW)


def rate(task: LabelTask, values: Sequence[int | None], *, op: str = ""):
    """Rate a summary on the first aspects, in their order."""
    answer = Rated(dict(zip_longest(ASPECTS, values)))
    tasks = LabelTask.objects.filter(pk=task.pk)
    return record(kind=RATED, tasks=tasks, answer=answer, op_id=op or f"op-{values}", now=NOW)


def rate_all(study: Study, person, ratings: Sequence[Sequence[int]]) -> None:
    """Let a person rate the summaries of a study, in the order of the summaries."""
    tasks = study.label_tasks.filter(annotator=annotator_of(person)).order_by("item__summary")
    for task, values in zip(tasks, ratings, strict=True):
        rate(task, values)


def judge_all(study: Study, name: str, ratings: Sequence[Sequence[int | None]]) -> Judge:
    """Let a judge rate them, in the same order; None is an answer that could not be used."""
    judge = Judge.objects.create(name=name, kind="openai", config_sha256=name, created_at=NOW)
    summaries = Summary.objects.filter(label_items__study=study).order_by("pk")
    for summary, values in zip(summaries, ratings, strict=True):
        for aspect, value in zip(ASPECTS, values, strict=True):
            SummaryRating.objects.create(
                judge=judge,
                summary=summary,
                aspect=aspect,
                value=value,
                is_valid=value is not None,
                created_at=NOW,
            )
    return judge
