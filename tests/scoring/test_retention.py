"""Verification figures: the mask after a no, rules of retention, choosing annotators, and the AutoDS score."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from benchmarks.scoring.agreement import leave_one_out, randolph_kappa
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.retention import (
    CATEGORIES,
    UNDECIDED,
    Outcome,
    RankedSubset,
    Rule,
    Task,
    ThresholdFigures,
    at_threshold,
    cumulative,
    decide,
    halves,
    histogram,
    mean_of,
    outcomes,
    ranked_subsets,
    retention,
    score,
    task_codes,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import BadShape, Ints

MARKS = {"A": (0, 0), "N": (0, 1), "D": (0, 2), "x": (1, 0), "?": (0, -1), " ": (-1, -1)}
"""Stored answers to both questions, as positions in the categories; -1 is none."""


@dataclass(frozen=True)
class Sheet:
    """Stored answers of people on key points, shape (points, people), and the question of each point."""

    grounded: Ints
    key_point: Ints
    people: tuple[str, ...]
    clusters: tuple[str, ...]

    def ratings(self, task: Task) -> Ratings:
        codes = task_codes(self.grounded, self.key_point, task)
        return Ratings(codes, CATEGORIES[task], self.people, self.clusters)

    def only(self, places: Sequence[int]) -> Sheet:
        at = np.array(places)
        clusters = tuple(self.clusters[place] for place in places)
        return Sheet(self.grounded[at], self.key_point[at], self.people, clusters)


@dataclass(frozen=True)
class Retained:
    outcomes: tuple[Outcome, ...]
    share: Stat

    def count(self, outcome: Outcome) -> int:
        return self.outcomes.count(outcome)


def retained(
    sheet: Sheet,
    *,
    chosen: Sequence[str],
    rule: Rule = Rule.UNANIMOUS,
    adjudicated: Mapping[int, bool] | None = None,
) -> Retained:
    """Outcomes and share kept; `adjudicated` has decisions by position."""
    keep = sheet.ratings(Task.KEEP).only(chosen).codes
    decisions = [(adjudicated or {}).get(place) for place in range(len(keep))]
    found = outcomes(keep, rule, adjudicated=decisions)
    is_kept = np.array([one is Outcome.KEPT for one in found])
    is_decided = np.array([one not in UNDECIDED for one in found])
    return Retained(found, retention(is_kept, is_decided, sheet.clusters))


def ranked(sheet: Sheet, task: Task, *, seed: int) -> tuple[RankedSubset, ...]:
    return ranked_subsets(sheet.ratings(task), seed=seed)


def sheet_of(*items: str, clusters: Sequence[str] | None = None) -> Sheet:
    width = max(map(len, items))
    answers = np.array([[MARKS[mark] for mark in item.ljust(width)] for item in items])
    return Sheet(
        answers[:, :, 0],
        answers[:, :, 1],
        tuple("abcdef"[:width]),
        tuple(clusters or map(str, range(len(items)))),
    )


def answered(grounded: int, key_point: int) -> list[str | None]:
    """One person's answer to each task."""
    codes = [int(task_codes(np.array([[grounded]]), np.array([[key_point]]), task)[0, 0]) for task in Task]
    return [None if code < 0 else CATEGORIES[task][code] for task, code in zip(Task, codes, strict=True)]


def test_a_no_masks_the_second_judgment_whatever_was_stored() -> None:
    assert answered(1, 0) == ["no", None, "drop"]
    assert answered(0, 0) == ["yes", "agree", "keep"]
    assert answered(0, -1) == ["yes", None, None]
    assert answered(-1, -1) == [None, None, None]
    assert answered(-1, 0) == [None, "agree", None], "files may hold answers to the second question alone"


def test_kappas_of_the_three_tasks_worked_by_hand() -> None:
    sheet = sheet_of("AA", "AN", "Ax", "xx", "DD")
    grounded, key_point, keep = (randolph_kappa(sheet.ratings(task)) for task in Task)
    assert grounded.value == pytest.approx((4 / 5 - 1 / 2) / (1 / 2))
    assert (key_point.value, key_point.n_items) == (pytest.approx((2 / 3 - 1 / 3) / (2 / 3)), 3)
    assert keep.value == pytest.approx((3 / 5 - 1 / 2) / (1 / 2))
    assert "q = 3" in key_point.method


