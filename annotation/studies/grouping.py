"""Studies and research groups: what a study stands on, and giving it to another group.

A study stands only on texts that its whole group sees, so that nothing is missing from its pages for one member.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import Study
from benchmarks import audit
from benchmarks.grouping import CannotMove
from benchmarks.models import Haystack, Question, ResearchGroup

HAYSTACKS = (
    "writing_plan__subtopics__haystack",
    "assignments__subtopic__haystack",
    "label_items__summary__haystack",
    "coveragelabels__summary__haystack",
    "unlinkedlabels__summary__haystack",
)
QUESTIONS = ("label_items__question", "label_items__response__question", "label_items__key_point__question")


def elsewhere(
    *, of: ResearchGroup | None, haystacks: Iterable[Any] = (), questions: Iterable[Any] = ()
) -> list[str]:
    """The names of studies that stand on these haystacks or questions and are not of this group."""
    names: set[str] = set()
    for paths, keys in ((HAYSTACKS, list(haystacks)), (QUESTIONS, list(questions))):
        for path in paths if keys else ():
            rows = Study._base_manager.filter(**{f"{path}__in": keys}).exclude(group=of) if of else ()
            names.update(study.name for study in rows)
    return sorted(names)


def of_other_groups(
    group: ResearchGroup | None, *, haystacks: Iterable[Any] = (), questions: Iterable[Any] = ()
) -> list[str]:
    """Which of these haystacks and questions, by pk, this group does not see, in sentences; at most five of each.

    A query for each kind of text that is asked about.
    """
    text = "“%(name)s” belongs to another research group than the study."
    problems = []
    for model, name, keys in ((Haystack, "title", set(haystacks)), (Question, "dataset", set(questions))):
        if keys:
            rows = model._base_manager.filter(pk__in=keys, group__isnull=False)
            others = rows.exclude(group=group).order_by(name).values_list(name, flat=True).distinct()
            problems += [text % {"name": title} for title in others[:5]]
    return problems


def out_of_place(study: Study, group: ResearchGroup | None) -> list[str]:
    """What a study stands on that this group does not see, in sentences. At most ten queries."""
    keys: dict[tuple[str, ...], set[int]] = {HAYSTACKS: set(), QUESTIONS: set()}
    for paths, stands_on in keys.items():
        for path in paths:
            rows = Study._base_manager.filter(pk=study.pk, **{f"{path}__group__isnull": False}).order_by()
            stands_on.update(rows.values_list(path, flat=True).distinct())
    return of_other_groups(group, haystacks=keys[HAYSTACKS], questions=keys[QUESTIONS])


def place_study(*, study: Study, group: ResearchGroup | None) -> None:
    """Give a study that was just set up to a group, or to the whole site.

    Raises:
        CannotMove: it stands on texts that the group does not see.
    """
    if problems := out_of_place(study, group):
        raise CannotMove(problems)
    if group is not None:
        study.group = group
        study.save(update_fields=["group"])


@transaction.atomic
def move_study(*, study: Study, to: ResearchGroup | None, by: Any, now: datetime) -> None:
    """Give a study to another group, or to the whole site; its tasks, labels, results and licences go along.

    Raises:
        CannotMove: it stands on texts that the group does not see.
    """
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    if problems := out_of_place(row, to):
        raise CannotMove(problems)
    row.group = to
    row.save(update_fields=["group"])
    audit.record(actor=by, action="study.moved", target=row, now=now, group=to.name if to is not None else "")
