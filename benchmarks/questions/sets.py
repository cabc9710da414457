"""Question sets: what there is, archiving, bringing back, deleting with what stands in the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import Count, Max, Q

from benchmarks import audit
from benchmarks.access.owning import may_change_all
from benchmarks.corpora.archiving import InUse, Obstacle, counted, dependants
from benchmarks.models import KeyPoint, PointVerdict, Question, QuestionDocument, Response, Span
from benchmarks.models.querysets import QuestionQuerySet

PATHS: dict[type[models.Model], str] = {
    Question: "dataset",
    QuestionDocument: "question__dataset",
    KeyPoint: "question__dataset",
    Span: "key_point__question__dataset",
    Response: "question__dataset",
}
DELETED: list[Callable[[str], object]] = []
"""Functions of extensions, called when the set of a name is deleted."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one name; archived when all of them are.

    It is somebody's, to archive and bring back, who imported all of them, and every admin's. `group` is the name
    of its research group, empty for the whole site.
    """

    name: str
    n: int
    is_archived: bool
    is_mine: bool
    group: str = ""


def names(field: str, *, with_archive: bool = True) -> list[tuple[str, str]]:
    """Values of a field as choices. One query."""
    rows: QuestionQuerySet = Question.objects.all() if with_archive else Question.objects.in_archive(False)
    values = rows.exclude(**{field: ""}).order_by(field).values_list(field, flat=True).distinct()
    return [(value, value) for value in values]


def sets(*, for_user: Any = None) -> list[QuestionSet]:
    """All sets by name. One query."""
    return _sets(Question.objects.all(), for_user)


def find(name: str, *, for_user: Any = None) -> QuestionSet | None:
    """The set of this name. One query."""
    return next(iter(_sets(Question.objects.filter(dataset=name), for_user)), None)


def _sets(rows: models.QuerySet[Any], user: Any) -> list[QuestionSet]:
    mine = Count("pk", filter=Q(created_by=user))
    counts = {"n": Count("pk"), "gone": Count("archived_at"), "mine": mine, "owner": Max("group__name")}
    counted = rows.order_by("dataset").values_list("dataset").annotate(**counts)
    is_all = may_change_all(user)
    return [
        QuestionSet(name, n, n == gone, is_all or n == n_mine, owner or "")
        for name, n, gone, n_mine, owner in counted
    ]


def obstacles(name: str) -> list[Obstacle]:
    """Count the rows of other apps that refer to its questions or their parts, and do not go along."""
    return dependants(PATHS, name)


def contents(name: str) -> list[Obstacle]:
    """Count what would go with the set."""
    return counted(
        questions=Question.objects.filter(dataset=name),
        documents=QuestionDocument.objects.filter(question__dataset=name),
        key_points=KeyPoint.objects.filter(question__dataset=name),
        responses=Response.objects.filter(question__dataset=name),
        verdicts=PointVerdict.objects.filter(response__question__dataset=name),
    )


@transaction.atomic
def set_archived(*, dataset: str, is_archived: bool, actor: Any, now: datetime) -> None:
    """Take a set out of lists and new studies, or bring it back; what runs on it goes on."""
    rows = Question.objects.filter(dataset=dataset, archived_at__isnull=is_archived)
    if rows.update(archived_at=now if is_archived else None):
        act = "archived" if is_archived else "restored"
        audit.record(actor=actor, action=f"questions.{act}", target=None, now=now, dataset=dataset)


@transaction.atomic
def delete(*, dataset: str, actor: Any, now: datetime) -> None:
    """Delete the questions of a set with documents, key points, responses and verdicts.

    Raises:
        InUse: work of people stands on it.
    """
    if in_the_way := obstacles(dataset):
        raise InUse(in_the_way)
    gone = {row.label.replace(" ", "_"): row.count for row in contents(dataset)}
    audit.record(actor=actor, action="questions.deleted", target=None, now=now, dataset=dataset, **gone)
    Question.objects.filter(dataset=dataset).delete()
    for forget in DELETED:
        forget(dataset)
