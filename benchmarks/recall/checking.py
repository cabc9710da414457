"""People check extracted points: a verb that records, and the share judged right."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.models import ResponsePoint, ResponsePointCheck
from benchmarks.scoring.means import rate
from benchmarks.scoring.stat import Stat

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