@given(st.lists(st.text("ANDx", min_size=3, max_size=3), min_size=4, max_size=12))
def test_complete_data_agree_with_statsmodels(items: list[str]) -> None:
    ratings = sheet_of(*items).ratings(Task.KEEP)
    table, _ = aggregate_raters(ratings.codes, n_cat=2)
    expected = fleiss_kappa(table, method="randolph")
    assert randolph_kappa(ratings).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answers", "unanimous", "majority", "adjudicated"),
    [
        (["keep", "keep"], Outcome.KEPT, Outcome.KEPT, Outcome.KEPT),
        (["keep", None], Outcome.KEPT, Outcome.KEPT, Outcome.KEPT),
        (["drop", "drop"], Outcome.DROPPED, Outcome.DROPPED, Outcome.DROPPED),
        (["keep", "drop"], Outcome.DROPPED, Outcome.TIED, Outcome.UNRESOLVED),
        (["keep", "drop", "keep"], Outcome.DROPPED, Outcome.KEPT, Outcome.UNRESOLVED),
        (["drop", "drop", "keep"], Outcome.DROPPED, Outcome.DROPPED, Outcome.UNRESOLVED),
        ([None, None], Outcome.UNLABELLED, Outcome.UNLABELLED, Outcome.UNLABELLED),
        ([], Outcome.UNLABELLED, Outcome.UNLABELLED, Outcome.UNLABELLED),
    ],
)
def test_the_three_rules(
    answers: list[str | None], unanimous: Outcome, majority: Outcome, adjudicated: Outcome
) -> None:
    assert [decide(answers, rule) for rule in Rule] == [unanimous, majority, adjudicated]


def test_an_adjudication_decides_under_its_rule_alone() -> None:
    assert decide(["keep", "keep"], Rule.ADJUDICATED, adjudicated=False) is Outcome.DROPPED
    assert decide([], Rule.ADJUDICATED, adjudicated=True) is Outcome.KEPT
    assert decide(["keep", "keep"], Rule.UNANIMOUS, adjudicated=False) is Outcome.KEPT


def test_retention_worked_by_hand() -> None:
    sheet = sheet_of("AA", "AN", "Ax", "xx", "A?", "  ", "DA")
    found = retained(sheet, chosen=["a", "b"])
    assert (found.share.value, found.share.n_items) == (pytest.approx(2 / 6), 6)
    assert [found.count(outcome) for outcome in (Outcome.KEPT, Outcome.DROPPED, Outcome.UNLABELLED)] == [2, 4, 1]
    assert retained(sheet, chosen=["a"]).share.value == pytest.approx(4 / 6)
    resolved = retained(sheet, chosen=["a", "b"], rule=Rule.ADJUDICATED, adjudicated={1: True})
    assert (resolved.share.value, resolved.count(Outcome.UNRESOLVED)) == (pytest.approx(3 / 4), 2)
    assert retained(sheet_of("  "), chosen=["a"]).share.undefined_reason == "no key point is decided"


def test_the_share_kept_in_the_paper_has_an_interval_over_questions() -> None:
    items = ["A"] * 2055 + ["x"] * 1596
    clusters = [str(number % 280) for number in range(3651)]
    share = retained(sheet_of(*items, clusters=clusters), chosen=["a"]).share
    assert share.value == pytest.approx(0.563, abs=0.0005)
    assert (share.n_items, share.n_clusters) == (3651, 280)
    assert share.low < 2055 / 3651 < share.high


