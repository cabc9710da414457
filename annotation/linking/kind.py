"""What coverage linking says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.figures.results import RESULTS
from annotation.kinds import Waiting, Words, register, results_tab
from annotation.labelling import summaries
from annotation.labelling.kind import LabelWork, disagreements
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
        results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-figures"),
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
    about_rows = summaries.ABOUT_ROWS
    about = staticmethod(summaries.about)
    about_label = gettext_lazy("Summary")
    label_columns = tuple(exports.COLUMNS)
    label_rows = staticmethod(exports.label_rows)
    label_cells = staticmethod(exports.spaced)
    label_files = (("current", gettext_lazy("Labels")), ("history", gettext_lazy("Every answer ever given")))
    downloads = (("annotation:annotated-summaries", gettext_lazy("Annotated summaries, JSON")),)
    files = staticmethod(files_of)
    insights_in_files = staticmethod(haystacks_of)
    answers = LINK
    results = RESULTS
    beside = UNLINKED
    task_template = "annotation/linking_task.html"
    task_rows = ("study__linking_plan", "item__summary__subtopic", "item__summary__haystack")
    page_context = staticmethod(page_context)
    question_in_words = staticmethod(question_in_words)
    feedback = staticmethod(feedback)
    simulated = SIMULATED
    dealing = staticmethod(planning.dealing)
    deal = staticmethod(planning.deal)
    checks = staticmethod(checks_of)
    overview = staticmethod(page_of)

    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        """Take the summaries and deal them, with training and gold items where they are asked for."""
        return create_from(planning.create_study, form=form, by=by, now=now, checks=form.checks())

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | checks_in(study) | choice_of(study, user=user)

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        """Add summaries; with the first ones training and gold items where they are asked for."""
        add = planning.add_summaries
        if form.takes_checks:
            add = partial(planning.add_first_summaries, checks=form.checks(), pass_mark=form.pass_share())
        return add_from(add, form=form, study=study, by=by, now=now)

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        return barred(request, task, reason=Exposure.Reason.LINKING)

    def waiting(self, studies: Mapping[int, Any]) -> list[Waiting]:
        return disagreements(studies, undecided(studies), page=DISAGREEMENTS)


KIND = register(Linking())
