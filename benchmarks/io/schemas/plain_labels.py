"""Plain labels made elsewhere: a CSV or JSONL with annotator, item, label and, where there are, links and cluster.

Exports of this site say `lines` for links. Read row by row. A row without a label is a missing rating. What is
wrong with a row is said by its number, the head being row 1 of a CSV.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.io.reading import files, strict_json
from benchmarks.io.reading.problems import Got, Problems, report_flaws
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import ASPECTS, LEVELS
from benchmarks.scoring.summhay import COVERAGES

REQUIRED = ("annotator", "item", "label")
LENGTHS = {"annotator": 120, "item": 300, "label": 120, "cluster": 300, "task": 40}
POINT_TASKS = {"grounded": ("yes", "no"), "key_point": ("agree", "neutral", "disagree")}
"""The two judgments on key points, which a file may hold together: what each allows is known."""
POINT_CATEGORIES = tuple(label for labels in POINT_TASKS.values() for label in labels)
FAMILIES: tuple[Mapping[str, tuple[str, ...]], ...] = (
    POINT_TASKS,
    {"entailment": ENTAILMENTS},
    dict.fromkeys(ASPECTS, tuple(map(str, LEVELS))),
)
"""Tasks that a file may hold together, with what each allows in its order: key points, entailment, ratings."""
MAX_CATEGORIES = 50
LINK_LENGTH = 300
LINE_DIGITS = 9
"""A longer row of digits is a name, not the number of a line."""
EXAMPLE = """annotator,item,label,links,cluster
anna,summary-1/costs,partial,2,summary-1
ben,summary-1/costs,full,2;3,summary-1
anna,summary-1/delay,none,,summary-1
"""
ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
"""A byte that is no UTF-8, as Python reads it past."""
Numbered = tuple[str, Mapping[str, Any]]
"""Where a row is, and its fields."""


@dataclass(frozen=True, slots=True)
class Label:
    """One label; `links` are whole numbers where they look like such, else texts."""

    where: str
    annotator: str
    item: str
    label: str
    cluster: str
    task: str
    links: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class PlainLabels:
    """All labels of a file and the categories they are of, in ordinal order."""

    labels: tuple[Label, ...]
    categories: tuple[str, ...]
    n_missing: int


def split_categories(text: str) -> tuple[str, ...]:
    """The categories of a command's argument, `a,b,c`."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


@contextmanager
def opened(
    source: Path | BinaryIO,
    problems: Problems,
    *,
    name: str = "",
    limit_bytes: int | None = None,
    progress: files.Progress | None = None,
    required: Sequence[str] = REQUIRED,
) -> Iterator[Iterator[Numbered]]:
    """Open a file, or read on in one, and give its rows as they are asked for; JSONL by its `name`, else CSV.

    A CSV without a column of the `required` is an error.
    """
    with files.opened(source, problems, limit_bytes=limit_bytes, progress=progress) as stream:
        wrapped = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        text = _in_utf8(wrapped, problems)
        is_jsonl = Path(name or str(source)).suffix.lower() in {".jsonl", ".ndjson"}
        yield _jsonl_rows(text, problems) if is_jsonl else _csv_rows(text, problems, required)


def read(
    rows: Iterable[Numbered], *, categories: Sequence[str] = (), task: str = "", problems: Problems | None = None
) -> PlainLabels:
    """Check and collect rows; raises `ImportFailed` if there is any error. `task` stands for what rows name.

    Without `categories` they are taken from the file: what its tasks allow, if studies here have such; none,
    partial, full if it has no others; numbers by size; anything else in alphabetical order. A warning says so
    where they are found, since an unused category changes figures.
    """
    problems = Problems() if problems is None else problems
    labels: list[Label] = []
    seen: dict[tuple[str, str, str], str] = {}
    n_missing = 0
    try:
        for where, row in rows:
            label = _label(where, row, categories, task, problems)
            if label is None:
                n_missing += _is_missing(row)
                continue
            key = (label.annotator, label.task, label.item)
            if key in seen:
                problems.error(
                    "labelled_twice",
                    where,
                    "item",
                    expected=f"one label of {label.annotator} for {label.item}",
                    got=Got(f"another one after {seen[key]}"),
                )
                continue
            seen[key] = where
            labels.append(label)
    except csv.Error as error:
        problems.error("unreadable", "", "", expected="rows as CSV has them", got=Got(str(error)))
    if not problems.n_errors and not labels:
        problems.error("no_labels", "", "", expected="at least one label", got=Got("none"))
    problems.raise_errors()
    known = _known_categories(labels, task)
    if known == POINT_CATEGORIES:
        return PlainLabels(tuple(labels), known, n_missing)
    found = tuple(categories) or known or _found_categories(labels, problems)
    return PlainLabels(tuple(labels), found, n_missing)


def _known_categories(labels: Sequence[Label], task: str) -> tuple[str, ...]:
    """What the tasks of the labels allow, in order; empty where they are no tasks of a study here."""
    for family in FAMILIES:
        if all(label.label in family.get(task or label.task, ()) for label in labels):
            return tuple(dict.fromkeys(label for allowed in family.values() for label in allowed))
    return ()


def allowed_in(task: str, categories: Sequence[str]) -> tuple[str, ...]:
    """What a task allows: as told, else what a judgment on key points allows, else nothing is known (empty)."""
    return tuple(categories) or POINT_TASKS.get(task, ())


