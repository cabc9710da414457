"""Packs out of TOML files: what is wrong is said with its place, and what a writer should look at."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from extensions.synthesis.packs.dealing import Chance, Filling, fill
from extensions.synthesis.packs.schema import (
    ANY,
    GAP,
    Fact,
    Pack,
    Reference,
    Subtopic,
    WrongRule,
    names_in,
    template,
    texts_of,
)
from extensions.synthesis.packs.values import WORDS

DATA = Path(__file__).parent / "data"
PARTS = "parts"
_OF_CAST = frozenset({"", "first", "last"})


class UnreadablePack(ValueError):
    """A file is no pack; `problems` are sentences that begin with their place."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        super().__init__(f"{self.problems[0]}{more}")


class UnknownPack(KeyError):
    """There is no pack of this name here."""

    def __str__(self) -> str:
        return f"There is no pack “{self.args[0]}”; there is {', '.join(shipped()) or 'none'}."


def shipped() -> tuple[str, ...]:
    """Names of the packs that come with the program."""
    return tuple(sorted(path.parent.name for path in DATA.glob("*/pack.toml")))


def named(name: str) -> Pack:
    """A pack that comes with the program.

    Raises:
        UnknownPack: there is none of this name.
    """
    if name not in shipped():
        raise UnknownPack(name)
    return read_pack(DATA / name / "pack.toml")


