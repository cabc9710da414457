"""Draws by seed: values of slots, people, and which document holds which fact in which rendering.

Values of facts are all different, and no other slot has one of them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TypeVar

from extensions.synthesis.packs.schema import (
    ANY,
    Choices,
    Genre,
    Pack,
    Reference,
    Subtopic,
    WrongRule,
    holds,
    template,
)
from extensions.synthesis.packs.values import Slot, Value, said_by

T = TypeVar("T")
_DIGITS = 13
"""Hexadecimal digits that a float holds exactly."""
_SIZE: float = 16.0**_DIGITS


@dataclass(frozen=True, slots=True)
class Chance:
    """Draws of one world of one pack."""

    pack: str
    version: int
    seed: int

    def draw(self, *key: object) -> float:
        """A number from 0 up to but not including 1."""
        return int(self.name(*key)[:_DIGITS], 16) / _SIZE

    def choose(self, values: Sequence[T], *key: object) -> T:
        """One of the values, each as likely."""
        return values[int(self.draw(*key) * len(values))]

    def shuffled(self, values: Iterable[T], *key: object) -> list[T]:
        """The values in an order drawn for each of them by how it prints."""
        return sorted(values, key=lambda value: (self.draw(*key, value), str(value)))

    def name(self, *key: object) -> str:
        """64 hexadecimal digits that stand for the key in this world."""
        content = "|".join(map(str, (self.pack, self.version, self.seed, *key)))
        return hashlib.sha256(content.encode()).hexdigest()


Values = Mapping[str, Value]
NOTHING: Values = MappingProxyType({})


class NoWorld(ValueError):
    """This pack has no world for this seed; the message says why."""


@dataclass(frozen=True)
class Filling:
    """The values and people of a world, and among the values those of facts; documents add slots of their own."""

    chance: Chance
    slots: Mapping[str, Slot]
    values: Values
    facts: Values
    people: Mapping[str, tuple[str, str]]
    _drawn: dict[tuple[int, str], Value] = field(default_factory=dict)
    _free: dict[str, list[Value]] = field(default_factory=dict)

    def refer(self, reference: Reference, document: int) -> str:
        """Words for a slot or a person in a document."""
        if person := self.people.get(reference.name):
            return dict(zip(("first", "last"), person, strict=True)).get(reference.form, " ".join(person))
        value = self.values.get(reference.name) or self._of_document(reference.name, document)
        return value.shown(reference.form)

    def choose(self, choices: Choices, *key: object) -> str:
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
    """Draw values and names of a world; none of the values `unlike` comes back in the same slot.

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


def _people(pack: Pack, chance: Chance) -> dict[str, tuple[str, str]]:
    """(first, last) name of everybody in the cast."""
    people: dict[str, tuple[str, str]] = {}
    last = chance.shuffled(pack.names.last, "last name")[::-1]
    first: dict[str, list[str]] = {
        pronoun: chance.shuffled(getattr(pack.names, pronoun), "first name", pronoun)
        for pronoun in {role.pronoun for role in pack.cast.values()}
    }
    for name, role in pack.cast.items():
        if not first[role.pronoun]:
            raise NoWorld(f"cast: there are too few first names for “{role.pronoun}”")
        if not last:
            raise NoWorld("cast: there are too few last names")
        people[name] = first[role.pronoun].pop(), last.pop()
    return people


@dataclass(frozen=True, slots=True)
class TextId:
    """A text of a pack.

    `kind` says whether it is of `facts`, `side` or `filler`, `number` of which one, and `text` which of its voice.
    """

    subtopic: str
    kind: str
    number: int
    voice: str
    text: int


