"""The study that imported labels go to, and its annotators: what the formats of labels share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.kinds import kind_named
from annotation.models import Annotator, CoverageLabel, Membership, Study
from annotation.studies.grouping import of_other_groups, out_of_place
from benchmarks.io.plan import ImportRequest, Plan, Result
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.topics import TopicVerdict
from benchmarks.models import Insight, Question, Summary

PERMISSION = "annotation.add_study"
SUBJECTS = ("summary", "question", "response", "key_point")
"""By what a label or an item of a study names its text."""
Rows = TypeVar("Rows")


class LabelPlan(Plan[Rows]):
    """New labels of one study; where there is none of this name it is made, closed.

    It is its importer's. Made on the command line for no `researcher` it is nobody's in particular: every
    researcher may read its figures.
    """

    MODELS: ClassVar[tuple[type[Model], ...]] = (Study, Annotator, Membership)
    ACTION = "labels.imported"
    NEVER = "Labels are never changed; import them into another study."

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.study: Study | None = None
        self.members: Sequence[str] = ()
        """People who are in the study whether they labelled or not, in their order."""

    def find_study(self, name: str, *, kind: Study.Kind, categories: Sequence[str] = ()) -> Study:
        """Find or make the study; raises `ImportFailed` when this name is of another one."""
        if self.study is None:
            known: Study | None = Study.objects.filter(name=name).first()
            self.is_new = known is None
            self.study = self.target = self._new_study(name, kind, categories) if known is None else known
            self._load_annotators(self.study)
            for name in self.members:
                self.annotator(name)
        study = self.study
        if study.kind != kind or not self._may_add(study):
            got = f"a study of {study.get_kind_display()}" if study.kind != kind else "a study of somebody else"
            expected = f"a new name, or a study of {kind_named(kind).label}"
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

    def _new_study(self, name: str, kind: Study.Kind, categories: Sequence[str]) -> Study:
        study = Study(
            name=name,
            kind=kind,
            state=Study.State.CLOSED,
            categories=list(categories),
            created_at=self.now,
            created_by=self.request.actor,
        )
        self.create(study)
        return study

    def _may_add(self, study: Study) -> bool:
        """The command line to all, everybody to their own and to what was imported for all."""
        actor = self.request.actor
        if self.is_new or actor is None or Study.objects.for_user(actor).filter(pk=study.pk).exists():
            return True
        return (
            study.created_by_id is None and not study.researchers.exists() and not hasattr(study, "linking_plan")
        )

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
        self.problems.error("other_group", "", "", expected=_("texts of the study's group"), got=got)

    def write(self) -> None:
        """Save the rows, and give the study to whom it belongs."""
        super().write()
        if self.study is not None:
            owners = {self.request.researcher, self.request.actor if self.is_new else None} - {None}
            self.study.researchers.add(*owners)
            for problem in out_of_place(self.study, self.study.group):
                self._out_of_place(problem)
            self.problems.raise_errors()

    def results(self) -> list[Result]:
        return [Result(self.study.name, str(self.study.uid))] if self.study is not None and self.study.pk else []


def address_of_study(uid: str) -> str:
    """The page of a study, of whatever kind."""
    kind = Study.objects.values_list("kind", flat=True).get(uid=uid)
    return reverse(kind_named(kind).study_page, args=[uid])


def address_of_figures(uid: str) -> str:
    """The agreement page of a study."""
    return reverse("annotation:study-figures", args=[uid])
