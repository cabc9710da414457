"""What a researcher decides on key points that people disagree about. Labels stay; agreement never sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from annotation.adjudication.decisions import DecisionRefused, Decisions
from annotation.models import Grounded, LabelItem, PointAdjudication, PointLabel, Study
from annotation.verification.labels import PointTable
from benchmarks.models import KeyPoint
from benchmarks.scoring.agreement import disagreement
from benchmarks.scoring.retention import Task

DECISIONS = Decisions(
    model=PointAdjudication,
    labels=PointLabel,
    item=("key_point",),
    answers=("grounded", "keyness"),
    made="key_point.adjudicated",
    taken_back="key_point.adjudication_taken_back",
)


def disputes(table: PointTable) -> dict[int, float | None]:
    """Key points on which the people of the table differ in any task, with 1 − P of whether to keep each.

    Those that matter most to keep come first; where fewer than two answered both questions that is None.
    """
    tasks = (Task.KEEP, Task.GROUNDED, Task.KEY_POINT)
    columns = [disagreement(table.ratings(task)) for task in tasks]
    apart = dict(zip(table.points, zip(*columns, strict=True), strict=True))
    differ = [point for point, strengths in apart.items() if any(strengths)]
    differ.sort(key=lambda point: [-(strength or 0) for strength in apart[point]])
    return {point: apart[point][0] for point in differ}


def adjudicate(
    *, study: Study, key_point: KeyPoint, grounded: str, keyness: str = "", by: Any, now: datetime, **about: Any
) -> PointAdjudication:
    """Decide whether a key point is found and whether it is one; otherwise as `Decisions.decide`.

    Raises:
        DecisionRefused: a yes without the second judgment, a no with one, or a key point of no item of the study.
    """
    if (grounded, bool(keyness)) not in {(Grounded.YES, True), (Grounded.NO, False)}:
        raise DecisionRefused("After a yes, say whether it is a key point. After a no, leave that open.")
    if not LabelItem.objects.filter(study=study, key_point=key_point, role=LabelItem.Role.ORDINARY).exists():
        raise DecisionRefused("The study does not verify this key point.")
    answer = {"grounded": grounded, "keyness": keyness}
    return DECISIONS.decide(study=study, item={"key_point": key_point}, answer=answer, by=by, now=now, **about)
