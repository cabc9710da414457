"""The position of content, without a server."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import Measurement, case, most
from bench.offline import haystack_file
from bench.stage import Stage


@case("positions")
def positions(stage: Stage) -> Iterator[Measurement]:
    """Where 3,276 summaries over 500 documents take their content from, found by a worker; the page of them."""
    stage.static_files()
    with stage.empty_database() as url:
        found: dict[str, float] = stage.run_module("position_chore", str(haystack_file(stage)), database_url=url)
    yield Measurement(f"{found['placed']:,.0f} of {found['texts']:,.0f} texts", found["seconds"], "s", most(60))
    yield Measurement("seeing that nothing is missing", found["again_s"], "s", most(1))
    yield Measurement("page", found["page_s"], "s", most(10), found["page_again_s"], "remembered")
    yield Measurement("queries of the page", found["queries"], "")
