"""Plain labels made elsewhere: a CSV or JSONL with annotator, item, label and, where there are, links and cluster.

Exports of this site say `lines` for links. A row without a label is a missing rating.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Unpack

from pydantic import AfterValidator, BeforeValidator, StringConstraints

from benchmarks.io.reading import files, tables
from benchmarks.io.reading.files import example
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.reading.tables import Numbered
from benchmarks.io.schemas.fields import Expected, Part, checked, no_nul
from benchmarks.judges.aspects import ASPECTS
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import LEVELS
from benchmarks.scoring.summhay import COVERAGES
from benchmarks.scoring.text import visible, with_unseen

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
NO_LABEL = "It counts as no label; name it among the categories if it is one."
ALIKE, MOST_SHOWN = "They count as different.", 3
NO_LABELS = frozenset({"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"})
"""Written by statistics programs where nothing is; a label only where it is named among the categories."""
EXAMPLE = example("labels.csv")


def _as_cell(value: Any) -> Any:
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_truth(value: Any) -> Any:
    """A cell of CSV as it stands in JSON."""
    words = {"true": True, "false": False, "": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value or False


def _cell(name: str) -> Any:
    """A text of CSV, or a number that stands for it, without the space around it."""
    least, most = int(name in REQUIRED), LENGTHS[name]
    return Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=least, max_length=most),
        AfterValidator(no_nul),
        AfterValidator(partial(unicodedata.normalize, "NFC")),
        BeforeValidator(_as_cell),
        Expected("a text that is not empty" if least else "a text or nothing"),
    ]


class LabelRow(Part):
    """A row, but for its links."""

    annotator: _cell("annotator")  # type: ignore[valid-type]
    item: _cell("item")  # type: ignore[valid-type]
    label: _cell("label")  # type: ignore[valid-type]
    cluster: _cell("cluster") = ""  # type: ignore[valid-type]
    task: _cell("task") = ""  # type: ignore[valid-type]
    is_judge: Annotated[bool, BeforeValidator(_as_truth), Expected("true of what a model said, or nothing")] = (
        False
    )


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
    is_judge: bool = False


@dataclass(frozen=True, slots=True)
class PlainLabels:
    """What people and judges say in a file, and the categories it is of, in ordinal order."""

    labels: tuple[Label, ...]
    categories: tuple[str, ...]
    n_missing: int
    verdicts: tuple[Label, ...] = ()


def split_categories(text: str) -> tuple[str, ...]:
    """The categories of a command's argument, `a,b,c`."""
    parts = unicodedata.normalize("NFC", text).split(",")
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


@contextmanager
def opened(
    source: Path | BinaryIO, problems: Problems, *, name: str = "", **limits: Unpack[files.Limits]
) -> Iterator[Iterator[Numbered]]:
    """Open a file, or read on in one, and give its rows as they are asked for; JSONL by its `name`, else CSV."""
    with tables.opened(source, problems, required=REQUIRED, name=name, **limits) as rows:
        yield rows


def read(
    rows: Iterable[Numbered], *, categories: Sequence[str] = (), task: str = "", problems: Problems | None = None
) -> PlainLabels:
    """Check and collect rows; raises `ImportFailed` if there is any error. `task` stands for what rows name.

    Without `categories` they are taken from the file: what its tasks allow, if studies here have such; none,
    partial, full if it has no others; numbers by size; anything else in alphabetical order. A warning says so
    where they are found, since an unused category changes figures.
    """
    problems = Problems() if problems is None else problems
    labels: dict[tuple[str, str, str, bool], Label] = {}
    n_missing, fields = 0, set[str]()
    for where, row in rows:
        fields |= row.keys()
        if _is_missing(row):
            n_missing += 1
        elif (written := str(row["label"]).strip()) in NO_LABELS and written not in categories:
            n_missing += 1
            problems.warning("no_label", where, "label", expected="a label", got=written, message=NO_LABEL)
        elif (label := _label(where, row, categories, task, problems)) is not None:
            first = labels.setdefault((label.annotator, label.task, label.item, label.is_judge), label)
            if first is not label:
                expected = f"one label of {label.annotator} for {label.item}"
                got = Got(f"another one after {first.where}")
                problems.error("labelled_twice", where, "item", expected=expected, got=got)
    if fields and "label" not in fields:
        got = Got(f"only {', '.join(sorted(fields))}")
        problems.error("missing_field", "", "", expected="rows with the field label", got=got)
    elif not problems.n_errors and not labels:
        without = "1 row" if n_missing == 1 else f"{n_missing} rows"
        got = Got(f"{without} without a label" if n_missing else "none")
        problems.error("no_labels", "", "", expected="at least one label", got=got)
    problems.raise_errors()
    good = tuple(labels.values())
    _warn_of_alike(good, problems, has_categories=bool(categories))
    known = _known_categories(good, task)
    if known != POINT_CATEGORIES:
        known = tuple(categories) or known or _found_categories(good, problems)
    people, judges = ([row for row in good if row.is_judge is is_judge] for is_judge in (False, True))
    return PlainLabels(tuple(people), known, n_missing, tuple(judges))


