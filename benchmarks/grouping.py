"""Research groups: make and change them, and give things to them.

A group is archived, never deleted: what belongs to it stays its own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from benchmarks import audit
from benchmarks.access.sight import whole_site
from benchmarks.models import Haystack, JudgeRun, Question, ResearchGroup, SentSummary, SourceSample

GROUPS_OF_ITEMS = {
    "summary": ("summary__haystack__group",),
    "response": ("response__question__group",),
    "key_point": ("key_point__question__group",),
    "draft": ("draft__subtopic__haystack__group", "draft__question__group"),
}
"""By what an item of a run is about, how the research group of its text is reached."""


def _of_sent(run: JudgeRun) -> set[int]:
    rows = SentSummary._base_manager.filter(pk__in=run.items.values("other")).order_by()
    rows = rows.exclude(subtopic__haystack__group=None)
    return set(rows.values_list("subtopic__haystack__group", flat=True))


GROUPS_OF_OTHERS: dict[str, Callable[[JudgeRun], set[int]]] = {JudgeRun.Task.SENT: _of_sent}
"""By the name of a task, the research groups of what its runs are about where items only have a key."""
FOLLOWING: list[Callable[..., QuerySet[JudgeRun]]] = []
"""Give what extensions have of `haystacks` (keys) or a `dataset` to the group `to`; the runs of that come back."""


class NameTaken(Exception):
    """Another group has this name, in whatever case."""


class CannotMove(Exception):
    """Something cannot go to another group; `problems` say why."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


@transaction.atomic
def make_group(*, name: str, by: Any, now: datetime) -> ResearchGroup:
    """Make a group without members; raises `NameTaken`."""
    group = _saved(ResearchGroup(name=name, created_by=by, created_at=now))
    audit.record(actor=by, action="group.made", target=group, now=now)
    return group


@transaction.atomic
def rename_group(*, group: ResearchGroup, name: str, by: Any, now: datetime) -> None:
    """Give a group another name; raises `NameTaken`."""
    before, group.name = group.name, name
    if before != name:
        _saved(group)
        audit.record(actor=by, action="group.renamed", target=group, now=now, before=before)


@transaction.atomic
def set_members(*, group: ResearchGroup, members: Iterable[Any], by: Any, now: datetime) -> None:
    """Make these accounts, and no others, the members of a group; the log says who came and who left."""
    before = {person.pk: person for person in group.members.all()}
    after = {person.pk: person for person in members}
    group.members.set(after.values())
    came = [after[pk].get_username() for pk in after.keys() - before.keys()]
    left = [before[pk].get_username() for pk in before.keys() - after.keys()]
    if came or left:
        people = {"came": sorted(came), "left": sorted(left)}
        audit.record(actor=by, action="group.members", target=group, now=now, **people)


@transaction.atomic
def set_archived(*, group: ResearchGroup, is_archived: bool, by: Any, now: datetime) -> None:
    """Offer a group for nothing new, or offer it again. Its members see what belongs to it, as before."""
    rows = ResearchGroup.objects.filter(pk=group.pk, archived_at__isnull=is_archived)
    if rows.update(archived_at=now if is_archived else None):
        action = "group.archived" if is_archived else "group.restored"
        audit.record(actor=by, action=action, target=group, now=now)


def join(*, group_id: int | None, people: Iterable[Any]) -> None:
    """Make accounts that were just made members of the group they were made for, if any."""
    if group_id is not None:
        through = ResearchGroup.members.through
        through.objects.bulk_create(
            [through(researchgroup_id=group_id, user_id=person.pk) for person in people], ignore_conflicts=True
        )


def join_named(*, names: Collection[str], person: Any) -> None:
    """Make somebody who is in no group a member of those that have one of these names and are not archived."""
    if names and not person.research_groups.exists():
        named = functools.reduce(operator.or_, (Q(name__iexact=name) for name in names))
        person.research_groups.add(*ResearchGroup._base_manager.filter(named, archived_at=None))


def _saved(group: ResearchGroup) -> ResearchGroup:
    try:
        with transaction.atomic():
            group.save()
    except IntegrityError as error:
        raise NameTaken from error
    return group


