"""What all kinds of label work say alike of their studies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.kinds import Tab, Text, Waiting, kind_named
from annotation.labelling.preview import PREVIEW
from annotation.labelling.simulating import Simulated
from annotation.labelling.task_page import TaskPage
from annotation.models import Annotator, LabelTask, Study
from annotation.studies import tasks
from annotation.studies.forms import DetailsForm
from annotation.studies.kind import Work, work_of
from annotation.studies.lifecycle import update_details
from annotation.studies.members import is_recruiting
from annotation.studies.overview_page import Presence, Remark
from annotation.studies.preview import Preview

TASKS = Tab("work", gettext_lazy("Tasks"), "annotation:study-work", "work", needs_plan=True)
ITEM = gettext_lazy("Item")
HERE_FOR = timedelta(minutes=2)
SHORT_HELP = gettext_lazy(
    "Unfinished work of annotators who left goes to others as a whole; finished answers stay."
)


def update(*, form: DetailsForm, study: Study, by: Any, now: datetime) -> Study:
    """Change the details; the plan is fixed once items are assigned by it."""
    return update_details(study=study, details=form.details(), by=by, now=now)


def release(*, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime) -> tuple[int, int]:
    """Take back the tasks that somebody who leaves has not opened; gives how many, and how many stay begun."""
    return tasks.release(study=study, annotator=annotator)


def on_now(study: Study, now: datetime) -> list[Presence]:
    """Who was seen on a task of this study in the last two minutes; nobody where answers are no longer saved."""
    if study.state != Study.State.OPEN:
        return []
    rows = study.label_tasks.filter(last_seen_at__gt=now - HERE_FOR).select_related("annotator")
    last = {task.annotator_id: task for task in rows.order_by("last_seen_at")}
    return [Presence(task.annotator.label, _("at task %(n)d") % {"n": task.position}) for task in last.values()]


def disagreements(
    studies: Mapping[int, Study], *, undecided: Callable[[Iterable[int]], Mapping[int, int]], page: str
) -> list[Waiting]:
    """How many items people disagree on and nobody has decided, by study; `page` is where one decides."""
    return [
        Waiting(
            ngettext("%(n)d disagreement to decide", "%(n)d disagreements to decide", n) % {"n": n},
            reverse(page, args=[studies[pk].uid]),
            studies[pk].name,
        )
        for pk, n in undecided(studies).items()
    ]


def opening_problems(study: Study) -> list[str]:
    """Items, people and tasks are needed."""
    problems = []
    if not study.label_items.exists():
        problems.append(_("Choose what is to be labelled."))
    if is_recruiting(study):
        return problems  # people come by themselves, and get their tasks then
    if not study.memberships.current().exists():
        problems.append(_("Add at least one annotator."))
    elif not study.label_tasks.exists():
        problems += [str(row) for row in work_of(study).blocked(study)] or [
            _("No task is assigned. Assign what is missing on the page of annotators.")
        ]
    return problems


def deletion_problems(study: Study) -> list[str]:
    """Why a study cannot be deleted: somebody has labelled in it, or was at work on a task."""
    kind = work_of(study)
    n_labels = getattr(study, kind.answers).count() if isinstance(kind, LabelWork) else 0
    if n_labels:
        return [
            ngettext(
                "%(n)d label is in it. What people labelled cannot be deleted; archive the study instead.",
                "%(n)d labels are in it. What people labelled cannot be deleted; archive the study instead.",
                n_labels,
            )
            % {"n": n_labels}
        ]
    if n_begun := study.label_tasks.exclude(begun_at=None).count():
        return [
            ngettext(
                "%(n)d task was begun in it. Time at work cannot be deleted; archive the study instead.",
                "%(n)d tasks were begun in it. Time at work cannot be deleted; archive the study instead.",
                n_begun,
            )
            % {"n": n_begun}
        ]
    return []


@dataclass(frozen=True, kw_only=True)
class LabelWork(Work):
    """A kind whose items are assigned as label tasks; `answers` is the accessor of a study's answers."""

    answers: str
    about: Callable[[LabelTask], Remark] = lambda task: Remark(task, str(task.item))
    """What a task is about, in words, for pages of researchers."""
    about_rows: tuple[str, ...] = ()
    """What `about` reads of a task, as `select_related` names it."""
    about_label: Text = ITEM
    """What tasks are about, as the heading of a column."""
    task: TaskPage | None = None
    """How annotators answer a task; without one they can't."""
    simulated: Simulated[Any] | None = None
    """How simulated people answer one."""
    settings_form: Callable[..., Any] = DetailsForm
    update: Callable[..., Study] = update
    on_now: Callable[[Study, datetime], list[Presence]] = on_now
    release: Callable[..., tuple[int, int]] = release
    unfinished_of: Callable[..., tuple[int, int]] = tasks.unfinished_of
    opening_problems: Callable[[Study], list[str]] = opening_problems
    deletion_problems: Callable[[Study], list[str]] = deletion_problems
    short_help: Text = SHORT_HELP
    preview: Preview | None = PREVIEW

    @property
    def all_tabs(self) -> tuple[Tab, ...]:
        """The page of its tasks beside the others."""
        return (TASKS, *super().all_tabs)


def task_page_of(value: str) -> TaskPage | None:
    """How annotators answer tasks of the kind with this value; None where there is no such label work."""
    try:
        kind = kind_named(value)
    except KeyError:
        return None
    return kind.task if isinstance(kind, LabelWork) else None
