"""What coverage linking says of itself."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.figures.page import headline, small_plot
from annotation.kinds import Words, register, results_tab
from annotation.labelling.kind import LabelWork, disagreements
from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.labelling.summary_forms import add_from, create_from
from annotation.labelling.task_page import TaskPage
from annotation.labelling.views import barred
from annotation.linking import exports, planning
from annotation.linking.adjudicating import undecided
from annotation.linking.annotated import files_of, haystacks_of
from annotation.linking.forms import LinkingStudyForm, MoreSummariesForm, initial_of
from annotation.linking.overview import checks_of, page_of
from annotation.linking.page_context import page_context
from annotation.linking.recording import LINK, feedback, in_words, parse, question_in_words
from annotation.linking.simulated import SIMULATED
from annotation.linking.unlinked import UNLINKED
from annotation.models import Exposure, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import wording

DISAGREEMENTS = "annotation:disagreements"


def create(*, form: LinkingStudyForm, by: Any, now: datetime) -> Study:
    """Take the summaries and deal them, with training and gold items where they are asked for."""
    return create_from(planning.create_study, form=form, by=by, now=now, checks=form.checks())


def add_items(*, form: MoreSummariesForm, study: Study, by: Any, now: datetime) -> int:
    """Add summaries; with the first ones training and gold items where they are asked for."""
    add = planning.add_summaries
    if form.takes_checks:
        add = partial(planning.add_first_summaries, checks=form.checks(), pass_mark=form.pass_share())
    return add_from(add, form=form, study=study, by=by, now=now)


KIND = register(
    LabelWork(
        value=Study.Kind.LINKING,
        label=gettext_lazy("coverage linking"),
        simulated=SIMULATED,
        task=TaskPage(
            answers=LINK,
            parse=parse,
            in_words=in_words,
            question_in_words=question_in_words,
            beside=UNLINKED,
            feedback=feedback,
            template="annotation/linking_task.html",
            rows=LabelTaskQuerySet.for_page,
            context=page_context,
            opening=partial(barred, reason=Exposure.Reason.LINKING),
        ),
        words=Words(
            task=gettext_lazy("Find insights in summaries"),
            handed_in=gettext_lazy("Insights found in summaries"),
            left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
            finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
            minutes=4.0,  # as in SummHay (section 4)
        ),
        guidelines=wording(__file__),
        new_title=gettext_lazy("New linking study"),
        intro=gettext_lazy(
            "Annotators decide how fully a summary covers each insight, and in which bullet. They do not see "
            "systems, judges or each other's labels."
        ),
        headline=headline,
        waiting=partial(disagreements, undecided=undecided, page=DISAGREEMENTS),
        tabs=(
            results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-agreement"),
            results_tab("disagreements", gettext_lazy("Disagreements"), DISAGREEMENTS),
        ),
        plan="linking_plan",
        new_form=LinkingStudyForm,
        create=create,
        initial_of=initial_of,
        initial_on=lambda haystack: {"haystacks": [haystack.pk]},
        form_template="annotation/linking_form.html",
        items_form=MoreSummariesForm,
        add_items=add_items,
        deal=planning.deal,
        room=planning.room,
        checks=checks_of,
        n_short=planning.n_short,
        blocked=planning.blocked,
        short=ngettext_lazy(
            "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
        ),
        short_help=gettext_lazy(
            "Nobody gets a summary of their own, or one on a haystack that they still have to write on."
        ),
        people_template="annotation/linking_more.html",
        answers="coveragelabels",
        overview=page_of,
        latest=small_plot,
        about=about,
        about_rows=ABOUT_ROWS,
        about_label=gettext_lazy("Summary"),
        files=files_of,
        insights_in_files=haystacks_of,
        label_columns=tuple(exports.COLUMNS),
        label_rows=exports.label_rows,
        label_cells=exports.spaced,
        label_files=(
            ("current", gettext_lazy("Labels")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
        downloads=(("annotation:annotated-summaries", gettext_lazy("Annotated summaries, JSON")),),
    )
)
