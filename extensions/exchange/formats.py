"""The formats of other programs: what each holds, what it is made of, and the zip that it comes in."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import IO, Any

from django.db.models import QuerySet

from annotation.exports import boards, studies
from annotation.exports.archive import Card, Contents, Packed, pack, write
from annotation.exports.boards import BoardMade
from annotation.kinds import StudyFile
from annotation.models import Study
from annotation.studies.rows import objects
from benchmarks.models import Judge
from benchmarks.scoring.summhay import MEASURES
from benchmarks.web.downloads import is_available, json_lines, parquet
from extensions.exchange import every_eval, inspect_logs, lines
from extensions.exchange.collected import (
    MADE_WITH,
    Choices,
    Collection,
    Out,
    of_board,
    of_labels,
    of_recall,
    of_writing,
)

INSIGHTS = frozenset({"insight_text", "text"})
WORDS = frozenset({
    "bullet_text", "snippet", "comment", "note", "reason", "exclusion_reason", "void_reason", "late_text_reason",
})  # fmt: skip
"""Columns with reference texts; and with those of people and systems, remarks of people among them."""
FIGURES = "figures.csv"
TEXTS = ("task", "query", "system", "setting", "is_people", "person", "epoch", "outcome", "active_ms", "text")
Rows = Callable[[], Iterable[Sequence[Any]]]
BOARD, RECALL = "leaderboard", "recall"
WRITING, LINKING, VALIDATION = Study.Kind.WRITING.value, Study.Kind.LINKING.value, Study.Kind.VALIDATION.value
READERS = {WRITING: of_writing, LINKING: of_labels, VALIDATION: of_labels}


class NothingToWrite(Exception):
    """There is no text with a score or label; the message says so."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format, what its files hold, and of what they are made: a page of results, or kinds of study."""

    name: str
    title: str
    holds: str
    made_of: frozenset[str]
    files: Callable[[Collection], Iterable[Out]] | None
    """None: the tables of the archive."""


