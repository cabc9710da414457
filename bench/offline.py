"""Work without a server: taking a haystack in, and the offline judge."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import corpus
from bench.cases import Measurement, case, least, most
from bench.stage import Stage

PUBLISHED = "summhay/topic_news1.json"


@case("import")
def import_haystack(stage: Stage) -> Iterator[Measurement]:
    """A haystack of 100 documents, 702 summaries and 5,070 verdicts, by command into an empty database."""
    path = haystack_file(stage)

    def one_round() -> dict[str, float]:
        with stage.empty_database() as url:
            found: dict[str, float] = stage.run_module("chores", "import", str(path), database_url=url)
        return found

    found = stage.rounds(one_round)
    yield Measurement(
        "the command as a whole", found["seconds"], "s", most(3), found["read_s"], "reading and parsing the file"
    )
    yield Measurement("rows", found["rows"] / found["seconds"], "/s")


@case("judge")
def judge(stage: Stage) -> Iterator[Measurement]:
    """The offline judge on all summaries of that haystack, on one core, verdicts stored."""
    path = haystack_file(stage)
    cpus = sorted(os.sched_getaffinity(0))[:1]

    def one_round() -> dict[str, float]:
        with stage.empty_database() as url:
            found: dict[str, float] = stage.run_module("chores", "judge", str(path), cpus=cpus, database_url=url)
        return found

    found = stage.rounds(one_round)
    yield Measurement(
        "verdicts",
        found["verdicts"] / found["seconds"],
        "/s",
        least(2000),
        found["verdicts"] / found["split_s"],
        "splitting the same bullets into words",
    )


def haystack_file(stage: Stage) -> Path:
    """The published file if SUMMHAY_DATA names its folder, else one of our own of the same size."""
    published = Path(os.environ.get("SUMMHAY_DATA", "-")) / PUBLISHED
    if published.exists():
        return published.resolve()
    made = stage.folder / "bench.json"
    if not made.exists():
        made.write_text(json.dumps(corpus.topic()))
    print(f"without SUMMHAY_DATA: {made.name} made up, {made.stat().st_size:,} bytes", file=sys.stderr)
    return made
