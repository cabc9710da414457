"""What validation of a judge's verdicts says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register, results_tab
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import TaskPage
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import wording
from annotation.validation import exports, planning
from annotation.validation.forms import PairsForm, ValidationStudyForm, initial_of
from annotation.validation.overview import ABOUT_ROWS, about, page_of
from annotation.validation.page_context import page_context
from annotation.validation.recording import PAIR, in_words, parse
from annotation.validation.results import headline, small_plot
from annotation.validation.simulated import SIMULATED


def create(*, form: ValidationStudyForm, by: Any, now: datetime) -> Study:
    """Draw the verdicts and deal them."""
    data = form.cleaned_data
    return planning.create_study(
        plan=form.plan(),
        judge=data["judge"],
        n=data["n_sample"],
        dataset=data["dataset"],
        seed=form.chosen_seed,
        by=by,
        now=now,
        **form.common(),
    )


def add_items(*, form: PairsForm, study: Study, by: Any, now: datetime) -> int:
    """Draw more of the judge's verdicts into the study; returns how many."""
    data = form.cleaned_data
    return planning.add_pairs(study=study, n=data["n_sample"], dataset=data["dataset"], by=by, now=now)


KIND = register(
    LabelWork(
        value=Study.Kind.VALIDATION,
        label=gettext_lazy("entailment validation"),
        simulated=SIMULATED,
        task=TaskPage(
            answers=PAIR,
            parse=parse,
            in_words=in_words,
            template="annotation/validation_task.html",
            rows=LabelTaskQuerySet.for_validating,
            context=page_context,
        ),
        words=Words(
            task=gettext_lazy("Check which key points responses make"),
            handed_in=gettext_lazy("Responses compared with key points"),
            left=ngettext_lazy("%(n)d pair left", "%(n)d pairs left", "n"),
            finished=ngettext_lazy("%(n)d pair done", "%(n)d pairs done", "n"),
            minutes=1.0,
        ),
        guidelines=wording(__file__),
        new_title=gettext_lazy("New validation study"),
        intro=gettext_lazy(
            "Annotators label the same pairs of response and key point as a judge, without seeing its verdicts. "
            "This shows how far its key point recall can be trusted."
        ),
        headline=headline,
        tabs=(results_tab("results", gettext_lazy("Results"), "annotation:validation-results"),),
        plan="validation_plan",
        new_form=ValidationStudyForm,
        create=create,
        initial_of=initial_of,
        form_template="annotation/validation_form.html",
        items_form=PairsForm,
        add_items=add_items,
        deal=planning.deal,
        room=planning.room,
        n_short=planning.n_short,
        blocked=planning.blocked,
        short=ngettext_lazy(
            "%(n)d response has fewer people than planned.", "%(n)d responses have fewer people than planned.", "n"
        ),
        people_template="annotation/validation_more.html",
        answers="entailmentlabels",
        overview=page_of,
        latest=small_plot,
        about=about,
        about_rows=ABOUT_ROWS,
        about_label=gettext_lazy("Point"),
        label_columns=tuple(exports.COLUMNS),
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Answers")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
    )
)
