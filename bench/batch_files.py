"""Batch files of many requests: how fast they are written and read, and in how much memory."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import Measurement, Target, case
from bench.stage import Stage

FEW, MANY = 715, 7_143
"""Summaries of 7 insights each: 5,005 and 50,001 requests."""
ADDRESS = "http://127.0.0.1:9/v1"
FLAT = Target(1.2, of="ratio")


@case("batch_files")
def batch_files(stage: Stage) -> Iterator[Measurement]:
    """50,001 requests of a run written to files, their replies read back; memory beside that of a tenth."""
    few, many = _round(stage, FEW), _round(stage, MANY)
    for name, about in (("write", "writing"), ("read", "reading")):
        yield Measurement(f"{about}", many[name]["requests"] / many[name]["seconds"], "/s")
        yield Measurement(
            f"most memory of the process while {about}",
            many[name]["mib"],
            "MiB",
            FLAT,
            few[name]["mib"],
            f"{few[name]['requests']:,.0f} requests",
        )


def _round(stage: Stage, n_summaries: int) -> dict[str, dict[str, float]]:
    """Each step in a process of its own, whose memory is its peak."""
    folder = stage.folder / f"batch-{n_summaries}"
    with stage.empty_database() as url:

        def step(name: str, *arguments: str) -> dict[str, float]:
            environment = {"OPENAI_BASE_URLS": ADDRESS}
            found: dict[str, float] = stage.run_module(
                "batch_chore", name, *arguments, database_url=url, environment=environment
            )
            return found

        step("make", ADDRESS, str(n_summaries))
        return {
            "write": step("write", str(folder)),
            "reply": step("reply", str(folder)),
            "read": step("read", str(folder)),
        }
