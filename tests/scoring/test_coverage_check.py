"""The simulated coverage of intervals: few repetitions here; `manage.py simulate coverage` does many."""

from __future__ import annotations

import io
import json

from django.core.management import call_command

from benchmarks.scoring.coverage_check import check
from benchmarks.scoring.coverage_worlds import WORLDS, check_worlds
from benchmarks.scoring.sums import Resampling


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rows = list(check(clusters=[5, 12], repetitions=40, resampling=Resampling(n_resamples=600)))
    assert len({row.figure for row in rows}) * 2 == len(rows)
    for clusters, least in ((5, 0.87), (12, 0.91)):
        held = [row.coverage for row in rows if row.clusters == clusters and row.coverage is not None]
        assert len(held) >= 20
        assert sum(held) / len(held) >= least
        assert min(held) >= least - 0.1


def test_too_few_clusters_are_shown_without_an_interval() -> None:
    rows = list(check(clusters=[3], repetitions=3, resampling=Resampling(n_resamples=50)))
    assert {row.shown for row in rows} == {0.0}
    assert {row.coverage for row in rows} == {None}


def test_the_command_prints_a_row_for_each_figure() -> None:
    out = io.StringIO()
    call_command("simulate", "coverage", "--clusters", "5", "--repetitions", "2", "--json", stdout=out)
    rows = json.loads(out.getvalue())
    assert {row["world"] for row in rows} == {"ordinary", *WORLDS}
    assert {"figure", "clusters", "coverage", "mean_width", "repetitions"} <= set(rows[0])
    assert all(row["coverage"] is None or 0 <= row["coverage"] <= 1 for row in rows)
    with_widths = {row["world"] for row in rows if row["mean_width"]}
    assert with_widths >= WORLDS.keys() - {"ranks"}


def test_worlds_are_chosen_by_name() -> None:
    out = io.StringIO()
    call_command("simulate", "coverage", "--worlds", "edge", "--repetitions", "3", "--json", stdout=out)
    rows = json.loads(out.getvalue())
    assert {row["world"] for row in rows} == {"edge"}
    assert any(row["mean_width"] for row in rows)


def test_equal_systems_are_a_world() -> None:
    rows = list(check_worlds(["ranks"], repetitions=2))
    assert [(row.clusters, row.shown) for row in rows] == [(9, 1.0), (9, 1.0), (33, 1.0), (33, 1.0)]
