"""What coverage linking says of itself."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.figures.page import small_plot
from annotation.kinds import Tab, Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.summary_forms import SummariesForm, add_from, create_from
from annotation.labelling.summary_views import barred
from annotation.labelling.task_page import TaskPage
from annotation.linking import exports, planning
from annotation.linking.annotated import files_of, haystacks_of
from annotation.linking.forms import LinkingStudyForm
from annotation.linking.overview import ABOUT_ROWS, about, page_of
from annotation.linking.page_context import page_context
from annotation.linking.recording import LINK, feedback, in_words, parse
from annotation.linking.unlinked import UNLINKED
from annotation.models import Exposure, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import unwrapped

GUIDELINES = unwrapped(
    """\
## Your task

You see a summary and the insights that a good summary of its topic should contain. For each insight, decide how
much of it the summary says, and in which bullet. You do not know who wrote the summary, and it does not matter.

## None, partial, full

The answers are listed with their keys, in the order of the page.

- **None** (`1`): no bullet says it. Being about the same subject is not enough. A bullet that contradicts the
  insight counts as none.
- **Partial** (`2`): the bullet states part of the fact, but something important is missing: a number, a name, a
  place or time, a condition, an exception, one of two halves.
- **Full** (`3`): anyone who reads only this bullet knows everything the insight says. Other words are fine, and so
  is extra detail.

If you hesitate between two, ask: *what would a reader of the bullet not know, or get wrong?* Nothing: full. Part
of it: partial. The point itself: none. If you still hesitate, choose the closest answer and mark *not sure*.

## Worked examples

Insight: “Repairs are free; a part is charged at cost, and only when it costs more than £5 and the owner has agreed
beforehand.”

- “There's no charge apart from parts over £5, which are passed on at cost after the owner has agreed.” is
  **full**: other words, nothing missing.
- “Repairs are free, and parts are charged at cost.” is **partial**: both conditions are missing.
- “Each repair costs £5.” is **none**: the number and the subject match, but the claim is different.

Insight: “Of 590 items brought in during the first year 412 were mended; lamps and toasters succeed four times in
five, printers hardly ever.”

- “In the first year 412 items were mended.” is **partial**: it does not say out of how many, or which.
- “Many visitors bring lamps and toasters.” is **none**: the subject is the same, but the fact is missing.

Insight: “Nothing with a plug leaves before Sunita has tested it, which has caught 31 faults that would have gone
unnoticed, most of them in kettles.”

- “Electrical items are tested before they leave, and 31 faults were caught.” is **partial**: it does not
  say who tests, or where the faults are.

## Which bullet

- Choose the bullet that says most of the insight. If two are equal, take the first.
- Judge only the bullet you choose, not several together, unless this study lets you choose several.
- One bullet may cover several insights.
- Do not judge style, length or citations, and do not look anything up. Only what the bullet says counts.

## Bullets that cover nothing

Some studies ask why a bullet without a link covers no insight. The reason is optional.

- **Another subtopic** (`4`): it answers a different question than the one above.
- **Too general** (`5`): it is on the subject, but so broad that it states no fact.
- **Unsupported** (`6`): it states a fact that none of the insights has, and that seems made up.

## If in doubt

Skip a summary that you cannot judge, and say why. Flag anything the researcher should look at, or leave a comment.
"""
)


def create(*, form: LinkingStudyForm, by: Any, now: datetime) -> Study:
    """Take the summaries and deal them, with training and gold items where they are asked for."""
    return create_from(planning.create_study, form=form, by=by, now=now, checks=form.checks())


KIND = register(
    LabelWork(
        value=Study.Kind.LINKING,
        label=gettext_lazy("coverage linking"),
        task=TaskPage(
            answers=LINK,
            parse=parse,
            in_words=in_words,
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
        guidelines=GUIDELINES,
        new_title=gettext_lazy("New linking study"),
        intro=gettext_lazy(
            "Annotators decide how fully a summary covers each insight, and in which bullet. They do not see "
            "systems, judges or each other's labels."
        ),
        tabs=(
            Tab(
                "agreement",
                gettext_lazy("Agreement"),
                "annotation:study-agreement",
                "results",
                "annotation.view_session",
            ),
            Tab(
                "disagreements",
                gettext_lazy("Disagreements"),
                "annotation:disagreements",
                "results",
                "annotation.view_session",
            ),
        ),
        plan="linking_plan",
        new_form=LinkingStudyForm,
        create=create,
        initial_on=lambda haystack: {"haystacks": [haystack.pk]},
        form_template="annotation/linking_form.html",
        items_form=SummariesForm,
        add_items=partial(add_from, planning.add_summaries),
        deal=planning.deal,
        n_short=planning.n_short,
        short=ngettext_lazy(
            "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
        ),
        short_help=gettext_lazy(
            "Nobody gets a summary of their own, or one on a haystack that they still have to write on."
        ),
        people_template="annotation/summaries_more.html",
        answers="coverage_labels",
        overview=page_of,
        latest=small_plot,
        about=about,
        about_rows=ABOUT_ROWS,
        about_label=gettext_lazy("Summary"),
        files=files_of,
        insights_in_files=haystacks_of,
        label_columns=exports.COLUMNS,
        label_rows=exports.label_rows,
        label_cells=exports.spaced,
        label_files=(
            ("current", gettext_lazy("Labels")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
        downloads=(("annotation:annotated-summaries", gettext_lazy("Annotated summaries, JSON")),),
    )
)
