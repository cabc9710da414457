"""What a researcher decides on key points that people disagree about. Labels stay; agreement never sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, Q

from annotation.labelling.deciding import delivered
from annotation.models import Grounded, LabelItem, PointAdjudication, PointLabel, Study
from annotation.verification.labels import PointTable
from benchmarks import audit
from benchmarks.models import KeyPoint
from benchmarks.scoring.agreement import disagreement
from benchmarks.scoring.retention import Task


class InvalidDecision(ValueError):
    """A decision is a no, or a yes with one of agree, neutral, disagree."""


class NotOfStudy(LookupError):
    """The key point is none of the study's."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A key point whose answers differ: 1 − P of each task, None where fewer than two answered it."""

    point: int
    keep: float | None
    grounded: float | None
    keyness: float | None
    n: int


def disputes(table: PointTable) -> list[Dispute]:
    """Key points on which the people of the table differ in any task, those that matter most to keep first."""
    columns = [disagreement(table.ratings(task)) for task in (Task.KEEP, Task.GROUNDED, Task.KEY_POINT)]
    n = (table.grounded >= 0).sum(axis=1).tolist()
    rows = [
        Dispute(point, keep, grounded, keyness, count)
        for point, count, keep, grounded, keyness in zip(table.points, n, *columns, strict=True)
        if keep or grounded or keyness
    ]
    return sorted(
        rows, key=lambda dispute: (-(dispute.keep or 0), -(dispute.grounded or 0), -(dispute.keyness or 0))
    )


def undecided(studies: Iterable[int]) -> Counter[int]:
    """How many key points people differ on and nobody has decided, by study; one query."""
    decided = PointAdjudication.objects.filter(
        is_current=True, study=OuterRef("study"), key_point=OuterRef("key_point")
    )
    rows = (
        PointLabel.objects.for_figures()
        .filter(~Exists(decided), study__in=list(studies))
        .order_by()
        .values("study", "key_point")
        .annotate(
            least=Min("grounded"),
            most=Max("grounded"),
            least_key=Min("keyness", filter=~Q(keyness="")),
            most_key=Max("keyness", filter=~Q(keyness="")),
        )
        .filter(Q(least__lt=F("most")) | Q(least_key__lt=F("most_key")))
    )
    return Counter(rows.values_list("study", flat=True))


def adjudicate(
    *,
    study: Study,
    key_point: KeyPoint,
    grounded: str,
    keyness: str = "",
    note: str = "",
    by: Any,
    now: datetime,
    is_blind: bool = False,
    seen: int | None = None,
) -> PointAdjudication:
    """Record a decision, which supersedes the one before; the same decision again changes nothing.

    `is_blind` says that the page hid names; only a first decision counts as blind. `seen` is the newest decision
    that the form knew, see `deciding`.

    Raises:
        InvalidDecision: a yes without the second judgment, or a no with one.
        NotOfStudy: the study does not verify this key point.
    """
    if (grounded, bool(keyness)) not in {(Grounded.YES, True), (Grounded.NO, False)}:
        raise InvalidDecision("After a yes, say whether it is a key point. After a no, leave that open.")
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        items = LabelItem.objects.filter(study=study, key_point=key_point, role=LabelItem.Role.ORDINARY)
        if not items.exists():
            raise NotOfStudy(str(key_point))
        rows = PointAdjudication.objects.filter(study=study, key_point=key_point)
        said = {"grounded": grounded, "keyness": keyness, "note": note}
        if (before := delivered(rows, by=by, seen=seen, **said)) is not None:
            return before  # type: ignore[no-any-return]
        known = rows.filter(is_current=True).first()
        if known is not None:
            if (known.grounded, known.keyness, known.note) == (grounded, keyness, note):
                return known
            known.is_current = False
            known.save(update_fields=["is_current"])
        made = PointAdjudication.objects.create(
            study=study,
            key_point=key_point,
            grounded=grounded,
            keyness=keyness,
            note=note,
            was_blind=is_blind and known is None,
            supersedes=known,
            made_by=by if getattr(by, "pk", None) else None,
            made_at=now,
        )
        audit.record(
            actor=by,
            action="key_point.adjudicated",
            target=study,
            now=now,
            key_point=str(key_point.uid),
            grounded=grounded,
            keyness=keyness,
        )
    return made
