"""What validation of a judge's verdicts says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import TaskPage
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import unwrapped
from annotation.studies.kind import Tab
from annotation.validation import exports, planning
from annotation.validation.forms import PairsForm, ValidationStudyForm
from annotation.validation.overview import page_of
from annotation.validation.page_context import page_context
from annotation.validation.recording import PAIR, in_words, parse

GUIDELINES = unwrapped(
    """\
## Your task

You see a question, a response to it, and one point that a good answer should make. Say whether the response makes
the point. You judge the response, not the point: whether the point is true or important does not matter here.

## The three answers

Each answer has its key, in the order of the page.

- **Yes** (`y`): somebody who believes the response must believe the whole point. Other words are fine, and so is a
  point that several sentences make together.
- **Neutral** (`0`): the response speaks of it and says less, so that the point may or may not follow: a number, a
  condition or an exception of the point is missing, or a general remark stands for a particular one.
- **No** (`n`): the response does not speak of it, or says the opposite.

Only the words of the response count, not what you know. Read it to its end before a no or a neutral. If the point
has several parts, all of them have to be there for a yes.

## The passage

You may mark the passage that decides: select it and press `m`, or use the button. It helps whoever reads your
answer and is never required.

## Worked examples

Point: “Some mangrove species excrete salt through glands in their leaves.”

- “A number of these trees take salt in and push it out again through their leaves.” **Neutral**: that glands do it
  is missing.
- “Leaf glands let several kinds get rid of the salt that they took in.” **Yes**.
- “Mangroves keep salt out at the roots.” **No**: that is another way to cope with it.

Point: “Frost stopped traffic on the canals for weeks.”

- “Boats were often held up by bad weather.” **Neutral**: neither frost nor weeks follow from it.
- “A hard winter could freeze a canal for a month, and nothing moved.” **Yes**.

## When something is odd

If you hesitate, choose the nearest answer and mark *not sure*. Skip a pair that you cannot judge, and say why.
Flag or comment what the researcher should look at.
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


def label_rows(study: Study, which: str) -> Iterator[tuple[Any, ...]]:
    """Answers that count, or every one ever given."""
    return exports.label_rows(study, with_history=which == "history")


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
            task=gettext_lazy("Say whether responses hold key points"),
            handed_in=gettext_lazy("Responses compared with key points"),
            left=ngettext_lazy("%(n)d pair left", "%(n)d pairs left", "n"),
            finished=ngettext_lazy("%(n)d pair done", "%(n)d pairs done", "n"),
            minutes=1.0,
        ),
        guidelines=GUIDELINES,
        new_title=gettext_lazy("New validation study"),
        intro=gettext_lazy(
            "People say of responses and key points what a judge has said of them, without seeing it. So you "
            "learn how far its key point recall can be trusted."
        ),
        tabs=(
            Tab("annotators", gettext_lazy("People and verdicts"), "annotation:study-annotators"),
            Tab("results", gettext_lazy("Results"), "annotation:validation-results"),
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
        label_columns=exports.COLUMNS,
        label_rows=label_rows,
        label_files=(
            ("current", gettext_lazy("Answers")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
    )
)
