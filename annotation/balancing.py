"""Deal subtopics to people evenly: pure and deterministic, given the order of people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Opening:
    """A subtopic that `wanted` more people should write on; `n_have` are there already."""

    subtopic_id: int
    haystack_id: int
    wanted: int
    n_have: int = 0


def deal(
    people: Sequence[int],
    openings: Sequence[Opening],
    *,
    allowed: Collection[tuple[int, int]],
    load: Mapping[int, int] | None = None,
    one_per_haystack: bool = True,
    max_tasks: int | None = None,
) -> list[tuple[int, int]]:
    """Give (person, subtopic) pairs, each opening at most `wanted` different people.

    `allowed` holds the pairs that may be given, `load` how many tasks each person has; nobody goes beyond
    `max_tasks`. Every pick takes the allowed person with the fewest tasks, ties by the order of `people`. One
    haystack after the other, and in it the subtopics with the fewest people first, so that few people cover many
    subtopics once before any twice; then tasks move from the busiest to the idlest while that evens out. With
    equal loads at the start and everybody allowed, loads differ by at most 1 at the end.
    """
    hand = _Hand(
        load={person: (load or {}).get(person, 0) for person in people},
        haystack_of={opening.subtopic_id: opening.haystack_id for opening in openings},
        allowed=allowed,
        one_per_haystack=one_per_haystack,
    )
    for group in _by_haystack(openings):
        for subtopic_id in _rounds(group):
            free = [
                person
                for person in people
                if hand.may_take(person, subtopic_id) and (max_tasks is None or hand.load[person] < max_tasks)
            ]
            if free:
                hand.give(min(free, key=lambda person: hand.load[person]), subtopic_id)
    hand.even_out(people)
    return hand.pairs


@dataclass
class _Hand:
    """The deal so far."""

    load: dict[int, int]
    haystack_of: Mapping[int, int]
    allowed: Collection[tuple[int, int]]
    one_per_haystack: bool
    pairs: list[tuple[int, int]] = field(default_factory=list)
    held: set[tuple[int, int]] = field(default_factory=set)

    def may_take(self, person: int, subtopic_id: int) -> bool:
        if (person, subtopic_id) not in self.allowed:
            return False
        return self._key(person, subtopic_id) not in self.held

    def give(self, person: int, subtopic_id: int) -> None:
        self.pairs.append((person, subtopic_id))
        self.held.add(self._key(person, subtopic_id))
        self.load[person] += 1

    def even_out(self, people: Sequence[int]) -> None:
        """Each move lowers the sum of squared loads, so this ends."""
        while (move := self._find_move(people)) is not None:
            index, person = move
            giver, subtopic_id = self.pairs[index]
            self.held.discard(self._key(giver, subtopic_id))
            self.load[giver] -= 1
            self.held.add(self._key(person, subtopic_id))
            self.load[person] += 1
            self.pairs[index] = (person, subtopic_id)

    def _find_move(self, people: Sequence[int]) -> tuple[int, int] | None:
        idlest_first = sorted(people, key=lambda person: self.load[person])
        for index, (giver, subtopic_id) in enumerate(self.pairs):
            for person in idlest_first:
                if self.load[person] > self.load[giver] - 2:
                    break
                if self.may_take(person, subtopic_id):
                    return index, person
        return None

    def _key(self, person: int, subtopic_id: int) -> tuple[int, int]:
        """What a person may hold once: a haystack, or only a subtopic."""
        return person, self.haystack_of[subtopic_id] if self.one_per_haystack else subtopic_id


def _by_haystack(openings: Sequence[Opening]) -> list[list[Opening]]:
    groups: dict[int, list[Opening]] = {}
    for opening in openings:
        groups.setdefault(opening.haystack_id, []).append(opening)
    return list(groups.values())


def _rounds(openings: Sequence[Opening]) -> list[int]:
    """Subtopic ids in the order of filling: those that would have the fewest people come first."""
    slots = [
        (opening.n_have + extra, position, opening.subtopic_id)
        for position, opening in enumerate(openings)
        for extra in range(opening.wanted)
    ]
    return [subtopic_id for _level, _position, subtopic_id in sorted(slots)]
