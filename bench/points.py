"""Figures and files of verified key points, without a server."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import Measurement, Target, case, most
from bench.stage import Stage


@case("points")
def points(stage: Stage) -> Iterator[Measurement]:
    """Agreement with all subsets of 6 annotators on 8,457 key points, and 101,484 labels as a file."""

    with stage.empty_database() as url:
        found: dict[str, float] = stage.run_module("points_chore", database_url=url)
    yield Measurement("reading 101,484 labels into arrays", found["read_s"], "s")
    yield Measurement(
        f"agreement with {found['subsets']:.0f} subsets, slowest of 3 tasks", found["agreement_s"], "s", most(3)
    )
    yield Measurement("labels as rows", found["labels_s"], "/s")
    yield Measurement(
        "most memory for all labels as CSV",
        found["all_mib"],
        "MiB",
        Target(1.5, of="ratio"),
        found["few_mib"],
        "a tenth of them",
    )