@dataclass(slots=True)
class Sheet:
    """A document while it is dealt: what it holds by subtopic, and where its frame comes from."""

    number: int
    genre: Genre
    subtopics: tuple[Subtopic, ...]
    facts: dict[str, list[TextId]] = field(default_factory=dict)
    sides: dict[str, list[TextId]] = field(default_factory=dict)
    filler: dict[str, TextId] = field(default_factory=dict)
    frame: dict[str, int] = field(default_factory=dict)

    @property
    def n_facts(self) -> int:
        return sum(map(len, self.facts.values()))


def deal(pack: Pack, chance: Chance) -> list[Sheet]:
    """All documents of a world, in the order of their numbers.

    Raises:
        NoWorld: a fact has no document of its voices, or a document has too few or too many facts.
    """
    sheets = _sheets(pack, chance)
    by_id = {subtopic.id: subtopic for subtopic in pack.subtopics}
    facts = [(subtopic.id, number) for subtopic in pack.subtopics for number in range(len(subtopic.facts))]
    for name, number in chance.shuffled(facts, "facts"):
        about = [sheet for sheet in sheets if by_id[name] in sheet.subtopics]
        _deal_fact(pack, chance, by_id[name], number, about)
    fewest, most = pack.facts_per_document
    for sheet in sheets:
        if not fewest <= sheet.n_facts <= most:
            raise NoWorld(f"document {sheet.number} would hold {sheet.n_facts} facts, not {fewest} to {most}")
    _deal_filler(chance, sheets)
    _deal_sides(pack, chance, sheets)
    _deal_frames(chance, sheets)
    return sheets


def _sheets(pack: Pack, chance: Chance) -> list[Sheet]:
    """Documents with a genre and two subtopics of one form each; every voice has as many about each subtopic."""
    by_form = [[row for row in pack.subtopics if row.form == form] for form in pack.forms]
    candidates: list[tuple[Subtopic, ...]] = []
    for rows in by_form:
        candidates += combinations(rows, 2) if len(rows) > 1 else [tuple(rows)]
    uses: Counter[object] = Counter()
    sheets = []
    for at, place in enumerate(chance.shuffled(range(pack.documents), "order")):
        genre = pack.genres[at % len(pack.genres)]

        def weight(pair: tuple[Subtopic, ...], at: int = at, genre: Genre = genre) -> tuple[float, ...]:
            """The heavier, the less a document of this genre should be about these."""
            ids = [subtopic.id for subtopic in pair]
            return (
                sum(uses["voice", genre.voice, subtopic] ** 2 for subtopic in ids) / len(ids),
                sum(uses[subtopic] for subtopic in ids) / len(ids),
                sum(uses["genre", genre.id, subtopic] for subtopic in ids) / len(ids),
                uses[tuple(ids)],
                chance.draw("pair", at, *ids),
            )

        pair = min(candidates, key=weight)
        uses[tuple(subtopic.id for subtopic in pair)] += 1
        for subtopic in pair:
            uses.update([subtopic.id, ("voice", genre.voice, subtopic.id), ("genre", genre.id, subtopic.id)])
        in_order = chance.shuffled(range(len(pair)), "first", at)
        sheets.append(Sheet(place + 1, genre, tuple(pair[index] for index in in_order)))
    return sorted(sheets, key=lambda sheet: sheet.number)


def _deal_fact(pack: Pack, chance: Chance, subtopic: Subtopic, number: int, about: Sequence[Sheet]) -> None:
    """Give the renderings of a fact to documents of their voices, the thin ones first."""
    fact = subtopic.facts[number]
    first, last = pack.documents_per_fact
    n_uses = first + int(chance.draw("uses", subtopic.id, fact.name) * (last - first + 1))
    cards = [
        TextId(subtopic.id, "facts", number, voice, text)
        for voice, texts in fact.voices.items()
        for text in range(len(texts))
    ]
    cards = chance.shuffled(cards, "cards", subtopic.id, fact.name)
    held: set[int] = set()
    for card in [*cards, *cards][:n_uses]:
        open_to = [sheet for sheet in about if sheet.genre.voice == card.voice and sheet.number not in held]
        if not open_to:
            continue
        sheet = min(
            open_to,
            key=lambda sheet: (
                sheet.n_facts,
                len(sheet.facts.get(subtopic.id, ())),
                chance.draw("sheet", subtopic.id, fact.name, sheet.number),
            ),
        )
        sheet.facts.setdefault(subtopic.id, []).append(card)
        held.add(sheet.number)
    if len(held) < first:
        raise NoWorld(f"{subtopic.id}, “{fact.name}”: only {len(held)} documents can hold it, not {first}")


