"""A kind of study in one file: people grade summaries. It borrows the plan of linking, so as to need no table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django import forms

from annotation.kinds import Words
from annotation.labelling.kind import LabelWork
from annotation.models import LabelItem, LinkingPlan, Study
from annotation.studies import tasks
from annotation.studies.forms import NewStudyForm
from annotation.studies.lifecycle import new_study
from annotation.studies.overview_page import Card, OverviewPage
from benchmarks.models import Summary


class SummariesForm(forms.Form):
    summaries = forms.ModelMultipleChoiceField(queryset=Summary.objects.all(), required=False)

    def __init__(self, *args: Any, user: Any = None, study: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class GradingForm(NewStudyForm, SummariesForm):
    people_per_item = forms.IntegerField(label="People for each summary", min_value=1, initial=1)


def create(*, form: GradingForm, by: Any, now: datetime) -> Study:
    study = new_study("grading", by=by, now=now, **form.common())
    LinkingPlan.objects.create(study=study, people_per_item=form.cleaned_data["people_per_item"])
    add_items(form=form, study=study, by=by, now=now)
    deal(study=study, by=by, now=now)
    return study


def add_items(*, form: Any, study: Study, by: Any, now: datetime) -> int:
    rows = [
        LabelItem(study=study, summary=summary, block="all", n_questions=1, added_at=now)
        for summary in form.cleaned_data["summaries"]
    ]
    return len(LabelItem.objects.bulk_create(rows, ignore_conflicts=True))


def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> tasks.Dealt:
    wanted = study.linking_plan.people_per_item
    return tasks.deal(study=study, group="pk", wanted=wanted, by=by, now=now, rebalance=rebalance)


def label_rows(study: Study, which: str) -> Iterator[tuple[Any, ...]]:
    yield from study.label_tasks.values_list("item__summary__uid", "state")


KIND = LabelWork(
    value="grading",
    label="grading of summaries",
    words=Words(task="Grade", handed_in="Graded", left="%(n)d left", finished="%(n)d graded", minutes=2.0),
    guidelines="Be fair.\n",
    new_title="New grading study",
    plan="linking_plan",
    new_form=GradingForm,
    create=create,
    items_form=SummariesForm,
    add_items=add_items,
    deal=deal,
    n_short=lambda study: tasks.n_short(study, group="pk", wanted=study.linking_plan.people_per_item),
    short="%(n)d summaries are short of people.",
    answers="coveragelabels",
    overview=lambda study, now: OverviewPage(cards=[Card("Summaries", study.label_items.count())], tables=[]),
    label_columns=("summary", "state"),
    label_rows=label_rows,
    label_files=(("current", "Grades"),),
)
