"""What the slots and people of a world are: drawn from the seed, and unlike those of another world.

Values of facts are all different, and no other slot has one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from extensions.synthesis.packs.drawing import Chance
from extensions.synthesis.packs.rules import WrongRule, holds
from extensions.synthesis.packs.schema import Pack
from extensions.synthesis.packs.slots import Slot, Value, said_by
from extensions.synthesis.packs.templates import Choices, Reference

Values = Mapping[str, Value]
NOTHING: Values = MappingProxyType({})


class NoWorld(ValueError):
    """This pack has no world for this seed; the message says why."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody's name."""

    first: str
    last: str

    def shown(self, form: str) -> str:
        """The whole name, or one of its parts."""
        return {"first": self.first, "last": self.last}.get(form, f"{self.first} {self.last}")


@dataclass(frozen=True)
class Filling:
    """The values and people of a world, and among the values those of facts; documents add slots of their own."""

    chance: Chance
    slots: Mapping[str, Slot]
    values: Values
    facts: Values
    people: Mapping[str, Person]
    _drawn: dict[tuple[int, str], Value] = field(default_factory=dict)
    _free: dict[str, list[Value]] = field(default_factory=dict)

    def refer(self, reference: Reference, document: int) -> str:
        """What stands for a slot or a person in a document."""
        if reference.name in self.people:
            return self.people[reference.name].shown(reference.form)
        value = self.values.get(reference.name) or self._of_document(reference.name, document)
        return value.shown(reference.form)

    def choose(self, choices: Choices, *key: object) -> str:
        """One of the wordings of a bracket."""
        return self.chance.choose(choices.options, "wording", *key, choices.number)

    def _of_document(self, name: str, document: int) -> Value:
        if (document, name) not in self._drawn:
            if name not in self._free:
                self._free[name] = [value for value in self.slots[name].values if not value.clashes(self._taken)]
            if not self._free[name]:
                raise NoWorld(f"slot “{name}”: every value is taken by a fact of this world")
            self._drawn[document, name] = self.chance.choose(self._free[name], "document", document, name)
        return self._drawn[document, name]

    @cached_property
    def _taken(self) -> set[str]:
        return said_by(self.facts.values())


def fill(pack: Pack, chance: Chance, *, unlike: Values = NOTHING) -> Filling:
    """Draw values and names of a world.

    Args:
        pack: whose slots and people.
        chance: the seed's draws.
        unlike: values of another world; none comes back in the same slot.

    Raises:
        NoWorld: a slot has no value left that keeps its rule and is not taken.
    """
    told = pack.slots_of_facts
    taken: set[str] = set()
    facts: dict[str, Value] = {}
    values: dict[str, Value] = {}
    for name, slot in sorted(pack.all_slots.items(), key=lambda item: item[0] not in told):
        if slot.each == "world":
            free = [
                drawn for drawn in slot.values if name not in unlike or not drawn.clashes(said_by([unlike[name]]))
            ]
            values[name] = _drawn(name, slot, free, chance, taken=taken, above=values)
            if name in told:
                facts[name] = values[name]
                taken |= said_by([values[name]])
    return Filling(chance, pack.all_slots, values, facts, _people(pack, chance))


def _drawn(
    name: str, slot: Slot, free: Sequence[Value], chance: Chance, *, taken: set[str], above: Values
) -> Value:
    """The value with the lowest draw, so that one that goes moves no others."""
    for value in sorted(
        free, key=lambda slot_value: (chance.draw("slot", name, slot_value.text), slot_value.text)
    ):
        if value.clashes(taken):
            continue
        if not slot.rule or _keeps(name, slot.rule, value, above):
            return value
    raise NoWorld(f"slot “{name}”: no value is left that keeps its rule and is not taken")


def _keeps(name: str, rule: str, value: Value, above: Values) -> bool:
    numbers = {other: drawn.number for other, drawn in [*above.items(), (name, value)] if drawn.number is not None}
    try:
        return holds(rule, numbers)
    except WrongRule as error:
        raise NoWorld(f"slot “{name}”: {error}") from error


def _people(pack: Pack, chance: Chance) -> dict[str, Person]:
    people: dict[str, Person] = {}
    last = iter(chance.shuffled(pack.names.last, "last name"))
    first: dict[str, list[str]] = {
        pronoun: chance.shuffled(getattr(pack.names, pronoun), "first name", pronoun)
        for pronoun in _pronouns(pack)
    }
    for name, role in pack.cast.items():
        if not first[role.pronoun]:
            raise NoWorld(f"cast: there are too few first names for “{role.pronoun}”")
        try:
            people[name] = Person(first[role.pronoun].pop(), next(last))
        except StopIteration:
            raise NoWorld("cast: there are too few last names") from None
    return people


def _pronouns(pack: Pack) -> Collection[str]:
    return {role.pronoun for role in pack.cast.values()}
