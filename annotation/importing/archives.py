"""The archive of a study, taken in as one file: a closed study of its name, with its people as they were called.

What is read depends on the kind: annotated summaries of linking, sessions and snapshots of writing; labels with
texts, items and what judges said of verification, validation and rating. Labels of any other, and of archives
without these, become labels made elsewhere, with the categories that their tasks allow, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.importing.annotated_summaries import AnnotatedSummariesPlan
from annotation.importing.label_studies import PERMISSION, LabelPlan, address_of_study
from annotation.importing.label_work import LabelWorkPlan
from annotation.importing.opened import MANIFEST, Opened, opened
from annotation.importing.plain_labels import PlainLabelsPlan
from annotation.importing.sessions import SessionsPlan, read_sessions
from annotation.importing.work_files import SCHEMAS, Work, has_work, read_work
from annotation.models import Study
from benchmarks.io.formats import Format, Option
from benchmarks.io.holding import report_what_cannot_be_held
from benchmarks.io.plan import ImportRequest, Plan, Result
from benchmarks.io.reading import tables
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import eval_benchmark, plain_labels
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.io.schemas.fields import Part, Text, checked, label

ANNOTATORS = "annotators.csv"


class PersonPart(Part):
    """A row of `annotators.csv`."""

    annotator: Annotated[label(120), Field(min_length=1)]  # type: ignore[valid-type]


class LabelPart(Part):
    """What tells whose labels of coverage an archive holds."""

    annotator: Text
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Archive:
    """What is read of an archive: its study, who took part, and the rows that the plan of its kind takes."""

    name: str
    kind: str
    people: tuple[str, ...]
    rows: Any


def _labels(archive: Opened, name: str = "labels.jsonl", categories: Sequence[str] = ()) -> Any:
    with (
        archive.stream(name) as stream,
        plain_labels.opened(stream, archive.problems, name=name) as rows,
    ):
        return plain_labels.read(rows, categories=categories, problems=archive.problems)


def _labels_made_elsewhere(archive: Opened) -> Any:
    return _labels(archive, "labels.csv", archive.manifest.study.categories)


def _annotated(archive: Opened) -> Sequence[BenchmarkEntry]:
    """Annotated summaries; where one person's labels count they name nobody, and the labels say who it was."""
    with archive.stream("annotated-summaries.json") as stream:
        entries = eval_benchmark.parse(stream, problems=archive.problems)
    if not any(entry.human for entry in entries):
        return entries
    names = {row.annotator for row in archive.rows("labels.jsonl", LabelPart) if row.is_complete}
    if len(names) != 1:
        return entries
    [name] = names
    return tuple(replace(entry, human=(), people={name: entry.human} if entry.human else {}) for entry in entries)


Read = Callable[[Opened], Any]
KINDS: dict[str, tuple[Read, type[LabelPlan[Any]]]] = {
    Study.Kind.LINKING: (_annotated, AnnotatedSummariesPlan),
    Study.Kind.VERIFICATION: (_labels, PlainLabelsPlan),
    Study.Kind.VALIDATION: (_labels, PlainLabelsPlan),
    Study.Kind.RATING: (_labels, PlainLabelsPlan),
    Study.Kind.EXTERNAL: (_labels_made_elsewhere, PlainLabelsPlan),
    Study.Kind.WRITING: (read_sessions, SessionsPlan),
}
"""What is read of an archive, and what compares it with the database, by the kind of its study."""


def _way(kind: str, *, has_work: bool) -> tuple[Read, type[LabelPlan[Any]]]:
    """How an archive of a kind is read and compared: labels of older ones become labels made elsewhere."""
    return (read_work, LabelWorkPlan) if has_work and kind in SCHEMAS else KINDS[kind]


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
        name, kind = archive.manifest.study.name, archive.manifest.study.kind
        if kind not in KINDS:
            expected = f"one of {', '.join(KINDS)}"
            problems.error("wrong_value", MANIFEST, "study.kind", expected=expected, got=kind)
            raise ImportFailed(problems)
        read, _plan = _way(kind, has_work=has_work(archive))
        parsed = Archive(name, kind, _people(archive), read(archive))
    problems.raise_errors()
    return parsed


class ArchivePlan(Plan[Archive]):
    """One archive, as the plan of its kind of study takes it."""

    MODELS = ()
    ACTION = LabelPlan.ACTION

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.inner: LabelPlan[Any] | None = None

    def take(self, rows: Archive) -> None:
        """Compare what the archive holds with the study of its name, or of another one that was asked for."""
        options = {**self.request.options, "study": self.request.options.get("name") or rows.name}
        _read, plan = _way(rows.kind, has_work=isinstance(rows.rows, Work))
        inner = self.inner = plan(replace(self.request, options=options), self.problems)
        inner.members = rows.people
        inner.take(rows.rows)
        report_what_cannot_be_held(inner.rows(), self.problems)
        self.kinds = inner.kinds or tuple(inner.created | inner.unchanged)
        self.created, self.unchanged, self.updated = inner.created, inner.unchanged, inner.updated
        self.target = inner.target

    def write(self) -> None:
        """Save the rows."""
        if self.inner is not None:
            self.inner.write()

    def results(self) -> Sequence[Result]:
        return self.inner.results() if self.inner is not None else []


ARCHIVE = Format(
    name="archive",
    title="Archive of a study",
    description=(
        "The zip of a study, as it is downloaded here. It becomes a closed study of the same name with the same "
        "people, labels and categories; of a writing study the sessions come back, on haystacks that are here."
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
    options=(Option("name", _("Name of the study"), _("By default that of the archive.")),),
    permission=PERMISSION,
    is_joint=False,
)
