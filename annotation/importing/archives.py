"""The archive of a study, taken in as one file: a closed study of its name, with its people as they were called.

What is read of it says the kind, by its `archive_plan`. Labels of archives without the files that it needs become
labels made elsewhere, with the categories that their tasks allow, in order.

A study keeps its id, by which its archive is known again: where the study is here, nothing is written. No archive
adds to a study that is here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from annotation.importing.label_studies import (
    PERMISSION,
    SOMEBODY_ELSES,
    LabelPlan,
    address_of_study,
    is_open_to,
)
from annotation.importing.opened import MANIFEST, NAME_LENGTH, Opened, opened
from annotation.kinds import kind_named, kinds
from annotation.models import Study
from benchmarks.io.formats import Format, Option
from benchmarks.io.plan import ImportRequest, Plan
from benchmarks.io.reading import tables
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.running import report_what_cannot_be_held
from benchmarks.io.schemas.fields import Expected, Id, Part, checked, label

ANNOTATORS, CARD = "annotators.csv", "report_card.json"


class PersonPart(Part):
    """A row of `annotators.csv`."""

    annotator: Annotated[label(120), Field(min_length=1)]  # type: ignore[valid-type]


class NotePart(Part):
    """What researchers wrote to a question of the report card."""

    key: Id
    note: label(Study.NOTE_LENGTH) = ""  # type: ignore[valid-type]


class CardPart(Part):
    """A report card, as far as a study cannot know it."""

    rows: Annotated[list[NotePart], Expected("a list of questions with key and note")]


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive as it is read: its study, who took part, and the rows that the plan of its kind takes.

    `kind` is that of the study it becomes; `uid` is None in archives without one. By `told`, how often what is
    there, a study is known that holds all of it.
    """

    name: str
    uid: UUID | None
    kind: str
    people: tuple[str, ...]
    rows: Any
    told: Counter[tuple[str, ...]]
    notes: Mapping[str, str]

    @property
    def plan(self) -> type[LabelPlan[Any]]:
        plan: type[LabelPlan[Any]] = kind_named(self.kind).archive_plan
        return plan

    def missing_in(self, study: Study) -> int:
        """How many of its labels or sessions a study does not hold."""
        stored = _counted(kind_named(study.kind).told_of(study), self.plan)
        return (self.told - stored).total()


def _counted(rows: Iterable[Mapping[str, Any]], plan: type[LabelPlan[Any]]) -> Counter[tuple[str, ...]]:
    return Counter(tuple([str(row.get(name) or "") for name in plan.TOLD]) for row in rows)


def _people(archive: Opened) -> tuple[str, ...]:
    """The pseudonyms of everybody who took part, in their order."""
    with archive.stream(ANNOTATORS) as stream, tables.opened(
        stream, archive.problems, required=["annotator"], name=ANNOTATORS
    ) as rows:  # fmt: skip
        parts = [checked(PersonPart, row, f"{ANNOTATORS}, {where}", archive.problems) for where, row in rows]
    archive.problems.raise_errors()
    return tuple(part.annotator for part in parts if part is not None)


def _notes(archive: Opened) -> dict[str, str]:
    """What researchers wrote on the report card; archives before 0.3.0 have none."""
    if CARD not in archive.members:
        return {}
    return {row.key: row.note for row in archive.value(CARD, CardPart).rows if row.note}


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Archive:
    with opened(file, problems) as archive:
        study = archive.manifest.study
        plans = {kind.value: kind.archive_plan for kind in kinds() if kind.archive_plan is not None}
        if study.kind not in plans:
            expected = f"one of {', '.join(plans)}"
            problems.error("wrong_value", MANIFEST, "study.kind", expected=expected, got=study.kind)
            raise ImportFailed(problems)
        people = _people(archive)
        for kind in (study.kind, Study.Kind.EXTERNAL):
            if (read := plans[kind].read(archive)) is not None:
                break
        rows, told = read
        notes = _notes(archive)
        parsed = Archive(study.name, study.id, kind, people, rows, _counted(told, plans[kind]), notes)
    problems.raise_errors()
    return parsed


def _names(name: str) -> Iterator[str]:
    """Names that a study may get: its own, then “NAME (archive)”, “NAME (archive 2)” …"""
    yield name
    for number in count(1):
        suffix = f" (archive {number})" if number > 1 else " (archive)"
        yield name[: NAME_LENGTH - len(suffix)] + suffix


