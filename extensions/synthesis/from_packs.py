"""From a pack to an import: the haystack goes the way of any file, with its checks, its job and its report."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from benchmarks.io import jobs
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.schemas.summhay import dump
from benchmarks.models import ImportJob
from extensions.synthesis.packs.reading import named
from extensions.synthesis.packs.schema import Pack
from extensions.synthesis.packs.world import make

FORMAT = "summhay"


@cache
def shelf(name: str) -> Pack:
    """A pack that comes with the program, read once a process: such packs do not change while it runs."""
    return named(name)


def receive(
    *,
    pack: Pack,
    seed: int,
    unlike: int | None,
    dataset: str,
    group: int | None = None,
    actor: Any,
    now: datetime,
) -> ImportJob:
    """Make a haystack and hand it in to be imported, as if somebody had uploaded its file for a research group.

    Raises:
        NoWorld: the pack has none for these seeds.
        UploadRefused: the file cannot be stored.
    """
    world = make(pack, seed=seed, unlike=unlike)
    form = "" if unlike is None else f"-unlike-{unlike}"
    return jobs.receive(
        chunks=dump(world.topic),
        file_name=f"{pack.id}-{seed}{form}.json",
        format_name=FORMAT,
        options={"dataset": dataset, "judge": PUBLISHED_JUDGE, jobs.GROUP: group},
        actor=actor,
        now=now,
    )
