"""Break a site on purpose while people work, and check that nothing is missing."""

from __future__ import annotations

import os
import platform
import secrets
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

from bench.chaos.running import Numbers, Outcome, run
from bench.site import Site, ending_in_order


def report(outcome: Outcome, seed: int) -> str:
    """Report what was done, what was acknowledged, and what is wrong."""
    logs, stored = outcome.logs, outcome.stored
    acts = sum(act.has_changed for log in logs for act in log.acts)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return "\n".join(
        [
            f"seed {seed}, {outcome.vendor}, {machine}",
            f"faults: {outcome.faults.total()}",
            *(f"  {n:5}  {kind}" for kind, n in outcome.faults.most_common()),
            f"sent again: {sum(log.n_retries for log in logs)} requests",
            f"acknowledged: {sum(len(log.saves) for log in logs)} saves in {len(stored.sessions)} sessions, "
            f"{acts} labels and undos, {sum(len(log.decisions) for log in logs)} decisions",
            f"verdicts of models: {len(stored.verdicts)}",
            f"lost: {sum(line.startswith(('lost', 'kept')) for line in outcome.problems)}",
            f"problems: {len(outcome.problems)}",
            *(f"  {line}" for line in outcome.problems[:50]),
        ]
    )


def main() -> int:
    parser = ArgumentParser(prog="python -m bench.chaos", description=__doc__)
    url = "a PostgreSQL server on which databases may be made and dropped; SQLite without it"
    empty = "a SQLite file with all tables and no data, which is copied; made where it is not given"
    drawn = secrets.randbelow(1_000_000)
    parser.add_argument("--faults", type=int, default=60, metavar="N", help="how many; 60")
    parser.add_argument("--seed", type=int, default=drawn, metavar="N", help="a new one if not given")
    parser.add_argument("--database-url", default="", metavar="URL", help=url)
    parser.add_argument("--empty", type=Path, metavar="FILE", help=empty)
    options = parser.parse_args()
    site = Site(database_url=options.database_url, say=lambda line: print(line, file=sys.stderr, flush=True))
    site.say(f"seed {options.seed}, in {site.folder}")
    began, keep = time.monotonic(), False
    try:
        outcome = run(site, Numbers(options.seed, options.faults), empty=options.empty)
        print(f"{report(outcome, options.seed)}\n{time.monotonic() - began:.0f} s", flush=True)
        keep = bool(outcome.problems)
        return 1 if keep else 0
    finally:
        site.close(keep_folder=keep)  # its logs say what happened


if __name__ == "__main__":
    with ending_in_order():
        sys.exit(main())
