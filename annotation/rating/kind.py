"""What rating of summaries says of itself."""

from __future__ import annotations

from functools import partial

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Tab, Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.summary_forms import SummariesForm, add_from, create_from
from annotation.labelling.summary_views import barred
from annotation.labelling.task_page import TaskPage
from annotation.models import Exposure, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.rating import exports, planning
from annotation.rating.forms import RatingStudyForm
from annotation.rating.overview import ABOUT_ROWS, about, page_of
from annotation.rating.page_context import page_context, pane
from annotation.rating.recording import RATED, in_words, parse
from annotation.studies.guidelines import unwrapped

GUIDELINES = unwrapped(
    """\
## Your task

You see a question, documents that answer it, and a summary of what they say. Rate the summary from 1 to 5 on
five aspects. You do not know who wrote it, and it does not matter.

## Before you rate

Read the summary, then as much of the documents as you need to judge it. The documents are those that say most on
the question, and all others that the summary cites. Search them for names and numbers; a number in brackets in
the summary leads to the document that it cites.

## The five aspects

Rate each for itself: a summary can be clear and wrong, or complete and hard to follow. The digits `1` to `5`
rate the marked aspect and go on to the next.

- **Overall**: would you hand it to somebody who asked the question? 1: of no use. 5: it could hardly be better.
- **Informativeness**: how much of what matters in the documents does it tell? 1: it misses what they say. 5: all
  that matters, exactly and without padding.
- **Quality**: how easily can it be understood? 1: hard to make sense of, or full of errors of language. 5: every
  sentence is clear at first reading.
- **Coherence**: how well is it ordered and put together? 1: a jumble with repetitions. 5: one point leads to the
  next.
- **Attributability**: how far do the documents bear it out? 1: much is invented, or contradicts them. 5:
  everything it says stands in them. Check at least the numbers and names.

2, 3 and 4 lie between at equal steps. Use the whole scale: a 3 is a summary of middling worth.

## What does not count

How long the summary is, how many documents it cites, and whether you agree with what it says.

## If in doubt

If you hesitate between two numbers, take the lower one and mark *not sure*. Skip a summary that you cannot
judge, and say why. Flag anything the researcher should look at, or leave a comment.
"""
)


KIND = register(
    LabelWork(
        value=Study.Kind.RATING,
        label=gettext_lazy("rating"),
        task=TaskPage(
            answers=RATED,
            parse=parse,
            in_words=in_words,
            template="annotation/rating_task.html",
            rows=LabelTaskQuerySet.for_rating,
            context=page_context,
            opening=partial(barred, reason=Exposure.Reason.RATING),
            pane=pane,
        ),
        words=Words(
            task=gettext_lazy("Rate summaries"),
            handed_in=gettext_lazy("Rated summaries"),
            left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
            finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
            minutes=10.0,
        ),
        guidelines=GUIDELINES,
        new_title=gettext_lazy("New rating study"),
        intro=gettext_lazy(
            "People rate summaries from 1 to 5 on five aspects, beside the documents. Model judges can give the "
            "same ratings, and the results show both."
        ),
        tabs=(
            Tab(
                "results",
                gettext_lazy("Results"),
                "annotation:rating-results",
                "results",
                "annotation.view_session",
            ),
        ),
        plan="rating_plan",
        new_form=RatingStudyForm,
        create=partial(create_from, planning.create_study),
        initial_on=lambda haystack: {"haystacks": [haystack.pk]},
        form_template="annotation/rating_form.html",
        items_form=SummariesForm,
        add_items=partial(add_from, planning.add_summaries),
        deal=planning.deal,
        n_short=planning.n_short,
        short=ngettext_lazy(
            "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
        ),
        short_help=gettext_lazy(
            "Nobody is given a summary of their own, or on a haystack that they still have to write on."
        ),
        people_template="annotation/summaries_more.html",
        answers="ratinglabels",
        overview=page_of,
        about=about,
        about_rows=ABOUT_ROWS,
        about_label=gettext_lazy("Summary"),
        label_columns=exports.COLUMNS,
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Ratings")),
            ("history", gettext_lazy("Every rating ever given")),
        ),
    )
)
