"""Which responses a judge has not yet done a task on, and how many verdicts of it there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from benchmarks.claims import waiting_items
from benchmarks.models import Extraction, Judge, JudgeRun, KeyPoint, PointVerdict, Response, ResponsePoint
from benchmarks.recall.texts import IN_A_QUERY

Task = JudgeRun.Task
Premise = PointVerdict.Premise


@dataclass(frozen=True, slots=True)
class Done:
    """Answers that a task asks of a response, and those that are there; unusable ones count as there."""

    n_asked: int
    n_there: int


def responses(*, judge: Judge, task: str, among: Iterable[Response], repeats: int = 1) -> list[Response]:
    """Keep responses with an answer lacking, and not already queued for this judge and task."""
    wanted = {response.pk: response for response in among}
    done = counts(judge=judge, task=task, responses=wanted.values(), repeats=repeats)
    queued = set(waiting_items(judge=judge, task=task).values_list("response", flat=True))
    return [
        response for pk, response in wanted.items() if done[pk].n_there < done[pk].n_asked and pk not in queued
    ]


def counts(*, judge: Judge, task: str, responses: Iterable[Response], repeats: int = 1) -> dict[int, Done]:
    """{response pk: what is asked and there}; three queries for each 5,000 responses at most."""
    found: dict[int, Done] = {}
    every = list(responses)
    for part in _parts(every):
        found |= _COUNT[Task(task)](judge, part, repeats)
    return found


def _recall(judge: Judge, part: Sequence[Response], repeats: int) -> dict[int, Done]:
    points = _n_key_points(part)
    verdicts = PointVerdict.objects.filter(judge=judge, premise=Premise.RESPONSE, repeat__lt=repeats)
    there = _n_verdicts(verdicts.filter(response__in=[one.pk for one in part]))
    return {one.pk: Done(points[one.question_id] * repeats, there[one.pk]) for one in part}


def _extraction(judge: Judge, part: Sequence[Response], repeats: int) -> dict[int, Done]:
    rows = Extraction.objects.filter(judge=judge, response__in=[one.pk for one in part])
    there = set(rows.values_list("response", flat=True))
    return {one.pk: Done(1, int(one.pk in there)) for one in part}


def _support(judge: Judge, part: Sequence[Response], repeats: int) -> dict[int, Done]:
    """A point is asked of the documents, and of the key points where the question has any."""
    keys, n_key_points = [one.pk for one in part], _n_key_points(part)
    rows = ResponsePoint.objects.filter(extraction__judge=judge, extraction__response__in=keys).order_by()
    points = dict(rows.values_list("extraction__response").annotate(n=Count("pk")))
    verdicts = PointVerdict.objects.filter(judge=judge, response__in=keys, repeat=0)
    there = _n_verdicts(verdicts.filter(~Q(premise=Premise.RESPONSE)))
    return {
        one.pk: Done(points.get(one.pk, 0) * (2 if n_key_points[one.question_id] else 1), there[one.pk])
        for one in part
    }


_COUNT = {Task.RECALL: _recall, Task.EXTRACTION: _extraction, Task.SUPPORT: _support}


def _n_key_points(part: Sequence[Response]) -> Counter[int]:
    rows = KeyPoint.objects.filter(question__in={one.question_id for one in part}).order_by()
    return Counter(dict(rows.values_list("question").annotate(n=Count("pk"))))


def _n_verdicts(rows: object) -> Counter[int]:
    return Counter(dict(rows.order_by().values_list("response").annotate(n=Count("pk"))))  # type: ignore[attr-defined]


def _parts(every: Sequence[Response]) -> Iterator[Sequence[Response]]:
    return (every[start : start + IN_A_QUERY] for start in range(0, len(every), IN_A_QUERY))


def without_points(*, judge: Judge, among: Iterable[Response]) -> int:
    """Responses that this judge has not taken apart yet, so that support cannot be asked."""
    keys = [response.pk for response in among]
    there = 0
    for start in range(0, len(keys), IN_A_QUERY):
        part = keys[start : start + IN_A_QUERY]
        there += Extraction.objects.filter(judge=judge, response__in=part).count()
    return len(keys) - there


def n_invalid(*, judge: Judge, task: str, among: Iterable[Response]) -> int:
    """Answers of a task that could not be used."""
    keys, found = [response.pk for response in among], 0
    premises = [Premise.RESPONSE] if task == Task.RECALL else [Premise.DOCUMENTS, Premise.KEY_POINTS]
    for start in range(0, len(keys), IN_A_QUERY):
        part = keys[start : start + IN_A_QUERY]
        if task == Task.EXTRACTION:
            rows = Extraction.objects.filter(judge=judge, response__in=part, is_valid=False)
            found += rows.count()
        else:
            verdicts = PointVerdict.objects.filter(judge=judge, response__in=part, is_valid=False)
            found += verdicts.filter(premise__in=premises).count()
    return found


def answers_of(run: JudgeRun) -> tuple[int, int]:
    """(answers that a run on responses has stored, those of them that could not be used)."""
    rows = run.extractions.all() if run.task == Task.EXTRACTION else run.point_verdicts.all()
    counted = rows.aggregate(n=Count("pk"), bad=Count("pk", filter=Q(is_valid=False)))
    return counted["n"], counted["bad"]
