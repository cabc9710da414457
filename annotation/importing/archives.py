"""The archive of a study, taken in as one file: a closed study of its name, with its people as they were called.

What is read depends on the kind: annotated summaries of linking, sessions and snapshots of writing; labels with
texts, items and what judges said of verification, validation and rating. Labels of any other, and of archives
without these, become labels made elsewhere, with the categories that their tasks allow, in order.

A study keeps its id, by which its archive is known again: where the study is here, nothing is written. No archive
adds to a study that is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from annotation.importing.annotated_summaries import AnnotatedSummariesPlan
from annotation.importing.label_studies import (
    PERMISSION,
    SOMEBODY_ELSES,
    LabelPlan,
    address_of_study,
    is_open_to,
)
from annotation.importing.label_work import LabelWorkPlan
from annotation.importing.opened import MANIFEST, NAME_LENGTH, Opened, opened
from annotation.importing.plain_labels import PlainLabelsPlan
from annotation.importing.said import Said, said_in
from annotation.importing.sessions import SessionsPlan, read_sessions
from annotation.importing.work_files import LABELS, SCHEMAS, PlacedLabel, has_work, read_work
from annotation.models import Study
from benchmarks.io.formats import Format, Option
from benchmarks.io.holding import report_what_cannot_be_held
from benchmarks.io.plan import Destination, ImportRequest, Plan, Result
from benchmarks.io.reading import tables
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.schemas import eval_benchmark, plain_labels
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.io.schemas.fields import Part, checked, label

ANNOTATORS = "annotators.csv"


class PersonPart(Part):
    """A row of `annotators.csv`."""

    annotator: Annotated[label(120), Field(min_length=1)]  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Archive:
    """What is read of an archive: its study, who took part, and the rows that the plan of its kind takes.

    `kind` is that of the study it becomes; `uid` is None in archives without one. By `said` a study is known that
    holds all of it.
    """

    name: str
    uid: UUID | None
    kind: str
    people: tuple[str, ...]
    rows: Any
    said: Said


def _labels(archive: Opened, name: str = LABELS, categories: Sequence[str] = ()) -> Any:
    with (
        archive.stream(name) as stream,
        plain_labels.opened(stream, archive.problems, name=name) as rows,
    ):
        return plain_labels.read(rows, categories=categories, problems=archive.problems)


def _labels_made_elsewhere(archive: Opened) -> Any:
    return _labels(archive, "labels.csv", archive.manifest.study.categories)


def _annotated(archive: Opened) -> tuple[Sequence[BenchmarkEntry], Sequence[PlacedLabel]]:
    """Annotated summaries; where one person's labels count they name nobody, and the labels say who it was."""
    with archive.stream("annotated-summaries.json") as stream:
        entries = eval_benchmark.parse(stream, problems=archive.problems)
    labels = archive.rows(LABELS, PlacedLabel)
    names = {row.annotator for row in labels if row.is_complete}
    if len(names) == 1 and any(entry.human for entry in entries):
        [name] = names
        entries = tuple(
            replace(entry, human=(), people={name: entry.human} if entry.human else {}) for entry in entries
        )
    return entries, labels


PLANS: dict[str, type[LabelPlan[Any]]] = {
    Study.Kind.LINKING: AnnotatedSummariesPlan,
    Study.Kind.VERIFICATION: LabelWorkPlan,
    Study.Kind.VALIDATION: LabelWorkPlan,
    Study.Kind.RATING: LabelWorkPlan,
    Study.Kind.EXTERNAL: PlainLabelsPlan,
    Study.Kind.WRITING: SessionsPlan,
}
"""What makes a study of an archive, by its kind."""


def _read(archive: Opened, kind: str) -> tuple[str, Any, Said]:
    """The kind of the study that an archive becomes, and its rows: older label work is labels made elsewhere."""
    labels: Sequence[PlacedLabel] = ()
    rows: Any
    if kind == Study.Kind.LINKING:
        rows, labels = _annotated(archive)
    elif kind == Study.Kind.WRITING:
        rows = read_sessions(archive)
    elif kind in SCHEMAS and has_work(archive):
        rows = read_work(archive)
        labels = rows.labels
    else:
        rows = _labels_made_elsewhere(archive) if kind == Study.Kind.EXTERNAL else _labels(archive)
        kind = Study.Kind.EXTERNAL
    return kind, rows, said_in(rows, labels)


def _people(archive: Opened) -> tuple[str, ...]:
    """The pseudonyms of everybody who took part, in their order."""
    with archive.stream(ANNOTATORS) as stream, tables.opened(
        stream, archive.problems, required=["annotator"], name=ANNOTATORS
    ) as rows:  # fmt: skip
        parts = [checked(PersonPart, row, f"{ANNOTATORS}, {where}", archive.problems) for where, row in rows]
    archive.problems.raise_errors()
    return tuple(part.annotator for part in parts if part is not None)


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Archive:
    with opened(file, problems) as archive:
        study = archive.manifest.study
        if study.kind not in PLANS:
            expected = f"one of {', '.join(PLANS)}"
            problems.error("wrong_value", MANIFEST, "study.kind", expected=expected, got=study.kind)
            raise ImportFailed(problems)
        people = _people(archive)
        kind, rows, said = _read(archive, study.kind)
        parsed = Archive(study.name, study.id, kind, people, rows, said)
    problems.raise_errors()
    return parsed


def _names(name: str) -> Iterator[str]:
    """What a study may be called: its own name, then “NAME (archive)”, “NAME (archive 2)” …"""
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
            self._compare(self.study, rows.said)
            return
        request = replace(self.request, options={**self.request.options, "study": name})
        inner = self.inner = PLANS[rows.kind](request, self.problems)
        inner.members = rows.people
        if rows.uid and not Study._base_manager.filter(uid=rows.uid).exists():
            inner.uid = rows.uid
        inner.take(rows.rows)
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
            if there is not None and self._is_same(there, rows):
                return there, name
        if there is not None:
            self._refuse("another study")
        return None, name

    def _is_same(self, there: Study, rows: Archive) -> bool:
        is_alike = there.kind == rows.kind and is_open_to(there, self.request.actor)
        return is_alike and bool(rows.said.rows) and not rows.said.missing_in(there)

    def _refuse(self, got: str) -> None:
        self.problems.error("other_study", "", "name", expected="a new name", got=Got(got))
        self.problems.raise_errors()

    def _compare(self, study: Study, said: Said) -> None:
        """Count what the study holds, and warn of what it does not: nothing is written either way."""
        n_missing = said.missing_in(study)
        self.kinds, self.target = (said.kind,), study
        self.unchanged[said.kind] = said.rows.total() - n_missing
        if n_missing:
            self.problems.warning(
                "not_in_the_study",
                "",
                "",
                expected=f"the {said.kind} of the study “{study.name}” as they are now",
                got=Got("others: they changed or were deleted since, or are newer"),
                message="The study stays as it is; another name makes a separate study of the archive.",
                count=n_missing,
            )

    def refuse_hidden(self) -> None:
        """Refuse what a study of this kind refuses."""
        if self.inner is not None:
            self.inner.refuse_hidden()

    def write(self) -> None:
        """Save the rows."""
        if self.inner is not None:
            self.inner.write()

    @property
    def into(self) -> Destination | None:
        """The study that the archive becomes, or that it is of."""
        if self.study is not None:
            return Destination(self.study.name, is_new=False)
        return self.inner.into if self.inner is not None else None

    def results(self) -> Sequence[Result]:
        if self.study is not None:
            return [Result(self.study.name, str(self.study.uid))]
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
