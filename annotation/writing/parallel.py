"""Parallel forms: who writes on which subtopic of form A and of form B, and in which order. Pure.

Everybody gets one subtopic of each form, apart from each other, and half of the people begin with form A.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Task = tuple[int, int]
"""A person and a subtopic."""


@dataclass(frozen=True)
class Forms:
    """The subtopics of both forms by id; `apart` has the pairs (of A, of B) that may go to one person."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    apart: frozenset[tuple[int, int]]

    @cached_property
    def not_apart(self) -> dict[int, frozenset[int]]:
        """The subtopics of the other form that share something with each subtopic."""
        return {
            **{a: frozenset(b for b in self.b if (a, b) not in self.apart) for a in self.a},
            **{b: frozenset(a for a in self.a if (a, b) not in self.apart) for b in self.b},
        }


def apart(
    met_a: Mapping[int, Collection[int]], met_b: Mapping[int, Collection[int]]
) -> frozenset[tuple[int, int]]:
    """The pairs of subtopics of which nobody meets the same part of the structure twice.

    For each subtopic of a form, the numbers of the subtopics of which the documents shown for it hold an insight;
    a subtopic has the same number in both forms. Its own number always counts, so it has to be among them.
    """
    return frozenset(
        (a, b) for a, seen_a in met_a.items() for b, seen_b in met_b.items() if not set(seen_a) & set(seen_b)
    )


def deal_forms(
    forms: Forms,
    people: Iterable[int],
    *,
    wanted: int,
    seed: str,
    have: Sequence[Task] = (),
    barred: Collection[Task] = (),
) -> tuple[Task, ...]:
    """Give people what they lack of a subtopic of each form, or nothing; each person's tasks in their order.

    `have` are the tasks that exist, each person's in their order; of each subtopic there are `wanted` with them.
    Whoever has one task gets a subtopic of the other form after it. Who has none gets both, in the order that
    fewer people have, by lot where as many have either. Of the pairs that are apart the least filled come first.
    """
    deal = _Deal(forms, wanted=wanted, have=have, barred=frozenset(barred))
    # Otherwise people who join singly would all meet the same first throw.
    dice = random.Random(f"{seed}:{len(have)}")  # noqa: S311  a fair order, not a secret
    order = sorted(set(people))
    dice.shuffle(order)
    pairs = sorted(forms.apart)
    dice.shuffle(pairs)
    tasks: list[Task] = []
    for person in sorted(order, key=lambda person: person not in deal.tasks):
        mine = deal.tasks.get(person, ())
        chosen = deal.best(person, mine, pairs) if len(mine) < 2 else None
        if chosen is None:
            continue
        if mine:
            [new] = set(chosen) - set(mine)
            tasks.append((person, new))
        else:
            a_first = deal.a_first_is_due(dice)
            tasks += [(person, subtopic) for subtopic in (chosen if a_first else chosen[::-1])]
            deal.n_first[a_first] += 1
        deal.filled.update(set(chosen) - set(mine))
    return tuple(tasks)


class _Deal:
    """What is given so far; `n_first` counts by whether people begin with form A."""

    def __init__(self, forms: Forms, *, wanted: int, have: Sequence[Task], barred: frozenset[Task]) -> None:
        self.wanted, self.barred = wanted, barred
        self.filled = Counter(subtopic for _person, subtopic in have)
        self.tasks: dict[int, tuple[int, ...]] = {}
        for person, subtopic in have:
            self.tasks[person] = (*self.tasks.get(person, ()), subtopic)
        self.n_first = Counter(subtopics[0] in forms.a for subtopics in self.tasks.values())

    def best(self, person: int, mine: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """The least filled pair with room, in which what the person has stays; None if there is none."""
        fitting = [
            pair
            for pair in pairs
            if set(mine) <= set(pair)
            and all(
                self.filled[subtopic] < self.wanted and (person, subtopic) not in self.barred
                for subtopic in set(pair) - set(mine)
            )
        ]
        return min(fitting, key=lambda pair: sum(self.filled[subtopic] for subtopic in pair), default=None)

    def a_first_is_due(self, dice: random.Random) -> bool:
        """Whether the next person begins with form A."""
        lead = self.n_first[True] - self.n_first[False]
        return lead < 0 or (lead == 0 and dice.random() < 0.5)
