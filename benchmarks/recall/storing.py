"""Verdicts on points and extracted points as rows; call inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchmarks.models import Extraction, JudgeCall, JudgeRun, PointVerdict, ResponsePoint

Premise = PointVerdict.Premise


@dataclass(frozen=True, slots=True)
class Said:
    """An answer on a point: of the key points if `premise` is the response, else of those extracted.

    `answer` is empty where it could not be used. `raw` has the evidence (a sentence and its number) or the
    problem.
    """

    premise: str
    response_id: int
    point_id: int
    answer: str
    score: float | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    input_sha256: str = ""
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What a response was taken apart into; None where the answer could not be used."""

    response_id: int
    points: tuple[str, ...] | None
    raw: Mapping[str, Any] = field(default_factory=dict)
    input_sha256: str = ""


def store_verdicts(*, run: JudgeRun, said: Sequence[Said], now: datetime, call: JudgeCall | None = None) -> None:
    """Add verdicts; one that another worker stored first stays."""
    rows = [
        PointVerdict(
            judge_id=run.judge_id,
            premise=one.premise,
            response_id=one.response_id,
            key_point_id=one.point_id if one.premise == Premise.RESPONSE else None,
            point_id=None if one.premise == Premise.RESPONSE else one.point_id,
            repeat=one.repeat,
            answer=one.answer,
            score=one.score,
            is_valid=bool(one.answer),
            input_sha256=one.input_sha256,
            run=run,
            call=call,
            raw=dict(one.raw),
            created_at=now,
        )
        for one in said
    ]
    PointVerdict.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def store_points(*, run: JudgeRun, taken: Sequence[Taken], now: datetime, call: JudgeCall | None = None) -> None:
    """Add extractions with their points; a response that was taken apart before stays as it is."""
    keys = [one.response_id for one in taken]
    there = set(
        Extraction.objects.filter(judge=run.judge_id, response__in=keys).values_list("response", flat=True)
    )
    fresh = [one for one in taken if one.response_id not in there]
    rows = [
        Extraction(
            judge_id=run.judge_id,
            response_id=one.response_id,
            is_valid=one.points is not None,
            input_sha256=one.input_sha256,
            run=run,
            call=call,
            raw=dict(one.raw),
            created_at=now,
        )
        for one in fresh
    ]
    Extraction.objects.bulk_create(rows, batch_size=500)
    ResponsePoint.objects.bulk_create(
        [
            ResponsePoint(extraction=row, number=number, text=text)
            for row, one in zip(rows, fresh, strict=True)
            for number, text in enumerate(one.points or (), 1)
        ],
        batch_size=500,
    )
