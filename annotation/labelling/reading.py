"""What storing an answer reads, as queries that are compiled once; one set for each kind of label work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

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


@dataclass(frozen=True)
class ItemQuestions:
    """The questions of an item, for a kind whose answers are each about one of them.

    `name` is the field of an answer that points at its question, a row of `model`; an item asks those whose column
    `group` is equal to what `of_item` gives of the task.
    """

    name: str
    model: Any
    group: str
    of_item: str


class ActContext(NamedTuple):
    """What belongs to an answer: last contact, guidelines, whether this act was stored, and its question."""

    contact_at: datetime | None
    guideline_id: int | None
    delivered: int | None
    question_id: int | None = None


class AnswerReads:
    """The prepared reads of one kind of answer."""

    def __init__(self, model: Any, *, needed: tuple[str, ...], questions: ItemQuestions | None) -> None:
        """Take the model of the answers, and what its kind reads of a task beside what every kind does."""
        fields = (*NEEDED, *needed)
        related = sorted({name.rpartition("__")[0] for name in fields} - {""})

        def for_answer(rows: QuerySet[LabelTask, LabelTask]) -> QuerySet[LabelTask, LabelTask]:
            return rows.order_by().select_related(*related).only(*fields).select_for_update(of=("self",))

        def context(task: Any, version: Any, op_id: Any, question: Any = None) -> Any:
            contacts = LabelTask.objects.filter(annotator=OuterRef("annotator"), last_seen_at__isnull=False)
            guidelines = Guideline.objects.filter(study=OuterRef("study")).order_by("-version")
            same_act = model.objects.filter(task=OuterRef("pk"), op_id=op_id).order_by()
            columns = [
                contacts.order_by("-last_seen_at").values("last_seen_at"),
                guidelines.filter(version=version).values("pk"),
                guidelines.values("pk"),
                same_act.values("pk"),
            ]
            if questions is not None:
                of_item = {"uid": question, questions.group: OuterRef(questions.of_item)}
                columns.append(questions.model.objects.filter(**of_item).order_by().values("pk"))
            rows = LabelTask.objects.filter(pk=task).order_by()
            return rows.values_list(*(Subquery(column[:1]) for column in columns))

        self._by_person = PreparedRows[LabelTask](
            lambda user, uid: for_answer(LabelTask.objects.filter(annotator__user=user, uid=uid)),
            user=Annotator._meta.get_field("user"),
            uid=LabelTask._meta.get_field("uid"),
        )
        self._by_pk = PreparedRows[LabelTask](lambda pk: for_answer(LabelTask.objects.filter(pk=pk)), pk=_PK)
        self._context = PreparedValues[Any](
            context,
            task=_PK,
            version=Guideline._meta.get_field("version"),
            op_id=model._meta.get_field("op_id"),
            **({} if questions is None else {"question": questions.model._meta.get_field("uid")}),
        )
        self._about = {} if questions is None else {questions.name: model._meta.get_field(questions.name)}
        self._current = PreparedRows[Any](
            lambda **about: model.objects.order_by().filter(**about, is_current=True),
            task=model._meta.get_field("task"),
            **self._about,
        )

    def task(self, tasks: Tasks) -> Any:
        """The one task, locked, with what its kind needs.

        Raises:
            LabelTask.DoesNotExist: no such task of this person.
            TaskRefused: the study does not take answers now.
        """
        if isinstance(tasks, OwnTask):
            row = self._by_person.first(user=tasks.user_id, uid=tasks.uid)
        else:
            row = self._by_pk.first(pk=tasks.values_list("pk", flat=True).get())
        if row is None:
            raise LabelTask.DoesNotExist
        ensure_open(row.study)
        return row

    def context(
        self, task: LabelTask, *, op_id: str, guideline_version: int | None, question: UUID | None = None
    ) -> ActContext:
        """What belongs to an answer; a version of the guidelines that the study does not have is the newest."""
        arguments = {"question": question} if self._about else {}
        [row] = self._context.all(task=task.pk, version=guideline_version or 0, op_id=op_id, **arguments)
        contact_at, named, newest, delivered, *question_id = row
        return ActContext(contact_at, named or newest, delivered, *question_id)

    def current(self, task: LabelTask, question_id: int | None = None) -> Any:
        """The answer that holds, or None."""
        return self._current.first(task=task.pk, **dict.fromkeys(self._about, question_id))
