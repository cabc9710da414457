"""What a study lacks: items with fewer people than planned, and people who can be given no task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from django.utils.translation import ngettext

from annotation.models import Study
from annotation.studies.blocked import Blocked, Holding, Reason, held_by_absent, idle_people, why_absent
from annotation.studies.dealing import Pair
from annotation.studies.standing import Groups, Held, Items, caps_of, current_people, groups_of, held_of


class Gaps(Protocol):
    """What a study lacks now, read when it is asked for."""

    def n_short(self) -> int:
        """How many items have fewer people than planned."""

    def blocked(self) -> list[Blocked]:
        """Who takes part, has no task and can be given none, and why."""

    def held(self) -> list[Holding]:
        """Whose tasks wait for people who cannot do them."""


class NoGaps:
    """Of a study whose kind assigns nothing."""

    def n_short(self) -> int:
        return 0

    def blocked(self) -> list[Blocked]:
        return []

    def held(self) -> list[Holding]:
        return []


@dataclass
class LabelGaps:
    """Of a study of label tasks, whose `group`s `wanted` people each should have; `barred` says who may not which.

    People and tasks are read once for all answers, so it is of use until they change.
    """

    study: Study
    group: str
    wanted: int
    barred: Mapping[Pair, Reason] = field(default_factory=dict)

    @cached_property
    def groups(self) -> Groups:
        return groups_of(self.study, self.group)

    @cached_property
    def current(self) -> Mapping[int, bool]:
        return current_people(self.study)

    @cached_property
    def people(self) -> set[int]:
        return {person for person, is_free in self.current.items() if is_free}

    @cached_property
    def tasks(self) -> Mapping[Pair, Held]:
        return held_of(self.study, self.group)

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
        if self.current.keys() <= self.at_work or not self.groups:
            return []
        idle = idle_people(self.study)
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
        left = [items for key, items in self.groups.items() if key not in barred and self._has_room(key, items)]
        if not left:
            reasons = list(dict.fromkeys(barred.values()))
            if len(barred) < len(self.groups):
                reasons.append(Reason("All else has as many people as planned."))
            return reasons
        if cap is not None and all(len(items.rows) > cap for items in left):
            return [Reason(_too_small(cap))]
        return []

    def _has_room(self, key: int, items: Items) -> bool:
        return items.is_for_everyone or len(self.holders[key]) < self.wanted


def _too_small(cap: int) -> str:
    text = ngettext(
        "The recruitment link gives %(n)d task at most, and whatever is left is larger.",
        "The recruitment link gives %(n)d tasks at most, and whatever is left is larger.",
        cap,
    )
    return text % {"n": cap}
