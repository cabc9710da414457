"""Changes that an import would make: the rows of files compared with those in the database. Only `write` writes.

Every format has a `Plan`, and all compare in the same words: `create` what is new, refuse what would alter what
never changes (`same`, `is_new_answer`), `change` what may.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model

from benchmarks.access.sight import current as current_sight
from benchmarks.io.reading.problems import Got, Problems, describe, joined
from benchmarks.models import System

BATCH = 500
DATASET_NAME = re.compile(r"[-a-zA-Z0-9_]{1,80}")
SHOWN_CHARACTERS = 60
Rows = TypeVar("Rows")
Row = TypeVar("Row", bound=Model)
Place = TypeVar("Place", bound=Hashable)
Answer = tuple[str, tuple[Any, ...]]
"""A label or verdict, and the lines it is linked to."""


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def _worded(answer: Answer) -> str:
    label, lines = answer
    return f"{label}, line {', '.join(map(str, lines))}" if lines else f"{label}, no line"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Settings for all files of an import.

    `actor` is None on the command line; `researcher` is then whom labels belong to. `group` is the research group,
    by primary key, of what is new; None is the whole site.
    """

    now: datetime
    options: Mapping[str, str] = field(default_factory=dict)
    actor: Any = None
    researcher: Any = None
    group: int | None = None


class Plan(ABC, Generic[Rows]):
    """New and altered rows, counted by kind; conflicts are errors in `problems`.

    `MODELS` has parents before children: new rows refer to each other as objects and are written in that order.
    """

    MODELS: ClassVar[tuple[type[Model], ...]]
    ACTION: ClassVar[str]
    """Action in the audit log."""
    NEVER: ClassVar[str] = "Texts never change once they are in; use another dataset."
    """Advice on a file that would alter what was imported before."""

    kinds: tuple[str, ...] = ()
    """Kinds that the report counts, where those are fewer than the format may hold."""
    target: Model | None = None
    """Target in the audit log."""

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        self.request, self.problems, self.now = request, problems, request.now
        self.created: Counter[str] = Counter()
        self.unchanged: Counter[str] = Counter()
        self.updated: Counter[str] = Counter()
        self.systems: dict[str, System] = {}
        self.dataset = request.options.get("dataset", "")
        self._new: dict[type[Model], list[Model]] = {model: [] for model in self.MODELS}
        self._altered: dict[tuple[type[Model], tuple[str, ...]], list[Model]] = {}
        if self.dataset and not DATASET_NAME.fullmatch(self.dataset):
            expected = "letters, digits, hyphens and underscores, 1 to 80 of them"
            problems.error("wrong_value", "", "dataset", expected=expected, got=self.dataset)

    @abstractmethod
    def take(self, rows: Rows) -> None:
        """Compare the rows of one file with the database and with the files before it."""

    @abstractmethod
    def results(self) -> Sequence[Mapping[str, str]]:
        """Pages to look at once it is written, each with its `title` and the `id` that its address is made of."""

    @property
    def into(self) -> Mapping[str, Any] | None:
        """The study that the rows go into, of formats that have one: `title`, and `is_new` where it is made."""
        return None

    @property
    def about(self) -> dict[str, str]:
        """More that the audit log keeps."""
        return {}

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return bool(self.created.total() or self.updated.total())

    def create(self, row: Row, kind: str = "") -> Row:
        """Have a row written, for the group that the import is for, and count it if its kind is counted."""
        if hasattr(row, "group_id"):
            row.group_id = self.request.group
        self._new[type(row)].append(row)
        if kind:
            self.created[kind] += 1
        return row

    def new(self, model: type[Row]) -> Sequence[Row]:
        return self._new[model]  # type: ignore[return-value]

    def rows(self) -> Iterator[Model]:
        """All rows that will be written anew, parents before children."""
        return chain.from_iterable(self._new.values())

    def alter(self, row: Model, fields: Sequence[str], kind: str = "") -> None:
        """Have the fields of a row written, and count it if its kind is counted."""
        self._altered.setdefault((type(row), tuple(fields)), []).append(row)
        if kind:
            self.updated[kind] += 1

    def change(self, row: Model, wanted: Mapping[str, Any], kind: str) -> None:
        """Give a row these values, and have it written unless it has all of them."""
        if all(getattr(row, name) == value for name, value in wanted.items()):
            self.unchanged[kind] += 1
            return
        for name, value in wanted.items():
            setattr(row, name, value)
        self.alter(row, tuple(wanted), kind)

    def same(self, where: str, **fields: tuple[Any, Any]) -> bool:
        """Whether fields of the file, each as (before, now), are what they were; what differs is refused."""
        different = {name: pair for name, pair in fields.items() if pair[0] != pair[1]}
        for name, (before, now) in different.items():
            self.differs(where, name, before, now)
        return not different

    def same_documents(
        self, where: str, before: Sequence[Any], now: Sequence[Any], *, key: str = "key", text: str = "text"
    ) -> bool:
        """Whether documents, which have a `key` and a `text`, are those of before, in their order."""
        n_before, n_now = Got(f"{len(before)} of them"), Got(f"{len(now)} of them")
        are_same = self.same(where, documents=(n_before, n_now))
        for position, (old, new) in enumerate(zip(before, now, strict=False)):
            pairs = {key: (old.key, new.key), text: (old.text, new.text)}
            are_same &= self.same(joined(where, f"documents[{position}]"), **pairs)
        return are_same

    def is_new_answer(
        self,
        known: dict[Place, Answer],
        place: Place,
        answer: Answer,
        *,
        kind: str,
        where: str,
        name: str,
        worded: Callable[[Answer], str] = _worded,
    ) -> bool:
        """Whether nothing was said at a place; then it is remembered. Another answer than before is refused."""
        before = known.setdefault(place, answer)
        if before is answer:
            return True
        self.unchanged[kind] += 1
        if before != answer:
            self.differs(where, name, Got(worded(before)), Got(worded(answer)))
        return False

    def differs(self, where: str, name: str, before: Any, now: Any = None) -> None:
        """Refuse what would alter what never changes."""
        shown = f"“{_short(before)}”" if type(before) is str else describe(before)
        got = Got("something else") if now is None else now
        expected = f"what was imported before, {shown}"
        self.problems.error("differs", where, name, expected=expected, got=got, message=self.NEVER)

    def refuse_hidden(self) -> None:
        """Refuse names of what whoever imports does not see, of rows and of datasets: names are the site's."""
        if current_sight() is None:
            return
        for model, rows in self._new.items():
            names: tuple[str, ...] = getattr(model, "NAMED_BY", ())
            for row in rows if names else ():
                names_of_row = {name: getattr(row, name) for name in names}
                if model._base_manager.filter(**names_of_row).exists():
                    self._refuse_name(names[-1], names_of_row[names[-1]])
        moved = [(model, rows) for (model, fields), rows in self._altered.items() if "dataset" in fields]
        for model, rows in chain(self._new.items(), moved):
            for dataset in sorted({getattr(row, "dataset", "") for row in rows} - {""}):
                of_dataset = model._base_manager.filter(dataset=dataset)
                if of_dataset.exists() and not model._default_manager.filter(dataset=dataset).exists():
                    self._refuse_name("dataset", dataset)

    def _refuse_name(self, field: str, name: str) -> None:
        expected = "a name that no other research group uses; choose another"
        self.problems.error("taken", "", field, expected=str(expected), got=name)

    def know(self, wanted: Mapping[str, System], kind: str = "systems") -> None:
        """Find these systems, not stored, by their keys, or add them."""
        fresh = {key: system for key, system in wanted.items() if key not in self.systems}
        known = {row.key: row for row in System._base_manager.filter(key__in=fresh)}  # they are the site's
        if kind:
            self.unchanged[kind] += len(known)
        for key, system in fresh.items():
            self.systems[key] = known.get(key) or self.create(system, kind)

    def write(self) -> None:
        """Save the rows, parents before children."""
        for model, rows in self._new.items():
            model._default_manager.bulk_create(rows, batch_size=BATCH)
        for (model, fields), rows in self._altered.items():
            model._default_manager.bulk_update(rows, fields, batch_size=100)


