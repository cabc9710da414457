"""How many more labels are enough: page, files and report of each kind, and what new studies are planned by."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from annotation.coverage.results import RESULTS as COVERAGE
from annotation.results.planning import Work
from annotation.studies.amounts import MS_PER_HOUR
from benchmarks.scoring.agreement import randolph_error, randolph_kappa
from benchmarks.scoring.planning import variances_of_agreement
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.sums import t_interval
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS, NOTHING
from tests.judges.real_data import FOLDER, HUMAN, MODEL, needs_data
from tests.makers import flat
from tests.running import json_of

pytestmark = pytest.mark.django_db
KINDS = ("linking", "verification", "validation", "rating", "writing")


def plan(study):
    return json_of("plan", "--study", study.uid)


@pytest.mark.parametrize("amount", [NOTHING, ALL])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_plan_or_says_that_there_is_too_little(
    kind: str, amount: str, ada, as_ada, ben, cleo
) -> None:
    study = MAKERS[kind](amount, ada, (ben, cleo))
    page = as_ada.get(reverse("annotation:study-plan", args=[study.uid]))
    assert page.status_code == 200
    assert ("too few labels to plan by" in flat(page.text)) or "half the 95 % interval" in flat(page.text)
    file = as_ada.get(reverse("annotation:study-plan-file", args=[study.uid, "figures.json"]))
    values = file.json()
    assert values.pop("data_version")
    values.pop("judge_approvals", None)  # beside the cost of judges
    assert values == plan(study)


def test_the_plan_of_linking_begins_with_the_study_as_it_is_and_narrows(ada) -> None:
    people = ("anna", "bert", "cora", "dora", "emil")
    study = make_labelled_study(summaries=make_summaries(n=20), people=people, researcher=ada)
    found = plan(study)["headlines"][0]
    assert found["variances"]["n_people"] == 5
    assert found["variances"]["n_items"] == 10
    first, *others = found["designs"]
    assert (first["people"], first["items"], first["hours"]) == (5, 10, 0)
    by_design = {(one["people"], one["items"]): one["half_width"] for one in found["designs"]}
    assert by_design[5, 20] < by_design[5, 10]
    assert by_design[10, 10] < by_design[5, 10]
    assert all(one["range"][0] <= one["half_width"] <= one["range"][1] for one in others)


def test_fewer_than_five_people_are_these_people(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(n=12), researcher=ada)
    found = plan(study)["headlines"][0]
    assert found["variances"]["people"] is None
    assert {one["people"] for one in found["designs"]} == {3}
    page = flat(as_ada.get(reverse("annotation:study-plan", args=[study.uid])).text)
    assert "fewer than five people" in page


def test_work_costs_what_the_time_so_far_says() -> None:
    work = Work(
        n_people=2, n_clusters=5, n_done=20, active_ms=20 * MS_PER_HOUR // 10, rate=Decimal(25), currency="USD"
    )
    assert work.hours(n_people=2, n_clusters=5) == 0
    assert work.hours(n_people=2, n_clusters=10) == pytest.approx(2)
    assert work.hours(n_people=4, n_clusters=10) == pytest.approx(6)
    assert work.cost(2) == Decimal(50)
    assert Work(0, 0, 0, 0, Decimal(25), "USD").hours(n_people=3, n_clusters=9) == 0


def test_the_error_of_kappa_is_that_of_the_worked_example() -> None:
    rows = ["00001", "22212", "00100", "22222", "10121", "00000", "21222", "11210"]
    ratings = Ratings.from_rows(
        [{f"p{at}": code for at, code in enumerate(row)} for row in rows], categories=("0", "1", "2"),
        clusters=range(8),
    )  # fmt: skip
    error = randolph_error(ratings)
    assert (error.se, error.df) == pytest.approx((0.1410, 7), abs=5e-5)
    kappa = randolph_kappa(ratings).value
    assert kappa is not None
    assert t_interval(kappa, error.se, error.df) == pytest.approx((0.1040, 0.7710), abs=5e-5)


def test_two_raters_have_an_error_over_clusters_only_and_one_has_none() -> None:
    rows = [{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}, {"a": "y", "b": "y"}]
    two = randolph_error(Ratings.from_rows(rows, categories=("x", "y"), clusters=range(4)))
    assert two.of_people == 0
    assert two.of_clusters > 0
    alone = [{"a": row["a"]} for row in rows]
    assert randolph_error(Ratings.from_rows(alone, categories=("x", "y"), clusters=range(4))) is None


def equal_labels(entry: dict[str, Any]) -> list[bool]:
    """Whether people and GPT-4o gave the same coverage, of each insight that both judged."""
    people = {each["insight_id"]: HUMAN[each["coverage"]] for each in entry["annotation"]}
    model = {each["insight_id"]: each["coverage"] for each in entry["predictions_prompted_gpt-4o"]}
    return [said == MODEL[model[key]] for key, said in people.items() if model.get(key) in MODEL]


@needs_data
def test_linking_is_planned_by_the_published_labels() -> None:
    entries = json.loads((FOLDER / "eval_benchmark_conversations.json").read_text())
    rows = [(entry["subtopic_id"], same) for entry in entries for same in equal_labels(entry)]
    same = np.array([value for _subtopic, value in rows], dtype=float)
    _names, of = np.unique([subtopic for subtopic, _value in rows], return_inverse=True)
    sizes = np.bincount(of)
    means = np.bincount(of, same) / sizes
    n, k = len(same), len(sizes)
    between = (sizes * (means - same.mean()) ** 2).sum() / (k - 1)
    within = ((same - means[of]) ** 2).sum() / (n - k)
    size = (n - (sizes**2).sum() / n) / (k - 1)
    alike = (between - within) / (between + (size - 1) * within)
    assert same.mean() == pytest.approx(0.67, abs=0.01)
    assert 0 <= alike <= 0.03
    planned, measured = COVERAGE.published.of(30.0).items, float(means.var(ddof=1)) * 1.5**2
    assert planned == pytest.approx(measured, rel=0.35)
    assert COVERAGE.published.of(1.0) == variances_of_agreement(0.67, q=3, size=1.0, alike=0.01)
