"""What coverage linking says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import TaskPage
from annotation.linking import exports, planning
from annotation.linking.annotated import files_of, haystacks_of
from annotation.linking.forms import LinkingStudyForm, SummariesForm
from annotation.linking.overview import page_of
from annotation.linking.page_context import barred, page_context
from annotation.linking.recording import LINK, feedback, in_words, parse
from annotation.models import Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import unwrapped
from annotation.studies.kind import NotPossible, Tab

GUIDELINES = unwrapped(
    """\
## Your task

You see a summary and the insights that a good summary of its topic would tell. For each insight, decide how far
the summary tells it, and in which bullet. You do not know who wrote the summary, and it does not matter.

## None, partial, full

Each answer has its key, in the order of the page.

- **None** (`1`): no bullet tells it. Being about the same subject is not enough, and a statement that contradicts
  the insight tells none of it.
- **Partial** (`2`): the bullet is about the same fact and tells some of it, but something that counts is lost: a
  number, a name, a place or time, a condition, an exception, one of two halves.
- **Full** (`3`): somebody who reads only this bullet knows everything that the insight says. Other words are fine,
  and so is more than was asked.

In doubt between two, ask: *what would a reader of the bullet get wrong or not know?* Nothing: full. A part:
partial. The point itself: none. If you still hesitate, choose what is nearest and mark *not sure*.

## Worked examples

Insight: “Repairs are free; a part is charged at cost, and only when it costs more than £5 and the owner has agreed
beforehand.”

- “There's no charge apart from parts over £5, which are passed on at cost after the owner has agreed.” is
  **full**: other words, nothing lost.
- “Repairs are free, and parts are charged at cost.” is **partial**: both conditions are lost.
- “Each repair costs £5.” is **none**: it says something else, although number and subject are there.

Insight: “Of 590 items brought in during the first year 412 were mended; lamps and toasters succeed four times in
five, printers hardly ever.”

- “In the first year 412 items were mended.” is **partial**: out of how many, and which, is lost.
- “Many visitors bring lamps and toasters.” is **none**: the subject is the same, the fact is not there.

Insight: “Nothing with a plug leaves before Sunita has tested it, which has caught 31 faults that would have gone
unnoticed, most of them in kettles.”

- “Electrical items are tested before they leave, and 31 faults were caught.” is **partial**: who tests, and where
  the faults are, is lost.

## Which bullet

- Choose the bullet that tells most of the insight. If two are equal, take the first.
- Judge the bullet that you choose, not the sum of several, unless this study lets you choose several.
- One bullet may cover several insights.
- Do not judge style, length or citations, and do not look anything up: only what the bullet says counts.

## When something is odd

Skip a summary that you cannot judge, and say why. Flag or comment what the researcher should look at.
"""
)


def create(*, form: LinkingStudyForm, by: Any, now: datetime) -> Study:
    """Take the summaries and deal them."""
    summaries = form.chosen(seed=form.chosen_seed)
    if not summaries:
        raise NotPossible(_("There is no summary of that kind in these haystacks."))
    return planning.create_study(
        plan=form.plan(),
        summaries=summaries,
        checks=form.checks(),
        at_random=form.draws_at_random,
        seed=form.chosen_seed,
        by=by,
        now=now,
        **form.common(),
    )


def add_items(*, form: SummariesForm, study: Study, by: Any, now: datetime) -> int:
    """Add summaries."""
    return planning.add_summaries(
        study=study, summaries=form.chosen(seed=study.seed), at_random=form.draws_at_random, by=by, now=now
    )


def label_rows(study: Study, which: str) -> Iterator[tuple[Any, ...]]:
    """Labels that hold, or every one ever given."""
    return exports.label_rows(study, with_history=which == "history")


KIND = register(
    LabelWork(
        value=Study.Kind.LINKING,
        label=gettext_lazy("coverage linking"),
        task=TaskPage(
            answers=LINK,
            parse=parse,
            in_words=in_words,
            feedback=feedback,
            template="annotation/linking_task.html",
            rows=LabelTaskQuerySet.for_page,
            context=page_context,
            opening=barred,
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
            "People say of each insight whether a summary covers it, how far, and in which bullet. They see no "
            "system, no judge and nobody else's labels."
        ),
        tabs=(
            Tab("annotators", gettext_lazy("People and summaries"), "annotation:study-annotators"),
            Tab("agreement", gettext_lazy("Agreement"), "annotation:study-agreement"),
            Tab("disagreements", gettext_lazy("Disagreements"), "annotation:disagreements"),
        ),
        plan="linking_plan",
        new_form=LinkingStudyForm,
        create=create,
        form_template="annotation/linking_form.html",
        items_form=SummariesForm,
        add_items=add_items,
        deal=planning.deal,
        n_short=planning.n_short,
        short=ngettext_lazy(
            "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
        ),
        short_help=gettext_lazy(
            "Nobody is given a summary of their own, or on a haystack that they still have to write on."
        ),
        people_template="annotation/linking_more.html",
        answers="coverage_labels",
        overview=page_of,
        files=files_of,
        insights_in_files=haystacks_of,
        label_columns=exports.COLUMNS,
        label_rows=label_rows,
        label_cells=exports.spaced,
        label_files=(
            ("current", gettext_lazy("Labels")),
            ("history", gettext_lazy("Every answer ever given")),
        ),
        downloads=(("annotation:annotated-summaries", gettext_lazy("Annotated summaries, JSON")),),
    )
)