def test_groups_and_annotators_are_counted_apart_with_their_adjudications() -> None:
    sheet = sheet_of("AA", "AN", "Ax", "AA")
    groups = ["causal", "factual", "causal", "factual"]
    decisions = {1: False, 2: True}
    shares = {}
    for group in ("causal", "factual"):
        places = [place for place, name in enumerate(groups) if name == group]
        own = {at: decisions[place] for at, place in enumerate(places) if place in decisions}
        part = retained(sheet.only(places), chosen=["a", "b"], rule=Rule.ADJUDICATED, adjudicated=own)
        shares[group] = part.share.value
    assert shares == {"causal": 1.0, "factual": 0.5}
    assert {who: retained(sheet, chosen=[who]).share.value for who in "ab"} == {"a": 1.0, "b": 0.5}


@given(st.lists(st.text("ANDx? ", min_size=3, max_size=3), min_size=1, max_size=20))
def test_unanimity_keeps_no_more_than_majority_and_all_outcomes_add_up(items: list[str]) -> None:
    sheet = sheet_of(*items)
    strict, lenient = (retained(sheet, chosen=sheet.people, rule=rule) for rule in list(Rule)[:2])
    assert strict.count(Outcome.KEPT) <= lenient.count(Outcome.KEPT)
    assert sum(lenient.count(outcome) for outcome in Outcome) == len(items)


def test_halves_hold_whole_questions_and_depend_on_the_seed_alone() -> None:
    clusters = [f"q{number // 3}" for number in range(33)]
    first, second = halves(clusters, seed=5)
    assert sorted(first + second) == list(range(33))
    assert not {clusters[at] for at in first} & {clusters[at] for at in second}
    assert (len(first), len(second)) == (18, 15)
    assert halves(clusters, seed=5) == (first, second)
    assert halves(clusters, seed=6) != (first, second)


