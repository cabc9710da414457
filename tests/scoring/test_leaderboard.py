"""The leaderboard: means under both averages, intervals over subtopics, differences on what both have."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scoring.components import Cell, mean_over_writers
from benchmarks.scoring.leaderboard import Leaderboard, Scored, sensitivity
from benchmarks.scoring.summhay import Average, Coverage, Verdict, pooled_over_insights, score_summary
from benchmarks.scoring.text import lines_from_list

GOLD = [(str(number), frozenset({number, number + 1})) for number in range(4)]


def scored(entry: str, subtopic: int, covered: int, *, cites: int = 0, n_insights: int = 4) -> Scored:
    """A summary with one bullet for each insight, of which the first ones are covered and cite `cites` wrong."""
    wrong = "".join(f"[{100 + number}]" for number in range(cites))
    lines = lines_from_list([f"- point [{number}]{wrong}" for number in range(n_insights)])
    verdicts = {
        str(number): Verdict(Coverage.FULL, (number + 1,)) if number < covered else Verdict(Coverage.NONE)
        for number in range(n_insights)
    }
    return Scored(entry, subtopic, score_summary(GOLD[:n_insights], verdicts, lines), 1.0)


def board(*rows: Scored, average: Average = Average.OVER_INSIGHTS) -> Leaderboard:
    return Leaderboard(rows, average=average)


def test_both_averages_are_those_of_the_scores() -> None:
    rows = [scored("a", 1, 4), scored("a", 2, 1, n_insights=2), scored("a", 3, 2, cites=1)]
    [pooled] = board(*rows).rows()
    expected = pooled_over_insights([row.score for row in rows])
    for name in ("coverage", "citation", "precision", "recall", "joint"):
        assert pooled.stats[name].value == pytest.approx(expected.measure(name).value)
        assert pooled.stats[name].n_items == expected.measure(name).n_items
    [single] = board(*rows, average=Average.OVER_SUMMARIES).rows()
    assert single.stats["coverage"].value == pytest.approx((1 + 1 / 2 + 2 / 4) / 3)
    assert (pooled.n_summaries, pooled.n_insights, pooled.subtopics) == (3, 10, frozenset({1, 2, 3}))


def test_intervals_resample_subtopics_however_many_summaries_each_has() -> None:
    covered = np.random.default_rng(1).integers(0, 5, size=8)
    once = [scored("a", subtopic, int(n)) for subtopic, n in enumerate(covered)]
    [few] = board(*once).rows()
    [many] = board(*once * 5).rows()
    assert few.stats["coverage"].n_clusters == many.stats["coverage"].n_clusters == 8
    assert (few.stats["coverage"].low, few.stats["coverage"].high) == (
        many.stats["coverage"].low,
        many.stats["coverage"].high,
    )


def test_a_difference_is_on_the_subtopics_that_both_have() -> None:
    rows = [scored("a", subtopic, 4) for subtopic in range(12)]
    rows += [scored("b", subtopic, 2) for subtopic in range(6)]
    [found] = board(*rows).differences([("a", "b")])
    assert found["coverage"].value == pytest.approx(0.5)
    assert (found["coverage"].n_items, found["coverage"].n_clusters) == (24, 6)
    apart = board(scored("a", 1, 4), scored("b", 2, 4)).differences([("a", "b")])
    assert apart[0]["joint"].undefined_reason == "no subtopic in common"


def copies(rows: list[Scored], n_of: dict[int, int]) -> list[Scored]:
    return [replace(row, entry="people") for row in rows for _copy in range(n_of[row.subtopic])]


@pytest.mark.parametrize("average", [Average.OVER_INSIGHTS, Average.OVER_SUMMARIES])
def test_people_who_write_what_a_system_writes_do_not_differ_from_it(average: Average) -> None:
    rng = np.random.default_rng(3)
    rows = [
        scored("a", subtopic, int(rng.integers(0, 5)), cites=subtopic % 3, n_insights=4 - subtopic % 2)
        for subtopic in range(12)
    ]
    people = copies(rows, {subtopic: 1 + 2 * (subtopic % 2) for subtopic in range(12)})
    for pair in (("a", "people"), ("people", "a")):
        [found] = board(*rows, *people, average=average).differences([pair])
        for stat in found.values():
            assert stat.value == pytest.approx(0, abs=1e-12)
            assert stat.interval_reason == "the same in every resample"


def test_differences_of_people_weigh_subtopics_like_those_of_systems() -> None:
    own = [4, 0, 2, 1, 3, 4, 2, 0]
    theirs = [1, 0, 3, 1, 2, 4, 0, 2]
    rows = [scored("a", subtopic, n) for subtopic, n in enumerate(own)]
    once = [scored("people", subtopic, n) for subtopic, n in enumerate(theirs)]
    often = copies(once, {subtopic: 1 + subtopic for subtopic in range(8)})
    [[one], [other]] = (board(*rows, *more).differences([("a", "people")]) for more in (once, often))
    for name in ("coverage", "joint"):
        assert (one[name].value, one[name].low, one[name].high) == pytest.approx(
            (other[name].value, other[name].low, other[name].high)
        )
    assert one["coverage"].value == pytest.approx(sum(own) / 32 - sum(theirs) / 32)


def test_a_row_does_not_depend_on_what_else_is_on_the_board() -> None:
    rng = np.random.default_rng(4)
    own = [scored("a", subtopic, int(rng.integers(0, 5)), cites=1) for subtopic in range(50, 56)]
    others = [scored(entry, subtopic, 2) for entry in ("a2", "b") for subtopic in range(100)]
    [alone] = board(*own).rows()
    beside = next(row for row in board(*others, *own).rows() if row.entry == "a")
    assert alone.stats["joint"].low is not None
    assert beside == alone


def test_paired_differences_are_sharper_than_the_rows() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for subtopic in range(20):
        base = int(rng.integers(0, 4))
        rows += [scored("a", subtopic, base + 1), scored("b", subtopic, base)]
    made = board(*rows)
    [found] = made.differences([("a", "b")])
    first = made.rows()[0].stats["coverage"]
    assert found["coverage"].value == pytest.approx(0.25)
    assert found["coverage"].interval_reason == "the same in every resample"
    assert first.low is not None


def test_an_entry_without_citations_has_coverage_and_reasons() -> None:
    [row] = board(*[scored("a", subtopic, 0) for subtopic in range(6)]).rows()
    assert row.stats["coverage"].value == 0
    assert row.stats["coverage"].high == pytest.approx(0.3058, abs=5e-5)
    assert row.stats["citation"].undefined_reason == "no covered insight has a linked line"


def test_sensitivity_is_the_larger_distance_from_the_random_order() -> None:
    orders = {
        "random": [scored("x", subtopic, 2) for subtopic in range(6)],
        "top": [scored("x", subtopic, 3) for subtopic in range(6)],
        "bottom": [scored("x", subtopic, 0) for subtopic in range(6)],
    }
    found = sensitivity(orders, average=Average.OVER_INSIGHTS)
    joints = [found.random.value, found.top.value, found.bottom.value]
    assert found.sensitivity.value == pytest.approx(abs(joints[2] - joints[0]))
    assert found.n_summaries == 18
    assert found.sensitivity.n_items == found.random.n_items == 24
    more = orders | {"random": [*orders["random"], *(scored("x", subtopic, 4) for subtopic in range(6, 20))]}
    assert sensitivity(more, average=Average.OVER_INSIGHTS) == found, "on the subtopics of all orders"
    without = sensitivity({"top": orders["top"]}, average=Average.OVER_INSIGHTS)
    assert without.sensitivity.undefined_reason == "no score in random order"
    assert without.top.value is not None
    only = sensitivity({"random": orders["random"]}, average=Average.OVER_INSIGHTS)
    assert only.sensitivity.undefined_reason == "no score in an ordered run"


def written(n_writers: int, n_subtopics: int, *, seed: int = 1) -> list[Scored]:
    rng = np.random.default_rng(seed)
    return [
        replace(scored("people", at, int(rng.integers(0, 5))), writer=f"w{writer}")
        for writer in range(n_writers)
        for at in range(n_subtopics)
    ]


def test_writers_are_a_sample_from_five_on_and_else_the_interval_is_about_these() -> None:
    for n, method in ((5, "variance components of writers and subtopics"), (3, "of these 3 writers only")):
        people = written(n, 8)
        plain = [replace(row, writer=None) for row in people]
        [row], [without] = board(*people).rows(), board(*plain).rows()
        joint, bare = row.stats["joint"], without.stats["joint"]
        assert method in joint.method
        assert joint.value == bare.value
        assert joint.only_these == (None if n == 5 else 3)
        if n == 3:
            assert (joint.low, joint.high) == (bare.low, bare.high)
        else:
            cells = [Cell(one.writer, one.subtopic, one.score.scores.joint.value or 0.0) for one in people]
            expected = mean_over_writers(cells)
            assert (joint.value, joint.low, joint.high) == pytest.approx(
                (expected.value, expected.low, expected.high)
            )


@pytest.mark.parametrize("average", [Average.OVER_INSIGHTS, Average.OVER_SUMMARIES])
def test_a_system_minus_people_takes_writers_as_a_sample(average: Average) -> None:
    people = [row for row in written(6, 8) if (row.subtopic + int(row.writer[1:])) % 3]
    system = [scored("a", at, at % 5, cites=at % 2, n_insights=4) for at in range(8)]
    made = board(*people, *system, average=average)
    plain = board(*(replace(row, writer=None) for row in people), *system, average=average)
    [found], [bare] = made.differences([("a", "people")]), plain.differences([("a", "people")])
    [turned] = made.differences([("people", "a")])
    for name in ("coverage", "joint", "citation"):
        assert found[name].value == pytest.approx(bare[name].value)
        assert (turned[name].low, turned[name].high) == pytest.approx((-found[name].high, -found[name].low))
        assert "writers" in found[name].method
    cells = [
        Cell(row.writer, row.subtopic, (row.score.scores.coverage.value or 0.0) - at_system)
        for row in people
        for at_system in [
            next(one for one in system if one.subtopic == row.subtopic).score.scores.coverage.value or 0
        ]
    ]
    n_of = {at: sum(cell.subtopic == at for cell in cells) for at in range(8)}
    weighted = [replace(cell, weight=1 / n_of[cell.subtopic]) for cell in cells]
    expected = mean_over_writers(weighted)
    assert (turned["coverage"].value, turned["coverage"].low) == pytest.approx((expected.value, expected.low))
