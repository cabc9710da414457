"""The formats of other programs: what each holds, what it is made of, and the zip that it comes in."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, Any

from django.db.models import QuerySet

from annotation.exports.archive import Card, pack
from annotation.exports.boards import BoardMade
from annotation.models import Study
from extensions.exchange import inspect_logs
from extensions.exchange.collected import MADE_WITH, Choices, Collection, of_board, of_labels, of_writing

BOARD = "leaderboard"
WRITING, LINKING, VALIDATION = Study.Kind.WRITING.value, Study.Kind.LINKING.value, Study.Kind.VALIDATION.value
READERS = {WRITING: of_writing, LINKING: of_labels, VALIDATION: of_labels}


class NothingToWrite(Exception):
    """There is no text with a score or label; the message says so."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format, what its files hold, and of what they are made: the leaderboard, and kinds of study."""

    name: str
    title: str
    holds: str
    made_of: frozenset[str]
    files: Callable[[Collection], Iterable[inspect_logs.Out]]


FORMATS = {
    each.name: each
    for each in (
        Format(
            "inspect",
            "Inspect",
            "A log (version 2) of each system and of people, whose samples have outcome, active and paused time"
            " and a score at each mark; scores and people's labels for precomputed_scores.",
            frozenset({BOARD, WRITING, LINKING, VALIDATION}),
            inspect_logs.files,
        ),
    )
}
"""By the name in addresses and commands."""


def formats_of(kind: str) -> list[Format]:
    """The formats that a kind of study, or the leaderboard, can be written in."""
    return [each for each in FORMATS.values() if kind in each.made_of]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A format with what its files hold beside keys and scores, and under which licence."""

    format: Format
    choices: Choices
    licence: str = ""


def write_study(out: IO[bytes], study: Study, *, wanted: Wanted, now: datetime) -> str:
    """Write the zip of a study; gives its name. Raises `NothingToWrite`."""
    return _write(out, READERS[study.kind](study, choices=wanted.choices, now=now), wanted)


def write_board(
    out: IO[bytes], made: BoardMade, studies: QuerySet[Study], *, wanted: Wanted, now: datetime
) -> str:
    """Write the zip of a leaderboard with the people of these studies; gives its name. Raises `NothingToWrite`."""
    return _write(out, of_board(made, studies, choices=wanted.choices, now=now), wanted)


def _write(out: IO[bytes], collection: Collection, wanted: Wanted) -> str:
    collection = replace(collection, runs=[run for run in collection.runs if run.answers])
    if not collection.runs:
        raise NothingToWrite("Nothing is scored or labelled here yet.")
    card = Card(
        name=f"{collection.name}-{wanted.format.name}",
        title=f"{collection.title}, for {wanted.format.title}",
        description=wanted.format.holds,
        uid=collection.id_of(wanted.format.name),
        made_at=collection.made_at,
        licence=wanted.licence,
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        names = [pack(zipped, card, *file).name for file in wanted.format.files(collection)]
        pack(zipped, card, "README.md", "Contents", [_readme(card, collection, names)])
    return f"{card.name}.zip"


def _readme(card: Card, collection: Collection, names: Iterable[str]) -> str:
    by = f"the judge {collection.judge}" if collection.judge else "people's labels"
    lines: list[Any] = [
        f"# {card.title}\n",
        f"{card.description}\n",
        f"Scores are those of {by}. People appear under pseudonyms. {collection.choices.left_out}\n",
        f"Made {card.made_at.isoformat(timespec='seconds')} with {MADE_WITH['name']} {MADE_WITH['version']}.",
        f"Licence: {card.licence or 'none was given'}.\n",
        *(f"- `{name}`" for name in names),
    ]
    return "\n".join([*lines, ""])
