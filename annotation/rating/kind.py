"""What rating of summaries says of itself."""

from __future__ import annotations

from functools import partial

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register, results_tab
from annotation.labelling.kind import LabelWork
from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.labelling.summary_forms import SummariesForm, add_from, create_from
from annotation.labelling.task_page import TaskPage
from annotation.labelling.views import barred
from annotation.models import Exposure, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.rating import exports, planning
from annotation.rating.forms import RatingStudyForm, initial_of
from annotation.rating.overview import page_of
from annotation.rating.page_context import page_context, pane
from annotation.rating.recording import RATED, apart, in_words, parse
from annotation.rating.results import headline
from annotation.rating.simulated import SIMULATED
from annotation.studies.guidelines import wording

KIND = register(
    LabelWork(
        value=Study.Kind.RATING,
        label=gettext_lazy("rating"),
        simulated=SIMULATED,
        task=TaskPage(
            answers=RATED,
            parse=parse,
            in_words=in_words,
            apart=apart,
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
        guidelines=wording(__file__),
        new_title=gettext_lazy("New rating study"),
        intro=gettext_lazy(
            "People rate summaries from 1 to 5 on five aspects, beside the documents. Model judges can give the "
            "same ratings, and the results show both."
        ),
        headline=headline,
        tabs=(results_tab("results", gettext_lazy("Results"), "annotation:rating-results"),),
        plan="rating_plan",
        new_form=RatingStudyForm,
        create=partial(create_from, planning.create_study),
        initial_of=initial_of,
        initial_on=lambda haystack: {"haystacks": [haystack.pk]},
        form_template="annotation/rating_form.html",
        items_form=SummariesForm,
        add_items=partial(add_from, planning.add_summaries),
        deal=planning.deal,
        room=planning.room,
        n_short=planning.n_short,
        blocked=planning.blocked,
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
        label_columns=tuple(exports.COLUMNS),
        label_rows=exports.label_rows,
        label_files=(
            ("current", gettext_lazy("Ratings")),
            ("history", gettext_lazy("Every rating ever given")),
        ),
    )
)
