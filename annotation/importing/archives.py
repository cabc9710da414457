"""The archive of a study, taken in as one file: a closed study of its name, with its people as they were called.

What is read depends on the kind: annotated summaries of linking, sessions and snapshots of writing, the labels of
any other. Those become labels made elsewhere, with the categories that their tasks allow, in order.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Annotated, Any

import orjson
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.importing.annotated_summaries import AnnotatedSummariesPlan
from annotation.importing.label_studies import PERMISSION, LabelPlan, address_of_study
from annotation.importing.plain_labels import PlainLabelsPlan
from annotation.importing.sessions import SessionsPlan, read_sessions
from annotation.models import Study
from benchmarks.io.formats import Format, Option
from benchmarks.io.plan import ImportRequest, Plan, Result
from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.schemas import eval_benchmark, plain_labels
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.io.schemas.fields import Expected, Part, Text, checked, null_as

MANIFEST, ANNOTATORS = "manifest.json", "annotators.csv"


class CorpusPart(Part):
    """A corpus of a manifest, with its data version."""

    key: str
    sha256: str


class StudyPart(Part):
    """The study of a manifest."""

    name: Text
    kind: Text
    categories: Annotated[list[Any], null_as(list)] = Field(default_factory=list)


class ManifestPart(Part):
    """What is read of the manifest of an archive."""

    EXPECTED = "the manifest of a study"
    study: Annotated[StudyPart, Expected("the manifest of a study")]
    corpora: Annotated[list[CorpusPart], Expected("a list of corpora with key and sha256")]


@dataclass(frozen=True, slots=True)
class Archive:
    """What is read of an archive: its study, who took part, and the rows that the plan of its kind takes."""

    name: str
    kind: str
    people: tuple[str, ...]
    rows: Any


class Opened:
    """The files of an archive by their names in its one folder, none longer than may be read."""

    def __init__(self, zipped: zipfile.ZipFile, file: File, problems: Problems) -> None:
        self.zipped, self.problems, self.limit_bytes = zipped, problems, file.limit_bytes
        self.members = {info.filename.partition("/")[2]: info for info in zipped.infolist()}
        self.manifest = self._manifest()
        self.corpora = {corpus.key: corpus.sha256 for corpus in self.manifest.corpora}

    def stream(self, name: str) -> IO[bytes]:
        """A file of the archive; raises `ImportFailed` where there is none, or it is too long."""
        info = self.members.get(name)
        if info is None or info.file_size > self.limit_bytes:
            got = Got("none" if info is None else f"one of {info.file_size:,} bytes")
            self.problems.error("missing_file", name, "", expected="this file in the archive of a study", got=got)
            raise ImportFailed(self.problems)
        return self.zipped.open(info)

    def _manifest(self) -> ManifestPart:
        with self.stream(MANIFEST) as stream:
            value = jsonlines.loaded(stream.read(), self.problems, where=MANIFEST)
        part = None if value is jsonlines.MISSING else checked(ManifestPart, value, MANIFEST, self.problems)
        if part is None:
            raise ImportFailed(self.problems)
        return part

    def people(self) -> tuple[str, ...]:
        """The pseudonyms of everybody who took part, in their order."""
        text = io.TextIOWrapper(self.stream(ANNOTATORS), encoding="utf-8", newline="")
        return tuple(row["annotator"] for row in csv.DictReader(text) if row.get("annotator"))


def _labels(opened: Opened, name: str = "labels.jsonl", categories: Sequence[str] = ()) -> Any:
    with (
        opened.stream(name) as stream,
        plain_labels.opened(stream, opened.problems, name=name) as rows,  # type: ignore[arg-type]
    ):
        return plain_labels.read(rows, categories=categories, problems=opened.problems)


def _labels_made_elsewhere(opened: Opened) -> Any:
    return _labels(opened, "labels.csv", [str(one) for one in opened.manifest.study.categories])


def _annotated(opened: Opened) -> Sequence[BenchmarkEntry]:
    """Annotated summaries; where one person's labels count they name nobody, and the labels say who it was."""
    with opened.stream("annotated-summaries.json") as stream:
        entries = eval_benchmark.parse(stream, problems=opened.problems)  # type: ignore[arg-type]
    if not any(entry.human for entry in entries):
        return entries
    with opened.stream("labels.jsonl") as lines:
        rows = [orjson.loads(line) for line in lines]
    names = {row["annotator"] for row in rows if row["is_complete"]}
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


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Archive:
    try:
        with zipfile.ZipFile(file.path) as zipped:
            opened = Opened(zipped, file, problems)
            name, kind = opened.manifest.study.name, opened.manifest.study.kind
            if kind not in KINDS:
                expected = f"one of {', '.join(KINDS)}"
                problems.error("wrong_value", MANIFEST, "study.kind", expected=expected, got=kind)
                raise ImportFailed(problems)
            read, _plan = KINDS[kind]
            return Archive(name, kind, opened.people(), read(opened))
    except (OSError, zipfile.BadZipFile) as error:
        problems.error("unreadable", "", "", expected="a zip file", got=Got(str(error)))
        raise ImportFailed(problems) from error
    except (KeyError, TypeError, ValueError) as error:  # of rows that no archive has
        expected, got = "the files of an archive as they were made", Got(f"something else ({error})")
        problems.error("wrong_type", "", "", expected=expected, got=got)
        raise ImportFailed(problems) from error


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
        _read, plan = KINDS[rows.kind]
        inner = self.inner = plan(replace(self.request, options=options), self.problems)
        inner.members = rows.people
        inner.take(rows.rows)
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
