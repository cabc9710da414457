"""What key point verification says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Tab, Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import TaskPage
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import unwrapped
from annotation.studies.kind import NotPossible
from annotation.verification import exports, planning
from annotation.verification.forms import QuestionsForm, VerificationStudyForm, initial_of
from annotation.verification.overview import ABOUT_ROWS, about, page_of
from annotation.verification.page_context import page_context, pane
from annotation.verification.recording import POINT, in_words, parse
from annotation.verification.research_page import small_plot

GUIDELINES = unwrapped(
    """\
## Your task

You see a question, the documents found for it, and one key point that a program extracted from them. You answer
two questions: can the point be found in the text, and if so, is it a key point of an answer?

## 1. Can this point be found in the text?

1. **Begin with the highlight.** It marks the passage that the program says it used. It can be wrong: the passage
   may say something else, or the point may appear elsewhere, even in another document.
2. **Before you answer no, read everything.** If the highlight does not support the point, read all documents to
   the end. The search helps, but it finds words, not meanings.

- **Yes** (`y`): anyone who believes the text must believe the point. Other words are fine, and so is a point that
  combines several places.
- **No** (`n`): the text does not say it, says less, or says something else. A number, a condition or an exception
  that the text does not give makes it a no. So does a claim that the text reports only to reject it.

Only these documents count, not what you know. You may copy text and look up unfamiliar words.

## 2. Is it a key point?

You answer this only after a yes. It is about the question, not about the text.

- **Agree** (`1`): it answers the question or a part of it. An answer without it would be incomplete.
- **Neutral** (`2`): it is on the subject but does not answer the question, for example as background. An answer
  may include it but need not.
- **Disagree** (`3`): it is unrelated to the question and should be left out.

## Worked examples

Question: “How are mangroves able to live in salt water and airless mud?”

- “Some species take salt in and excrete it through glands in their leaves.” The text: “These trees let in more
  salt and get rid of it again through glands in the leaf.” **Yes**, and **agree**: it is half of how they cope
  with salt.
- “Roots keep out all of the salt.” The text says “well over nine tenths”. **No**: the number is different.
- “Mangroves get rid of salt mainly by storing it in old leaves which are then shed.” The highlighted sentence says
  just that. The next ones say that it was once believed and that measurements contradict it. **No**.
- “Mangroves cover about 150,000 square kilometres worldwide.” It is in the text: **yes**. It is about mangroves
  and does not say how they live in salt and mud: **neutral**.

Question: “Why did Britain's canals lose most of their freight to the railways in the nineteenth century?”

- “Frost and drought interrupted canal traffic for weeks at a time.” One document says it of all canals, another
  describes one winter. **Yes**, and **agree**.
- “The cabins of boat families were painted with roses and castles.” **Yes**, it is in the text; **disagree**,
  because it has nothing to do with freight.

## If in doubt

If you hesitate between two answers, choose the closest and mark *not sure*. Skip a point that you cannot judge,
and say why. Flag anything the researcher should look at, or leave a comment.
"""
)


def create(*, form: VerificationStudyForm, by: Any, now: datetime) -> Study:
    """Take the questions and deal them."""
    questions = form.chosen(seed=form.chosen_seed)
    if not questions:
        raise NotPossible(_("There is no question with key points of that kind in this set."))
    return planning.create_study(
        plan=form.plan(), questions=questions, seed=form.chosen_seed, by=by, now=now, **form.common()
    )


def add_items(*, form: QuestionsForm, study: Study, by: Any, now: datetime) -> int:
    """Add questions."""
    return planning.add_questions(study=study, questions=form.chosen(seed=study.seed), by=by, now=now)


KIND = register(
    LabelWork(
        value=Study.Kind.VERIFICATION,
        label=gettext_lazy("key point verification"),
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
        guidelines=GUIDELINES,
        new_title=gettext_lazy("New verification study"),
        intro=gettext_lazy(
            "Annotators decide whether the documents contain each key point and, if so, whether it matters for "
            "the question. The key points of a question stay together; nobody sees anybody else's answers."
        ),
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
                "annotation:verification-disagreements",
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
        n_short=planning.n_short,
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
        label_columns=exports.LABEL_COLUMNS,
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Labels")),
            ("first", gettext_lazy("First answers")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
        downloads=(("annotation:verification-dataset", gettext_lazy("Dataset and its files")),),
    )
)
