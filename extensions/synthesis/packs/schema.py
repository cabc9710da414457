"""What a pack file says: facts with slots, their renderings by voice, filler, side facts, genres and a cast."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from extensions.synthesis.packs.slots import Slot
from extensions.synthesis.packs.templates import Template, WrongTemplate, read

ANY = "any"
"""The voice of side facts that fit into every document."""
FRAME = ("titles", "openings", "asides", "closings")


def _readable(source: str) -> str:
    try:
        read(source)
    except WrongTemplate as error:
        raise ValueError(str(error)) from error
    return source.strip()


Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_readable)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Voiced(BaseModel):
    """Whatever is not a field of its own is a voice with its texts."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Texts]

    @property
    def voices(self) -> dict[str, Texts]:
        """Texts by voice, in the order of the file."""
        return self.__pydantic_extra__


class Fact(_Voiced):
    """A reference insight and how documents say it."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    insight: Text


class Side(_Voiced):
    """A fact that is in no reference: it keeps numbers from giving evidence away."""


class Filler(_Voiced):
    """Passages about a subtopic, with gaps for facts."""


class Subtopic(_Part):
    """A subtopic with all that is said about it.

    Documents join subtopics of the same `form` only, so that one person can be given another form without meeting
    anything again.
    """

    id: Key
    form: int = 1
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    slots: dict[str, Slot] = Field(default_factory=dict)
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    side: tuple[Side, ...] = ()
    filler: Filler


class Genre(_Part):
    """A sort of document: how it is called, how it begins and ends, and in which voice it speaks.

    `asides` are passages on nothing in particular, of which each document has one.
    """

    id: Key
    voice: Key
    titles: Texts
    openings: Texts
    asides: tuple[Text, ...] = ()
    closings: Texts

    @property
    def frame(self) -> dict[str, tuple[Text, ...]]:
        """What a document has one of, by the name of the field; nothing of an empty one."""
        return {name: texts for name in FRAME if (texts := getattr(self, name))}


class Role(_Part):
    """Somebody whose name is drawn once a world."""

    pronoun: Literal["she", "he", "they"]


class Names(_Part):
    """First names by pronoun, and last names."""

    she: tuple[str, ...] = ()
    he: tuple[str, ...] = ()
    they: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


class Pack(_Part):
    """A pack. A new `version` draws new worlds from the same seeds.

    `documents_per_fact` is from how many to how many documents hold a fact, `facts_per_document` how many facts a
    document may hold. `said_per_document` counts facts and side facts together, as far as passages have gaps.
    `budget` is in tokens, for retrievers.
    """

    id: Key
    version: Annotated[int, Field(ge=1)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    about: Annotated[str, Field(min_length=1)]
    topic: Text
    documents: Annotated[int, Field(ge=2, le=1000)]
    documents_per_fact: tuple[int, int]
    facts_per_document: tuple[int, int] = (3, 8)
    said_per_document: Annotated[int, Field(ge=1)]
    budget: Annotated[int, Field(ge=1)]
    slots: dict[str, Slot] = Field(default_factory=dict)
    cast: dict[str, Role] = Field(default_factory=dict)
    names: Names = Field(default_factory=Names)
    genres: Annotated[tuple[Genre, ...], Field(min_length=1)]
    subtopics: Annotated[tuple[Subtopic, ...], Field(min_length=2)]

    @cached_property
    def voices(self) -> tuple[str, ...]:
        """Those that genres speak in."""
        return tuple(dict.fromkeys(genre.voice for genre in self.genres))

    @cached_property
    def all_slots(self) -> dict[str, Slot]:
        """Slots of the pack and of its subtopics, in order."""
        slots = dict(self.slots)
        for subtopic in self.subtopics:
            slots |= subtopic.slots
        return slots

    @cached_property
    def slots_of_facts(self) -> frozenset[str]:
        """The slots whose values are in the reference."""
        insights = [template(fact.insight) for _subtopic, fact in self.facts]
        return frozenset(
            reference.name
            for insight in insights
            for reference in insight.references
            if reference.name in self.all_slots
        )

    @property
    def facts(self) -> list[tuple[Subtopic, Fact]]:
        """All facts with their subtopics."""
        return [(subtopic, fact) for subtopic in self.subtopics for fact in subtopic.facts]

    @property
    def forms(self) -> tuple[int, ...]:
        """The parts that share nothing, for people who are given two forms."""
        return tuple(dict.fromkeys(subtopic.form for subtopic in self.subtopics))


def template(source: str) -> Template:
    """A text of a pack, which can be read since the pack was."""
    return read(source)


def texts_of(pack: Pack) -> list[tuple[str, str]]:
    """Every text of a pack with its place in it."""
    placed: list[tuple[str, str]] = [("topic", pack.topic)]
    for number, genre in enumerate(pack.genres):
        for name, texts in genre.frame.items():
            placed += _placed(f"genres[{number}].{name}", texts)
    for subtopic in pack.subtopics:
        for number, fact in enumerate(subtopic.facts):
            place = f"{subtopic.id}.facts[{number}]"
            placed.append((f"{place}.insight", fact.insight))
            placed += _voiced(place, fact)
        for number, side in enumerate(subtopic.side):
            placed += _voiced(f"{subtopic.id}.side[{number}]", side)
        placed += _voiced(f"{subtopic.id}.filler", subtopic.filler)
    return placed


def _voiced(place: str, part: _Voiced) -> list[tuple[str, str]]:
    return [pair for voice, texts in part.voices.items() for pair in _placed(f"{place}.{voice}", texts)]


def _placed(place: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"{place}[{number}]", text) for number, text in enumerate(texts)]
