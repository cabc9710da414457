"""The server as a process: how soon it answers, and how much memory it takes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import Measurement, case, most
from bench.pages import page_clients
from bench.saving import save_clients
from bench.stage import BARE, PRODUCTION, Server, Stage

WARM_UP = 20


@case("server_start")
def server_start(stage: Stage) -> Iterator[Measurement]:
    """From the start of the program to the first 200 on /health/."""
    _ = stage.server  # the database and the static files are there

    def one_round() -> dict[str, float]:
        with stage.another_server(PRODUCTION) as ours, stage.another_server(BARE) as bare:
            return {"ours": ours.started_s, "bare": bare.started_s}

    found = stage.rounds(one_round)
    yield Measurement("until the first answer", found["ours"], "s", most(1.0), found["bare"], "gunicorn alone")


@case("server_memory")
def server_memory(stage: Stage) -> Iterator[Measurement]:
    """Memory of master and workers after some pages, what they share counted once (PSS)."""
    with stage.another_server(PRODUCTION) as ours:
        _use(stage, ours)
        value = ours.pss_mib()
    with stage.another_server(BARE) as bare:
        floor = bare.pss_mib()
    yield Measurement("master and workers", value, "MiB", most(150), floor, "gunicorn alone")


def _use(stage: Stage, server: Server) -> None:
    """Let every worker show its pages and take drafts."""
    writers = stage.scene["few"]
    clients = page_clients(writers, count=WARM_UP) + page_clients(stage.scene["all"], count=WARM_UP)
    stage.load(clients, server=server)
    stage.load(save_clients(writers, count=WARM_UP), server=server)
