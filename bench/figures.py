"""Figures of people and judges, and the download of labels; each on a database of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.cases import Measurement, case, most, times_floor
from bench.stage import Stage

PUBLISHED = "summhay/eval_benchmark_conversations.json"
N_SUMMARIES = 200
MANY = 3572
"""Summaries of which 4 people give 100,016 labels."""


@case("agreement_page")
def agreement_page(stage: Stage) -> Iterator[Measurement]:
    """The agreement page of 4 people and 7 judges with intervals, in a warm process that remembers nothing."""
    few, many = _page(stage, N_SUMMARIES), _page(stage, MANY)
    yield Measurement(f"{N_SUMMARIES} summaries", few["seconds"], "s", most(1), few["again"], "remembered")
    yield Measurement("100,000 labels", many["seconds"], "s", most(5), many["again"], "remembered")
    yield Measurement(
        "queries, 100,000 labels", many["queries"], "", times_floor(1), few["queries"], "200 summaries"
    )


def _page(stage: Stage, n_summaries: int) -> dict[str, float]:
    stage.say(f"labels and verdicts on {n_summaries:,} summaries")
    stage.static_files()
    with stage.empty_database() as url:
        stage.run_module("label_chores", "make", str(n_summaries), "4", "7", database_url=url)
        return stage.rounds(lambda: stage.run_module("label_chores", "agreement", database_url=url))


@case("label_export")
def label_export(stage: Stage) -> Iterator[Measurement]:
    """The labels of a study as CSV, from the request to the last byte."""
    few, many = _export(stage, 357), _export(stage, MANY)
    yield Measurement("10,000 labels", few["seconds"], "s", most(0.8))
    yield Measurement("labels", many["rows"] / many["seconds"], "/s")
    yield Measurement("memory, 100,000 labels", many["mib"], "MiB", times_floor(1.5), few["mib"], "10,000 labels")


def _export(stage: Stage, n_summaries: int) -> dict[str, float]:
    stage.say(f"labels of {n_summaries:,} summaries")
    with stage.empty_database() as url:
        stage.run_module("label_chores", "make", str(n_summaries), "4", "0", database_url=url)
        return stage.rounds(lambda: stage.run_module("label_chores", "export", database_url=url))


@case("judge_table")
def judge_table(stage: Stage) -> Iterator[Measurement]:
    """The judge table (Table 1) without intervals, labels and verdicts in memory."""
    published = Path(os.environ.get("SUMMHAY_DATA", "-")) / PUBLISHED
    if not published.exists():
        print(f"without SUMMHAY_DATA: {N_SUMMARIES} summaries made up", file=sys.stderr)

    def one_round() -> dict[str, float]:
        path = str(published.resolve()) if published.exists() else ""
        with stage.empty_database() as url:
            found: dict[str, float] = stage.run_module("label_chores", "table1", path, database_url=url)
        return found

    found = stage.rounds(one_round)
    yield Measurement(
        f"{found['judges']:.0f} judges, {found['insights']:,.0f} insights", found["ms"], "ms", most(24)
    )
