"""The free checks: on a haystack small enough to count by hand, on shuffled ones, and on the published one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from extensions.synthesis import checks
from extensions.synthesis.checks import (
    Kind,
    LexicalCheck,
    Mutant,
    Plan,
    Scores,
    compare,
    make_plan,
    mutants,
    recall_of,
)
from tests.judges.real_data import FOLDER, needs_data
from tests.running import json_of, output_of

FERRY = Path("summhay_site/demo/data/ferry.json")
BELL = "The bell of the old chapel weighs 340 kilograms."
ROOF = "Slates for the library roof come from a quarry in Wales."


def small() -> Plan:
    """Two insights; the first in documents 0 and 1, the second in document 2, none in document 3."""
    documents = [
        f"Nobody spoke first. {BELL} The day was grey.",
        "Lunch was late. Visitors hear that the old chapel has a bell of 340 kilograms.",
        f"{ROOF} It rained.",
        "Ducks swam on the pond. Children fed them bread.",
    ]
    return make_plan([BELL, ROOF], [0, 1], documents, [(0, 0), (0, 1), (1, 2)])


def scored(planted: Sequence[float], others: Sequence[float]) -> Scores:
    """Scores of one insight, whatever the texts."""
    n = len(planted) + len(others)
    plan = make_plan(["x"], [0], ["y"] * n, [(0, column) for column in range(len(planted))])
    best = np.array([[*planted, *others]])
    return Scores(plan, best, best, np.zeros((1, n), dtype=int))


def test_what_is_planted_scores_above_what_is_not_and_the_threshold_lies_between() -> None:
    scores = compare(small())
    assert checks.auc(scores) == 1
    threshold = checks.fit_threshold(scores)
    assert scores.others.max() < threshold < scores.planted.min()
    assert checks.decide(scores, threshold).precision == checks.decide(scores, threshold).recall == 1
    assert scores.evidence() == {(0, 0): (1,), (0, 1): (1,), (1, 2): (0,)}


def test_auc_counts_pairs_in_the_right_order_and_half_of_the_ties() -> None:
    assert checks.auc(scored([0.5, 0.2], [0.2, 0.1])) == (1 + 1 + 0.5 + 1) / 4


SCORES = st.lists(st.integers(0, 1000).map(lambda value: value / 1000), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auc_is_the_count_over_all_pairs_and_no_other_threshold_has_a_better_f1(
    planted: list[float], others: list[float]
) -> None:
    scores = scored(planted, others)
    wins = sum((one > other) + (one == other) / 2 for one in planted for other in others)
    assert checks.auc(scores) == pytest.approx(wins / len(planted) / len(others))

    def f1(threshold: float) -> float:
        decided = checks.decide(scores, threshold)
        return 2 * decided.n_hits / (len(planted) + decided.n_hits + decided.n_alarms)

    assert f1(checks.fit_threshold(scores)) == pytest.approx(max(map(f1, [*planted, *others])))


def test_a_haystack_with_one_sort_of_pair_is_refused() -> None:
    with pytest.raises(checks.NothingToCompare):
        checks.auc(scored([0.5], []))


def test_only_what_words_do_not_decide_is_left_for_others() -> None:
    assert checks.undecided(scored([0.9, 0.5], [0.49, 0.2, 0.19])) == [(0, 2), (0, 3)]


def test_a_check_that_sees_is_told_from_one_that_is_blind() -> None:
    plan = small()
    scores = compare(plan)
    seeing = LexicalCheck(scores, checks.fit_threshold(scores))
    changed = list(mutants(seeing, plan, scores.evidence()))
    assert [one.kind for one in changed] == [Kind.DELETION, Kind.INSERTION] * 3
    assert all(recall.recall == 1 for recall in recall_of(seeing, changed).values())
    deletion = changed[0]
    assert deletion == Mutant(Kind.DELETION, 0, 0, ("Nobody spoke first.", "The day was grey."), holds=False)
    assert BELL in changed[1].sentences

    blind, credulous = LexicalCheck(scores, 1.1), LexicalCheck(scores, 0.0)
    caught = recall_of(blind, mutants(blind, plan, scores.evidence()))
    assert Kind.DELETION not in caught, "what was never seen cannot go missing"
    assert caught[Kind.INSERTION].recall == 0
    assert recall_of(credulous, mutants(credulous, plan, scores.evidence()))[Kind.DELETION].recall == 0


def test_texts_are_compared_word_by_word() -> None:
    eight = "one two three four five six seven eight"
    assert checks.repeated([eight, f"{eight} nine"]) == (1 + 1 / 2) / 2
    assert checks.repeated(["short"]) is None
    assert [
        (pair.first, pair.second) for pair in checks.near_duplicates([eight, "other words", f"{eight} nine"])
    ] == [(0, 2)]
    assert [(pair.first, pair.second) for pair in checks.overlaps([BELL, ROOF, BELL.upper()])] == [(0, 2)]


def test_numbers_and_verbatim_insights_are_counted_in_their_documents() -> None:
    plan = small()
    assert checks.number_precision(plan, compare(plan).evidence()) == 1
    assert checks.verbatim_share(plan) == pytest.approx((1 + 0 + 1) / 3)


def checked(path: Path) -> dict[str, float]:
    return json_of("synthesize", "check", path)


def test_the_command_prints_figures_of_a_file() -> None:
    figures = checked(FERRY)
    assert figures["auc"] > 0.99
    assert figures["precision"] > 0.9
    assert figures["recall"] > 0.9
    assert "AUC 0.9969" in output_of("synthesize", "check", FERRY)


def test_the_command_names_the_place_of_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text('{"topic_id": "t", "topic": "T", "subtopics": [], "documents": [{}]}')
    with pytest.raises(CommandError, match=r"no.json: documents\[0\]"):
        checked(tmp_path / "no.json")
    with pytest.raises(CommandError, match="No such file"):
        checked(tmp_path / "nowhere.json")


@needs_data
def test_the_published_haystack_has_its_known_figures() -> None:
    figures = checked(FOLDER / "topic_news1.json")
    assert figures["auc"] == pytest.approx(0.998, abs=0.001)
    assert (figures["n_planted"], figures["n_others"]) == (675, 5825)
    assert figures["n_undecided"] / 6500 == pytest.approx(0.16, abs=0.005)
    assert figures["verbatim"] == pytest.approx(0.15, abs=0.005)
    assert figures["repeated"] == pytest.approx(0.06, abs=0.005)
    assert figures["number_precision"] == pytest.approx(0.28, abs=0.005)
