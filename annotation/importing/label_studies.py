"""The study that imported labels go to, and its annotators: what formats of labels and archives share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar
from uuid import UUID

from django.db.models import Model
from django.urls import reverse
from pydantic import BeforeValidator, Field

from annotation.importing.opened import Opened
from annotation.kinds import kind_named
from annotation.models import Annotator, CoverageLabel, Membership, Study
from annotation.studies.kind import Work, has_plan
from annotation.studies.lifecycle import of_other_groups, out_of_place
from benchmarks.io.plan import ImportRequest, Plan
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import Expected, Part, label, null_as
from benchmarks.io.schemas.topics import TopicVerdict
from benchmarks.models import Insight, Question, Summary

PERMISSION = "annotation.add_study"
SUBJECTS = ("summary", "question", "response", "key_point")
"""By what a label or an item of a study names its text."""
SOMEBODY_ELSES = "a study of somebody else"
LABELS = "labels.jsonl"
Rows = TypeVar("Rows")


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class PlacedLabel(Part):
    """A row of `labels.jsonl` as far as it tells who said what of which text, by names that all sites share."""

    EXPECTED = "a label"
    annotator: Annotated[label(120), Field(min_length=1)]  # type: ignore[valid-type]
    task: label(40) = ""  # type: ignore[valid-type]
    label: Annotated[str, BeforeValidator(_as_text), Expected("a text")]
    subtopic: label(120) = ""  # type: ignore[valid-type]
    system: label(200) = ""  # type: ignore[valid-type]
    insight: label(120) = ""  # type: ignore[valid-type]
    dataset: label(80) = ""  # type: ignore[valid-type]
    question: label(120) = ""  # type: ignore[valid-type]
    key_point: label(120) = ""  # type: ignore[valid-type]
    lines: Annotated[list[int], null_as(list), Expected("a list of lines")] = Field(default_factory=list)
    is_complete: bool = True


class LabelPlan(Plan[Rows]):
    """New labels of one study; where there is none of this name it is made, closed.

    It is its importer's. Made on the command line for no `researcher` it is nobody's in particular: every
    researcher may read its figures.
    """

    MODELS: ClassVar[tuple[type[Model], ...]] = (Study, Annotator, Membership)
    ACTION = "labels.imported"
    NEVER = "Labels are never changed; import them into another study."
    COUNTED: ClassVar[str] = "labels"
    """The rows of an archive, in the plural."""
    TOLD: ClassVar[tuple[str, ...]] = (
        "annotator", "task", "label", "subtopic", "system", "insight", "lines", "dataset", "question", "key_point",
    )  # fmt: skip
    """Columns by which it is known again, named as on every site."""

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.study: Study | None = None
        self.members: Sequence[str] = ()
        """People who are in the study whether they labelled or not, in their order."""
        self.uid: UUID | None = None
        """The id of the study if it is made, where it has one already on another site."""

    @classmethod
    def read(cls, archive: Opened) -> tuple[Rows, Iterable[Mapping[str, Any]]] | None:
        """Read an archive's values for `take`, and rows with `TOLD` of it; None where it has no such files."""
        return None

    @staticmethod
    def placed(labels: Iterable[PlacedLabel]) -> Iterable[Mapping[str, Any]]:
        """Answers of labels, as far as they are complete."""
        return [row.model_dump() for row in labels if row.label and row.is_complete]

    def find_study(self, name: str, *, kind: str, categories: Sequence[str] = ()) -> Study:
        """Find or make the study.

        Raises:
            ImportFailed: this name is of another study, or of one that was set up here: it has people of its own.
        """
        if self.study is None:
            known: Study | None = Study.objects.filter(name=name).first()
            self.is_new = known is None
            self.study = self.target = self._new_study(name, kind, categories) if known is None else known
            self._load_annotators(self.study)
            for name in self.members:
                self.annotator(name)
        study = self.study
        if not self.is_new and (got := self._why_not(study, kind)):
            expected = f"a new name, or a study of imported labels, of {kind_named(kind).label}"
            self.problems.error("other_study", "", "study", expected=expected, got=Got(got))
        elif list(study.categories) != list(categories):
            self.problems.error(
                "other_categories",
                "",
                "categories",
                expected=f"those of the study, {', '.join(study.categories)}",
                got=Got(", ".join(categories)),
            )
        self.problems.raise_errors()
        return study

    def _new_study(self, name: str, kind: str, categories: Sequence[str]) -> Study:
        study = Study(
            name=name,
            kind=kind,
            state=Study.State.CLOSED,
            categories=list(categories),
            created_at=self.now,
            created_by=self.request.actor,
            **({"uid": self.uid} if self.uid is not None else {}),
        )
        self.create(study)
        return study

    def _why_not(self, study: Study, kind: str) -> str:
        """Why labels of this kind cannot join a study that is here; empty where they can."""
        if study.kind != kind:
            return f"a study of {study.get_kind_display()}"
        if not is_open_to(study, self.request.actor):
            return SOMEBODY_ELSES
        is_ours = isinstance(kind_named(kind), Work) and has_plan(study)
        if is_ours or study.memberships.exclude(annotator__user=None).exists():
            return "a study that has people of its own"
        return ""

    def _load_annotators(self, study: Study) -> None:
        members = study.memberships.select_related("annotator") if not self.is_new else Membership.objects.none()
        self.n_members = len(members)
        self.annotators: dict[str, Annotator] = {
            row.annotator.label: row.annotator for row in members if row.annotator.user_id is None
        }

    def annotator(self, label: str) -> Annotator:
        """The annotator, without an account, whose labels were imported under this name into this study."""
        if label not in self.annotators:
            row = Annotator(label=label, is_active=False, created_at=self.now)
            self.n_members += 1
            self.create(row)
            self.create(Membership(study=self.study, annotator=row, number=self.n_members, joined_at=self.now))
            self.annotators[label] = row
        return self.annotators[label]

    def coverage_label(
        self, name: str, summary: Summary, insight: Insight, incoming: TopicVerdict, *, raw: Mapping[str, Any]
    ) -> CoverageLabel:
        """A label that was imported under a name, as a row, marked where it breaks our rule."""
        return CoverageLabel(
            study=self.study,
            annotator=self.annotator(name),
            summary=summary,
            insight=insight,
            coverage=incoming.coverage,
            lines=list(incoming.lines),
            is_linked=bool(incoming.lines),
            is_complete=True,
            is_imported=True,
            breaks_rule=incoming.breaks_rule,
            raw=dict(raw),
            made_at=self.now,
        )

    def refuse_hidden(self) -> None:
        """Refuse labels on texts of another group than the study's as well, before the preview. Two queries."""
        super().refuse_hidden()
        if self.study is None:
            return
        haystacks: set[int] = set()
        questions: set[int] = set()
        for row in self.rows():
            for subject in [getattr(row, name, None) for name in SUBJECTS] if hasattr(row, "study_id") else ():
                haystacks.add(getattr(subject, "haystack_id", None) or 0)
                question = subject.pk if isinstance(subject, Question) else getattr(subject, "question_id", None)
                questions.add(question or 0)
        for problem in of_other_groups(self.study.group, haystacks=haystacks - {0}, questions=questions - {0}):
            self._out_of_place(problem)

    def _out_of_place(self, got: str) -> None:
        self.problems.error("other_group", "", "", expected="texts of the study's group", got=got)

    def write(self) -> None:
        """Save the rows, and give the study to whom it belongs."""
        super().write()
        if self.study is not None:
            owners = {self.request.researcher, self.request.actor if self.is_new else None} - {None}
            self.study.researchers.add(*owners)
            for problem in out_of_place(self.study, self.study.group):
                self._out_of_place(problem)
            self.problems.raise_errors()

    @property
    def into(self) -> Mapping[str, Any] | None:
        return None if self.study is None else {"title": self.study.name, "is_new": self.is_new}

    def results(self) -> list[Mapping[str, str]]:
        if self.study is None or not self.study.pk:
            return []
        return [{"title": self.study.name, "id": str(self.study.uid)}]


def is_open_to(study: Study, actor: Any) -> bool:
    """Whether whoever imports may know a study: all on the command line, else those whose results they read."""
    return actor is None or Study.objects.readable_by(actor).filter(pk=study.pk).exists()


def address_of_study(uid: str) -> str:
    kind = Study.objects.values_list("kind", flat=True).get(uid=uid)
    return reverse(kind_named(kind).study_page, args=[uid])


def address_of_figures(uid: str) -> str:
    return reverse("annotation:study-figures", args=[uid])