def _in_utf8(text: Iterable[str], problems: Problems) -> Iterator[str]:
    """The lines up to the first that holds a byte which is no text."""
    for number, line in enumerate(text, 1):
        if found := ESCAPED_BYTE.search(line):
            got = Got(f"the byte 0x{ord(found[0]) - 0xDC00:02x}")
            problems.error("unreadable", f"line {number}", "", expected="text in UTF-8", got=got)
            problems.raise_errors()
        yield line


def _csv_rows(text: Iterable[str], problems: Problems, required: Sequence[str]) -> Iterator[Numbered]:
    reader = csv.DictReader(text, strict=True)
    head = [name.strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in required if name not in head]
    if "summary" in head and "insight" in head and "item" in missing:
        missing.remove("item")
    if missing:
        columns = ", ".join(required)
        got = Got(f"a head without {', '.join(missing)}")
        problems.error("missing_column", "row 1", "", expected=f"the columns {columns}", got=got)
        return
    reader.fieldnames = head
    for number, row in enumerate(reader, 2):
        yield f"row {number}", row


def _jsonl_rows(text: Iterable[str], problems: Problems) -> Iterator[Numbered]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            row = strict_json.loads(line.encode())
        except strict_json.NotJson as error:
            problems.error("no_json", f"line {number}", "", expected="a JSON object", got=Got(str(error)))
            continue
        except strict_json.Flawed as error:
            report_flaws(error, problems, where=f"line {number}")
            continue
        if not isinstance(row, dict):
            problems.error("wrong_type", f"line {number}", "", expected="a JSON object", got=row)
            continue
        yield f"line {number}", row


def _label(
    where: str, row: Mapping[str, Any], categories: Sequence[str], task: str, problems: Problems
) -> Label | None:
    before = problems.n_errors
    if _is_missing(row):
        return None
    values = {name: _text(where, row, name, problems, required=name in REQUIRED) for name in LENGTHS}
    links = _links(row["links"] if row.get("links") is not None else row.get("lines"))
    if links is None:
        problems.error(
            "unreadable_link", where, "links", expected="numbers or names, as 2;3", got=row.get("links")
        )
    allowed = allowed_in(task or values["task"], categories)
    if allowed and values["label"] and values["label"] not in allowed:
        problems.error(
            "unknown_label", where, "label", expected=f"one of {', '.join(allowed)}", got=values["label"]
        )
    if None in row:
        problems.error("too_many_cells", where, "", expected="as many cells as the head has", got=row[None])  # type: ignore[index]
    if problems.n_errors > before or links is None:
        return None
    return Label(where=where, links=links, **values)


def _text(where: str, row: Mapping[str, Any], name: str, problems: Problems, *, required: bool) -> str:
    value = row.get(name)
    if name == "item" and value in (None, "") and row.get("summary") and row.get("insight"):
        value = f"{row['summary']}/{row['insight']}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        value = ""
    if not isinstance(value, str) or "\x00" in value:
        problems.error("wrong_type", where, name, expected="a text", got=value)
        return ""
    value = value.strip()
    if required and not value:
        problems.error("missing_field", where, name, expected="a text that is not empty", got=value)
    elif len(value) > LENGTHS[name]:
        got = Got(f"{len(value)} characters")
        problems.error("wrong_value", where, name, expected=f"at most {LENGTHS[name]} characters", got=got)
    return value


def _is_missing(row: Mapping[str, Any]) -> bool:
    """Whether there is no label, or one that counts for nothing since something that was asked is still open."""
    label = row.get("label")
    is_open = str(row.get("is_complete")).strip().lower() == "false"
    return is_open or label is None or (isinstance(label, str) and not label.strip())


def _links(value: Any) -> tuple[int | str, ...] | None:
    if value is None:
        return ()
    if isinstance(value, bool | float | dict):
        return None
    if isinstance(value, int):
        return (value,)
    if isinstance(value, str):
        parts: list[Any] = [part for part in re.split(r"[;,\s]+", value.strip().strip("[]")) if part]
    else:
        parts = list(value)
    found: list[int | str] = []
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, int | str):
            return None
        if isinstance(part, str) and (len(part) > LINK_LENGTH or "\x00" in part):
            return None
        is_line = isinstance(part, str) and part.isdecimal() and len(part) <= LINE_DIGITS
        found.append(int(part) if is_line else part)
    return tuple(dict.fromkeys(found))


def _found_categories(labels: Sequence[Label], problems: Problems) -> tuple[str, ...]:
    found = sorted({label.label for label in labels})
    if set(found) <= set(COVERAGES):
        return COVERAGES
    if len(found) > MAX_CATEGORIES:
        got = Got(f"{len(found)} different ones")
        problems.error("too_many_labels", "", "label", expected=f"at most {MAX_CATEGORIES} categories", got=got)
        problems.raise_errors()
    if all(re.fullmatch(r"[-+]?\d+(\.\d+)?", label) for label in found):
        found.sort(key=float)
    problems.warning(
        "categories_from_file",
        "",
        "label",
        expected="the categories that the task allows",
        got=Got("none named"),
        message=f"Those of the file are used: {', '.join(found)}. An unused category is missing.",
    )
    return tuple(found)
