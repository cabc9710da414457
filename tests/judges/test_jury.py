"""What a jury makes of its members' verdicts; `test_lexical_expected` has its figures on published labels."""

import pytest

from benchmarks.judges.registry import JuryConfig, JuryRule, WrongJury, combine
from benchmarks.scoring.summhay import Coverage, Probabilities, Score, Verdict

NONE, PARTIAL, FULL = Coverage.NONE, Coverage.PARTIAL, Coverage.FULL
PAIR = JuryConfig(("a", "b"))


def said(coverage: Coverage, *lines: int, probabilities: tuple[float, float, float] | None = None) -> Verdict:
    return Verdict(coverage, lines, None if probabilities is None else Probabilities(*probabilities))


@pytest.mark.parametrize(
    ("first", "second", "mean", "label"),
    [
        (NONE, NONE, 0, NONE),
        (NONE, PARTIAL, 0.25, PARTIAL),
        (NONE, FULL, 0.5, PARTIAL),
        (PARTIAL, PARTIAL, 0.5, PARTIAL),
        (PARTIAL, FULL, 0.75, FULL),
        (FULL, FULL, 1, FULL),
    ],
)
def test_the_label_is_the_level_nearest_to_the_mean(
    first: Coverage, second: Coverage, mean: float, label: Coverage
) -> None:
    found = combine([said(one, *([] if one is NONE else [2])) for one in (first, second)], PAIR)
    assert found.probabilities.expected() == mean
    assert found.coverage is label
    assert found.lines == (() if label is NONE else (2,))
    assert not found.is_split


def test_a_line_needs_more_than_half_of_the_members_that_link_any() -> None:
    config = JuryConfig(("a", "b", "c"))
    assert combine([said(FULL, 3), said(PARTIAL, 3), said(FULL, 5)], config).lines == (3,)
    assert combine([said(FULL, 3), said(NONE), said(FULL, 3, 4)], config).lines == (3,)
    assert combine([said(FULL, 3), said(FULL), said(NONE)], config).lines == (3,)


def test_members_that_link_different_bullets_give_no_link() -> None:
    found = combine([said(FULL, 3), said(FULL, 5)], PAIR)
    assert (found.coverage, found.lines, found.is_split) == (FULL, (), True)


def test_probabilities_count_only_where_the_jury_takes_what_members_expect() -> None:
    members = [said(PARTIAL, 1, probabilities=(0.2, 0.2, 0.6)), said(FULL, 1)]
    assert combine(members, PAIR).probabilities == (0, 0.5, 0.5)
    found = combine(members, JuryConfig(("a", "b"), Score.EXPECTED))
    assert found.probabilities == pytest.approx((0.1, 0.1, 0.8))
    assert found.probabilities.expected() == pytest.approx(0.85)


def test_what_no_member_calls_covered_is_not_covered_whatever_they_expect() -> None:
    expected = said(NONE, probabilities=(0.4, 0.4, 0.2))
    found = combine([expected, expected], JuryConfig(("a", "b"), Score.EXPECTED))
    assert (found.coverage, found.lines) == (NONE, ())
    assert found.probabilities.expected() == pytest.approx(0.4)


def test_thresholds_decide_from_where_on_a_mean_is_covered() -> None:
    strict = JuryConfig(("a", "b"), partial_from=0.5, full_from=1.0)
    assert combine([said(NONE), said(PARTIAL, 1)], strict).coverage is NONE
    assert combine([said(FULL, 1), said(PARTIAL, 1)], strict).coverage is PARTIAL


def test_a_stored_configuration_is_read_back() -> None:
    config = JuryConfig(("a", "b"), Score.EXPECTED, 0.3, 0.6)
    assert JuryConfig.from_mapping(config.as_mapping()) == config


@pytest.mark.parametrize(
    ("members", "limits", "reason"),
    [
        (("a",), (0.25, 0.75), "2 to 20 members, not 1"),
        (("a", "a"), (0.25, 0.75), "twice"),
        (("a", "b"), (0.8, 0.75), "Thresholds"),
        (("a", "b"), (0.0, 0.75), "Thresholds"),
    ],
)
def test_what_makes_no_jury_is_refused(members: tuple[str, ...], limits: tuple[float, float], reason: str) -> None:
    with pytest.raises(WrongJury, match=reason):
        JuryConfig(members, partial_from=limits[0], full_from=limits[1])


@pytest.mark.parametrize(
    ("offline", "others", "mean", "label"),
    [
        ((0.2, 0.4, 0.4), (FULL,), (2 * 0.6 + 1) / 3, FULL),
        ((0.2, 0.4, 0.4), (NONE,), 0.4, PARTIAL),
        ((0.2, 0.4, 0.4), (FULL, NONE), (2 * 0.6 + 0.5) / 3, PARTIAL),
        ((0.9, 0.0, 0.1), (PARTIAL,), (2 * 0.1 + 0.5) / 3, NONE),
    ],
)
def test_by_two_thirds_the_offline_judge_counts_twice_as_much_as_all_others(
    offline: tuple[float, float, float], others: tuple[Coverage, ...], mean: float, label: Coverage
) -> None:
    names = tuple(f"model {at}" for at in range(len(others)))
    config = JuryConfig.by_rule((*names, "words"), JuryRule.TWO_THIRDS, offline="words")
    own = said(PARTIAL, 2, probabilities=offline)
    found = combine([*(said(one, *([] if one is NONE else [2])) for one in others), own], config)
    assert found.probabilities.expected() == pytest.approx(mean, abs=1e-5)
    assert found.coverage is label
    assert JuryConfig.from_mapping(config.as_mapping()) == config
    assert config.rule is JuryRule.TWO_THIRDS


def test_juries_without_such_a_member_are_stored_as_before() -> None:
    assert set(PAIR.as_mapping()) == {"members", "score", "partial_from", "full_from"}
    assert JuryConfig.by_rule(("a", "b"), JuryRule.EXPECTED).rule is JuryRule.EXPECTED
    with pytest.raises(WrongJury, match="no member"):
        JuryConfig(("a", "b"), offline="c")
