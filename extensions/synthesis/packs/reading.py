"""Packs out of TOML files: what is wrong is said with its place, everything at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from extensions.synthesis.packs import data
from extensions.synthesis.packs.rules import WrongRule, names_in
from extensions.synthesis.packs.schema import ANY, Pack, Subtopic, texts_of
from extensions.synthesis.packs.slots import WORDS
from extensions.synthesis.packs.templates import Reference, read

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
    return tuple(sorted(folder.name for folder in files(data).iterdir() if (folder / "pack.toml").is_file()))


def named(name: str) -> Pack:
    """A pack that comes with the program.

    Raises:
        UnknownPack: there is none of this name.
    """
    if name not in shipped():
        raise UnknownPack(name)
    with as_file(files(data) / name / "pack.toml") as path:
        return read_pack(path)


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
    """What a pack names and does not have."""
    yield from _named_twice("subtopic", [subtopic.id for subtopic in pack.subtopics])
    yield from _named_twice("genre", [genre.id for genre in pack.genres])
    names = [*pack.cast, *pack.slots, *(slot for subtopic in pack.subtopics for slot in subtopic.slots)]
    yield from _named_twice("slot or person", names)
    for subtopic in pack.subtopics:
        yield from _named_twice(f"{subtopic.id}: fact", [fact.name for fact in subtopic.facts])
        yield from _wrong_voices(pack, subtopic)
    for place, source in texts_of(pack):
        for reference in read(source).references:
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
