"""Gaps of a study: items with fewer people than planned, people who have no task, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef

from annotation.kinds import kind_named
from annotation.models import Annotator, LabelItem, Recruitment, Study
from annotation.studies import consent
from annotation.studies.amounts import in_figures
from annotation.studies.dealing import Pair


@dataclass(slots=True)
class Items:
    """The items of a group in the order of work: (pk, number of questions)."""

    rows: list[tuple[int, int]]
    block: str
    is_for_everyone: bool
    is_training: bool


@dataclass(slots=True)
class Held:
    """How many tasks of a group a person has, and whether any was opened."""

    n: int = 0
    is_begun: bool = False


Groups = Mapping[int, Items]


class Rows:
    """The items, tasks and people of a study's label work, each read once, so of use until they change."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def items(self) -> dict[int, Any]:
        """Items by primary key, in the order of work, as named tuples of the fields that pages share."""
        fields = ("pk", "role", "is_overlap", "n_questions", "block", "question", "response", "summary")
        rows = self.study.label_items.order_by("pk").values_list(*fields, "summary__haystack", named=True)
        return {row.pk: row for row in rows}

    @cached_property
    def tasks(self) -> list[Any]:
        fields = ("annotator", "item", "position", "state", "active_ms", "begun_at", "last_seen_at")
        return list(self.study.label_tasks.order_by().values_list(*fields, named=True))

    @cached_property
    def members(self) -> list[Any]:
        """Whoever is or was in the study, by number, with their accounts and whether they can be given work."""
        free = consent.free_to_work(Annotator.objects.filter(pk=OuterRef("annotator")))
        rows = self.study.memberships.annotate(is_free=Exists(free)).select_related("annotator__user")
        return list(rows.order_by("number"))

    @property
    def current(self) -> list[Any]:
        """Those of them who take part."""
        return [member for member in self.members if member.left_at is None]

    @property
    def present(self) -> dict[int, str]:
        """{annotator pk: what the lot of their order is drawn by, their number} of those who can be given work."""
        return {member.annotator_id: str(member.number) for member in self.current if member.is_free}

    def groups(self, group: str) -> dict[int, Items]:
        groups: dict[int, Items] = {}
        for row in self.items.values():
            is_training = row.role == LabelItem.Role.TRAINING
            items = groups.setdefault(getattr(row, group), Items([], row.block, False, is_training))
            items.rows.append((row.pk, row.n_questions))
            items.is_for_everyone = items.is_for_everyone or row.is_overlap
        return groups

    def held(self, group: str) -> dict[Pair, Held]:
        """The tasks of each person in each group, by (person, group)."""
        held: dict[Pair, Held] = defaultdict(Held)
        for task in self.tasks:
            row = held[task.annotator, getattr(self.items[task.item], group)]
            row.n += 1
            row.is_begun = row.is_begun or task.begun_at is not None
        return dict(held)


def rows_of(study: Study) -> Rows:
    """The rows that a page keeps, or others, not read yet."""
    return study.__dict__.get("_label_rows") or Rows(study)


def keep_rows(study: Study) -> None:
    """Read rows once for all that a page shows of this object, which changes none of them."""
    study.__dict__["_label_rows"] = Rows(study)


def caps_of(study: Study, people: Iterable[int]) -> dict[int, int]:
    """{annotator pk: the most items they get}, by the recruitment link they came by, open or not.

    The others leave places for those who will come by a link that is open.
    """
    most = study.recruitment_links.filter(is_open=True).aggregate(most=Max("max_tasks"))["most"]
    came = Recruitment.objects.filter(link__study=study).order_by("pk")
    limits = dict(came.values_list("participant__annotator", "link__max_tasks"))
    caps = {person: limits.get(person, most) for person in people}
    return {person: cap for person, cap in caps.items() if cap is not None}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody may not have something, as a sentence; `study` is the one to look at, if it is another."""

    text: str
    study: Study | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Somebody who takes part and can be given no task, with every reason."""

    annotator: Annotator
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return f"{self.annotator.label}: {' '.join(reason.text for reason in self.reasons)}"


@dataclass(frozen=True, slots=True)
class Holding:
    """Tasks that somebody has not begun and, as things are, cannot do: how many, and why."""

    annotator: Annotator
    n_tasks: int
    reason: Reason


def held_by_absent(study: Study) -> list[Holding]:
    """Whose tasks wait for nobody: of people who are not active, or withdrew consent. One query for none."""
    free = consent.free_to_work(Annotator.objects.all()).values("pk")
    rows = kind_named(study.kind).untouched(study).order_by().exclude(annotator__in=free)
    n_of = dict(rows.values_list("annotator").annotate(n=Count("pk")))
    if not n_of:
        return []
    people = list(Annotator.objects.filter(pk__in=n_of).select_related("user").order_by("label", "pk"))
    absent = why_absent(people)
    return [Holding(person, n_of[person.pk], absent[person.pk]) for person in people if person.pk in absent]


