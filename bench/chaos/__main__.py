"""Break a site on purpose while people work, and check that nothing is missing."""

from __future__ import annotations

import os
import platform
import secrets
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from bench.chaos.running import Numbers, Outcome, run
from bench.processes import ending_in_order
from bench.site import Site


def arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m bench.chaos", description=__doc__)
    parser.add_argument("--faults", type=int, default=60, metavar="N", help="how many faults; 60")
    parser.add_argument(
        "--seed", type=int, default=None, metavar="N", help="what is drawn; a new one if not given"
    )
    parser.add_argument("--writers", type=int, default=12, metavar="N", help="who write at once; 12")
    parser.add_argument(
        "--labellers", type=int, default=5, metavar="N", help="who verify, and as many who link; 5"
    )
    parser.add_argument("--reviewers", type=int, default=2, metavar="N", help="who decide disagreements; 2")
    url = "a PostgreSQL server on which databases may be made and dropped; SQLite without it"
    parser.add_argument("--database-url", default="", metavar="URL", help=url)
    empty = "a SQLite file with all tables and no data, which is copied; made where it is not given"
    parser.add_argument("--empty", default="", metavar="FILE", help=empty)
    parser.add_argument("--keep", action="store_true", help="leave the folder with the logs of all processes")
    return parser.parse_args()


def report(outcome: Outcome, numbers: Numbers) -> str:
    """What was done, what was acknowledged, and what is wrong."""
    logs, stored = outcome.logs, outcome.stored
    acts = sum(act.has_changed for log in logs for act in log.acts)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    lost = [line for line in outcome.problems if line.startswith(("lost", "kept"))]
    return "\n".join(
        [
            f"seed {numbers.seed}, {outcome.vendor}, {machine}, {outcome.seconds:.0f} s",
            f"faults: {outcome.faults.total()}",
            *(f"  {n:5}  {kind}" for kind, n in outcome.faults.most_common()),
            f"sent again: {sum(log.n_retries for log in logs)} requests",
            f"acknowledged: {sum(len(log.saves) for log in logs)} saves in {len(stored.sessions)} sessions, "
            f"{acts} labels and undos, {sum(len(log.decisions) for log in logs)} decisions",
            f"verdicts of models: {len(stored.verdicts)}",
            f"lost: {len(lost)}",
            f"problems: {len(outcome.problems)}",
            *(f"  {line}" for line in outcome.problems[:50]),
        ]
    )


def main() -> int:
    options = arguments()
    seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
    numbers = Numbers(seed, options.faults, options.writers, options.labellers, options.reviewers)
    site = Site(database_url=options.database_url, say=lambda line: print(line, file=sys.stderr, flush=True))
    print(f"seed {seed}, in {site.folder}", file=sys.stderr, flush=True)
    began, keep = time.monotonic(), options.keep
    try:
        outcome = run(site, numbers, empty=Path(options.empty) if options.empty else None)
        outcome.seconds = time.monotonic() - began
        print(report(outcome, numbers), flush=True)
        keep = keep or bool(outcome.problems)
        return 1 if outcome.problems else 0
    finally:
        site.close(keep_folder=keep)


if __name__ == "__main__":
    with ending_in_order():
        sys.exit(main())
