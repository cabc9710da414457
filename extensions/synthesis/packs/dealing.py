"""Which document is of which genre and about what, holds which fact in which rendering, and has which filler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from extensions.synthesis.packs.drawing import Chance
from extensions.synthesis.packs.filling import NoWorld
from extensions.synthesis.packs.schema import ANY, Genre, Pack, Subtopic, template


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
        """Renderings in it."""
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
    candidates = [pair for form in pack.forms for pair in _pairs(pack, form)]
    balance = _Balance()
    sheets = []
    for at, place in enumerate(chance.shuffled(range(pack.documents), "order")):
        genre = pack.genres[at % len(pack.genres)]
        pair = min(
            candidates,
            key=lambda subtopics: (balance.weight(genre, subtopics), chance.draw("pair", at, *_ids(subtopics))),
        )
        balance.add(genre, pair)
        in_order = chance.shuffled(range(len(pair)), "first", at)
        sheets.append(Sheet(place + 1, genre, tuple(pair[index] for index in in_order)))
    return sorted(sheets, key=lambda sheet: sheet.number)


def _pairs(pack: Pack, form: int) -> list[tuple[Subtopic, ...]]:
    subtopics = [subtopic for subtopic in pack.subtopics if subtopic.form == form]
    return list(combinations(subtopics, 2)) or [tuple(subtopics)]


def _ids(pair: Iterable[Subtopic]) -> list[str]:
    return [subtopic.id for subtopic in pair]


@dataclass(slots=True)
class _Balance:
    """How often each subtopic was given to a voice, to a genre and at all, and each pair of subtopics."""

    voiced: Counter[tuple[str, str]] = field(default_factory=Counter)
    within: Counter[tuple[str, str]] = field(default_factory=Counter)
    uses: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def weight(self, genre: Genre, pair: Iterable[Subtopic]) -> tuple[float, ...]:
        """The heavier, the less a document of this genre should be about these."""
        ids = _ids(pair)
        return (
            sum(self.voiced[genre.voice, subtopic] ** 2 for subtopic in ids) / len(ids),
            sum(self.uses[subtopic] for subtopic in ids) / len(ids),
            sum(self.within[genre.id, subtopic] for subtopic in ids) / len(ids),
            self.pairs[tuple(ids)],
        )

    def add(self, genre: Genre, pair: Iterable[Subtopic]) -> None:
        """Count a document."""
        ids = _ids(pair)
        self.pairs[tuple(ids)] += 1
        for subtopic in ids:
            self.voiced[genre.voice, subtopic] += 1
            self.within[genre.id, subtopic] += 1
            self.uses[subtopic] += 1


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