def read_pack(path: Path) -> Pack:
    """Read a pack file; a list `parts` in it names further files beside it, with a subtopic each.

    Raises:
        UnreadablePack: it is not a pack, or names something that it does not have.
    """
    content = _toml(path)
    names = content.pop(PARTS, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise UnreadablePack([f"{path.name}: {PARTS} must be a list of names of files beside it"])
    parts = [_toml(path.parent / name) for name in names]
    content["subtopics"] = [*content.get("subtopics", []), *parts]
    try:
        pack = Pack.model_validate(content)
    except ValidationError as error:
        raise UnreadablePack(_worded(error, path.name, names, len(content["subtopics"]) - len(parts))) from error
    if problems := list(_dangling(pack)):
        raise UnreadablePack(problems)
    return pack


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadablePack([f"{path.name}: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise UnreadablePack([f"{path.name}: it is not UTF-8 text"]) from error
    except tomllib.TOMLDecodeError as error:
        raise UnreadablePack([f"{path.name}: {error}"]) from error


def _worded(error: ValidationError, name: str, parts: list[str], n_before: int) -> Iterator[str]:
    for problem in error.errors():
        file, place = name, list(problem["loc"])
        if len(place) > 1 and place[0] == "subtopics" and isinstance(place[1], int) and place[1] >= n_before:
            file, place = parts[place[1] - n_before], place[2:]
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")
        yield f"{file}: {where}: {problem['msg'].removeprefix('Value error, ')}"


def _dangling(pack: Pack) -> Iterator[str]:
    """Names in a pack that nothing has."""
    yield from _named_twice("subtopic", [subtopic.id for subtopic in pack.subtopics])
    yield from _named_twice("genre", [genre.id for genre in pack.genres])
    names = [*pack.cast, *pack.slots, *(slot for subtopic in pack.subtopics for slot in subtopic.slots)]
    yield from _named_twice("slot or person", names)
    for subtopic in pack.subtopics:
        yield from _named_twice(f"{subtopic.id}: fact", [fact.name for fact in subtopic.facts])
        yield from _wrong_voices(pack, subtopic)
    for place, source in texts_of(pack):
        for reference in template(source).references:
            if problem := _unknown(pack, reference):
                yield f"{place}: {problem}"
    yield from _wrong_rules(pack)
    first, last = pack.documents_per_fact
    if not 1 <= first <= last <= pack.documents:
        yield "documents_per_fact: two numbers in order, from 1 to the number of documents"


def _named_twice(what: str, names: list[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{what} “{name}” is there twice"


def _wrong_voices(pack: Pack, subtopic: Subtopic) -> Iterator[str]:
    known = set(pack.voices)
    voiced = [(f"facts[{number}]", fact.voices, known) for number, fact in enumerate(subtopic.facts)]
    voiced += [(f"side[{number}]", side.voices, known | {ANY}) for number, side in enumerate(subtopic.side)]
    for place, voices, allowed in [*voiced, ("filler", subtopic.filler.voices, known)]:
        for voice in voices.keys() - allowed:
            yield f"{subtopic.id}.{place}: “{voice}” is neither a field nor the voice of a genre"
        if place != "filler" and not voices:
            yield f"{subtopic.id}.{place}: it has no text in any voice"
    for voice in known - subtopic.filler.voices.keys():
        yield f"{subtopic.id}.filler: there is nothing in the voice “{voice}”"


def _unknown(pack: Pack, reference: Reference) -> str:
    if reference.name in pack.cast:
        return (
            "" if reference.form in _OF_CAST else f"a person has no form “{reference.form}”, only first and last"
        )
    slot = pack.all_slots.get(reference.name)
    if slot is None:
        return f"there is no slot “{reference.name}”"
    if reference.form not in slot.forms:
        return f"a slot of kind {slot.kind} has no form “{reference.form}”"
    if reference.form not in ("", WORDS) and not slot.values[0].shown(reference.form):
        return f"the slot “{reference.name}” has no plurals"
    return ""


def _wrong_rules(pack: Pack) -> Iterator[str]:
    above: set[str] = set()
    for name, slot in pack.all_slots.items():
        above.add(name)
        if slot.rule:
            try:
                missing = names_in(slot.rule) - above
            except WrongRule as error:
                yield f"slots.{name}.rule: {error}"
                continue
            for other in sorted(missing):
                yield f"slots.{name}.rule: “{other}” is no slot above this one"


OWN_LEAST, OTHER_MOST = 0.45, 0.30
"""Likeness of a rendering to its own insight at least, and of any text to every other insight at most."""
FEWEST_VALUES = 10
FEWEST_RENDERINGS, FEWEST_SIDES = 4, 2
SEEDS = (1, 2, 3)

_PRONOUNS = ("he", "she", "it", "they", "this", "that", "these", "those", "his", "her", "its", "their", "there")
_OPENING = re.compile(rf"[“\"'\[]*(?:{'|'.join(_PRONOUNS[:-1])})\b", re.IGNORECASE)
_GENDERED = {
    "she": re.compile(r"\b(?:she|hers?|herself)\b", re.I),
    "he": re.compile(r"\b(?:he|his|him|himself)\b", re.I),
}
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|No|Rev|approx|etc|e\.g|i\.e|vs)\.(?=\s)")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Finding:
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def lint(pack: Pack) -> list[Finding]:
    """All findings, in the order of the pack; none for a good one.

    Raises:
        NoWorld: its slots cannot be filled, so that no text can be compared.
    """
    return [*_slots(pack), *_facts(pack), *_prose(pack), *_people(pack), *_likeness(pack)]


def _slots(pack: Pack) -> Iterator[Finding]:
    for name, slot in pack.all_slots.items():
        if len(slot.values) < FEWEST_VALUES:
            yield Finding(f"slots.{name}", f"{len(slot.values)} values; {FEWEST_VALUES} or more keep worlds apart")


def _facts(pack: Pack) -> Iterator[Finding]:
    for subtopic in pack.subtopics:
        for number, fact in enumerate(subtopic.facts):
            where = f"{subtopic.id}.facts[{number}]"
            slots = {
                reference.name
                for reference in template(fact.insight).references
                if reference.name in pack.all_slots
            }
            if not slots:
                yield Finding(f"{where}.insight", "no slot: it would be the same in every world")
            for name in sorted(slots):
                if pack.all_slots[name].each == "document":
                    yield Finding(f"{where}.insight", f"“{name}” is drawn for each document; a fact has one value")
            texts = [
                (f"{where}.{voice}[{n}]", text)
                for voice, all_ in fact.voices.items()
                for n, text in enumerate(all_)
            ]
            if len(texts) < FEWEST_RENDERINGS:
                yield Finding(where, f"{len(texts)} renderings; {FEWEST_RENDERINGS} or more keep documents apart")
            for place, text in texts:
                yield from _rendering(place, text, slots)
        for number, side in enumerate(subtopic.side):
            if sum(map(len, side.voices.values())) < FEWEST_SIDES:
                yield Finding(f"{subtopic.id}.side[{number}]", f"write it in {FEWEST_SIDES} or more wordings")


def _rendering(where: str, text: str, slots: set[str]) -> Iterator[Finding]:
    read = template(text)
    for name in sorted(slots - {reference.name for reference in read.references}):
        yield Finding(where, f"it lacks the slot “{name}” of its insight")
    if read.n_gaps:
        yield Finding(where, "a rendering has no gaps; only filler has")
    if _OPENING.match(text):
        yield Finding(where, "it opens with a pronoun, and nobody knows what stands before it")
    if _FIGURE.match(text) or (text.startswith("{") and not re.match(r"\{[a-z0-9_]+\|words\}", text)):
        yield Finding(where, "it opens with a slot or a figure; begin with a word")


def _prose(pack: Pack) -> Iterator[Finding]:
    for where, text in texts_of(pack):
        read = template(text)
        for choices in read.choices:
            if any(_FIGURE.search(option) for option in choices.options):
                yield Finding(where, "a number in brackets: brackets are for wordings that mean the same")
        for after in text.split(GAP)[1:]:
            if _OPENING.match(after.strip()):
                yield Finding(where, f"a pronoun after a gap: “{after.strip()[:30]}…”")
        if match := _ABBREVIATION.search(text):
            yield Finding(where, f"“{match[0]}” looks like the end of a sentence; write the word")
        if ".filler" in where and not read.n_gaps:
            yield Finding(where, f"filler without a gap ({GAP}) has no room for a fact")


def _people(pack: Pack) -> Iterator[Finding]:
    """Outside passages, a gendered pronoun has to stand for somebody of the cast in the same text."""
    for where, text in texts_of(pack):
        if ".filler" in where or ".asides" in where:
            continue
        roles = {
            pack.cast[reference.name].pronoun
            for reference in template(text).references
            if reference.name in pack.cast
        }
        for pronoun, pattern in _GENDERED.items():
            if pronoun not in roles and (match := pattern.search(text)):
                yield Finding(where, f"“{match[0]}” without a person of the cast for whom one says “{pronoun}”")


def _likeness(pack: Pack) -> Iterator[Finding]:
    """Compare each text, as some worlds have it, with all insights; the worst world is reported."""
    worst: dict[str, tuple[float, str]] = {}
    for seed in SEEDS:
        for where, excess, message in _compared(pack, fill(pack, Chance(pack.id, pack.version, seed))):
            if excess > worst.get(where, (0.0, ""))[0]:
                worst[where] = (excess, message)
    for where, (_excess, message) in worst.items():
        yield Finding(where, message)


def _compared(pack: Pack, filling: Filling) -> Iterator[tuple[str, float, str]]:
    """Place, by how much a bound is missed, and words for it."""

    def say(text: str) -> str:
        return template(text).filled(
            lambda reference: filling.refer(reference, 0), lambda reference: filling.choose(reference, text)
        )

    facts = pack.facts
    insights = [say(fact.insight) for _subtopic, fact in facts]
    texts = [
        (where, row_of_fact, part)
        for where, row_of_fact, text in _compared_texts(pack, facts)
        for part in _parts(say(text), row_of_fact)
    ]
    background = Background(tuple(part for _where, _row, part in texts), tuple(insights))
    scores: Any = LexicalJudge().similarities(insights, [part for _where, _row, part in texts], background)
    for column, (where, row_of_fact, _part) in enumerate(texts):
        if row_of_fact is not None and (score := float(scores[row_of_fact, column])) < OWN_LEAST:
            yield where, OWN_LEAST - score, f"too far from its insight: {score:.2f}, not {OWN_LEAST} or more"
        for row in range(len(insights)):
            if row != row_of_fact and (score := float(scores[row, column])) > OTHER_MOST:
                name = facts[row][1].name
                yield where, score - OTHER_MOST, f"too close to “{name}”: {score:.2f}, not {OTHER_MOST} or less"


def _compared_texts(pack: Pack, facts: Sequence[tuple[Subtopic, Fact]]) -> Iterator[tuple[str, int | None, str]]:
    """Each text of documents with the position of the fact that it says."""
    row_of_place = {
        f"{subtopic.id}.facts[{subtopic.facts.index(fact)}]": row for row, (subtopic, fact) in enumerate(facts)
    }
    for where, text in texts_of(pack):
        if not where.endswith(".insight") and where != "topic":
            yield where, row_of_place.get(where.rpartition(".")[0]), text


def _parts(text: str, row_of_fact: int | None) -> list[str]:
    """A rendering is compared as a whole, other texts sentence by sentence."""
    return [text] if row_of_fact is not None else sentences(text)