def why_absent(people: Sequence[Annotator]) -> dict[int, Reason]:
    """{annotator pk: why} of those of them who can be given no work at all. One query."""
    free = consent.free_to_work(Annotator.objects.filter(pk__in=[person.pk for person in people]))
    here = set(free.values_list("pk", flat=True))

    def is_active(person: Annotator) -> bool:
        return person.is_active and (person.user is None or person.user.is_active)

    return {
        person.pk: Reason("Withdrew consent." if is_active(person) else "The account is not active.")
        for person in people
        if person.pk not in here
    }


def seen_by(user: Any, blocked: Iterable[Blocked]) -> list[Blocked]:
    """The same, without naming studies that a researcher may not see."""
    rows = list(blocked)
    named = {reason.study.pk for row in rows for reason in row.reasons if reason.study is not None}
    visible = (
        set(Study.objects.for_user(user).filter(pk__in=named).values_list("pk", flat=True)) if named else set()
    )

    def shown(reason: Reason) -> Reason:
        hides = reason.study is not None and reason.study.pk not in visible
        return replace(reason, study=None) if hides else reason

    return [replace(row, reasons=tuple(dict.fromkeys(map(shown, row.reasons)))) for row in rows]


class Gaps:
    """Gaps of a study now, read when they are asked for; none of a study whose kind assigns nothing."""

    def n_short(self) -> int:
        """How many items have fewer people than planned."""
        return 0

    def blocked(self) -> list[Blocked]:
        """Who takes part, has no task and can be given none, and why."""
        return []

    def held(self) -> list[Holding]:
        """Whose tasks wait for people who cannot do them."""
        return []


@dataclass
class LabelGaps(Gaps):
    """Of a study of label tasks, whose `group`s `wanted` people each should have; `barred` says who may not which.

    People and tasks are read once for all answers, so it is of use until they change.
    """

    study: Study
    group: str
    wanted: int
    barred: Mapping[Pair, Reason] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Rows:
        return rows_of(self.study)

    @cached_property
    def groups(self) -> Groups:
        return self.rows.groups(self.group)

    @cached_property
    def people(self) -> set[int]:
        return {*self.rows.present}

    @cached_property
    def tasks(self) -> Mapping[Pair, Held]:
        return self.rows.held(self.group)

    @cached_property
    def at_work(self) -> set[int]:
        return {person for person, _key in self.tasks}

    @cached_property
    def holders(self) -> Mapping[int, set[int]]:
        """Who has the whole of each group, and works on it or did."""
        holders: dict[int, set[int]] = defaultdict(set)
        for (person, key), tasks in self.tasks.items():
            if tasks.n == len(self.groups[key].rows) and (tasks.is_begun or person in self.people):
                holders[key].add(person)
        return holders

    def n_short(self) -> int:
        """Groups that fewer people have than wanted; of those for everyone, also what somebody could still get."""
        return sum(map(self._is_short, self.groups))

    def _is_short(self, key: int) -> bool:
        could_have = self.people - self.holders[key] if self.groups[key].is_for_everyone else ()
        return len(self.holders[key]) < self.wanted or any(
            (person, key) not in self.barred for person in could_have
        )

    def held(self) -> list[Holding]:
        return [] if self.at_work <= self.people else held_by_absent(self.study)

    def blocked(self) -> list[Blocked]:
        idle = [row.annotator for row in self.rows.current if row.annotator_id not in self.at_work]
        if not idle or not self.groups:
            return []
        absent, caps = why_absent(idle), caps_of(self.study, [person.pk for person in idle])
        rows = []
        for person in idle:
            reasons = [absent[person.pk]] if person.pk in absent else self._reasons(person.pk, caps.get(person.pk))
            if reasons:
                rows.append(Blocked(person, tuple(reasons)))
        return rows

    def _reasons(self, person: int, cap: int | None) -> list[Reason]:
        """Why somebody who is there can be given no group; none where they can."""
        barred = {key: reason for (pk, key), reason in self.barred.items() if pk == person}
        left = [
            items
            for key, items in self.groups.items()
            if key not in barred and (items.is_for_everyone or len(self.holders[key]) < self.wanted)
        ]
        if not left:
            reasons = list(dict.fromkeys(barred.values()))
            if len(barred) < len(self.groups):
                reasons.append(Reason("All else has as many people as planned."))
            return reasons
        if cap is not None and all(len(items.rows) > cap for items in left):
            tasks = in_figures(cap, "task", "tasks")
            return [Reason(f"The recruitment link gives {tasks} at most, and whatever is left is larger.")]
        return []