def _deal_filler(chance: Chance, sheets: Sequence[Sheet]) -> None:
    uses: Counter[TextId] = Counter()
    for sheet in sheets:
        for subtopic in sheet.subtopics:
            voice = sheet.genre.voice
            needed = len(sheet.facts.get(subtopic.id, ()))
            texts = subtopic.filler.voices[voice]
            cards = [
                TextId(subtopic.id, "filler", 0, voice, text)
                for text, source in enumerate(texts)
                if template(source).n_gaps >= needed
            ]
            if not cards:
                raise NoWorld(f"{subtopic.id}.filler.{voice}: no passage has room for {needed} facts")
            sheet.filler[subtopic.id] = _least_used(cards, uses, chance, sheet.number)


def _deal_sides(pack: Pack, chance: Chance, sheets: Sequence[Sheet]) -> None:
    """Side facts into gaps that facts leave, in turn by subtopic, none twice in a document."""
    uses: Counter[TextId] = Counter()
    of_fact: Counter[tuple[str, int]] = Counter()
    for sheet in sheets:
        room = {
            subtopic.id: template(subtopic.filler.voices[sheet.genre.voice][sheet.filler[subtopic.id].text]).n_gaps
            - len(sheet.facts.get(subtopic.id, ()))
            for subtopic in sheet.subtopics
        }
        for turn in range(pack.said_per_document - sheet.n_facts):
            open_to = [subtopic for subtopic in sheet.subtopics if room[subtopic.id] and _sides(subtopic, sheet)]
            if not open_to:
                break
            subtopic = max(
                open_to,
                key=lambda subtopic: (room[subtopic.id], chance.draw("side", sheet.number, turn, subtopic.id)),
            )
            cards = _sides(subtopic, sheet)
            fewest = min(of_fact[card.subtopic, card.number] for card in cards)
            cards = [card for card in cards if of_fact[card.subtopic, card.number] == fewest]
            card = _least_used(cards, uses, chance, sheet.number)
            sheet.sides.setdefault(subtopic.id, []).append(card)
            of_fact[card.subtopic, card.number] += 1
            room[subtopic.id] -= 1


def _sides(subtopic: Subtopic, sheet: Sheet) -> list[TextId]:
    """Side facts that a document has not yet, in its voice or any."""
    held = {card.number for card in sheet.sides.get(subtopic.id, ())}
    return [
        TextId(subtopic.id, "side", number, voice, text)
        for number, side in enumerate(subtopic.side)
        if number not in held
        for voice, texts in side.voices.items()
        if voice in (ANY, sheet.genre.voice)
        for text in range(len(texts))
    ]


def _deal_frames(chance: Chance, sheets: Iterable[Sheet]) -> None:
    uses: Counter[tuple[str, str, int]] = Counter()
    for sheet in sheets:
        for part, texts in sheet.genre.frame.items():
            cards = [(sheet.genre.id, part, text) for text in range(len(texts))]
            least = min(uses[card] for card in cards)
            card = chance.choose([card for card in cards if uses[card] == least], part, sheet.number)
            uses[card] += 1
            sheet.frame[part] = card[2]


def _least_used(cards: Sequence[TextId], uses: Counter[TextId], chance: Chance, document: int) -> TextId:
    card = min(cards, key=lambda card: (uses[card], chance.draw("least used", document, card)))
    uses[card] += 1
    return card
