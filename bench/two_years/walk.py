"""Every kind of page that each role reaches in the load of two years: `python -m bench.two_years.walk`."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from bench.cases.pages import MOST_MS, MOST_QUERIES, walk
from bench.client import OK, REDIRECT
from bench.driver import percentile
from bench.processes import ROOT
from summhay_site import gunicorn

ROLES = ("", "admin0", "researcher0", "annotator0")
TOLD = ("cpu_ms", "ms", "queries")
N_WORST = 10


def pss_mib(pid: str = "self") -> float:
    """Memory of a process, with its part of what is shared."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def summed_up(walked: list[dict[str, Any]]) -> dict[str, Any]:
    """p50, p95 and the most of processor time, time and queries of all pages, and the worst pages of each."""
    pages = [row for row in walked if row["status"] == OK]
    whole = {
        f"{name}_p{share}": round(percentile([row[name] for row in pages], share / 100))
        for name in TOLD
        for share in (50, 95, 100)
    }
    worst = {
        name: [f"{row[name]:.0f} {row['path']}" for row in sorted(pages, key=lambda row: -row[name])[:N_WORST]]
        for name in TOLD
    }
    errors = [f"{row['status']} {row['path']}" for row in walked if row["status"] > REDIRECT]
    return {"pages": len(pages), **whole, "errors": errors, "worst": worst}


def main() -> None:
    """Print what is over the budget as it comes, then the whole."""
    parser = ArgumentParser(prog="python -m bench.two_years.walk", description=__doc__)
    parser.add_argument("roles", nargs="*", default=ROLES, metavar="USER", help="who walks; all roles")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the whole and every page are written")
    options = parser.parse_args()

    # by itself: compressing files leaves memory behind that no web process has
    subprocess.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"], cwd=ROOT, check=True)
    gunicorn.preload()

    def say(row: dict[str, Any]) -> None:
        if row["status"] > REDIRECT or row["cpu_ms"] > MOST_MS or row["queries"] > MOST_QUERIES:
            about = "{cpu_ms:6.0f} ms of processor, {ms:6.0f} in all, {queries:3d} queries {status} {path}"
            print(about.format(**row), flush=True)

    pages = walk(options.roles, say)["pages"]
    whole = {**summed_up(pages), "pss_mib": round(pss_mib())}
    print(json.dumps({name: value for name, value in whole.items() if name != "worst"}))
    if options.json:
        options.json.write_text(json.dumps({**whole, "rows": pages}, indent=1))


if __name__ == "__main__":
    main()