def simulated(*error_rates: float, n: int = 600, seed: int = 1) -> Sheet:
    """Annotators who say keep or drop as is right, but for errors of known rates; three points a question."""
    rng = random.Random(seed)
    items = []
    for _ in range(n):
        is_key = rng.random() < 0.5
        items.append("".join("A" if is_key != (rng.random() < wrong) else "D" for wrong in error_rates))
    return sheet_of(*items, clusters=[str(number // 3) for number in range(n)])


def test_the_ranking_finds_the_careless_annotator_and_kappa_is_as_computed_by_hand() -> None:
    sheet = simulated(0.05, 0.05, 0.05, 0.4)
    rows = ranked(sheet, Task.KEEP, seed=3)
    assert len(rows) == 11
    assert all("d" not in one.annotators for one in rows[:4])
    assert all("d" in one.annotators for one in rows[4:])
    held_out = next(one.held_out.value for one in rows if one.annotators == ("a", "b", "c"))
    assert held_out == pytest.approx(2 * (0.95**2 + 0.05**2) - 1, abs=0.06)
    without = leave_one_out(randolph_kappa, sheet.ratings(Task.KEEP))
    assert max(without, key=lambda who: without[who].value or 0) == "d"


def test_the_winner_of_equals_is_flattered_on_the_half_that_chose_it() -> None:
    gaps = []
    for seed in range(30):
        best = next(
            one
            for one in ranked(simulated(*[0.25] * 4, n=120, seed=seed), Task.KEEP, seed=seed)
            if len(one.annotators) == 2
        )
        gaps.append(best.ranked_on.value - best.held_out.value)
    assert np.mean(gaps) > 0.05


def test_subsets_without_a_common_item_come_last() -> None:
    rows = ranked(sheet_of("AA ", "AA ", "  A", "AD ", "AA ", "AA "), Task.KEEP, seed=1)
    assert rows[-1].ranked_on.value is None
    assert rows[0].annotators == ("a", "b", "c")


LOGS = st.lists(st.floats(-2000, 0), min_size=1, max_size=4)
# Ten points, six pass 0.7. Labelled: of the passing 3 key, 2 not, 1 nobody; of the others 1 key, 3 not.
SCORES = [0.9, 0.8, 0.7, 0.95, 0.75, 0.99, 0.1, 0.2, 0.3, 0.69]
KEY = [True, True, True, False, False, None, True, False, False, False]


def test_spellings_of_an_answer_add_up() -> None:
    found = score([math.log(0.5), math.log(0.1)], [math.log(0.2)])
    assert found.value == pytest.approx(0.75)


def test_a_missing_answer_leaves_a_bound_and_two_leave_nothing() -> None:
    without_no = score([math.log(0.9)], [], least_listed=math.log(0.01))
    assert (without_no.value, without_no.high) == (None, 1.0)
    assert without_no.low == pytest.approx(0.9 / 0.91)
    unsure = score([math.log(0.3)], [])
    assert (unsure.low, unsure.high) == (pytest.approx(0.3), 1.0), "no may be as likely as all the rest"
    without_yes = score([], [math.log(0.8)])
    assert (without_yes.low, without_yes.high) == (0.0, pytest.approx(0.2))
    neither = score([], [])
    assert (neither.value, neither.low, neither.high) == (None, None, None)
    assert neither.reason


@given(LOGS, LOGS)
def test_the_score_is_a_share_and_swaps_with_the_answers(yes: list[float], no: list[float]) -> None:
    there, back = score(yes, no).value, score(no, yes).value
    assert 0 <= there <= 1
    assert there + back == pytest.approx(1)


@given(st.floats(0.001, 1), st.floats(0.0001, 0.9))
def test_the_bound_holds_for_any_unlisted_answer(p_yes: float, least: float) -> None:
    p_no = min(least, 1 - p_yes)
    assert score([math.log(p_yes)], [], least_listed=math.log(least)).low <= p_yes / (p_yes + p_no) + 1e-9


def test_histogram_and_cumulative_shares() -> None:
    scores = [0.0, 0.04, 0.05, 0.7, 1.0]
    bins = histogram(scores)
    assert [(bin_["low"], bin_["count"]) for bin_ in bins if bin_["count"]] == [
        (0.0, 2),
        (0.05, 1),
        (0.7, 1),
        (0.95, 1),
    ]
    assert cumulative([0.2, 0.2, 0.5, 0.9]) == ((0.2, 0.5), (0.5, 0.75), (0.9, 1.0))
    assert cumulative([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1))
def test_every_score_is_in_one_bin_and_the_last_share_is_1(scores: list[float]) -> None:
    assert sum(bin_["count"] for bin_ in histogram(scores)) == len(scores)
    shares = [share for _, share in cumulative(scores)]
    assert shares[-1] == 1
    assert shares == sorted(shares)


def _rates(scores: Sequence[float], key: Sequence[bool | None], threshold: float) -> ThresholdFigures:
    return at_threshold(scores, key, threshold=threshold, clusters=range(len(scores)))


def test_rates_at_a_threshold_worked_by_hand() -> None:
    found = _rates(SCORES, KEY, 0.7)
    assert found.retention.value == pytest.approx(6 / 10)
    assert found.false_positive_rate.value == pytest.approx(2 / 5)
    assert found.false_discovery_rate.value == pytest.approx(2 / 5)
    assert found.false_omission_rate.value == pytest.approx(1 / 4)
    assert found.n_unlabelled == 1


def test_rates_without_anything_to_count_are_undefined() -> None:
    found = _rates([0.9], [True], 0.5)
    assert (found.false_positive_rate.value, found.false_omission_rate.value) == (None, None)
    assert _rates([], [], 0.5).retention.undefined_reason == "no scores"
    with pytest.raises(BadShape):
        _rates([0.5], [], 0.5)


def test_people_are_averaged_where_they_have_a_rate() -> None:
    people = [_rates([0.9, 0.8], key, 0.5) for key in ([True, True], [False, True])]
    means = mean_of(people)
    assert means["false_discovery_rate"].value == pytest.approx(0.25)
    assert means["false_positive_rate"].value == 1.0, "the first has no point that is not key"
    assert means["false_omission_rate"].value is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_a_higher_threshold_never_keeps_more(rows: list[tuple[float, bool]]) -> None:
    scores, key = [row[0] for row in rows], [row[1] for row in rows]
    kept = [_rates(scores, key, at / 10).retention.value for at in range(11)]
    assert kept[0] == 1
    assert kept == sorted(kept, key=lambda value: -(value or 0))
