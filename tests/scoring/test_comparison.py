"""A judge beside a human: linking rules, the judge table, and the published figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scoring.comparison import SummaryPair, bias, compare, own_family
from benchmarks.scoring.pairs import METHODS, Compared
from benchmarks.scoring.stat import Stat, mean_of_stats
from benchmarks.scoring.summhay import Coverage, Verdict

NONE, PARTIAL, FULL = Verdict(Coverage.NONE), Coverage.PARTIAL, Coverage.FULL


def covered(*lines: int) -> Verdict:
    return Verdict(FULL, lines)


ROWS = [
    Compared(covered(1), covered(1), n_lines=5),
    Compared(covered(2), covered(1, 2), n_lines=5),
    Compared(covered(2), covered(3), n_lines=4),
    Compared(covered(3), NONE, n_lines=5),
    Compared(NONE, covered(4), n_lines=5),
    Compared(covered(), covered(1), n_lines=5),
    Compared(Verdict(Coverage.NONE, (1,)), covered(1), n_lines=5),
    Compared(None, covered(1), n_lines=5),
    Compared(NONE, NONE, n_lines=5),
]


@pytest.mark.parametrize(
    ("rule", "hits", "n"), [("linking", 2, 3), ("linking_authors", 2, 3), ("linking_strict", 2, 4)]
)
def test_each_rule_counts_its_own_insights(rule: str, hits: int, n: int) -> None:
    figure = compare(ROWS).stats[rule]
    assert figure.value == pytest.approx(hits / n)
    assert figure.n_items == n
    assert figure.method == METHODS[rule]


def test_the_authors_rule_ignores_labels_and_answers_with_several_lines() -> None:
    several = [Compared(covered(2), covered(1, 2))]
    assert compare(several).stats["linking_authors"].value is None
    listed = [Compared(covered(1), covered(1), judge_gave_list=True)]
    assert compare(listed).stats["linking_authors"].value is None
    assert compare(listed).stats["linking"].value == 1
    unlabelled = [Compared(Verdict(Coverage.NONE, (1,)), covered(1))]
    assert compare(unlabelled).stats["linking_authors"].value == 1
    assert compare(unlabelled).stats["linking"].undefined_reason == "no insight is linked by both"


def test_a_line_of_a_judge_that_says_not_covered_is_no_strict_hit() -> None:
    rows = [Compared(covered(1), Verdict(Coverage.NONE, (1,))), Compared(covered(1), covered(1))]
    assert compare(rows).stats["linking_strict"].value == 0.5
    assert compare(rows).stats["linking"].n_items == 1


def test_a_judge_that_covers_without_a_link_is_a_strict_miss_and_no_pair_of_links() -> None:
    rows = [Compared(covered(1), covered()), Compared(covered(1), covered(1))]
    assert (compare(rows).stats["linking"].value, compare(rows).stats["linking"].n_items) == (1, 1)
    assert compare(rows).stats["linking_strict"].value == 0.5


def test_rates_of_the_covered_split_take_the_human_as_truth() -> None:
    human = [FULL, PARTIAL, FULL, FULL, Coverage.NONE, Coverage.NONE]
    judge = [FULL, FULL, PARTIAL, Coverage.NONE, Coverage.NONE, PARTIAL]
    figures = compare([Compared(Verdict(h), Verdict(j)) for h, j in zip(human, judge, strict=True)])
    assert (figures.stats["covered.tpr"].value, figures.stats["covered.tpr"].n_items) == (0.75, 4)
    assert (figures.stats["covered.tnr"].value, figures.stats["covered.tnr"].n_items) == (0.5, 2)


def test_chance_is_the_mean_share_of_lines_that_would_hit() -> None:
    assert compare(ROWS).stats["linking_chance"].value == pytest.approx((1 / 5 + 1 / 5 + 1 / 4) / 3)
    assert compare([]).stats["linking_chance"].value is None


def test_a_judge_that_calls_everything_covered_shows_in_the_split() -> None:
    human = [FULL, FULL, PARTIAL, Coverage.NONE, Coverage.NONE, Coverage.NONE]
    judge = [FULL, FULL, PARTIAL, PARTIAL, PARTIAL, PARTIAL]
    rows = [
        Compared(Verdict(h, (1,)), Verdict(j, (1,)), cluster=index, n_lines=4)
        for index, (h, j) in enumerate(zip(human, judge, strict=True))
    ]
    figures = compare([*rows, Compared(None, NONE, cluster=9)])
    assert figures.stats["pearson"].value > 0.8
    assert figures.stats["covered.kappa"].value == pytest.approx(0)
    assert (figures.stats["covered.tpr"].value, figures.stats["covered.tnr"].value) == (1, 0)
    assert figures.stats["covered.accuracy"].value == 0.5
    assert figures.stats["exact_agreement"].value == 0.5
    assert figures.confusion == {
        "none": {"none": 0, "partial": 3, "full": 0},
        "partial": {"none": 0, "partial": 1, "full": 0},
        "full": {"none": 0, "partial": 0, "full": 2},
    }
    assert figures.n_invalid == 1


def test_comparing_nothing_is_undefined_everywhere() -> None:
    figures = compare([Compared(None, None)])
    assert figures.stats["pearson"].undefined_reason == "under 3 items, or one side is constant"
    assert figures.stats["exact_agreement"].value is None
    assert figures.stats["cohen_kappa"].value is None
    assert figures.stats["linking"].value is None
    assert figures.stats["covered.tpr"].undefined_reason == "the human calls nothing covered"
    assert figures.stats["covered.tnr"].undefined_reason == "the human calls nothing not covered"
    assert figures.n_invalid == 1


def test_bias_by_summarizer_and_in_three_averages() -> None:
    rows = [
        SummaryPair("a", 0.5, 0.6, 10, "s1", 20),
        SummaryPair("a", 0.5, 0.8, 2, "s2", 30),
        SummaryPair("b", 0.4, 0.3, 4, "s3", 25),
        SummaryPair("b", 0.4, 0.3, 4, "s4"),
        SummaryPair("b", 0.4, 0.4, 4, "s5", 15),
    ]
    figures = bias(rows)
    assert figures.by_summarizer["a"].value == pytest.approx(0.2)
    assert figures.by_summarizer["b"].value == pytest.approx(-0.2 / 3)
    assert figures.over_summarizers.value == pytest.approx((0.2 - 0.2 / 3) / 2)
    assert figures.over_summaries.value == pytest.approx(0.2 / 5)
    assert figures.over_insights.value == pytest.approx((1 + 0.6 - 0.8) / 24)
    assert figures.over_insights.n_items == 24
    assert figures.length_and_score.n_items == 4
    assert bias(rows).over_summaries.low is not None
    assert bias(rows).over_summarizers.low is not None
    assert bias([]).over_summarizers.undefined_reason == "no summaries"
    assert bias([]).over_summaries.undefined_reason == "no summaries"


def test_a_judge_that_is_kinder_to_its_own_family_favours_it() -> None:
    def pair(summarizer: str, gap: float, subtopic: int) -> SummaryPair:
        return SummaryPair(summarizer, 0.5, 0.5 + gap, 10, subtopic)

    rows = [pair("gpt-4o", 0.3, 1), pair("gpt-4", 0.1, 2), pair("jay", 0.0, 1), pair("jay", -0.1, 2)]
    few = own_family(rows, {"gpt-4o", "gpt-4"})
    assert (few.value, few.n_items, few.low) == (pytest.approx((0.3 + 0.1) / 2 - (0.0 - 0.1) / 2), 2, None)
    assert own_family(rows, {"owl"}).undefined_reason == "no summary of its family"
    assert own_family(rows[:2], {"gpt-4o", "gpt-4"}).undefined_reason == "no summary of others"
    many = [pair(name, gap * (at % 3), at) for at in range(9) for name, gap in (("gpt-4o", 0.2), ("jay", 0.1))]
    gap_of_means = own_family(many, {"gpt-4o"})
    assert gap_of_means.value == pytest.approx(0.1)
    assert 0 < gap_of_means.low < 0.1


def test_what_both_sides_have_in_few_clusters_has_no_interval() -> None:
    rows = [SummaryPair("jay", 0.5, 0.6, 10, at) for at in range(8)]
    rows += [SummaryPair("gpt-4o", 0.5, 0.7, 10, at) for at in (0, 0, 1, 2)]
    gap_of_means = own_family(rows, {"gpt-4o"})
    assert (gap_of_means.low, gap_of_means.interval_reason) == (None, "no interval under 5 clusters")


def test_the_mean_over_annotators_leaves_out_the_undefined() -> None:
    stats = [Stat(0.7, n_items=50), Stat(0.8, n_items=40), Stat.undefined("no items")]
    figure = mean_of_stats(stats, method="mean", reason="none is defined")
    assert figure.value == pytest.approx(0.75)
    assert figure.n_items == 40
    assert mean_of_stats([], method="mean", reason="none is defined").undefined_reason == "none is defined"


HUMAN = {"not_covered": Coverage.NONE, "partially_covered": PARTIAL, "fully_covered": FULL}
JUDGE = {"NO_COVERAGE": Coverage.NONE, "PARTIAL_COVERAGE": PARTIAL, "FULL_COVERAGE": FULL}


def lines_of(bullet) -> tuple[int, ...]:
    if isinstance(bullet, list):
        return tuple(int(number) for number in bullet)
    return (bullet,) if isinstance(bullet, int) else ()


def published_rows(samples: list[dict[str, Any]], judge: str) -> list[Compared]:
    rows = []
    for number, sample in enumerate(samples):
        predicted = {row["insight_id"]: row for row in sample[f"predictions_{judge}"]}
        for label in sample["annotation"]:
            chosen, guess = label["candidate_id"], predicted[label["insight_id"]]
            human = () if chosen == "no_selection" else (int(chosen) + 1,)
            rows.append(
                Compared(
                    Verdict(HUMAN[label["coverage"]], human),
                    Verdict(JUDGE[guess["coverage"]], lines_of(guess["bullet_id"])),
                    cluster=number,
                    n_lines=len(sample["summary"]),
                    judge_gave_list=isinstance(guess["bullet_id"], list),
                )
            )
    return rows


def test_the_published_judges_are_reproduced(published: Path) -> None:
    samples = json.loads((published / "eval_benchmark_conversations.json").read_text())
    expected = json.loads((published / "expected_figures.json").read_text())["conversations_114"]
    assert len(expected) == 6
    for judge, target in expected.items():
        figures = compare(published_rows(samples, judge))
        assert figures.stats["pearson"].value == pytest.approx(target["pearson"], abs=1e-9)
        assert figures.stats["pearson"].n_items == target["n_insights"] == 661
        linking = figures.stats["linking_authors"]
        assert linking.n_items == target["link_n"]
        assert round(linking.value * linking.n_items) == target["link_hits"]
        assert figures.n_invalid == 0


def test_published_judges_with_intervals_by_summary(published: Path) -> None:
    samples = json.loads((published / "eval_benchmark_conversations.json").read_text())
    figures = compare(published_rows(samples, "prompted_gpt-4o"))
    for stat in (
        figures.stats["pearson"],
        figures.stats["exact_agreement"],
        figures.stats["quadratic_kappa"],
        figures.stats["alpha_ordinal"],
        figures.stats["linking"],
    ):
        assert stat.low < stat.value < stat.high
        assert stat.high - stat.low < 0.2
    assert figures.stats["pearson"].n_clusters == 114
    assert figures.stats["linking_chance"].value == pytest.approx(0.16, abs=0.04)
