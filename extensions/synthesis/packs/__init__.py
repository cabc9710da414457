"""Haystacks made from templates: facts, renderings and filler, of which a seed makes a world. Without Django.

The same seed and options give the same bytes, on every machine and Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicInsight, TopicSubtopic
from extensions.synthesis.checks import Plan, plan_of
from extensions.synthesis.packs.dealing import NOTHING, Chance, Filling, NoWorld, Sheet, TextId, deal, fill
from extensions.synthesis.packs.schema import Fact, Pack, Subtopic, template
from extensions.synthesis.packs.values import Forms, ValueCheck, wrong_pairs

MADE_FROM = "templates"
ID_LENGTH = 24
HIGHEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class World:
    """A haystack with what its facts were filled with; `facts` has the forms of each value of each insight."""

    topic: TopicFile
    facts: tuple[tuple[Forms, ...], ...]

    @cached_property
    def plan(self) -> Plan:
        """Facts that each document was made to hold."""
        return plan_of(self.topic)

    @property
    def check(self) -> ValueCheck:
        return ValueCheck(self.facts)


def preview(pack: Pack, *, seed: int, unlike: int | None = None) -> dict[str, Any]:
    """The title of a world and its subtopics with their insights, without documents; raises as `make`."""
    writer = _Writer(_filling(pack, seed, unlike), unlike)
    insights = [[writer.insight(subtopic, fact) for fact in subtopic.facts] for subtopic in pack.subtopics]
    return {
        "title": writer.text(pack.topic, 0, "topic"),
        "subtopics": list(zip(pack.subtopics, insights, strict=True)),
    }


def make(pack: Pack, *, seed: int, unlike: int | None = None) -> World:
    """Make the world of a seed; with `unlike` no value is the one that the slot has in the world of that seed.

    Raises:
        NoWorld: the pack has no world for this seed, or one whose documents do not hold exactly what they should.
    """
    filling = _filling(pack, seed, unlike)
    world = _write(pack, filling, deal(pack, filling.chance), seed, unlike)
    if wrong := wrong_pairs(world.check, world.plan):
        insight, document = wrong[0]
        what = "lacks" if world.plan.planted[insight, document] else "also holds"
        raise NoWorld(
            f"seed {seed}: document {document + 1} {what} the values of “{world.plan.insights[insight]}”; "
            "take another seed"
        )
    return world


def _filling(pack: Pack, seed: int, unlike: int | None) -> Filling:
    if not 0 <= seed <= HIGHEST_SEED or (unlike is not None and not 0 <= unlike <= HIGHEST_SEED):
        raise NoWorld(f"a seed is a number from 0 to {HIGHEST_SEED:,}")
    if seed == unlike:
        raise NoWorld("a world cannot differ from itself: give another seed")
    other = NOTHING if unlike is None else fill(pack, Chance(pack.id, pack.version, unlike)).values
    return fill(pack, Chance(pack.id, pack.version, seed), unlike=other)


def _write(pack: Pack, filling: Filling, sheets: list[Sheet], seed: int, unlike: int | None) -> World:
    writer = _Writer(filling, unlike)
    documents = tuple(map(writer.document, sheets))
    gold: dict[tuple[str, int], list[int]] = {}
    for sheet in sheets:
        for cards in sheet.facts.values():
            for card in cards:
                gold.setdefault((card.subtopic, card.number), []).append(sheet.number)
    subtopics = tuple(
        TopicSubtopic(
            key=writer.id("subtopic", subtopic.id),
            number=number,
            name=subtopic.name,
            description=subtopic.description,
            query=subtopic.query,
            insights=tuple(
                TopicInsight(
                    key=writer.id("insight", subtopic.id, fact.name),
                    name=fact.name,
                    text=writer.insight(subtopic, fact),
                    gold_documents=tuple(sorted(gold[subtopic.id, at])),
                )
                for at, fact in enumerate(subtopic.facts)
            ),
        )
        for number, subtopic in enumerate(pack.subtopics, 1)
    )
    unlike_part = {} if unlike is None else {"unlike": unlike}
    topic = TopicFile(
        key=writer.id("topic"),
        title=writer.text(pack.topic, 0, "topic"),
        documents=documents,
        subtopics=subtopics,
        metadata={
            "made_from": MADE_FROM,
            "pack": pack.id,
            "pack_version": pack.version,
            "seed": seed,
            **unlike_part,
            "token_budget": pack.budget,
        },
    )
    return World(topic, tuple(_forms(fact, filling) for _subtopic, fact in pack.facts))


def _forms(fact: Fact, filling: Filling) -> tuple[Forms, ...]:
    names = dict.fromkeys(reference.name for reference in template(fact.insight).references)
    return tuple(filling.facts[name].forms for name in names if name in filling.facts)


@dataclass(frozen=True)
class _Writer:
    filling: Filling
    unlike: int | None

    def id(self, *key: object) -> str:
        """An id that depends on pack, version, seed and options."""
        return self.filling.chance.name("id", self.unlike, *key)[:ID_LENGTH]

    def text(
        self, source: str, document: int, *key: object, gaps: Callable[[int], str] = lambda number: ""
    ) -> str:
        """A text of the pack with its slots, wordings and gaps filled in."""
        return template(source).filled(
            lambda reference: self.filling.refer(reference, document),
            lambda choices: self.filling.choose(choices, document, *key),
            gaps,
        )

    def insight(self, subtopic: Subtopic, fact: Fact) -> str:
        return self.text(fact.insight, 0, "insight", subtopic.id, fact.name)

    def document(self, sheet: Sheet) -> TopicDocument:
        genre, number = sheet.genre, sheet.number
        frame = {
            part: self.text(texts[sheet.frame[part]], number, genre.id, part)
            for part, texts in genre.frame.items()
        }
        first, *rest = (self._passage(sheet, subtopic) for subtopic in sheet.subtopics)
        parts = [frame["openings"], first, frame.get("asides", ""), *rest, frame["closings"]]
        return TopicDocument(
            key=self.id("document", number),
            number=number,
            text="\n\n".join(filter(None, parts)),
            title=frame["titles"],
            metadata={"title": frame["titles"], "genre": genre.id},
        )

    def _passage(self, sheet: Sheet, subtopic: Subtopic) -> str:
        """Filler with renderings and side facts in its gaps; where more gaps are, chance leaves some empty."""
        card = sheet.filler[subtopic.id]
        source = subtopic.filler.voices[card.voice][card.text]
        held = [*sheet.facts.get(subtopic.id, ()), *sheet.sides.get(subtopic.id, ())]
        chance = self.filling.chance
        gaps = chance.shuffled(range(template(source).n_gaps), "gaps", sheet.number, subtopic.id)[: len(held)]
        texts = dict(zip(gaps, self._said(sheet, held), strict=True))
        return self.text(source, sheet.number, card, gaps=lambda gap: texts.get(gap, ""))

    def _said(self, sheet: Sheet, cards: Iterable[TextId]) -> list[str]:
        subtopics = {subtopic.id: subtopic for subtopic in sheet.subtopics}
        parts = {"facts": lambda fact: fact.facts, "side": lambda fact: fact.side}
        return [
            self.text(
                parts[card.kind](subtopics[card.subtopic])[card.number].voices[card.voice][card.text],
                sheet.number,
                card,
            )
            for card in cards
        ]
