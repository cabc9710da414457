"""Spot checks: a seeded sample of one person's answers, reviewed one by one; the result stays as a record."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import Annotator, PointLabel, SpotCheck, SpotCheckMark, Study
from benchmarks import audit
from benchmarks.scoring.means import rate
from benchmarks.scoring.stat import Stat


class NothingToCheck(ValueError):
    """This person has no answer in the study that counts."""


class Closed(ValueError):
    """The check is closed; its marks stay as they are."""


def draw(
    *, study: Study, annotator: Annotator, n: int, seed: int, note: str = "", by: Any, now: datetime
) -> SpotCheck:
    """Draw up to `n` of a person's current answers; the same seed and answers give the same sample.

    Raises:
        NothingToCheck: there is no answer.
    """
    with transaction.atomic():
        rows = PointLabel.objects.filter(study=study, annotator=annotator).for_figures()
        labels = list(rows.order_by("task__item_id").values_list("pk", flat=True))
        if not labels or n < 1:
            raise NothingToCheck("This person has no answers here yet.")
        chosen = random.Random(f"spot:{seed}").sample(labels, min(n, len(labels)))  # noqa: S311  a fair draw
        check = SpotCheck.objects.create(
            study=study,
            annotator=annotator,
            seed=seed,
            note=note,
            made_by=by if getattr(by, "pk", None) else None,
            made_at=now,
        )
        SpotCheckMark.objects.bulk_create(SpotCheckMark(spot_check=check, label_id=pk) for pk in chosen)
        audit.record(
            actor=by,
            action="spot_check.drawn",
            target=study,
            now=now,
            annotator=str(annotator.uid),
            n=len(chosen),
            seed=seed,
        )
    return check


def mark(*, check: SpotCheck, position: int, is_right: bool, note: str = "", now: datetime) -> SpotCheckMark:
    """Mark the answer at a position (from 1) as right or wrong; the mark can change until the check is closed.

    Raises:
        Closed: the check is closed.
        IndexError: there is no such position.
    """
    with transaction.atomic():
        locked = SpotCheck.objects.select_for_update().get(pk=check.pk)
        if locked.closed_at is not None:
            raise Closed("This spot check is closed.")
        row: SpotCheckMark = list(locked.marks.order_by("pk"))[position - 1]
        row.is_right, row.note, row.marked_at = is_right, note, now
        row.save(update_fields=["is_right", "note", "marked_at"])
    return row


def close(*, check: SpotCheck, by: Any, now: datetime) -> None:
    """End a check; what was not reviewed counts for nothing."""
    with transaction.atomic():
        locked = SpotCheck.objects.select_for_update().get(pk=check.pk)
        if locked.closed_at is not None:
            return
        locked.closed_at = now
        locked.save(update_fields=["closed_at"])
        marks = list(locked.marks.exclude(is_right=None).values_list("is_right", flat=True))
        audit.record(
            actor=by,
            action="spot_check.closed",
            target=locked.study,
            now=now,
            spot_check=locked.pk,
            n_right=sum(marks),
            n=len(marks),
        )


def result(check: SpotCheck) -> Stat:
    """Share right of those reviewed; answers on one question are a cluster. One query."""
    rows = check.marks.exclude(is_right=None).values_list("is_right", "label__key_point__question_id")
    marks = list(rows.order_by("pk"))
    if not marks:
        return Stat.undefined("nothing is reviewed yet", method="right of those reviewed")
    return rate(
        [bool(right) for right, _ in marks],
        clusters=[question for _, question in marks],
        method="right of those reviewed",
    )
