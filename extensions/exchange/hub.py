"""A folder for `datasets.load_dataset`: a configuration for each table that has rows, as an archive is written.

Tables are Parquet where pyarrow is installed, else JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any

from annotation.exports.archive import Contents, Packed
from annotation.kinds import StudyFile
from annotation.studies.rows import objects
from benchmarks.scoring.summhay import MEASURES
from benchmarks.web.downloads import is_available, json_lines, parquet
from extensions.exchange.collected import Choices, Collection

INSIGHTS = frozenset({"insight_text", "text"})
WORDS = frozenset(
    {
        "bullet_text",
        "snippet",
        "comment",
        "note",
        "reason",
        "exclusion_reason",
        "void_reason",
        "late_text_reason",
    }
)
"""Columns with reference texts; and with those of people and systems, remarks of people among them."""
FIGURES = "figures.csv"
TEXTS = ("task", "query", "system", "setting", "is_people", "person", "epoch", "outcome", "active_ms", "text")
Rows = Callable[[], Iterable[Sequence[Any]]]


def contents(archive: Contents, collection: Collection | None, choices: Choices) -> Contents:
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
