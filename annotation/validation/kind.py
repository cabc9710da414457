"""What validation of a judge's verdicts says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Tab, Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import TaskPage
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import unwrapped
from annotation.validation import exports, planning
from annotation.validation.forms import PairsForm, ValidationStudyForm
from annotation.validation.overview import ABOUT_ROWS, about, page_of
from annotation.validation.page_context import page_context
from annotation.validation.recording import PAIR, in_words, parse
from annotation.validation.results import small_plot

GUIDELINES = unwrapped(
    """\
## Your task

You see a question, a response to it, and one key point that a good answer should make. Decide whether the response
makes the point. You judge the response, not the point: whether the point is true or important does not matter
here.

## The three answers

The answers are listed with their keys, in the order of the page.

- **Yes** (`1`): anyone who believes the response must believe the whole point. Other words are fine, and so is a
  point that several sentences make together.
- **Neutral** (`2`): the response mentions it but says less, so the point may or may not follow: a number, a
  condition or an exception is missing, or the response is more general than the point.
- **No** (`3`): the response does not mention it, or contradicts it.

Only the words of the response count, not what you know. Read to the end before you answer no or neutral. If the
point has several parts, all of them must be there for a yes.

## Why not

Some studies ask why a point is not entailed. The reason is optional.

- **Incomplete** (`4`): the response says part of the point and leaves part of it out.
- **Too general** (`5`): it touches on the point only in vague or broad terms.
- **Missing** (`6`): it does not bring the point up at all.

## The passage

You may mark the passage that decided your answer: select it and press `m`, or use the button. Without a mouse,
press `m` and choose sentences with the arrow keys. The mark helps whoever reads your answer. It is optional.

## Worked examples

Point: “Some mangrove species excrete salt through glands in their leaves.”

- “A number of these trees take salt in and push it out again through their leaves.” **Neutral**: the glands are
  missing.
- “Leaf glands let several kinds get rid of the salt that they took in.” **Yes**.
- “Mangroves keep salt out at the roots.” **No**: that is a different mechanism.

Point: “Frost stopped traffic on the canals for weeks.”

- “Boats were often held up by bad weather.” **Neutral**: it mentions neither frost nor
  weeks.
- “A hard winter could freeze a canal for a month, and nothing moved.” **Yes**.

## If in doubt

If you hesitate, choose the closest answer and mark *not sure*. Skip a pair that you cannot judge, and say why.
Flag anything the researcher should look at, or leave a comment.
"""
)


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
    """Draw verdicts."""
    data = form.cleaned_data
    return planning.add_pairs(study=study, n=data["n_sample"], dataset=data["dataset"], by=by, now=now)


KIND = register(
    LabelWork(
        value=Study.Kind.VALIDATION,
        label=gettext_lazy("entailment validation"),
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
        guidelines=GUIDELINES,
        new_title=gettext_lazy("New validation study"),
        intro=gettext_lazy(
            "Annotators label the same pairs of response and key point as a judge, without seeing its verdicts. "
            "This shows how far its key point recall can be trusted."
        ),
        tabs=(
            Tab(
                "results",
                gettext_lazy("Results"),
                "annotation:validation-results",
                "results",
                "annotation.view_session",
            ),
        ),
        plan="validation_plan",
        new_form=ValidationStudyForm,
        create=create,
        form_template="annotation/validation_form.html",
        items_form=PairsForm,
        add_items=add_items,
        deal=planning.deal,
        n_short=planning.n_short,
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
        label_columns=exports.COLUMNS,
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Answers")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
    )
)
