from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges.base import Background, ItemRef, SummaryToJudge
from benchmarks.judges.lexical import LexicalConfig, LexicalJudge
from benchmarks.judges.lexical_fit import (
    HeldOutBy,
    HumanLabel,
    LabelledSummary,
    NothingHeldOut,
    TooFewLabels,
    fit,
    thresholds,
)
from tests.judges.real_data import conversations, needs_data, news

THINGS = ["copper kettles", "wooden ladders", "garden hoses", "winter coats", "brass lamps"]
PLACES = ["Aldermoor", "Brimfield", "Castleford", "Dunwich", "Eastbourne"]
INSIGHTS = tuple(
    f"The workshop in {place} repaired forty {thing} last winter without charging anyone money."
    for place, thing in zip(PLACES, THINGS, strict=True)
)
SAID = {
    "full": "The workshop in {place} repaired forty {thing} last winter without charging anyone.",
    "partial": "In {place} people brought what they had.",
    "none": "Bees are kept on several roofs.",
}
KINDS = ("full", "partial", "none")


def labelled(topic: str, subtopic: str, number: int) -> LabelledSummary:
    """A summary whose bullets say its insights fully, partially or not, each told apart by its wording."""
    kinds = [KINDS[(number + position) % 3] for position in range(len(INSIGHTS))]
    lines = [
        "- " + SAID[kind].format(place=place, thing=thing)
        for kind, place, thing in zip(kinds, PLACES, THINGS, strict=True)
    ]
    return LabelledSummary(
        summary=SummaryToJudge(str(number), tuple(lines), tuple(ItemRef(each, each) for each in INSIGHTS)),
        labels=tuple(
            HumanLabel(insight, kind, () if kind == "none" else (position + 1,))
            for position, (insight, kind) in enumerate(zip(INSIGHTS, kinds, strict=True))
        ),
        topic=topic,
        subtopic=subtopic,
        background=Background(insights=INSIGHTS),
    )


def study(topics: Sequence[str], subtopics: Sequence[str], n_each: int) -> list[LabelledSummary]:
    return [
        labelled(topic, f"{topic}-{subtopic}", number)
        for topic in topics
        for subtopic in subtopics
        for number in range(n_each)
    ]


def test_thresholds_that_part_the_labels_are_found_on_the_other_topic() -> None:
    result = fit(study("ab", "x", 18), LexicalConfig())
    assert result.held_out_by is HeldOutBy.TOPIC
    assert {fold.left_out for fold in result.folds} == {"a", "b"}
    assert (result.n_summaries, result.n_insights) == (36, 180)
    assert result.held_out.stats["exact_agreement"].value == 1
    assert result.held_out.stats["linking_authors"].value == 1
    assert result.held_out.stats["linking_authors"].n_items == 120


def test_the_fitted_configuration_keeps_the_weights_it_started_from() -> None:
    start = LexicalConfig(recall_weight=0.3, entailed_from=0.5, partial_from=0.9, full_from=0.95)
    result = fit(study("ab", "x", 18), start)
    fitted = result.config
    assert fitted == replace(
        start, partial_from=fitted.partial_from, full_from=fitted.full_from, odds=fitted.odds, fitted_on=("a", "b")
    )
    assert fitted.odds not in {None, start.odds}
    assert 0 < fitted.partial_from < fitted.full_from < 0.95
    before, held_out = (
        sum(row["full"] for row in figures.confusion.values()) for figures in (result.before, result.held_out)
    )
    assert before < held_out


def test_with_one_topic_its_subtopics_are_left_out_and_the_result_says_so() -> None:
    result = fit(study("a", "xyz", 12), LexicalConfig())
    assert result.held_out_by is HeldOutBy.SUBTOPIC
    assert [fold.left_out for fold in result.folds] == ["a-x", "a-y", "a-z"]
    assert "each subtopic left out" in result.description()
    assert "says little of others" in result.description()


def test_one_topic_with_two_subtopics_cannot_be_validated() -> None:
    with pytest.raises(NothingHeldOut, match="2 subtopics"):
        fit(study("a", "xy", 30), LexicalConfig())


def test_too_few_labels_are_refused_with_their_number() -> None:
    with pytest.raises(TooFewLabels, match="25 labelled insights without a"):
        fit(study("ab", "x", 5), LexicalConfig())
    with pytest.raises(TooFewLabels, match="0 labelled insights"):
        fit([], LexicalConfig())


def test_labels_without_one_kind_are_refused_with_its_name() -> None:
    without = [
        replace(each, labels=tuple(label for label in each.labels if label.coverage != "partial"))
        for each in study("ab", "x", 24)
    ]
    with pytest.raises(TooFewLabels, match="“partial”"):
        fit(without, LexicalConfig())