class DatasetPlan(Plan[Sequence[Any]]):
    """The rows of files, which have a `key` and a `where`, compared with those of one dataset.

    What is new is added; texts never change.
    """

    DEFAULT: ClassVar[str]
    """The dataset where none is named."""
    CHUNK: ClassVar[int]
    """Rows that are compared at a time."""

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or self.DEFAULT
        self.keys: set[str] = set()

    def take(self, rows: Sequence[Any]) -> None:
        """Compare the rows of one file; no other file may have them too."""
        self.know(self.systems_of(rows))
        for start in range(0, len(rows), self.CHUNK):
            some = rows[start : start + self.CHUNK]
            stored = self.stored([row.key for row in some])
            for row in some:
                if row.key in self.keys:
                    expected = "one that no other file has"
                    self.problems.error("duplicate_key", row.where, "key", expected=expected, got=row.key)
                elif row.key in stored:
                    self.add_to(stored[row.key], row)
                else:
                    self.add_new(row)
                self.keys.add(row.key)

    @abstractmethod
    def systems_of(self, rows: Sequence[Any]) -> Mapping[str, System]:
        """Whoever wrote the texts of these rows, not stored, by key."""

    @abstractmethod
    def stored(self, keys: Sequence[str]) -> Mapping[str, Any]:
        """The rows of the dataset with these ids, with all their parts; a fixed number of queries."""

    @abstractmethod
    def add_new(self, incoming: Any) -> None:
        """Add a row with all its parts."""

    @abstractmethod
    def add_to(self, row: Any, incoming: Any) -> None:
        """Add the parts that are new, and refuse what would change a text."""

    def results(self) -> list[Mapping[str, str]]:
        return [{"title": self.dataset, "id": self.dataset}]

    @property
    def about(self) -> dict[str, str]:
        return {"dataset": self.dataset}
