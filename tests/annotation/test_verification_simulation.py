"""Simulated annotators err as often as they are told to, and are told again by the same seed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.simulating import RateOutOfRange, Rates, dice_of, times_of
from annotation.models import Annotator, Keyness, Study
from annotation.verification.answers import Judgments
from annotation.verification.items import CARELESS, Truth, said_of, true_of
from annotation.verification.labels import collect
from benchmarks.scoring.agreement import by_pair, randolph_kappa
from benchmarks.scoring.retention import Task
from tests.makers_verification import make_questions, make_verification_study
from tests.running import json_of

RATES = st.sampled_from([0.0, 0.1, 0.5, 1.0])


def true_answers(points: Iterable[int], *, seed: int, **shares: float) -> dict[int, Truth]:
    """Draw what is true of each key point."""
    return {point: true_of(dice_of("truth", seed, point), **shares) for point in points}


def answers_of(truth: Mapping[int, Truth], *, rates: Rates, person: str, seed: int) -> dict[int, Judgments]:
    """Somebody's answer to each key point."""
    return {point: said_of(true, rates, dice_of(person, seed, point)) for point, true in truth.items()}


@given(st.integers(0, 2**32), RATES, RATES)
def test_what_one_says_depends_on_the_point_alone(seed: int, grounded: float, keyness: float) -> None:
    rates = Rates(grounded, keyness)
    truth = true_answers(range(20), seed=seed)
    some = {point: truth[point] for point in range(5, 15)}
    said = answers_of(truth, rates=rates, person="ada", seed=seed)
    assert answers_of(some, rates=rates, person="ada", seed=seed) == {point: said[point] for point in some}
    assert true_answers(range(5, 15), seed=seed) == some
    assert all((row.keyness == "") == (row.grounded == "no") for row in said.values())


def test_who_never_errs_says_what_is_true_and_who_always_errs_never_does() -> None:
    truth = true_answers(range(300), seed=1)
    right = answers_of(truth, rates=Rates(), person="ada", seed=1)
    wrong = answers_of(truth, rates=Rates(1, 1), person="ada", seed=1)
    assert all((row.grounded == "yes") == truth[point].grounded for point, row in right.items())
    assert all(
        row.keyness == (truth[point].keyness if truth[point].grounded else "") for point, row in right.items()
    )
    assert all(wrong[point].grounded != right[point].grounded for point in truth)
    assert all(wrong[point].keyness != truth[point].keyness for point in truth)


def test_kappa_of_two_people_is_the_product_of_what_their_errors_leave() -> None:
    truth = true_answers(range(20_000), seed=2)
    first, second = (
        answers_of(truth, rates=Rates(rate), person=name, seed=2) for name, rate in (("ada", 0.1), ("ben", 0.2))
    )
    same = sum(first[point].grounded == second[point].grounded for point in truth) / len(truth)
    assert 2 * same - 1 == pytest.approx((1 - 2 * 0.1) * (1 - 2 * 0.2), abs=0.02)


def test_the_careless_say_everything_equally_often_and_fast() -> None:
    truth = true_answers(range(20_000), seed=3, agree_share=1)
    counts = Counter(answers_of(truth, rates=CARELESS, person="ivo", seed=3).values())
    assert counts[Judgments("no", "")] / len(truth) == pytest.approx(0.5, abs=0.02)
    assert [counts[Judgments("yes", word)] / len(truth) for word in Keyness.values] == pytest.approx(
        [1 / 6] * 3, abs=0.02
    )
    times = sorted(times_of(truth, rates=CARELESS, person="ivo", seed=3).values())
    assert times[len(times) // 2] == pytest.approx(2500, rel=0.05)


def test_truth_has_the_shares_asked_for() -> None:
    truth = true_answers(range(20_000), seed=4, grounded_share=0.8, agree_share=0.6)
    n = len(truth)
    assert sum(row.grounded for row in truth.values()) / n == pytest.approx(0.8, abs=0.02)
    assert sum(row == (True, "agree") for row in truth.values()) / n == pytest.approx(0.48, abs=0.02)
    assert Counter(row.keyness for row in truth.values())["neutral"] / n == pytest.approx(4 / 15, abs=0.02)


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_rates_are_shares(rate: float) -> None:
    with pytest.raises(RateOutOfRange):
        Rates(rate)
    with pytest.raises(RateOutOfRange):
        Rates(0, rate)


def run(*arguments: str) -> dict[str, Any]:
    return json_of("simulate_labels", *arguments)


@pytest.mark.django_db
def test_the_command_fills_a_study_of_its_own_whose_figures_show_the_careless_one() -> None:
    make_questions(40, n_points=5)
    told = run(
        *("--study", "Tried out", "--dataset", "harbours", "--control-share", "1", "--attention-checks", "6"),
        *("--error-rate", "ada=0.05", "--error-rate", "ben=0.05,0.1", "--careless", "ivo"),
    )
    study = Study.objects.get(name="Tried out")
    assert (study.state, "no person did this work" in study.description) == ("closed", True)
    assert not Annotator.objects.active().filter(label__in=["ada", "ben", "ivo"]).exists()
    wrong = {row["annotator"]: row["wrong_grounded"] / row["n"] for row in told["people"]}
    assert wrong["ada"] < 0.12
    assert wrong["ben"] < 0.12
    assert wrong["ivo"] == pytest.approx(0.5, abs=0.12)
    assert {row["n"] for row in told["people"]} == {206}
    assert told["n_answers"] == 200
    table = collect(study)
    kappas = by_pair(randolph_kappa, table.ratings(Task.GROUNDED))
    names = {person.key: person.name for person in table.people}
    assert {names[key] for key in max(kappas, key=lambda pair: kappas[pair].value or -1)} == {"ada", "ben"}
    checks = study.pointlabels.filter(is_check=True)
    assert checks.filter(annotator__label="ada", grounded="no").count() >= 4
    assert study.label_tasks.exclude(state="done").count() == 0


@pytest.mark.django_db
def test_the_command_never_writes_into_a_study_that_exists(ada, ben) -> None:
    study = make_verification_study(annotators=[ben], researcher=ada)
    with pytest.raises(CommandError, match="There is a study"):
        run("--study", study.name, "--dataset", "harbours", "--careless", "ivo")
    assert not study.pointlabels.exists()
    assert not Annotator.objects.filter(label="ivo").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dataset", "nowhere", "--careless", "ivo"], "no question set"),
        (["--dataset", "harbours"], "Name each person once"),
        (["--dataset", "harbours", "--careless", "ivo", "--careless", "ivo"], "Name each person once"),
        (["--dataset", "harbours", "--error-rate", "ivo=2"], "rates from 0 to 1"),
        (["--dataset", "harbours", "--careless", "ivo", "--control-share", "2"], "from 0 to 1"),
        (
            ["--dataset", "harbours", "--careless", "ivo", "--control-share", "0", "--attention-checks", "1"],
            "everyone",
        ),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], words: str) -> None:
    make_questions(2)
    with pytest.raises(CommandError, match=words):
        run("--study", "Tried out", *arguments)
    assert not Study.objects.exists()
