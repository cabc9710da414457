"""Work on many labels in a process of its own: `python -m bench.label_chores NAME ARGUMENT…`."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import django


def make(n_summaries: str, n_people: str, n_judges: str) -> dict[str, float]:
    """Fill an empty database; gives how many labels there are."""
    from annotation.models import CoverageLabel
    from bench.label_world import make

    _migrate()
    make(n_summaries=int(n_summaries), n_people=int(n_people), n_judges=int(n_judges), now=_now())
    return {"labels": CoverageLabel.objects.count()}


def agreement() -> dict[str, float]:
    """The agreement page of the largest study: warm, but with nothing of it remembered."""
    from django.core.cache import cache
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    study, client = _study(), researcher()
    address = reverse("annotation:study-agreement", args=[study.uid])
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


def export() -> dict[str, float]:
    """The download of all labels as CSV, from request to last byte, and the most memory that it took (MiB)."""
    import tracemalloc

    from django.urls import reverse

    study, client = _study(), researcher()
    address = reverse("annotation:study-labels", args=[study.uid, "csv"])

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


def table1(path: str) -> dict[str, float]:
    """Point figures of every judge beside the people, once labels and verdicts are loaded; milliseconds."""
    from annotation.figures.collect import coverage_table
    from annotation.figures.judges import judge_report
    from annotation.models import CoverageLabel
    from bench.label_world import make

    _migrate()
    if path:
        from django.core.management import call_command

        call_command("import_dataset", "summhay-eval-benchmark", path, stdout=io.StringIO(), stderr=io.StringIO())
    else:
        make(n_summaries=200, n_people=1, n_judges=6, now=_now())
    table = coverage_table(CoverageLabel.objects.all())
    report = judge_report(table, resampling=None, with_differences=False)
    times = []
    for _ in range(25):
        began = time.perf_counter()
        judge_report(table, resampling=None, with_differences=False)
        times.append((time.perf_counter() - began) * 1000)
    return {"ms": sorted(times)[len(times) // 2], "judges": len(report.rows), "insights": len(table.codes)}


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)


def _now() -> datetime:
    from django.utils import timezone

    return timezone.now()


def _study() -> Any:
    from annotation.models import Study

    return Study.objects.get(name="Many labels")


def researcher() -> Any:
    """A client in which somebody is logged in who sees everything."""
    from django.test import Client

    from summhay_site import accounts
    from summhay_site.models import User

    user = User.objects.filter(username="measurer").first()
    if user is None:
        row = accounts.NewAccount(username="measurer", name="Measurer")
        [user] = accounts.create_accounts(actor=None, rows=[row], role="admin", now=_now())
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user, backend="summhay_site.authentication.AccountBackend")
    return client


CHORES: dict[str, Callable[..., dict[str, float]]] = {
    "make": make,
    "agreement": agreement,
    "export": export,
    "table1": table1,
}

if __name__ == "__main__":
    django.setup()
    print(json.dumps(CHORES[sys.argv[1]](*sys.argv[2:])))
