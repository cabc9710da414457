"""What stands in the way of a labelling study, and what happens to the tasks of somebody who leaves it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotator, CoverageLabel, EntailmentLabel, LabelTask, PointLabel, Study
from annotation.querysets import LabelTaskQuerySet

ANSWERS: tuple[Any, ...] = (CoverageLabel, PointLabel, EntailmentLabel)
"""The models of answers of all kinds."""


def untouched(study: Study) -> LabelTaskQuerySet:
    """Tasks that nobody has opened."""
    tasks: LabelTaskQuerySet = LabelTask.objects.filter(study=study, state=LabelTask.State.TODO, begun_at=None)
    return tasks


def opening_problems(study: Study) -> list[str]:
    """What has to be done before annotators can see their tasks."""
    problems = []
    if not study.label_items.exists():
        problems.append(_("Choose what is to be labelled."))
    if not study.memberships.current().exists():
        problems.append(_("Add at least one annotator."))
    elif not study.label_tasks.exists():
        problems.append(_("Deal the tasks."))
    return problems


def deletion_problems(study: Study) -> list[str]:
    """What stands in the way of deleting."""
    n_labels = sum(model.objects.filter(study=study).count() for model in ANSWERS)
    if not n_labels:
        return []
    return [
        ngettext(
            "%(n)d label is in it. What people labelled cannot be deleted; archive the study instead.",
            "%(n)d labels are in it. What people labelled cannot be deleted; archive the study instead.",
            n_labels,
        )
        % {"n": n_labels}
    ]


def unfinished_of(*, study: Study, annotator: Annotator) -> tuple[int, int]:
    """How many tasks of somebody nobody has opened, and how many are begun."""
    n_waiting = untouched(study).filter(annotator=annotator).count()
    begun = study.label_tasks.unfinished().filter(annotator=annotator, begun_at__isnull=False)
    return n_waiting, begun.count()


def release(*, study: Study, annotator: Annotator) -> tuple[int, int]:
    """Take back the tasks that somebody who leaves has not opened; gives how many, and how many stay begun."""
    counts = unfinished_of(study=study, annotator=annotator)
    untouched(study).filter(annotator=annotator).delete()
    return counts
