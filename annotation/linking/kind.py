"""What coverage linking says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.figures.page import headline, headline_facts, small_chart
from annotation.kinds import Headline, StudyFile, Waiting, Words, register, results_tab
from annotation.labelling.kind import LabelWork, disagreements
from annotation.labelling.recording import Outcome
from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.labelling.summary_forms import add_from, choice_of, create_from
from annotation.labelling.views import barred
from annotation.linking import exports, planning
from annotation.linking.adjudicating import undecided
from annotation.linking.annotated import files_of, haystacks_of
from annotation.linking.forms import LinkingStudyForm, MoreSummariesForm, checks_in
from annotation.linking.overview import checks_of, page_of
from annotation.linking.page_context import page_context
from annotation.linking.recording import LINK, feedback, question_in_words
from annotation.linking.simulated import SIMULATED
from annotation.linking.unlinked import UNLINKED
from annotation.models import Exposure, LabelTask, LinkingPlan, Study
from annotation.studies.guidelines import wording
from annotation.studies.overview_page import OverviewPage, Remark
from annotation.studies.tasks import Dealing, Dealt
from benchmarks.models import Haystack
from benchmarks.web.charts import Chart

DISAGREEMENTS = "annotation:disagreements"


class Linking(LabelWork):
    """How far summaries cover insights, and in which bullets."""

    value = Study.Kind.LINKING
    label = gettext_lazy("coverage linking")
    new_title = gettext_lazy("New linking study")
    intro = gettext_lazy(
        "Annotators decide how fully a summary covers each insight, and in which bullet. They do not see "
        "systems, judges or each other's labels."
    )
    words = Words(
        task=gettext_lazy("Find insights in summaries"),
        handed_in=gettext_lazy("Insights found in summaries"),
        left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
        finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
        minutes=4.0,  # as in SummHay (section 4)
    )
    guidelines = wording(__file__)
    tabs = (
        results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-agreement"),
        results_tab("disagreements", gettext_lazy("Disagreements"), DISAGREEMENTS),
    )
    plan = LinkingPlan
    new_form = LinkingStudyForm
    items_form = MoreSummariesForm
    form_template = "annotation/linking_form.html"
    people_template = "annotation/linking_more.html"
    short = ngettext_lazy(
        "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
    )
    short_help = gettext_lazy(
        "Nobody gets a summary of their own, or one on a haystack that they still have to write on."
    )
    about_rows = ABOUT_ROWS
    about_label = gettext_lazy("Summary")
    label_columns = tuple(exports.COLUMNS)
    label_files = (("current", gettext_lazy("Labels")), ("history", gettext_lazy("Every answer ever given")))
    downloads = (("annotation:annotated-summaries", gettext_lazy("Annotated summaries, JSON")),)
    answers = LINK
    beside = UNLINKED
    task_template = "annotation/linking_task.html"
    task_rows = ("study__linking_plan", "item__summary__subtopic", "item__summary__haystack")
    simulated = SIMULATED

    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        """Take the summaries and deal them, with training and gold items where they are asked for."""
        return create_from(planning.create_study, form=form, by=by, now=now, checks=form.checks())

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | checks_in(study) | choice_of(study, user=user)

    def initial_on(self, haystack: Haystack) -> dict[str, Any]:
        return {"haystacks": [haystack.pk]}

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        """Add summaries; with the first ones training and gold items where they are asked for."""
        add = planning.add_summaries
        if form.takes_checks:
            add = partial(planning.add_first_summaries, checks=form.checks(), pass_mark=form.pass_share())
        return add_from(add, form=form, study=study, by=by, now=now)

    def dealing(self, study: Study) -> Dealing:
        return planning.dealing(study)

    def deal(self, *, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
        return planning.deal(study=study, by=by, now=now, rebalance=rebalance)

    def checks(self, study: Study) -> Mapping[int, tuple[int, int]]:
        return checks_of(study)

    def page_context(self, task: LabelTask) -> dict[str, Any]:
        return page_context(task)

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        return barred(request, task, reason=Exposure.Reason.LINKING)

    def question_in_words(self, task: LabelTask, question: UUID) -> str:
        return question_in_words(task, question)

    def feedback(self, outcome: Outcome[Any]) -> str:
        return feedback(outcome)

    def about(self, task: LabelTask) -> Remark:
        return about(task)

    def overview(self, study: Study, now: datetime) -> OverviewPage:
        return page_of(study, now)

    def waiting(self, studies: Mapping[int, Any]) -> list[Waiting]:
        return disagreements(studies, undecided(studies), page=DISAGREEMENTS)

    def latest(self, study: Study) -> Chart | None:
        return small_chart(study)

    def facts(self, study: Study) -> object:
        return headline_facts(study)

    def headline(self, study: Study) -> Headline:
        return headline(study)

    def label_rows(self, study: Study, which: str) -> Iterator[tuple[Any, ...]]:
        return exports.label_rows(study, which)

    def label_cells(self, rows: Iterator[tuple[Any, ...]]) -> Iterable[Sequence[Any]]:
        return exports.spaced(rows)

    def files(self, study: Study, now: datetime) -> Iterable[StudyFile]:
        return files_of(study, now)

    def insights_in_files(self, study: Study) -> Iterable[Haystack]:
        return haystacks_of(study)


KIND = register(Linking())
