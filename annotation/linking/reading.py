"""What storing a choice reads, as queries that are compiled once: it is the most frequent act of linking."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from annotation.labelling.handling import OwnTask, Tasks, ensure_open
from annotation.models import Annotator, CoverageLabel, Guideline, LabelTask
from benchmarks.models import Insight
from benchmarks.prepared import PreparedRows, PreparedValues

NEEDED = (
    *(field.name for field in LabelTask._meta.concrete_fields if field.name != "comment"),
    "study__state",
    "study__linking_plan__allow_several_lines",
    "item__role",
    "item__summary__text",
)


class Around(NamedTuple):
    """What belongs to a choice: last contact, insight, guidelines, and the row that this act has left already."""

    contact_at: datetime | None
    insight_id: int | None
    guideline_id: int | None
    newest_guideline_id: int | None
    delivered: int | None


def _for_choice(rows: QuerySet[LabelTask, LabelTask]) -> QuerySet[LabelTask, LabelTask]:
    related = rows.order_by().select_related("study__linking_plan", "item__summary")
    return related.only(*NEEDED).select_for_update(of=("self",))


def _around(task: Any, insight: Any, version: Any, op_id: Any) -> Any:
    contacts = LabelTask.objects.filter(annotator=OuterRef("annotator"), last_seen_at__isnull=False)
    questions = Insight.objects.filter(uid=insight, subtopic=OuterRef("item__summary__subtopic"))
    guidelines = Guideline.objects.filter(study=OuterRef("study")).order_by("-version")
    same_act = CoverageLabel.objects.filter(task=OuterRef("pk"), op_id=op_id).exclude(op_id="").order_by()
    return (
        LabelTask.objects.filter(pk=task)
        .order_by()
        .values_list(
            Subquery(contacts.order_by("-last_seen_at").values("last_seen_at")[:1]),
            Subquery(questions.order_by().values("pk")[:1]),
            Subquery(guidelines.filter(version=version).values("pk")[:1]),
            Subquery(guidelines.values("pk")[:1]),
            Subquery(same_act.values("pk")[:1]),
        )
    )


def _current(study: Any, annotator: Any, summary: Any, insight: Any) -> QuerySet[CoverageLabel, CoverageLabel]:
    same = {"study": study, "annotator": annotator, "summary": summary, "insight": insight}
    return CoverageLabel.objects.order_by().filter(**same, is_current=True).defer("raw")


_PK = LabelTask._meta.pk
_OWN = PreparedRows[LabelTask](
    lambda user, uid: _for_choice(LabelTask.objects.filter(annotator__user=user, uid=uid)),
    user=Annotator._meta.get_field("user"),
    uid=LabelTask._meta.get_field("uid"),
)
_BY_PK = PreparedRows[LabelTask](lambda pk: _for_choice(LabelTask.objects.filter(pk=pk)), pk=_PK)
_AROUND = PreparedValues[Any](
    _around,
    task=_PK,
    insight=Insight._meta.get_field("uid"),
    version=Guideline._meta.get_field("version"),
    op_id=CoverageLabel._meta.get_field("op_id"),
)
_CURRENT = PreparedRows[CoverageLabel](
    _current,
    study=CoverageLabel._meta.get_field("study"),
    annotator=CoverageLabel._meta.get_field("annotator"),
    summary=CoverageLabel._meta.get_field("summary"),
    insight=CoverageLabel._meta.get_field("insight"),
)


def task_for_choice(tasks: Tasks) -> Any:
    """The one task, locked, with its study's state, plan and the summary's text.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    if isinstance(tasks, OwnTask):
        found = _OWN.first(user=tasks.user_id, uid=tasks.uid)
    else:
        found = _BY_PK.first(pk=tasks.values_list("pk", flat=True).get())
    if found is None:
        raise LabelTask.DoesNotExist
    ensure_open(found.study)
    return found


def around(task: LabelTask, *, insight: UUID, guideline_version: int | None, op_id: str) -> Around:
    """What belongs to a choice on this task; a version that the study does not have counts as the newest."""
    [row] = _AROUND.all(task=task.pk, insight=insight, version=guideline_version or 0, op_id=op_id)
    return Around(*row)


def current_label(task: LabelTask, insight_id: int) -> CoverageLabel | None:
    """The answer that holds."""
    return _CURRENT.first(
        study=task.study_id, annotator=task.annotator_id, summary=task.item.summary_id, insight=insight_id
    )
