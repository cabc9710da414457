"""What systems take: retrievers on this machine, and summaries of a model behind a server that takes its time."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import Measurement, case, least, most
from bench.model_judge import AT_A_TIME, DELAY_S, serving
from bench.stage import Stage

RETRIEVERS = ("tfidf", "bm25", "keywords")


@case("retrieval")
def retrieval(stage: Stage) -> Iterator[Measurement]:
    """100 documents of 800 words scored for 10 queries, from the request to the stored scores."""

    def one_round() -> dict[str, float]:
        with stage.empty_database() as url:
            found: dict[str, float] = stage.run_module("system_chore", "retrieve", *RETRIEVERS, database_url=url)
        return found

    found = stage.rounds(one_round)
    for name in RETRIEVERS:
        split = "splitting the same documents into words"
        yield Measurement(name, found[name], "s", most(1), found["split"], split)


@case("summarize")
def summarize(stage: Stage) -> Iterator[Measurement]:
    """Summaries of 320 subtopics by a model behind a server that answers in 200 ms, 32 requests at a time."""

    def one_round() -> dict[str, float]:
        with serving(stage) as address, stage.empty_database() as url:
            found: dict[str, float] = stage.run_module(
                *("system_chore", "summarize", address, str(AT_A_TIME)),
                database_url=url,
                environment={"OPENAI_BASE_URLS": address},
            )
        return found

    found = stage.rounds(one_round)
    yield Measurement(f"{found['summaries']:,.0f} summaries", found["seconds"], "s")
    waiting = "if nothing but waiting took time"
    yield Measurement("summaries", 1 / found["at_once"], "/s", None, AT_A_TIME / DELAY_S, waiting)
    yield Measurement("times as fast as one after another", found["one_by_one"] / found["at_once"], "×", least(20))
