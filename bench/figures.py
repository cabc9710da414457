"""Figures of people and judges, and the download of labels; each on a database of its own."""

from __future__ import annotations

import io
import os
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.figures.collect import coverage_table
from annotation.figures.judges import judge_report
from annotation.models import CoverageLabel, Study
from bench import label_world
from bench.cases import Measurement, case, most, times_floor
from bench.stage import Stage
from summhay_site.accounts import accounts
from summhay_site.models import User

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
    with stage.fresh_database() as database:
        stage.elsewhere(make, n_summaries, 4, 7, environment=database)
        return stage.rounds(lambda: stage.elsewhere(time_agreement, environment=database))


def make(n_summaries: int, n_people: int, n_judges: int) -> None:
    """Labels and verdicts on so many summaries."""
    label_world.make(n_summaries=n_summaries, n_people=n_people, n_judges=n_judges, now=timezone.now())


def time_agreement() -> dict[str, float]:
    """The agreement page of the study: warm, but with nothing of it remembered."""
    client = researcher()
    address = reverse("annotation:study-agreement", args=[_study().uid])
    client.get(address)
    cache.clear()
    began = time.perf_counter()
    response = client.get(address)
    seconds = time.perf_counter() - began
    if response.status_code != 200 or b"Pearson" not in response.content:
        raise SystemExit(f"the page was not shown: {response.status_code}")
    began = time.perf_counter()
    client.get(address)
    again = time.perf_counter() - began
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return {"seconds": seconds, "again": again, "queries": len(queries)}


@case("label_export")
def label_export(stage: Stage) -> Iterator[Measurement]:
    """The labels of a study as CSV, from the request to the last byte."""
    few, many = _export(stage, 357), _export(stage, MANY)
    yield Measurement("10,000 labels", few["seconds"], "s", most(0.8))
    yield Measurement("labels", many["rows"] / many["seconds"], "/s")
    yield Measurement("memory, 100,000 labels", many["mib"], "MiB", times_floor(1.5), few["mib"], "10,000 labels")


def _export(stage: Stage, n_summaries: int) -> dict[str, float]:
    stage.say(f"labels of {n_summaries:,} summaries")
    with stage.fresh_database() as database:
        stage.elsewhere(make, n_summaries, 4, 0, environment=database)
        return stage.rounds(lambda: stage.elsewhere(time_export, environment=database))


def time_export() -> dict[str, float]:
    """The download of all labels as CSV, from request to last byte, and the most memory that it took (MiB)."""
    client = researcher()
    address = reverse("annotation:study-labels", args=[_study().uid, "csv"])

    def download() -> int:
        response: Any = client.get(address)
        if response.status_code != 200:
            raise SystemExit(f"nothing to download: {response.status_code}")
        n_lines: int = sum(piece.count(b"\n") for piece in response.streaming_content)
        return n_lines - 1

    download()
    began = time.perf_counter()
    n_rows = download()
    seconds = time.perf_counter() - began
    tracemalloc.start()
    download()
    peak = tracemalloc.get_traced_memory()[1]
    return {"seconds": seconds, "rows": n_rows, "mib": peak / 2**20}


@case("judge_table")
def judge_table(stage: Stage) -> Iterator[Measurement]:
    """The judge table (Table 1) without intervals, labels and verdicts in memory."""
    published = Path(os.environ.get("SUMMHAY_DATA", "-")) / PUBLISHED
    if not published.exists():
        print(f"without SUMMHAY_DATA: {N_SUMMARIES} summaries made up", file=sys.stderr)
    path = str(published.resolve()) if published.exists() else ""
    found = stage.rounds(lambda: stage.alone(time_table, path))
    yield Measurement(
        f"{found['judges']:.0f} judges, {found['insights']:,.0f} insights", found["ms"], "ms", most(24)
    )


def time_table(path: str) -> dict[str, float]:
    """Point figures of every judge beside the people, once labels and verdicts are loaded; milliseconds."""
    if path:
        call_command("import_dataset", "summhay-eval-benchmark", path, stdout=io.StringIO(), stderr=io.StringIO())
    else:
        make(N_SUMMARIES, 1, 6)
    table = coverage_table(CoverageLabel.objects.all())
    report = judge_report(table, resampling=None, with_differences=False)
    times = []
    for _ in range(25):
        began = time.perf_counter()
        judge_report(table, resampling=None, with_differences=False)
        times.append((time.perf_counter() - began) * 1000)
    return {"ms": median(times), "judges": len(report.rows), "insights": len(table.codes)}


def _study() -> Study:
    return Study.objects.get(name=label_world.NAME)


def researcher() -> Client:
    """A client in which somebody is logged in who sees everything."""
    user = User.objects.filter(username="measurer").first()
    if user is None:
        row = accounts.NewAccount(username="measurer", name="Measurer")
        [user] = accounts.create_accounts(actor=None, rows=[row], role="admin", now=timezone.now())
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user, backend="summhay_site.authentication.AccountBackend")
    return client