class ArchivePlan(Plan[Archive]):
    """One archive: a new closed study, or nothing where the study is here."""

    MODELS = ()
    ACTION = LabelPlan.ACTION

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.study: Study | None = None
        self.inner: LabelPlan[Any] | None = None

    def take(self, rows: Archive) -> None:
        """Make a study of what the archive holds, unless one that is here holds it."""
        self.study, name = self._find(rows)
        if self.study is not None:
            self._compare(self.study, rows)
            return
        request = replace(self.request, options={**self.request.options, "study": name})
        inner = self.inner = rows.plan(request, self.problems)
        inner.members = rows.people
        if rows.uid and not Study._base_manager.filter(uid=rows.uid).exists():
            inner.uid = rows.uid
        inner.take(rows.rows)
        if inner.study is not None:
            inner.study.card_notes = dict(rows.notes)
        report_what_cannot_be_held(inner.rows(), self.problems)
        self.kinds = inner.kinds or tuple(inner.created | inner.unchanged)
        self.created, self.unchanged, self.updated = inner.created, inner.unchanged, inner.updated
        self.target = inner.target

    def _find(self, rows: Archive) -> tuple[Study | None, str]:
        """The study that the archive is of, else a name for it that is free.

        It is the study of its id, or one of its name that holds all that it says. Where a name was asked for, only
        the study of this name is looked at; raises `ImportFailed` where that is another one.
        """
        wanted_name = self.request.options.get("name", "")
        original: Study | None = Study.objects.filter(uid=rows.uid).first() if rows.uid else None
        if original is not None and wanted_name in {"", original.name}:
            if not is_open_to(original, self.request.actor):
                self._refuse(SOMEBODY_ELSES)
            return original, original.name
        for name in [wanted_name] if wanted_name else _names(rows.name):
            there = Study.objects.filter(name=name).first()
            if there is None and (wanted_name or not Study._base_manager.filter(name=name).exists()):
                break
            is_alike = there and there.kind == rows.kind and is_open_to(there, self.request.actor)
            if there is not None and is_alike and rows.told and not rows.missing_in(there):
                return there, name
        if there is not None:
            self._refuse("another study")
        return None, name

    def _refuse(self, got: str) -> None:
        self.problems.error("other_study", "", "name", expected="a new name", got=Got(got))
        self.problems.raise_errors()

    def _compare(self, study: Study, rows: Archive) -> None:
        """Count what the study holds, and warn of what it does not: nothing is written either way."""
        counted = rows.plan.COUNTED
        n_missing = rows.missing_in(study)
        self.kinds, self.target = (counted,), study
        self.unchanged[counted] = rows.told.total() - n_missing
        if n_missing:
            self.problems.warning(
                "not_in_the_study",
                "",
                "",
                expected=f"the {counted} of the study “{study.name}” as they are now",
                got=Got("others: they changed or were deleted since, or are newer"),
                message="The study stays as it is; another name makes a separate study of the archive.",
                count=n_missing,
            )

    def refuse_hidden(self) -> None:
        if self.inner is not None:
            self.inner.refuse_hidden()

    def write(self) -> None:
        if self.inner is not None:
            self.inner.write()

    @property
    def into(self) -> Mapping[str, Any] | None:
        if self.study is not None:
            return {"title": self.study.name, "is_new": False}
        return self.inner.into if self.inner is not None else None

    def results(self) -> Sequence[Mapping[str, str]]:
        if self.study is not None:
            return [{"title": self.study.name, "id": str(self.study.uid)}]
        return self.inner.results() if self.inner is not None else []


ARCHIVE = Format(
    name="archive",
    title="Archive of a study",
    description=(
        "The zip of a study, as it is downloaded here. It becomes a closed study of its own with the same people, "
        "labels and categories; of a writing study the sessions come back, on haystacks that are here. Where the "
        "study itself is here, nothing changes."
    ),
    extensions=(".zip",),
    example="",
    parse=_parse,
    plan=ArchivePlan,
    kinds=(
        "haystacks",
        "subtopics",
        "insights",
        "summaries",
        "labels",
        "coverage_labels",
        "verdicts",
        "sessions",
        "snapshots",
    ),
    address=address_of_study,
    options=(Option("name", "Name of the study", "By default that of the archive."),),
    permission=PERMISSION,
    is_joint=False,
)