def group_run(run: JudgeRun) -> None:
    """Have a run belong to the groups of the texts that it is about: who sees not all of them does not see it."""
    if not ResearchGroup._base_manager.exists():
        return
    item = run.items.first()
    if item is None:
        return
    subject = next((name for name in GROUPS_OF_ITEMS if getattr(item, f"{name}_id") is not None), "")
    groups = {
        pk
        for path in GROUPS_OF_ITEMS.get(subject, ())
        for pk in run.items.order_by().exclude(**{path: None}).values_list(path, flat=True).distinct()
    }
    if run.task in GROUPS_OF_OTHERS:
        groups = GROUPS_OF_OTHERS[run.task](run)
    run.groups.set(groups)


@transaction.atomic
def move_haystacks(
    *, rows: Collection[Haystack], to: ResearchGroup | None, users: Sequence[str], by: Any, now: datetime
) -> None:
    """Give haystacks to a group, or to the whole site, with their questions and runs, and what they were made by.

    `users` are the names of studies that stand on them and are not of that group.

    Raises:
        CannotMove: there are such studies, or a sample of sources has members elsewhere.
    """
    with whole_site():
        if to is not None and (problems := [*_in_use(users), *_split_samples(rows)]):
            raise CannotMove(problems)
        keys = [row.pk for row in rows]
        Haystack.objects.filter(pk__in=keys).update(group=to)
        Question.objects.filter(haystack__in=keys).update(group=to)
        _regroup(JudgeRun.objects.filter(items__summary__haystack__in=keys))
        _regroup(JudgeRun.objects.filter(items__draft__subtopic__haystack__in=keys))
        sent = SentSummary.objects.filter(subtopic__haystack__in=keys).values("pk")
        _regroup(JudgeRun.objects.filter(task=JudgeRun.Task.SENT, items__other__in=sent))
        for move in FOLLOWING:
            _regroup(move(to=to, haystacks=keys))
        _regroup_of_questions(Question.objects.filter(haystack__in=keys))
    for row in rows:
        audit.record(actor=by, action="haystack.moved", target=row, now=now, group=_named(to))


@transaction.atomic
def move_questions(
    *, dataset: str, to: ResearchGroup | None, users: Sequence[str], by: Any, now: datetime
) -> None:
    """Give the questions of a set that are in sight to a group, or to the whole site, with their runs.

    Raises:
        CannotMove: studies that are not of that group (`users`) stand on them, or they are of a haystack, with
            which they go.
    """
    rows = Question.objects.filter(dataset=dataset)
    problems = _in_use(users) if to is not None else []
    if rows.exclude(haystack=None).exclude(haystack__group=to).exists():
        problems.append("Its questions are of a haystack: move that one, and they go along.")
    if problems:
        raise CannotMove(problems)
    keys = list(rows.values_list("pk", flat=True))
    with whole_site():
        moved = Question.objects.filter(pk__in=keys)
        moved.update(group=to)
        for move in FOLLOWING:
            _regroup(move(to=to, dataset=dataset))
        _regroup_of_questions(moved)
    audit.record(actor=by, action="questions.moved", target=None, now=now, dataset=dataset, group=_named(to))


def _regroup_of_questions(questions: QuerySet[Any]) -> None:
    for name in ("response__question", "key_point__question", "draft__question"):
        _regroup(JudgeRun.objects.filter(**{f"items__{name}__in": questions}))


def _regroup(runs: QuerySet[Any]) -> None:
    for run in runs.distinct():
        group_run(run)


def _in_use(users: Sequence[str]) -> list[str]:
    if not users:
        return []
    names = ", ".join(f"“{name}”" for name in users[:5]) + (" …" if len(users) > 5 else "")
    return [f"Studies that are not of this group stand on it: {names}. Move those first."]


def _split_samples(rows: Collection[Haystack]) -> list[str]:
    samples = SourceSample.objects.filter(members__in=rows).exclude(
        pk__in=SourceSample.members.through.objects.filter(haystack__in=rows).values("sourcesample")
    )
    return [f"The sample “{sample.name}” has sources elsewhere." for sample in samples]


def _named(group: ResearchGroup | None) -> str:
    return "" if group is None else group.name
