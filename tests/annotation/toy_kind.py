"""A kind of study in one file, with results. With plan and answers of linking it needs no table of its own."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django import forms

from annotation.kinds import Words
from annotation.labelling.kind import LabelWork
from annotation.linking.answers import LINK
from annotation.models import LabelItem, LinkingPlan, Study
from annotation.results.frames import Verdicts
from annotation.results.of_labels import LabelResults, Question
from annotation.studies.forms import NewStudyForm, PlanForm
from annotation.studies.lifecycle import new_study
from annotation.studies.overview import Card, OverviewPage
from annotation.studies.tasks import Dealing
from benchmarks.models import Summary, Verdict
from benchmarks.scoring.summhay import COVERAGES


class SummariesForm(forms.Form):
    summaries = forms.ModelMultipleChoiceField(queryset=Summary.objects.all(), required=False)

    def __init__(self, *args, user=None, study=None, **kwargs) -> None:
        super().__init__(*args, **kwargs)


class GradingForm(NewStudyForm, SummariesForm, PlanForm):
    people_per_item = forms.IntegerField(label="People for each summary", min_value=1)

    class Meta:
        model = LinkingPlan
        fields = ("people_per_item",)


class Grading(LabelWork):
    value = "grading"
    label = "grading of summaries"
    words = Words(
        task="Grade", handed_in="Graded", items="%(n)d", left="%(n)d left", finished="%(n)d graded", minutes=2.0
    )
    guidelines = "Be fair.\n"
    new_title = "New grading study"
    plan = LinkingPlan
    new_form = GradingForm
    items_form = SummariesForm
    answers = LINK
    results = LabelResults(
        questions={
            "grade": Question(
                "coverage",
                COVERAGES,
                item=("summary", "insight"),
                cluster=("summary__subtopic__key",),
                unit="subtopics",
                verdicts=lambda: Verdicts(Verdict.objects.all(), "coverage", ("summary", "insight")),
            ),
            "doubt": Question("is_unsure", {False: "sure", True: "not sure"}),
        },
        titles={"doubt": "Doubts"},
    )
    label_columns = ("summary", "state")
    label_files = (("current", "Grades"),)

    def create(self, *, form, by, now: datetime) -> Study:
        study = new_study("grading", plan=form.plan(), by=by, now=now, **form.common())
        self.add_items(form=form, study=study, by=by, now=now)
        self.deal(study=study, by=by, now=now)
        return study

    def add_items(self, *, form, study: Study, by, now: datetime) -> int:
        rows = [
            LabelItem(study=study, summary=summary, block="all", n_questions=1, added_at=now)
            for summary in form.cleaned_data["summaries"]
        ]
        return len(LabelItem.objects.bulk_create(rows, ignore_conflicts=True))

    def dealing(self, study: Study) -> Dealing:
        return {"group": "pk", "wanted": study.linking_plan.people_per_item}

    def overview(self, study: Study, now: datetime) -> OverviewPage:
        return OverviewPage(cards=[Card("Summaries", study.label_items.count())], tables=[])

    def label_rows(self, study: Study, which: str) -> Iterator[tuple[Any, ...]]:
        yield from study.label_tasks.values_list("item__summary__uid", "state")


KIND = Grading()
