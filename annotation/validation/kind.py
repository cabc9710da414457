"""What validation of a judge's verdicts says of itself."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register
from annotation.labelling.keys import Key
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import QuestionText
from annotation.models import Study, ValidationPlan
from annotation.studies.forms import TrialSettingsForm
from annotation.studies.guidelines import wording
from annotation.studies.kind import plan_of
from annotation.studies.recipes import Recipe
from annotation.studies.tasks import Dealing
from annotation.validation import planning
from annotation.validation.files import COLUMNS, EntailmentsPlan, files_of, label_rows
from annotation.validation.forms import PairsForm, ValidationStudyForm, busiest_judge, choice_of, lacking
from annotation.validation.overview import ABOUT_ROWS, about, page_of
from annotation.validation.page_context import page_context
from annotation.validation.recording import PAIR
from annotation.validation.results import MeasuredJudges
from annotation.validation.sheet import REPORT, RESULTS
from annotation.validation.simulated import SIMULATED
from annotation.validation.trial import TRIAL
from benchmarks.engine.versions import default_judge
from benchmarks.recall import people


class Validation(LabelWork):
    """Whether responses entail key points, beside what a judge says of the same pairs."""

    value = Study.Kind.VALIDATION
    label = "entailment validation"
    new_title = "New validation study"
    intro = (
        "Annotators label the same pairs of response and key point as a judge, without seeing its verdicts. "
        "This shows how far its key point recall can be trusted."
    )
    words = Words(
        task=gettext_lazy("Check which key points responses make"),
        handed_in=gettext_lazy("Responses compared with key points"),
        left=ngettext_lazy("%(n)d pair left", "%(n)d pairs left", "n"),
        finished=ngettext_lazy("%(n)d pair done", "%(n)d pairs done", "n"),
        minutes=1.0,
    )
    guidelines = wording(__file__)
    plan = ValidationPlan
    new_form = ValidationStudyForm
    settings_form = TrialSettingsForm
    items_form = PairsForm
    form_template = "annotation/validation_form.html"
    people_template = "annotation/validation_more.html"
    short = ngettext_lazy(
        "%(n)d response has fewer people than planned.", "%(n)d responses have fewer people than planned.", "n"
    )
    about_rows = ABOUT_ROWS
    about = staticmethod(about)
    about_label = gettext_lazy("Point")
    grouped = ("response", "responses")
    label_columns = tuple(COLUMNS)
    label_rows = staticmethod(label_rows)
    label_files = (("current", "Answers"), ("history", "Every answer ever given"))
    files = staticmethod(files_of)
    archive_plan = EntailmentsPlan
    answers = PAIR
    results = RESULTS
    reports = {"validation": REPORT}
    task_template = "annotation/validation_task.html"
    task_rows = ("study__validation_plan", "item__response__question", "item__key_point")
    page_context = staticmethod(page_context)
    keys = (
        Key("yes", "1", gettext_lazy("yes"), also="y"),
        Key("neutral", "2", gettext_lazy("neutral"), also="0"),
        Key("no", "3", gettext_lazy("no"), also="n"),
        Key("incomplete", "4", gettext_lazy("why neutral: incomplete")),
        Key("general", "5", gettext_lazy("why neutral: too general")),
        Key("missing", "6", gettext_lazy("why no: not mentioned")),
        Key("contradicted", "7", gettext_lazy("why no: contradicted")),
    )
    fixed_keys = "mM"
    question_rows = ("key_point", "task__item__response__question")
    simulated = SIMULATED
    trial = TRIAL
    overview = staticmethod(page_of)

    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        """Draw the verdicts and deal them."""
        data = form.cleaned_data
        return planning.create_study(
            plan=form.plan(),
            n=data["n_sample"],
            dataset=data["dataset"],
            seed=form.chosen_seed,
            by=by,
            now=now,
            **form.common(),
        )

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        judge = default_judge(now=values["now"])
        return planning.create_study(plan=ValidationPlan(judge=judge, **plan), **values)

    recipes = (
        Recipe(
            key="long2rag-evaluator",
            title="Is the evaluator right?",
            paper="Long²RAG",
            section="§6.2",
            about="180 verdicts of the judge of key point recall, each by two people, blind.",
            n_tasks=360,
            n_people=2,
            values={"n_sample": 180, "people_per_item": 2, "shows_verdict": False},
            choose=busiest_judge,
            lacks=partial(lacking, 180),
        ),
    )

    def work_in_words(self, study: Study) -> str:
        if (plan := plan_of(study)) is None:
            return super().work_in_words(study)
        shown = "with" if plan.shows_verdict else "without seeing"
        of_judge = "the judge's verdict in view" if plan.shows_verdict else "the verdict of the automatic judge"
        why = " After a no or neutral they were asked for the reason." if plan.asks_why_not else ""
        return (
            "For pairs of a system's response and a key point of its question annotators judged whether the "
            f"response entails the point (yes, neutral or no), {shown} {of_judge}.{why}"
        )

    def question_of(self, row: Any) -> QuestionText:
        question = row.task.item.response.question
        return QuestionText(row.key_point.text, question.language, beside=question.text)

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | choice_of(study)

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        """Draw more of the judge's verdicts into the study; returns how many."""
        data = form.cleaned_data
        return planning.add_pairs(study=study, n=data["n_sample"], dataset=data["dataset"], by=by, now=now)

    def dealing(self, study: Study) -> Dealing:
        """Responses are assigned whole."""
        return {"group": "response", "wanted": study.validation_plan.people_per_item}


KIND = register(Validation())
people.register(MeasuredJudges())
