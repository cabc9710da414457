"""What people and models cost, side by side, on the page of a study's plan and in its files."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import LabelTask, Study
from annotation.results.plan_sheet import as_json
from annotation.results.planning import PLAN
from annotation.results.study import OfStudy
from benchmarks.engine.costs import set_price
from benchmarks.models import Draft, DraftText, Judge, JudgeCall, System, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS, NOTHING
from tests.makers import NOW
from tests.makers_recall import make_judge
from tests.running import csv_rows

pytestmark = pytest.mark.django_db


def said_by(judge: Judge, study: Study, *, with_call: bool = True) -> None:
    """A judge says none of every insight of the study's summaries, by a call of 1,000 + 100 tokens each."""
    for item in study.label_items.select_related("summary"):
        call = None
        if with_call:
            call = JudgeCall.objects.create(
                cache_key=f"{judge.pk}-{item.pk}", base_url="https://x/v1", model=f"model-{judge.name}",
                prompt_sha256="", state="answered", claimed_at=NOW, answered_at=NOW, prompt_tokens=1_000,
                completion_tokens=100,
            )  # fmt: skip
        for insight in item.summary.subtopic.insights.all():
            Verdict.objects.create(
                judge=judge, summary=item.summary, insight=insight, coverage="none", is_linked=False, call=call,
                created_at=NOW,
            )  # fmt: skip


def cost_of(study: Study) -> dict[str, Any]:
    return {row["name"]: row for row in as_json(PLAN.compute(OfStudy(study.pk)))["cost"]}


def worked(study: Study, n: int, *, minutes: int) -> None:
    """The first n tasks are done, each after so many minutes."""
    for task in study.label_tasks.order_by("pk")[:n]:
        LabelTask.objects.filter(pk=task.pk).update(
            state="done", n_answered=task.n_questions, active_ms=minutes * 60_000, begun_at=NOW, done_at=NOW
        )


def test_people_and_models_stand_side_by_side(ada, as_ada, ben, cleo) -> None:
    study = MAKERS["linking"](ALL, ada, (ben, cleo))
    worked(study, 4, minutes=6)
    priced, dear, free = (make_judge(name, kind="openai") for name in ("priced", "unpriced", "unrecorded"))
    said_by(priced, study)
    said_by(dear, study)
    said_by(free, study, with_call=False)
    said_by(make_judge("words", kind="lexical"), study, with_call=False)
    set_price(
        model="model-priced", base_url="", valid_from=date(2020, 1, 1), input_per_million=Decimal(2),
        cached_per_million=None, output_per_million=Decimal(10), by=ada, now=NOW,
    )  # fmt: skip
    cost = cost_of(study)
    people = cost["people"]
    assert (people["tasks"], people["hours"], people["total"]) == (4, 0.4, 10.0)
    assert people["per_task"] == 2.5
    assert people["per_item"] == 10.0 / people["items"]
    assert people["per_answer"] == 10.0 / people["answers"]
    n = study.label_items.count()
    assert cost["priced"]["total"] == pytest.approx(n * 0.003)
    assert cost["priced"]["per_item"] == pytest.approx(0.003)
    assert cost["priced"]["per_answer"] == pytest.approx(0.003 * n / cost["priced"]["answers"])
    assert cost["unpriced"]["total"] is None
    assert "no price" in cost["unpriced"]["undefined_reason"]
    assert cost["unrecorded"]["per_item"] is None
    assert cost["words"]["total"] == 0
    address = reverse("annotation:study-plan-file", args=[study.uid, "cost.csv"])
    as_ada.get(reverse("annotation:study-plan", args=[study.uid]))
    rows = {row["who"]: row for row in csv_rows(as_ada.get(address).getvalue())}
    assert float(rows["people"]["per_task"]) == 2.5
    assert rows["unpriced"]["total"] == ""
    stored = as_ada.get(reverse("annotation:study-plan-file", args=[study.uid, "figures.json"]))
    assert stored.json()["cost"] == list(cost.values())


def test_a_price_that_is_set_later_makes_the_figures_new(ada, ben, cleo) -> None:
    study = MAKERS["linking"](ALL, ada, (ben, cleo))
    said_by(make_judge("dear", kind="openai"), study)
    before = PLAN.version(OfStudy(study.pk))
    assert PLAN.version(OfStudy(study.pk)) == before
    set_price(
        model="model-dear", base_url="", valid_from=date(2020, 1, 1), input_per_million=Decimal(2),
        cached_per_million=None, output_per_million=Decimal(10), by=ada, now=NOW,
    )  # fmt: skip
    assert PLAN.version(OfStudy(study.pk)) != before


def test_nothing_costs_anything_where_nobody_is_paid_or_nothing_is_done(ada, ben, cleo) -> None:
    study = MAKERS["linking"](NOTHING, ada, (ben, cleo))
    assert cost_of(study)["people"]["undefined_reason"] == "nothing is finished yet"
    worked(study, 2, minutes=6)
    Study.objects.filter(pk=study.pk).update(hourly_rate=0)
    people = cost_of(study)["people"]
    assert (people["total"], people["per_task"], people["hours"]) == (None, None, 0.2)
    assert people["undefined_reason"] == "nobody is paid"


def test_of_imported_labels_no_working_time_is_known() -> None:
    people = cost_of(make_labelled_study(summaries=make_summaries(n=4)))["people"]
    assert people["answers"] == 36
    assert people["undefined_reason"] == "no working time is known of these labels"
    assert people["hours"] is None


@pytest.mark.parametrize("kind", ["verification", "validation", "rating", "writing"])
def test_every_kind_has_the_cost_of_people_and_of_models_on_the_same_items(kind: str, ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    cost = cost_of(study)
    people = cost.pop("people")
    assert people["answers"] if kind != "writing" else people["tasks"]
    if kind != "writing":
        [model] = cost.values()
        assert model["items"] == study.label_items.values("key_point", "summary", "response").distinct().count()


def test_models_that_wrote_on_the_subtopics_of_a_writing_study_stand_beside_its_writers(ada, ben, cleo) -> None:
    study = MAKERS["writing"](ALL, ada, (ben, cleo))
    writer = Judge.objects.create(
        name="sparrow", kind="openai", role=Judge.Role.SUMMARIZER, config_sha256="1" * 64, created_at=NOW
    )
    draft = Draft.objects.create(
        judge=writer,
        subtopic=study.writing_plan.subtopics.first(),
        system=System.objects.create(key="sparrow", summarizer="sparrow"),
        created_at=NOW,
    )
    DraftText.objects.create(draft=draft, judge=writer, text="- A [1]", created_at=NOW)
    cost = cost_of(study)["sparrow"]
    assert (cost["items"], cost["answers"]) == (1, 1)
    assert cost["undefined_reason"] == "no call of it is on record"