FORMATS = {
    each.name: each
    for each in (
        Format(
            "inspect",
            "Inspect",
            "A log (version 2) of each system and of people, whose samples have outcome, active and paused time"
            " and a score at each mark; scores and people's labels for precomputed_scores.",
            frozenset({BOARD, RECALL, WRITING, LINKING, VALIDATION}),
            inspect_logs.files,
        ),
        Format(
            "every-eval-ever",
            "Every Eval Ever",
            "Results (schema 0.3.0) of each system and of people with their intervals, and a row for each text and"
            " measure.",
            frozenset({BOARD, WRITING}),
            every_eval.files,
        ),
        Format(
            "metr",
            "METR",
            "A run for each text, with minutes of people, those who gave up or ran out of time among them.",
            frozenset({BOARD, WRITING}),
            lines.runs,
        ),
        Format(
            "nuggetizer",
            "nuggetizer",
            "Assignments of reference insights or key points to each text, by a judge or by each person; partial"
            " coverage is worth half.",
            frozenset({BOARD, RECALL, WRITING, LINKING, VALIDATION}),
            lines.assignments,
        ),
        Format(
            "lm-eval",
            "lm-eval",
            "A sample for each text with its measures, as lm-eval logs them.",
            frozenset({BOARD, RECALL, WRITING}),
            lines.samples,
        ),
        Format(
            "datasets",
            "Hugging Face datasets",
            "A folder for load_dataset with a data-set card: a configuration for each table of the archive that"
            " has rows.",
            frozenset({BOARD, *Study.Kind}),
            None,
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
    read = READERS.get(study.kind)
    collection = read(study, choices=wanted.choices, now=now) if read else None
    if wanted.format.files is None:
        archive = studies.contents_of(study, None, licence=wanted.licence, now=now, draw=_no_chart)
        return _write_tables(out, archive, collection, wanted)
    return _write(out, collection, wanted)


def write_board(
    out: IO[bytes], made: BoardMade, people_of: QuerySet[Study], *, wanted: Wanted, now: datetime
) -> str:
    """Write the zip of a leaderboard with the people of some studies; gives its name. Raises `NothingToWrite`."""
    if wanted.format.files is None:  # as in the archive, without any text
        archive = boards.contents_of(made, licence=wanted.licence, now=now, draw=_no_chart)
        return _write_tables(out, archive, None, replace(wanted, choices=Choices()))
    return _write(out, of_board(made, people_of, choices=wanted.choices, now=now), wanted)


def write_recall(out: IO[bytes], dataset: str, judge: Judge, *, wanted: Wanted, now: datetime) -> str:
    """Write the zip of a judge's key point recall; gives its name. Raises `NothingToWrite`."""
    return _write(out, of_recall(dataset, judge, choices=wanted.choices, now=now), wanted)


def _no_chart(chart: Any, ending: str) -> None:
    """Tables have no charts."""


def _write_tables(out: IO[bytes], archive: Contents, collection: Collection | None, wanted: Wanted) -> str:
    contents = _as_tables(archive, collection, wanted.choices)
    write(out, contents)
    return f"{contents.card.name}.zip"


# A folder for `datasets.load_dataset`: Parquet where pyarrow is installed, else JSON lines


def _as_tables(archive: Contents, collection: Collection | None, choices: Choices) -> Contents:
    """An archive as a folder of tables, with the texts of the collection if they are wanted."""
    files = _tables(archive.files, choices)
    if collection is not None and choices.texts:
        title = "Texts, with their scores where a judge scored them"
        files = chain(files, _table("texts", title, (*TEXTS, *MEASURES), partial(_texts, collection)))

    def told(packed: Sequence[Packed]) -> str:
        return f"{archive.told(packed)}\n## What is left out\n\n{choices.left_out}\n"

    card = replace(archive.card, name=f"{archive.card.name}-datasets")
    return replace(archive, card=card, files=files, told=told)


def _tables(files: Iterable[StudyFile], choices: Choices) -> Iterator[StudyFile]:
    """The tables among the files of an archive, without what is to be left out."""
    leaks = (frozenset() if choices.insights else INSIGHTS) | (frozenset() if choices.texts else WORDS)
    for file in files:
        if file.rows is not None and file.name != FIGURES:
            kept = [at for at, name in enumerate(file.columns) if name not in leaks]
            columns = [file.columns[at] for at in kept]
            rows = partial(_only, file.rows, kept)
            yield from _table(file.name.removesuffix(".csv"), file.title, columns, rows)


def _only(rows: Rows, kept: Sequence[int]) -> Iterator[list[Any]]:
    for row in rows():
        yield [float(row[at]) if isinstance(row[at], Decimal) else row[at] for at in kept]


def _table(stem: str, title: Any, columns: Sequence[str], rows: Rows) -> Iterator[StudyFile]:
    """A table, unless it has no rows: programs fail at an empty configuration."""
    n = sum(1 for _row in rows())
    if n and is_available():
        yield StudyFile(f"{stem}.parquet", title, partial(parquet, columns, rows), n_rows=n)
    elif n:
        yield StudyFile(f"{stem}.jsonl", title, lambda: json_lines(objects(columns, rows())), n_rows=n)


def _texts(collection: Collection) -> Iterator[tuple[Any, ...]]:
    for run in collection.runs:
        for answer in run.answers:
            work = answer.work
            person, outcome, active_ms = (
                (work.person, work.outcome, work.active_ms) if work else (None, None, None)
            )
            of = (answer.task, answer.query, run.system, run.setting, run.is_people, person, answer.epoch)
            yield (*of, outcome, active_ms, answer.text, *(answer.scores.get(name) for name in MEASURES))


# Files of other formats


def _write(out: IO[bytes], collection: Collection | None, wanted: Wanted) -> str:
    """One file after the other, as the format makes them of a collection."""
    runs = [run for run in collection.runs if run.answers] if collection else []
    if collection is None or wanted.format.files is None or not runs:
        raise NothingToWrite("Nothing is scored or labelled here yet.")
    collection = replace(collection, runs=runs)
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
    parts: list[Any] = [
        f"# {card.title}\n",
        f"{card.description}\n",
        f"Scores are those of {by}. People appear under pseudonyms. {collection.choices.left_out}\n",
        f"Made {card.made_at.isoformat(timespec='seconds')} with {MADE_WITH['name']} {MADE_WITH['version']}.",
        f"Licence: {card.licence or 'none was given'}.\n",
        *(f"- `{name}`" for name in names),
    ]
    return "\n".join([*parts, ""])
