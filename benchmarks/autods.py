"""AutoDS scores of key points, as a task of a run: what is asked, where a score goes, and how many there are.

A score is stored with its key point, the reply with the call, so that nothing is asked twice. A point of which the
server listed one answer only has bounds and no score; it stays without one, and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from benchmarks.call_ledger import Request
from benchmarks.judges.autods import AutodsQuestion, score_of
from benchmarks.judges.questions import ModelConfig, Question, ResponseFormat
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, KeyPoint
from benchmarks.scoring.autods import Score

IN_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of key points: scored, bounded on one side only, without either answer, without a reply."""

    n_scored: int
    n_bounded: int
    n_unanswered: int
    n_failed: int
    n_asked: int


def open_questions(
    *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
) -> dict[int, list[Question]]:
    """What is asked of the items' key points, as they are now: {item key: questions}. One query."""
    rows = KeyPoint.objects.filter(pk__in=[item.key_point_id for item in items], autods=None)
    lacking = {point.pk: point for point in rows.select_related("question")}
    return {
        item.pk: [_question(lacking[item.key_point_id])] if item.key_point_id in lacking else [] for item in items
    }


def _question(point: KeyPoint) -> AutodsQuestion:
    return AutodsQuestion(str(point.pk), point.question.text, point.text)


def store(
    *, run: JudgeRun, question: Question, answers: Mapping[str, Any], call: JudgeCall, now: datetime
) -> None:
    """Give the key point its score if the reply has one; a score that is there stays."""
    for key, answer in answers.items():
        if isinstance(answer, Score) and answer.value is not None:
            KeyPoint.objects.filter(pk=int(key), autods=None).update(autods=answer.value)


def answers_of(run: JudgeRun) -> tuple[int, int]:
    """(key points that a run has asked about, those of them that have no score)."""
    asked = run.items.filter(state=JudgeRunItem.State.DONE)
    counted = asked.aggregate(n=Count("pk"), bad=Count("pk", filter=Q(key_point__autods=None)))
    return counted["n"], counted["bad"]


def scored(*, runs: Sequence[JudgeRun], config: ModelConfig) -> Scored:
    """What became of the key points of some runs."""
    items = JudgeRunItem.objects.filter(run__in=runs)
    counts: Counter[str] = Counter()
    rows = items.filter(state=JudgeRunItem.State.DONE).select_related("key_point__question")
    counts["scored"] = rows.filter(key_point__autods__isnull=False).count()
    without = [item.key_point for item in rows.filter(key_point__autods=None)]
    for start in range(0, len(without), IN_A_QUERY):
        questions = [_question(point) for point in without[start : start + IN_A_QUERY]]
        keys = [Request.of(config, question, ResponseFormat.NONE).key for question in questions]
        calls = JudgeCall.objects.filter(cache_key__in=keys, state=JudgeCall.State.ANSWERED)
        for reply in calls.values_list("reply", flat=True):
            counts["bounded" if score_of(reply).low is not None else "unanswered"] += 1
    return Scored(
        n_scored=counts["scored"],
        n_bounded=counts["bounded"],
        n_unanswered=counts["unanswered"],
        n_failed=items.filter(state=JudgeRunItem.State.FAILED).count(),
        n_asked=JudgeCall.objects.filter(run__in=runs).count(),
    )