def _warn_of_alike(labels: Sequence[Label], problems: Problems, *, has_categories: bool) -> None:
    """Say which names differ in case, forms of signs, or signs that nobody sees: they stay apart."""
    for name in ("annotator", "item") if has_categories else ("annotator", "item", "label"):
        alike: dict[str, set[str]] = defaultdict(set)
        for value in {getattr(label, name) for label in labels}:
            alike[" ".join(visible(value).casefold().split())].add(value)
        several = sorted(sorted(values) for values in alike.values() if len(values) > 1)
        if several:
            got = Got(
                "; ".join(
                    ", ".join(f"“{with_unseen(value)}”" for value in values) for values in several[:MOST_SHOWN]
                )
            )
            expected = f"one spelling of each {name}"
            problems.warning(
                f"{name}s_alike", "", name, expected=expected, got=got, message=ALIKE, count=len(several)
            )


def _known_categories(labels: Sequence[Label], task: str) -> tuple[str, ...]:
    """Categories that the tasks of the labels allow, in order; empty where they are no tasks of a study here."""
    for family in FAMILIES:
        if all(label.label in family.get(task or label.task, ()) for label in labels):
            return tuple(dict.fromkeys(label for allowed in family.values() for label in allowed))
    return ()


def _label(
    where: str, row: Mapping[str, Any], categories: Sequence[str], task: str, problems: Problems
) -> Label | None:
    before = problems.n_errors
    if row.get("item") in (None, "") and row.get("summary") and row.get("insight"):
        row = {**row, "item": f"{row['summary']}/{row['insight']}"}
    part = checked(LabelRow, row, where, problems)
    links = _links(row["links"] if row.get("links") is not None else row.get("lines"))
    if links is None:
        problems.error(
            "unreadable_link", where, "links", expected="numbers or names, as 2;3", got=row.get("links")
        )
    if part is not None:
        allowed = tuple(categories) or POINT_TASKS.get(task or part.task, ())
        if allowed and part.label not in allowed:
            expected = f"one of {', '.join(allowed)}"
            problems.error("unknown_label", where, "label", expected=expected, got=part.label)
    if part is None or links is None or problems.n_errors > before:
        return None
    return Label(where=where, links=links, **part.model_dump())


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
    values: list[int | str] = []
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, int | str):
            return None
        if isinstance(part, str) and (len(part) > LINK_LENGTH or "\x00" in part):
            return None
        is_line = isinstance(part, str) and part.isdecimal() and len(part) <= LINE_DIGITS
        values.append(int(part) if is_line else part)
    return tuple(dict.fromkeys(values))


def _found_categories(labels: Sequence[Label], problems: Problems) -> tuple[str, ...]:
    values = sorted({label.label for label in labels})
    if set(values) <= set(COVERAGES):
        return COVERAGES
    if len(values) > MAX_CATEGORIES:
        got = Got(f"{len(values)} different ones")
        problems.error("too_many_labels", "", "label", expected=f"at most {MAX_CATEGORIES} categories", got=got)
        problems.raise_errors()
    if all(re.fullmatch(r"[-+]?\d+(\.\d+)?", label) for label in values):
        values.sort(key=float)
    problems.warning(
        "categories_from_file",
        "",
        "label",
        expected="the categories that the task allows",
        got=Got("none named"),
        message=f"Those of the file are used: {', '.join(values)}. An unused category is missing.",
    )
    return tuple(values)