def test_insights_that_nobody_labelled_are_passed_over() -> None:
    half = [replace(each, labels=each.labels[:3]) for each in study("ab", "x", 24)]
    assert fit(half, LexicalConfig()).n_insights == 144


def test_the_order_of_the_labels_does_not_matter() -> None:
    given_order = study("ab", "x", 18)
    assert fit(given_order[::-1], LexicalConfig()).folds == fit(given_order, LexicalConfig()).folds


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(KINDS)), min_size=2, max_size=60))
def test_the_lower_threshold_is_never_above_the_upper(rows: list[tuple[float, Any]]) -> None:
    low, high = thresholds([score for score, _ in rows], [label for _, label in rows])
    assert 0 <= low <= high <= 1


@needs_data
def test_on_a_conversation_topic_it_was_not_fitted_on_it_does_as_well_as_is_claimed() -> None:
    result = fit(conversations(), LexicalConfig())
    assert result.held_out_by is HeldOutBy.TOPIC
    assert (result.n_summaries, result.n_insights) == (114, 661)
    assert result.held_out.stats["pearson"].value == pytest.approx(0.74, abs=0.005)
    assert result.held_out.stats["exact_agreement"].value == pytest.approx(0.70, abs=0.005)
    assert result.held_out.stats["linking_authors"].value == pytest.approx(0.89, abs=0.005)
    assert (
        round(result.held_out.stats["linking_authors"].value * result.held_out.stats["linking_authors"].n_items)
        >= 298
    )


@needs_data
def test_what_it_expects_of_a_conversation_topic_left_out_correlates_better_than_its_labels() -> None:
    result = fit(conversations(), LexicalConfig())
    found = result.expected
    assert found.label_pearson.value == pytest.approx(result.held_out.stats["pearson"].value)
    assert (found.pearson.value or 0) >= 0.755
    assert found.gain.low > 0
    assert found.gain.n_clusters == 20
    for fold in result.folds:
        assert (fold.expected.gain.value or 0) > 0.015
        assert abs(fold.expected.bias.value or 0) < 0.08
    assert len(found.parts) == 10
    assert all(abs(part.expected - part.human) < 0.1 for part in found.parts)


@needs_data
def test_the_odds_of_a_fold_know_nothing_of_the_topic_that_it_left_out() -> None:
    rows = conversations()
    fold = fit(rows, LexicalConfig()).folds[0]
    turned: dict[Any, Any] = {"none": "full", "partial": "none", "full": "partial"}
    others = [
        replace(each, labels=tuple(replace(label, coverage=turned[label.coverage]) for label in each.labels))
        if fold.left_out == each.topic
        else each
        for each in rows
    ]
    assert fit(others, LexicalConfig()).folds[0].config == fold.config


@needs_data
def test_the_default_odds_are_those_fitted_on_both_topics() -> None:
    assert fit(conversations(), LexicalConfig()).config.odds == LexicalConfig().odds


@needs_data
def test_the_default_thresholds_lie_where_every_topic_alone_would_put_them() -> None:
    result = fit(conversations(), LexicalConfig())
    default = LexicalConfig()
    pairs = [(result.config.partial_from, result.config.full_from)]
    pairs += [(fold.config.partial_from, fold.config.full_from) for fold in result.folds]
    for partial_from, full_from in pairs:
        assert partial_from == pytest.approx(default.partial_from, abs=0.035)
        assert full_from == pytest.approx(default.full_from, abs=0.03)


@needs_data
def test_on_a_news_haystack_it_ranks_like_a_language_model() -> None:
    import numpy as np

    given_verdicts, background = news()
    worth = {"none": 0.0, "partial": 0.5, "full": 1.0}
    found = LexicalJudge().judge_coverage([each.summary for each in given_verdicts], background)
    ours = [worth[verdict.coverage] for verdicts in found for verdict in verdicts]
    expected = [verdict.probabilities.expected() for row in found for verdict in row if verdict.probabilities]
    by_key = [{label.insight_key: label for label in each.labels} for each in given_verdicts]
    theirs = [
        worth[labels[verdict.insight_key].coverage]
        for labels, verdicts in zip(by_key, found, strict=True)
        for verdict in verdicts
    ]
    assert len(ours) == 5070
    by_label, by_expectation = (np.corrcoef(side, theirs)[0, 1] for side in (ours, expected))
    assert by_label > 0.73
    assert by_expectation > by_label + 0.025
    assert by_expectation >= 0.78
