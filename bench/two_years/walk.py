"""Every kind of page that each role reaches in the load of two years: `python -m bench.two_years.walk`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import django

from bench.client import REDIRECT
from bench.driver import percentile

ROLES = ("", "admin0", "researcher0", "annotator0")


def pss_mib(pid: str = "self") -> float:
    """Memory of a process, with its part of what is shared."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> None:
    """Print what is over the budget as it comes, then the whole."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
    django.setup()
    from bench.cases.pages import MOST_MS, MOST_QUERIES, walk

    def say(row: dict[str, Any]) -> None:
        if row["status"] > REDIRECT or row["cpu_ms"] > MOST_MS or row["queries"] > MOST_QUERIES:
            about = "{cpu_ms:6.0f} ms of processor, {ms:6.0f} in all, {queries:3d} queries {status} {path}"
            print(about.format(**row), flush=True)

    pages = walk(sys.argv[1:] or ROLES, say)["pages"]
    whole = {
        f"{name}_p{share}": round(percentile([row[name] for row in pages], share / 100))
        for name in ("cpu_ms", "ms", "queries")
        for share in (50, 95, 100)
    }
    print(json.dumps({"pages": len(pages), **whole, "pss_mib": round(pss_mib())}))


if __name__ == "__main__":
    main()
