"""Compute what the pages of a walk asked for, as a figure worker does: `python -m bench.two_years.figures`."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone

from bench.two_years.walk import N_WORST, pss_mib
from benchmarks.models import Result
from benchmarks.results import stored
from summhay_site.celery import app


def main() -> None:
    """Print how many figures there are now, which took longest, and the memory of this process."""
    parser = ArgumentParser(prog="python -m bench.two_years.figures", description=__doc__)
    parser.add_argument("--seconds", type=int, default=240, help="after which nothing new is begun")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where this is written")
    options = parser.parse_args()

    app.loader.import_default_modules()  # as a worker does: all kinds of figures are known
    began, rows = time.monotonic(), list[dict[str, Any]]()
    waiting = list(stored.unfinished(timezone.now()).values_list("uid", "name"))
    for uid, name in waiting:
        if time.monotonic() - began > options.seconds:
            break
        at, cpu = time.monotonic(), time.process_time()
        stored.compute(uid=uid, clock=timezone.now)
        rows.append({"name": name, "s": time.monotonic() - at, "cpu_s": time.process_time() - cpu})
    rows.sort(key=lambda row: -row["s"])
    worst = [f"{row['s']:.1f} s ({row['cpu_s']:.1f} of processor) {row['name']}" for row in rows[:N_WORST]]
    done = Result.objects.filter(uid__in=[uid for uid, _name in waiting])
    reasons = done.exclude(reason="").order_by("name").values_list("name", "reason")
    failed = [f"{name}: {reason}" for name, reason in reasons]
    whole = {"asked": len(waiting), "computed": len(rows) - len(failed), "failed": failed}
    whole |= {"pss_mib": round(pss_mib()), "worst": worst}
    print(json.dumps(whole, indent=1))
    if options.json:
        options.json.write_text(json.dumps(whole | {"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
