"""One response: its key points and its own points as a judge sees them, and people's checks of these points."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.models import Extraction, Judge, PointVerdict, Response, ResponsePoint, ResponsePointCheck
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.stat import Stat

Premise = PointVerdict.Premise


def response_page(response: Response, *, judge_uid: str, user: Any) -> dict[str, Any]:
    """Read a judge's verdicts on a response; those of the first judge that has any, unless another is named."""
    judging = PointVerdict.objects.filter(response=response).order_by().values("judge")
    extracting = Extraction.objects.filter(response=response).order_by().values("judge")
    judges = list(Judge.objects.counted().filter(pk__in=judging.union(extracting)).order_by("name", "-version"))
    judge = next((judge for judge in judges if str(judge.uid) == judge_uid), judges[0] if judges else None)
    verdicts: dict[tuple[str, int | None], PointVerdict] = {}
    if judge is not None:
        for verdict in PointVerdict.objects.filter(response=response, judge=judge, repeat=0):
            verdicts[verdict.premise, verdict.key_point_id or verdict.point_id] = verdict
    key_points = [
        {"point": point, "verdict": verdicts.get((Premise.RESPONSE.value, point.pk))}
        for point in response.question.key_points.order_by("number")
    ]
    extraction = Extraction.objects.filter(response=response, judge=judge).first() if judge else None
    points = list(extraction.points.order_by("number")) if extraction else []
    return {
        "judges": judges,
        "judge": judge,
        "key_points": key_points,
        "extraction": extraction,
        "points": _rows(points, verdicts, user),
    }


def point_row(point: ResponsePoint, *, user: Any) -> dict[str, Any]:
    """One point, after somebody has checked it."""
    rows = PointVerdict.objects.filter(point=point, judge=point.extraction.judge_id, repeat=0)
    verdicts: dict[tuple[str, int | None], PointVerdict] = {(row.premise, row.point_id): row for row in rows}
    return _rows([point], verdicts, user)[0]


def _rows(
    points: list[ResponsePoint], verdicts: dict[tuple[str, int | None], PointVerdict], user: Any
) -> list[dict[str, Any]]:
    newest: dict[int, dict[int | None, ResponsePointCheck]] = defaultdict(dict)
    for row in ResponsePointCheck.objects.filter(point__in=[point.pk for point in points]).order_by("pk"):
        newest[row.point_id][row.made_by_id] = row
    return [
        {
            "point": point,
            "documents": verdicts.get((Premise.DOCUMENTS.value, point.pk)),
            "key_points": verdicts.get((Premise.KEY_POINTS.value, point.pk)),
            "n_right": sum(row.is_right for row in newest[point.pk].values()),
            "n_wrong": sum(not row.is_right for row in newest[point.pk].values()),
            "own_check": newest[point.pk].get(user.pk),
        }
        for point in points
    ]


MOST_OF_A_NOTE = 2000


@transaction.atomic
def check(*, point: ResponsePoint, is_right: bool, note: str, by: Any, now: datetime) -> ResponsePointCheck:
    """Say whether a response makes a point as extracted; the newest check of each person counts."""
    made = ResponsePointCheck.objects.create(
        point=point, is_right=is_right, note=note.strip()[:MOST_OF_A_NOTE], made_by=by, made_at=now
    )
    audit.record(actor=by, action="point.checked", target=point, now=now, is_right=is_right)
    return made


def share_right(*, judge: str = "", dataset: str = "") -> Stat:
    """Checks that call the point right, the newest of each person on each point; resampled by response."""
    rows = ResponsePointCheck.objects.order_by("pk").select_related("point__extraction__judge")
    if dataset:
        rows = rows.filter(point__extraction__response__question__dataset=dataset)
    newest: dict[tuple[int, int | None], tuple[bool, int]] = {}
    for row in rows:
        if not judge or str(row.point.extraction.judge) == judge:
            newest[row.point_id, row.made_by_id] = (row.is_right, row.point.extraction.response_id)
    method = "points that people call right"
    if not newest:
        return Stat.undefined("nobody has checked a point yet", method=method)
    hits = [is_right for is_right, _ in newest.values()]
    return rate(hits, clusters=[response for _, response in newest.values()], method=method)
