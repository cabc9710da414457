"""What key point verification says of itself."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Tab, Words, register
from annotation.labelling.kind import LabelWork, disagreements
from annotation.labelling.task_page import TaskPage
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import wording
from annotation.studies.kind import NotPossible
from annotation.verification import exports, planning
from annotation.verification.adjudicating import undecided
from annotation.verification.forms import QuestionsForm, VerificationStudyForm, initial_of
from annotation.verification.overview import ABOUT_ROWS, about, checks_of, page_of
from annotation.verification.page_context import page_context, pane
from annotation.verification.recording import POINT, in_words, parse
from annotation.verification.research_page import headline, small_plot
from annotation.verification.simulated import SIMULATED

DISAGREEMENTS = "annotation:verification-disagreements"


def create(*, form: VerificationStudyForm, by: Any, now: datetime) -> Study:
    """Take the questions and deal them."""
    questions = form.chosen(seed=form.chosen_seed)
    if not questions:
        raise NotPossible(_("There is no question with key points of that kind in this set."))
    return planning.create_study(
        plan=form.plan(), questions=questions, seed=form.chosen_seed, by=by, now=now, **form.common()
    )


def add_items(*, form: QuestionsForm, study: Study, by: Any, now: datetime) -> int:
    """Add the questions that the form chooses; returns how many of them are new."""
    return planning.add_questions(study=study, questions=form.chosen(seed=study.seed), by=by, now=now)


KIND = register(
    LabelWork(
        value=Study.Kind.VERIFICATION,
        label=gettext_lazy("key point verification"),
        simulated=SIMULATED,
        task=TaskPage(
            answers=POINT,
            parse=parse,
            in_words=in_words,
            template="annotation/verification_task.html",
            rows=LabelTaskQuerySet.for_verifying,
            context=page_context,
            pane=pane,
        ),
        words=Words(
            task=gettext_lazy("Verify key points in documents"),
            handed_in=gettext_lazy("Key points verified"),
            left=ngettext_lazy("%(n)d key point left", "%(n)d key points left", "n"),
            finished=ngettext_lazy("%(n)d key point done", "%(n)d key points done", "n"),
            minutes=1.0,
        ),
        guidelines=wording(__file__),
        new_title=gettext_lazy("New verification study"),
        intro=gettext_lazy(
            "Annotators decide whether the documents contain each key point and, if so, whether it matters for "
            "the question. The key points of a question stay together; nobody sees anybody else's answers."
        ),
        headline=headline,
        waiting=partial(disagreements, undecided=undecided, page=DISAGREEMENTS),
        tabs=(
            Tab("agreement", gettext_lazy("Agreement"), "annotation:verification-agreement", "results"),
            Tab("choosing", gettext_lazy("Choose annotators"), "annotation:verification-choosing", "results"),
            Tab(
                "spot",
                gettext_lazy("Spot checks"),
                "annotation:verification-spot-checks",
                "results",
                "annotation.change_study",
            ),
            Tab(
                "disagreements",
                gettext_lazy("Disagreements"),
                DISAGREEMENTS,
                "results",
            ),
            Tab("autods", gettext_lazy("AutoDS filter"), "annotation:verification-autods", "results"),
            Tab("dataset", gettext_lazy("Dataset"), "annotation:verification-dataset", "data"),
        ),
        plan="verification_plan",
        new_form=VerificationStudyForm,
        create=create,
        initial_of=initial_of,
        form_template="annotation/verification_form.html",
        items_form=QuestionsForm,
        add_items=add_items,
        deal=planning.deal,
        room=planning.room,
        checks=checks_of,
        n_short=planning.n_short,
        blocked=planning.blocked,
        short=ngettext_lazy(
            "%(n)d question has fewer people than planned.", "%(n)d questions have fewer people than planned.", "n"
        ),
        people_template="annotation/verification_more.html",
        answers="pointlabels",
        overview=page_of,
        latest=small_plot,
        about=about,
        about_rows=ABOUT_ROWS,
        about_label=gettext_lazy("Key point"),
        files=exports.files_of,
        label_columns=tuple(exports.LABEL_COLUMNS),
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Labels")),
            ("first", gettext_lazy("First answers")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
        downloads=(("annotation:verification-dataset", gettext_lazy("Dataset and its files")),),
    )
)
