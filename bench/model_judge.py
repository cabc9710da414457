"""A judge behind a server that takes its time: what asking many questions at a time gains."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.cases import Measurement, case, least
from bench.stage import ROOT, Stage

DELAY_S = 0.2
AT_A_TIME = 32


@case("model_judge")
def model_judge(stage: Stage) -> Iterator[Measurement]:
    """A model behind a server on this machine that answers in 200 ms, 32 requests at a time, verdicts stored."""

    def one_round() -> dict[str, float]:
        with serving(stage) as address, stage.empty_database() as url:
            found: dict[str, float] = stage.run_module(
                "model_chore",
                address,
                str(AT_A_TIME),
                database_url=url,
                environment={"OPENAI_BASE_URLS": address},
            )
        return found

    found = stage.rounds(one_round)
    yield Measurement(f"{found['verdicts']:,.0f} verdicts", found["seconds"], "s")
    yield Measurement(
        "verdicts", 1 / found["at_once"], "/s", None, AT_A_TIME / DELAY_S, "if nothing but waiting took time"
    )
    yield Measurement("times as fast as one after another", found["one_by_one"] / found["at_once"], "×", least(20))


@contextmanager
def serving(stage: Stage) -> Iterator[str]:
    """The address of a running model server."""
    command = [sys.executable, "-m", "bench.model_server", str(DELAY_S)]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, env=stage.environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()
