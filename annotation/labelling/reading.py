"""What storing an answer reads, as queries that are compiled once; one set for each kind of label work."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery

from annotation.labelling.handling import OwnTask, Tasks, ensure_open
from annotation.models import Annotator, Guideline, LabelTask
from benchmarks.prepared import PreparedRows, PreparedValues

NEEDED = (
    *(field.name for field in LabelTask._meta.concrete_fields if field.name != "comment"),
    "study__state",
    "item__role",
)
"""What every kind reads of a task."""

_PK = LabelTask._meta.pk


class Around(NamedTuple):
    """What belongs to an answer: the person's last contact, the guidelines, and whether this act was stored."""

    contact_at: datetime | None
    guideline_id: int | None
    delivered: int | None


class AnswerReads:
    """The prepared reads of one kind of answer."""

    def __init__(self, model: Any, *, needed: tuple[str, ...]) -> None:
        """Take the model of the answers, and what its kind reads of a task beside what every kind does."""
        fields = (*NEEDED, *needed)
        related = sorted({name.rpartition("__")[0] for name in fields} - {""})

        def for_answer(rows: QuerySet[LabelTask, LabelTask]) -> QuerySet[LabelTask, LabelTask]:
            return rows.order_by().select_related(*related).only(*fields).select_for_update(of=("self",))

        def around(task: Any, version: Any, op_id: Any) -> Any:
            contacts = LabelTask.objects.filter(annotator=OuterRef("annotator"), last_seen_at__isnull=False)
            guidelines = Guideline.objects.filter(study=OuterRef("study")).order_by("-version")
            same_act = model.objects.filter(task=OuterRef("pk"), op_id=op_id).order_by()
            return (
                LabelTask.objects.filter(pk=task)
                .order_by()
                .values_list(
                    Subquery(contacts.order_by("-last_seen_at").values("last_seen_at")[:1]),
                    Subquery(guidelines.filter(version=version).values("pk")[:1]),
                    Subquery(guidelines.values("pk")[:1]),
                    Subquery(same_act.values("pk")[:1]),
                )
            )

        self._own = PreparedRows[LabelTask](
            lambda user, uid: for_answer(LabelTask.objects.filter(annotator__user=user, uid=uid)),
            user=Annotator._meta.get_field("user"),
            uid=LabelTask._meta.get_field("uid"),
        )
        self._by_pk = PreparedRows[LabelTask](lambda pk: for_answer(LabelTask.objects.filter(pk=pk)), pk=_PK)
        self._around = PreparedValues[Any](
            around,
            task=_PK,
            version=Guideline._meta.get_field("version"),
            op_id=model._meta.get_field("op_id"),
        )
        self._current = PreparedRows[Any](
            lambda task: model.objects.order_by().filter(task=task, is_current=True),
            task=model._meta.get_field("task"),
        )

    def task(self, tasks: Tasks) -> Any:
        """The one task, locked, with what its kind needs.

        Raises:
            LabelTask.DoesNotExist: no such task of this person.
            TaskRefused: the study does not take answers now.
        """
        if isinstance(tasks, OwnTask):
            found = self._own.first(user=tasks.user_id, uid=tasks.uid)
        else:
            found = self._by_pk.first(pk=tasks.values_list("pk", flat=True).get())
        if found is None:
            raise LabelTask.DoesNotExist
        ensure_open(found.study)
        return found

    def around(self, task: LabelTask, *, op_id: str, guideline_version: int | None) -> Around:
        """What belongs to an answer; a version of the guidelines that the study does not have is the newest."""
        [row] = self._around.all(task=task.pk, version=guideline_version or 0, op_id=op_id)
        contact_at, named, newest, delivered = row
        return Around(contact_at, named or newest, delivered)

    def current(self, task: LabelTask) -> Any:
        """The answer that holds, or None."""
        return self._current.first(task=task.pk)
