"""Study kind: ratings of summaries."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import SUMMARIES, Words, register
from annotation.labelling import summaries
from annotation.labelling.kind import LabelWork
from annotation.labelling.summary_forms import SummariesForm, add_from, choice_of, create_from
from annotation.labelling.task_page import Key, QuestionText
from annotation.labelling.views import barred
from annotation.models import Exposure, LabelTask, RatingPlan, Study
from annotation.rating.answers import RATED, with_aspects
from annotation.rating.files import COLUMNS, RatingsPlan, files_of, label_rows, labels_of
from annotation.rating.items import SIMULATED, TRIAL, add_summaries, create_study
from annotation.rating.pages import page_context, page_of, pane
from annotation.rating.sheet import REPORT, RESULTS
from annotation.studies.amounts import listed
from annotation.studies.forms import NewStudyForm, PlanForm, TrialFields, TrialSettingsForm
from annotation.studies.gaps import rows_of
from annotation.studies.guidelines import wording
from annotation.studies.recipes import Recipe
from annotation.studies.tasks import Dealing
from benchmarks.judges.aspects import ASPECTS, n_in_words
from benchmarks.scoring.likert import LEVELS


class RatingStudyForm(TrialFields, NewStudyForm, SummariesForm, PlanForm):
    """All settings of a new rating study."""

    FIRST = ("annotators", "people_per_item")

    people_per_item = forms.IntegerField(
        label="Annotators per summary",
        min_value=1,
        max_value=50,
        help_text="With two or more you see how far annotators agree.",
    )

    class Meta:
        model = RatingPlan
        fields = ("people_per_item",)


class Rating(LabelWork):
    """How good summaries are, from 1 to 5 by aspect."""

    value = Study.Kind.RATING
    label = "rating"
    beside_systems = "ratings"
    judged = SUMMARIES
    new_title = "New rating study"
    intro = (
        f"People rate summaries from 1 to 5 on {n_in_words()} aspects, beside the documents. Model judges can "
        "give the same ratings, and the results show both."
    )
    words = Words(
        task=gettext_lazy("Rate summaries"),
        handed_in=gettext_lazy("Rated summaries"),
        items=ngettext_lazy("%(n)d summary", "%(n)d summaries", "n"),
        left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
        finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
        minutes=10.0,
    )
    guidelines = wording(__file__, filled=with_aspects)
    plan = RatingPlan
    new_form = RatingStudyForm
    settings_form = TrialSettingsForm
    items_form = SummariesForm
    people_template = "annotation/summaries_more.html"
    short = ngettext_lazy(
        "%(n)d summary has fewer people than planned.", "%(n)d summaries have fewer people than planned.", "n"
    )
    short_help = "Nobody is given a summary of their own, or on a haystack that they still have to write on."
    about_rows = summaries.ABOUT_ROWS
    about = staticmethod(summaries.about)
    about_label = gettext_lazy("Summary")
    grouped = ("summary", "summaries")
    label_columns = tuple(COLUMNS)
    labels = staticmethod(labels_of)
    label_rows = staticmethod(label_rows)
    label_files = (("current", "Ratings"), ("history", "Every rating ever given"))
    files = staticmethod(files_of)
    archive_plan = RatingsPlan
    answers = RATED
    results = RESULTS
    reports = {"likert": REPORT}
    task_template = "annotation/rating_task.html"
    task_rows = ("study__rating_plan", "item__summary__subtopic", "item__summary__haystack")
    page_context = staticmethod(page_context)
    pane = staticmethod(pane)
    keys = tuple(Key(str(level), str(level), format_lazy("{} / 5", level)) for level in LEVELS)
    fixed_keys = "jkdD/"
    question_rows = ("task__item__summary__subtopic", "task__item__summary__haystack")
    simulated = SIMULATED
    trial = TRIAL
    overview = staticmethod(page_of)

    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        return create_from(create_study, form=form, by=by, now=now)

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        dataset, n, seed = values.pop("dataset"), values.pop("n"), values.pop("seed")
        drawn = summaries.drawn(dataset, n, seed=seed, user=values["by"])
        return create_study(plan=RatingPlan(**plan), summaries=drawn, **values)

    recipes = (
        Recipe(
            key="middlesum-ratings",
            title="Ratings of summaries",
            paper="On Context Utilization in Summarization",
            section="Appendix B",
            about=(
                "50 summaries, each rated by three people: the scale is that by which models rate in the "
                "paper, where nobody else rated; how many rate how much is ours."
            ),
            in_paper=False,
            n_tasks=50 * 3,
            n_people=3,
            values={"way": "sample", "n_sample": 50, "people_per_item": 3},
            choose=summaries.all_sources,
            lacks=partial(summaries.lacking, 50, with_documents=True),
        ),
    )

    def work_in_words(self, study: Study) -> str:
        return (
            f"Annotators rated each summary on a scale from 1 to 5 on {n_in_words()} aspects "
            f"({listed([aspect.name for aspect in ASPECTS.values()])}), with its source documents at hand and "
            "without seeing which system wrote it."
        )

    def question_of(self, row: Any) -> QuestionText:
        summary = row.task.item.summary
        return QuestionText(summary.subtopic.query, summary.haystack.language)

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | choice_of(study, user=user)

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        return add_from(add_summaries, form=form, study=study, by=by, now=now)

    def dealing(self, study: Study) -> Dealing:
        """Summaries are assigned one by one; nobody gets their own, or what they still have to write on."""
        # Three queries, for where it is asked.
        barred: Any = SimpleLazyObject(lambda: summaries.barred_pairs(rows_of(study)))
        return {"group": "pk", "wanted": study.rating_plan.people_per_item, "barred": barred}

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        return barred(request, task, reason=Exposure.Reason.RATING)


KIND = register(Rating())
