"""Study kind: validation of a judge's answers on key points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.db.models import Count as DbCount
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.kinds import Words, register
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import Key, QuestionText
from annotation.models import Study, ValidationPlan
from annotation.studies.estimates import NarrowedForm, Sizes, part_of, seed_of_draw
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
    TrialSettingsForm,
)
from annotation.studies.guidelines import wording
from annotation.studies.kind import Recipe, plan_of
from annotation.studies.tasks import Dealing
from annotation.validation.answers import PAIR, about, page_context, page_of
from annotation.validation.files import COLUMNS, EntailmentsPlan, files_of, label_rows, labels_of
from annotation.validation.items import SIMULATED, TRIAL, add_pairs, create_study, verdicts_of
from annotation.validation.results import MeasuredJudges
from annotation.validation.sheet import REPORT, RESULTS
from benchmarks.engine.versions import default_judge
from benchmarks.models import Judge, PointVerdict, Question
from benchmarks.recall import people
from benchmarks.web.forms import ids_among


@dataclass(frozen=True, slots=True)
class Count:
    """How many verdicts a form draws, of how many that match, and on how many responses these are."""

    n: int
    n_matching: int
    n_responses: int


class PairsForm(NarrowedForm):
    """How many verdicts to draw, and from which question set."""

    NARROWED_BY = ()
    ITEMS = ("judge", "dataset", "n_sample", "seed")

    dataset = forms.ChoiceField(label="Question set", required=False)
    n_sample = forms.IntegerField(
        label="Verdicts to draw",
        min_value=1,
        max_value=100_000,
        initial=200,
        help_text="A random sample with a share for each answer of the judge, each category and each system.",
    )

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, user=user, study=study, **kwargs)
        rows = Question.objects.filter(archived_at=None, responses__point_verdicts__premise="response")
        names = rows.order_by("dataset").values_list("dataset", flat=True).distinct()
        self.fields["dataset"].choices = [("", "all"), *((name, name) for name in names)]  # type: ignore[attr-defined]

    def count(self) -> Count | None:
        """How many verdicts that is; None while no judge is chosen."""
        judge = self._judge()
        if judge is None:
            return None
        rows = verdicts_of(judge, dataset=self.cleaned_data["dataset"]).order_by()
        counts = rows.aggregate(n=DbCount("pk"), responses=DbCount("response", distinct=True))
        return Count(min(counts["n"], self.cleaned_data["n_sample"]), counts["n"], counts["responses"])

    def _judge(self) -> Judge | None:
        chosen = ids_among([self.data.get("judge", "") if self.is_bound else self.initial.get("judge")])
        return Judge.objects.filter(pk__in=chosen).first()

    def words(self, count: Count | None) -> str:
        judge = self._judge()
        if judge is None:
            return ""
        return f"{part_of(count.n, count.n_matching, 'verdict', 'verdicts') if count else 'verdicts'} of {judge}"

    def sizes(self, count: Count) -> Sizes:
        """Pairs in their responses: of so many drawn, as many responses as are hit on average."""
        each = count.n_matching / count.n_responses if count.n_responses else 1.0
        missed = (1 - count.n / count.n_matching) ** each if count.n_matching else 0.0
        return Sizes(count.n, count.n, round(count.n_responses * (1 - missed)))


class ValidationStudyForm(TrialFields, NewStudyForm, PairsForm, PlanForm):
    FIRST = ("annotators", "people_per_item")
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        **TrialFields.SAID,
        "shows_verdict": ("the judge's verdict is shown", "no verdict is shown"),
    }

    judge = forms.ModelChoiceField(label="Judge", queryset=Judge.objects.none(), empty_label="choose a judge")
    people_per_item = forms.IntegerField(
        label="Annotators per response",
        min_value=1,
        max_value=50,
        help_text="With two or more you see how far annotators agree; no judge can be expected to do better.",
    )
    seed = seed_of_draw("The same seed draws and assigns the same. Blank: taken from the name of the study.")

    class Meta:
        model = ValidationPlan
        fields = ("judge", "people_per_item", "shows_verdict", "asks_why_not", "narrows_first")
        labels = {
            "shows_verdict": "Show the judge's verdict to annotators",
            "asks_why_not": "Ask why a point is not entailed",
            "narrows_first": NARROWS_FIRST,
        }
        help_texts = {
            "narrows_first": NARROWS_FIRST_HELP,
            "shows_verdict": (
                "People tend to follow what they see. Figures of such a study are marked and never pooled."
            ),
            "asks_why_not": "Incomplete, too general or missing: an optional choice after neutral and no.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = Judge.objects.filter(archived_at=None, pk__in=_judged().values("judge")).order_by(
            "name", "-version"
        )
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        if len(judges) == 1 and self.initial["judge"] is None:
            self.initial["judge"] = judges[0].pk

    @property
    def lacks(self) -> tuple[str, str, str] | None:
        """That no judge has verdicts to draw from, and where one is run."""
        if self.fields["judge"].queryset:  # type: ignore[attr-defined]
            return None
        text = "No judge has verdicts on responses yet. Run one on a question set first."
        return (text, "Questions", reverse("benchmarks:questions"))


def busiest_judge(seed: int) -> dict[str, Any]:
    """Initial values of a form to draw from the judge with most verdicts."""
    rows = _judged().filter(judge__archived_at=None).order_by()
    judges = rows.values_list("judge").annotate(n=DbCount("pk")).order_by("-n", "judge")
    return {"seed": seed, **({"judge": first[0]} if (first := judges.first()) else {})}


def lacking(n: int) -> str:
    """Name what is missing to check n verdicts of a judge; empty where one has as many."""
    chosen = busiest_judge(0)
    if "judge" not in chosen:
        return "No judge has verdicts on responses yet: import responses to questions and run a judge on them."
    n_found = verdicts_of(Judge.objects.get(pk=chosen["judge"])).count()
    return "" if n_found >= n else f"Only {n_found} of {n} verdicts are here: all are taken."


def _judged() -> QuerySet[PointVerdict, PointVerdict]:
    return PointVerdict.objects.filter(premise=PointVerdict.Premise.RESPONSE, repeat=0, is_valid=True)


def choice_of(study: Study) -> dict[str, Any]:
    """Choice that draws as many verdicts again from the same question set."""
    sets = list(study.label_items.order_by().values_list("response__question__dataset", flat=True))
    return {"n_sample": len(sets), "dataset": sets[0] if len(set(sets)) == 1 else ""} if sets else {}


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
        items=ngettext_lazy("%(n)d pair", "%(n)d pairs", "n"),
        left=ngettext_lazy("%(n)d pair left", "%(n)d pairs left", "n"),
        finished=ngettext_lazy("%(n)d pair done", "%(n)d pairs done", "n"),
        minutes=1.0,
    )
    guidelines = wording(__file__)
    plan = ValidationPlan
    new_form = ValidationStudyForm
    settings_form = TrialSettingsForm
    items_form = PairsForm
    people_template = "annotation/validation_more.html"
    about_rows = ("item__response__question", "item__key_point")
    about = staticmethod(about)
    about_label = "Point"
    grouped = ("response", "responses")
    label_columns = tuple(COLUMNS)
    labels = staticmethod(labels_of)
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
        data = form.cleaned_data
        return create_study(
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
        return create_study(plan=ValidationPlan(judge=judge, **plan), **values)

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
        data = form.cleaned_data
        return add_pairs(study=study, n=data["n_sample"], dataset=data["dataset"], by=by, now=now)

    def dealing(self, study: Study) -> Dealing:
        return {"group": "response", "wanted": study.validation_plan.people_per_item}


KIND = register(Validation())
people.register(MeasuredJudges())
