"""Coverage, citation and joint: worked examples of the paper, the published leaderboard, and properties."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import (
    MEASURES,
    Average,
    Coverage,
    Probabilities,
    Repeats,
    SummaryScore,
    UnknownMeasure,
    Verdict,
    attainable_ceiling,
    average,
    mean_over_summaries,
    pooled_over_insights,
    present_insights,
    score_citations,
    score_insight,
    score_summary,
    sums,
)
from benchmarks.scoring.text import lines_from_list, lines_from_text

NONE, PARTIAL, FULL = Coverage.NONE, Coverage.PARTIAL, Coverage.FULL


def cite(*brackets: str):
    return lines_from_list([f"- A point {bracket}" for bracket in brackets])


FIGURE_2 = (
    ("pause", frozenset({8, 32, 79, 83, 95})),
    ("app", frozenset({11, 30, 46, 53, 79, 80})),
    ("breath", frozenset({8, 32, 46, 53, 69, 91, 95})),
)
FIGURE_2_LINES = cite("[79,11,46,53,54]", "[79,80]", "[80,23]")
FIGURE_2_VERDICTS = {"pause": Verdict(FULL, (2,)), "app": Verdict(PARTIAL, (1,)), "breath": Verdict(NONE)}


def percent(figure: Stat) -> float:
    return 100 * figure.value


def test_the_worked_example_of_figure_2() -> None:
    score = score_summary(FIGURE_2, FIGURE_2_VERDICTS, FIGURE_2_LINES)
    assert percent(score.scores.coverage) == pytest.approx(50)
    assert percent(score.scores.citation) == pytest.approx(50.649, abs=5e-4)
    assert percent(score.scores.joint) == pytest.approx(21.645, abs=5e-4)
    first, second, third = score.insights
    assert (first.citation.precision, first.citation.recall) == (0.5, 0.2)
    assert (second.citation.precision, second.citation.recall) == (0.8, 4 / 6)
    assert third.citation is None
    assert third.joint == 0


FIGURE_4 = (
    ("breath", frozenset({8, 32, 46, 53, 69, 91, 95})),
    ("walk", frozenset({11, 20, 48, 54, 80, 91})),
    ("pause", frozenset({8, 32, 37, 48, 79, 83, 95})),
    ("app", frozenset({11, 30, 46, 53, 79, 80})),
    ("affirm", frozenset({13, 27, 37, 54, 68, 83})),
)
FIGURE_4_CASES = {
    "oracle": (
        cite("[8][11][46][53][91]", "[11][53][54][80][91]", "[8][11][37][53][54][79][83][95]",
             "[11][53][79][83][91]", "[37][46][83][13]"),
        [(PARTIAL, 1), (FULL, 2), (FULL, 3), (PARTIAL, 4), (PARTIAL, 5)],
        (70, 64, 46),
    ),
    "rerank": (
        cite("[54][83], also [54][79][91]", "[27][30][79]", "[54][91][11]", "[37][54] and again [37]"),
        [(PARTIAL, 1), (FULL, 3), (FULL, 2), (FULL, 1), (FULL, 4)],
        (90, 33, 32),
    ),
    "random": (
        cite("[4][46][95]", "[46][53][80]", "[46][74][80]", "[53]", "[53][95]"),
        [(PARTIAL, 1), (PARTIAL, 3), (NONE, None), (PARTIAL, 2), (NONE, None)],
        (30, 43, 13),
    ),
    "vector": (
        cite(*["[54][80][46]"] * 5),
        [(PARTIAL, 2), (PARTIAL, 3), (PARTIAL, 4), (NONE, None), (NONE, None)],
        (30, 21, 6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURE_4_CASES)
def test_the_worked_examples_of_figure_4(name: str) -> None:
    lines, labels, printed = FIGURE_4_CASES[name]
    verdicts = {
        key: Verdict(coverage, (line,) if line else ())
        for (key, _), (coverage, line) in zip(FIGURE_4, labels, strict=True)
    }
    scores = score_summary(FIGURE_4, verdicts, lines, repeats=Repeats.EACH_TIME).scores
    assert tuple(round(percent(scores.measure(m))) for m in ("coverage", "citation", "joint")) == printed


def test_a_document_cited_twice_counts_once_unless_each_mention_is_asked_for() -> None:
    gold = frozenset({37, 54})
    assert score_citations([37, 37, 5], gold).precision == 0.5
    assert score_citations([37, 37, 5], gold, repeats=Repeats.EACH_TIME).precision == pytest.approx(1 / 3)


def test_several_linked_lines_count_as_the_union_of_their_citations() -> None:
    verdicts = {"one": Verdict(FULL, (1, 2))}
    (insight,) = score_summary([("one", frozenset({1, 2}))], verdicts, cite("[1]", "[2, 3]")).insights
    assert insight.cited == (1, 2, 3)
    assert (insight.citation.precision, insight.citation.recall) == (2 / 3, 1)


def test_a_number_that_is_no_document_is_wrong_for_precision() -> None:
    scores = score_summary([("one", frozenset({1}))], {"one": Verdict(FULL, (1,))}, cite("[1, 999]")).scores
    assert scores.precision.value == 0.5
    assert scores.recall.value == 1


@pytest.mark.parametrize("links", [(), (0,), (7,), (-1,)])
def test_covered_without_a_line_scores_nothing_and_is_counted(links: tuple[int, ...]) -> None:
    insights = [("one", frozenset({1})), ("two", frozenset({1}))]
    verdicts = {"one": Verdict(FULL, links), "two": Verdict(FULL, (1,))}
    scores = score_summary(insights, verdicts, cite("[1]", "[1]")).scores
    assert scores.n_unlinked == 1
    assert scores.coverage.value == 1
    assert scores.joint.value == 0.5
    assert (scores.citation.value, scores.citation.n_items) == (1, 1)


def test_a_linked_line_that_cites_nothing_scores_zero_not_undefined() -> None:
    scores = score_summary([("one", frozenset({1}))], {"one": Verdict(FULL, (1,))}, cite("")).scores
    assert (scores.citation.value, scores.precision.value, scores.recall.value) == (0, 0, 0)


def test_a_link_of_an_uncovered_insight_is_ignored() -> None:
    score = score_summary([("one", frozenset({1}))], {"one": Verdict(NONE, (1,))}, cite("[1]"))
    assert score.insights[0].lines == ()
    assert score.scores.joint.value == 0
    assert score.scores.citation.value is None
    assert score.scores.citation.undefined_reason == "no covered insight has a linked line"
    assert score.scores.n_unlinked == 0


def test_an_insight_without_a_verdict_is_left_out_and_counted() -> None:
    scores = score_summary(
        [("one", frozenset({1})), ("two", frozenset({2}))], {"two": Verdict(FULL, (1,))}, cite("[2]")
    )
    assert scores.scores.n_missing == 1
    assert scores.scores.coverage.value == 1
    assert scores.scores.coverage.n_items == 1


def test_no_verdict_at_all_is_undefined_with_a_reason() -> None:
    scores = score_summary([("one", frozenset({1}))], {}, cite("[1]")).scores
    assert scores.coverage.value is None
    assert scores.coverage.undefined_reason == "no insight was judged"


def test_the_reason_without_gold_documents_is_not_the_missing_link() -> None:
    scores = score_summary([("one", frozenset[int]())], {"one": Verdict(FULL, (1,))}, cite("[1]")).scores
    assert scores.citation.undefined_reason == "no covered insight has both a linked line and gold documents"


def test_an_insight_without_gold_documents_has_coverage_only() -> None:
    insights = [("one", frozenset[int]()), ("two", frozenset({2}))]
    verdicts = {"one": Verdict(FULL, (1,)), "two": Verdict(FULL, (1,))}
    scores = score_summary(insights, verdicts, cite("[2]")).scores
    assert scores.n_without_gold == 1
    assert (scores.coverage.n_items, scores.joint.n_items, scores.citation.n_items) == (2, 1, 1)


def test_expected_coverage_replaces_what_the_label_is_worth_in_coverage_only() -> None:
    expected = Verdict(Coverage.PARTIAL, (1,), Probabilities(0.2, 0.4, 0.4))
    lines = lines_from_text("- Said [1, 2].")
    found = score_insight(key="a", gold=frozenset({1, 2}), verdict=expected, lines=lines)
    assert (found.value, found.joint) == (pytest.approx(0.6), 0.5)
    assert Probabilities.of(None, None) is None
    assert Probabilities.of(0.4, 0.4) == pytest.approx((0.2, 0.4, 0.4))


def test_the_two_averages_differ_and_say_which_they_are() -> None:
    small = score_summary([("a", frozenset({1}))], {"a": Verdict(FULL, (1,))}, cite("[1]"))
    gold = frozenset({1})
    large = score_summary([(k, gold) for k in "bcd"], {k: Verdict(NONE) for k in "bcd"}, cite("[1]"))
    by_summary, pooled = mean_over_summaries([small, large]), pooled_over_insights([small, large])
    assert (by_summary.coverage.value, pooled.coverage.value) == (0.5, 0.25)
    assert (by_summary.average, pooled.average) == (Average.OVER_SUMMARIES, Average.OVER_INSIGHTS)
    assert by_summary.coverage.method == "mean_over_summaries"
    assert (by_summary.coverage.n_items, pooled.coverage.n_items) == (2, 4)
    assert by_summary.citation.n_items == 1


def test_an_unknown_measure_is_refused_by_name() -> None:
    score = score_summary(FIGURE_2, FIGURE_2_VERDICTS, FIGURE_2_LINES)
    with pytest.raises(UnknownMeasure, match="rouge"):
        score.scores.measure("rouge")
    with pytest.raises(UnknownMeasure, match="rouge"):
        score.insights[0].measure("rouge")


def test_present_insights_and_the_ceiling_follow_the_shown_documents() -> None:
    insights = [("a", frozenset({1, 2})), ("b", frozenset({3})), ("c", frozenset({4, 5, 6, 7}))]
    assert [key for key, _ in present_insights(insights, [1, 2, 4])] == ["a", "c"]
    ceiling = attainable_ceiling([gold for _, gold in insights], [1, 2, 4])
    assert ceiling.recall.value == pytest.approx((1 + 0 + 0.25) / 3)
    assert ceiling.f1.value == pytest.approx((1 + 0 + 0.4) / 3)
    assert ceiling.present_recall.value == pytest.approx(1.25 / 2)
    assert ceiling.present_f1.value == pytest.approx(1.4 / 2)
    assert (ceiling.n_absent, ceiling.n_without_gold) == (1, 0)


def test_a_ceiling_over_nothing_is_undefined() -> None:
    ceiling = attainable_ceiling([frozenset()], [1])
    assert ceiling.recall.undefined_reason == "no insight has gold documents"
    assert ceiling.present_f1.undefined_reason == "no insight is present in the shown documents"
    assert ceiling.n_without_gold == 1


numbers = st.integers(1, 8)
golds = st.frozensets(numbers, min_size=1, max_size=6)
verdict = st.builds(
    lambda coverage, lines: Verdict(coverage, tuple(lines)),
    st.sampled_from(Coverage),
    st.lists(st.integers(-1, 5), max_size=3),
)


@st.composite
def summaries(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    insights = [(f"i{n}", draw(golds)) for n in range(draw(st.integers(1, 6)))]
    verdicts = {key: draw(verdict) for key, _ in insights}
    lines = cite(*[f"[{', '.join(map(str, draw(st.lists(numbers, min_size=1, max_size=4))))}]" for _ in range(4)])
    return insights, verdicts, lines


@given(summaries())
def test_all_figures_stay_between_0_and_1_and_joint_below_coverage(case: tuple[Any, Any, Any]) -> None:
    score = score_summary(*case)
    for name in MEASURES:
        value = score.scores.measure(name).value
        assert value is None or 0 <= value <= 1
    coverage, joint = score.scores.coverage.value, score.scores.joint.value
    assert joint <= coverage
    for row in score.insights:
        if row.citation:
            low, high = sorted((row.citation.precision, row.citation.recall))
            assert low - 1e-12 <= row.citation.f1 <= high + 1e-12


@given(summaries(), st.randoms())
def test_the_order_of_insights_does_not_matter(case: tuple[Any, Any, Any], random) -> None:
    insights, verdicts, lines = case
    shuffled = list(insights)
    random.shuffle(shuffled)
    before, after = (
        score_summary(insights, verdicts, lines).scores,
        score_summary(shuffled, verdicts, lines).scores,
    )
    assert all(before.measure(name) == after.measure(name) for name in MEASURES)


@given(summaries())
def test_the_sums_reproduce_both_averages(case: tuple[Any, Any, Any]) -> None:
    batch = [score_summary(*case), score_summary(FIGURE_2, FIGURE_2_VERDICTS, FIGURE_2_LINES)]
    for rule in (Average.OVER_INSIGHTS, Average.OVER_SUMMARIES):
        for name in MEASURES:
            totals, counts = sums(batch, name, rule)
            expected = average(batch, rule).measure(name).value
            assert expected == pytest.approx(math.fsum(totals) / sum(counts))


@given(st.lists(golds, min_size=1, max_size=6), st.frozensets(numbers))
def test_no_citation_of_shown_documents_beats_the_ceiling(
    gold: list[frozenset[int]], shown: frozenset[int]
) -> None:
    ceiling = attainable_ceiling(gold, shown)
    best = [score_citations(one & shown, one) for one in gold]
    assert ceiling.f1.value == pytest.approx(sum(score.f1 for score in best) / len(best))
    everything = [score_citations(shown, one) for one in gold]
    assert sum(score.f1 for score in everything) / len(gold) <= ceiling.f1.value + 1e-12


SPELT = {"NO_COVERAGE": NONE, "PARTIAL_COVERAGE": PARTIAL, "FULL_COVERAGE": FULL}
NAMES = {
    "coverage_score": "coverage",
    "citation_score": "citation",
    "joint_score": "joint",
    "citation_precision": "precision",
    "citation_recall": "recall",
}


def score_system(topic: dict[str, Any], golds_of: dict[str, set[int]], key: str) -> list[SummaryScore]:
    scored = []
    for subtopic in topic["subtopics"]:
        insights = [(row["insight_id"], frozenset(golds_of[row["insight_id"]])) for row in subtopic["insights"]]
        verdicts = {
            row["insight_id"]: Verdict(
                SPELT[row["coverage"]], (row["bullet_id"],) if isinstance(row["bullet_id"], int) else ()
            )
            for row in subtopic["eval_summaries"][key]
        }
        scored.append(score_summary(insights, verdicts, lines_from_list(subtopic["summaries"][key])))
    return scored


def test_the_published_leaderboard_is_reproduced(published: Path) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    figures = json.loads((published / "expected_figures.json").read_text())
    expected = figures["topic_news1_leaderboard_pooled_over_insights"]
    golds_of: dict[str, set[int]] = {}
    for number, document in enumerate(topic["documents"], 1):
        for key in document["insights_included"]:
            golds_of.setdefault(key, set()).add(number)
    keys = set(topic["subtopics"][0]["summaries"])
    compared = 0
    for summarizer, by_retriever in expected["coverage_score"].items():
        for retriever in by_retriever:
            middle = {"longembed": "dwzhu/e5-base-4k_", "full-ctxt": ""}.get(retriever, f"{retriever}_")
            key = f"summary_subtopic_{middle}{summarizer}"
            pooled = pooled_over_insights(score_system(topic, golds_of, key) if key in keys else [])
            assert pooled.n_unlinked == pooled.n_missing == pooled.n_without_gold == 0
            for name, measure in NAMES.items():
                target = expected[name][summarizer][retriever]
                value = pooled.measure(measure).value
                assert (value is None) == (target is None)
                assert target is None or value == pytest.approx(target, abs=1e-9)
                compared += target is not None
    assert compared == 5 * len(keys) == 390
