"""What systems take: retrievers on this machine, and summaries of a model behind a server that takes its time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.utils import timezone

from bench import corpus
from bench.cases import Measurement, case, least, most
from bench.model_judge import AT_A_TIME, DELAY_S, beside_a_server
from bench.stage import Stage
from benchmarks.engine import judging, retrieving, summarizing
from benchmarks.models import Document, Haystack, RetrieverRanking, Subtopic
from benchmarks.retrieval.registry import make
from benchmarks.summarizers.config import SummarizerConfig

RETRIEVERS = ("tfidf", "bm25", "keywords")
N_SUBTOPICS = 10
N_SUMMARIES, N_ONE_BY_ONE = 320, 12


@case("retrieval")
def retrieval(stage: Stage) -> Iterator[Measurement]:
    """100 documents of 800 words scored for 10 queries, from the request to the stored scores."""
    found = stage.rounds(lambda: stage.alone(retrieve))
    for name in RETRIEVERS:
        split = "splitting the same documents into words"
        yield Measurement(name, found[name], "s", most(1), found["split"], split)


def retrieve() -> dict[str, float]:
    """Seconds of each retriever, its libraries loaded, and of splitting the documents into words."""
    first, measured = (_haystack(key, n_subtopics=n) for key, n in (("first", 1), ("measured", N_SUBTOPICS)))
    found = {}
    began = time.perf_counter()
    for text in measured.documents.values_list("text", flat=True):
        text.lower().split()
    found["split"] = time.perf_counter() - began
    for name in RETRIEVERS:
        for haystack in (first, measured):
            began = time.perf_counter()
            now = timezone.now()
            row = retrieving.request(haystack=haystack, retriever=make(name, {}), now=now, wake=False)
            retrieving.advance(uid=row.uid, clock=timezone.now)
            found[name] = time.perf_counter() - began
    if RetrieverRanking.objects.filter(subtopic__haystack=measured).count() != N_SUBTOPICS * len(RETRIEVERS):
        raise SystemExit("not every subtopic has scores")
    return found


@case("summarize")
def summarize(stage: Stage) -> Iterator[Measurement]:
    """Summaries of 320 subtopics by a model behind a server that answers in 200 ms, 32 requests at a time."""
    found = stage.rounds(lambda: beside_a_server(stage, write))
    yield Measurement(f"{found['summaries']:,.0f} summaries", found["seconds"], "s")
    waiting = "if nothing but waiting took time"
    yield Measurement("summaries", 1 / found["at_once"], "/s", None, AT_A_TIME / DELAY_S, waiting)
    yield Measurement("times as fast as one after another", found["one_by_one"] / found["at_once"], "×", least(20))


def write(address: str) -> dict[str, float]:
    """Seconds for a summary one after another, and with many requests at a time."""
    haystack = _haystack("measured", n_subtopics=N_SUMMARIES, n_documents=5)
    _written("warm", address, haystack, n=2, concurrency=AT_A_TIME)
    alone_s = _written("alone", address, haystack, n=N_ONE_BY_ONE, concurrency=1)
    crowd_s = _written("crowd", address, haystack, n=N_SUMMARIES, concurrency=AT_A_TIME)
    return {
        "one_by_one": alone_s / N_ONE_BY_ONE,
        "at_once": crowd_s / N_SUMMARIES,
        "summaries": N_SUMMARIES,
        "seconds": crowd_s,
    }


def _written(name: str, address: str, haystack: Haystack, *, n: int, concurrency: int) -> float:
    """Seconds of a summarizer of its own, that shares no answers."""
    config = SummarizerConfig.from_mapping({"base_url": address, "model": name})
    now = timezone.now()
    judge = summarizing.save_summarizer(name=name, config=config, note="", by=None, now=now)
    began = time.perf_counter()
    subtopics = list(haystack.subtopics.select_related("haystack").order_by("number")[:n])
    drafts = summarizing.drafted(judge=judge, subjects=subtopics, shown=summarizing.Source(), now=now)
    run = judging.request_run(
        judge=judge,
        task=summarizing.TASK,
        subjects=drafts,
        reason="bench",
        now=now,
        options=judging.ModelOptions(concurrency=concurrency),
    )
    if run is None:
        raise SystemExit("there was nothing to summarize")
    judging.run_pending(run=run, clock=timezone.now)
    seconds = time.perf_counter() - began
    if haystack.summaries.filter(system__summarizer=name).count() != n:
        raise SystemExit("not every summary was written")
    return seconds


def _haystack(key: str, *, n_subtopics: int, n_documents: int = corpus.N_DOCUMENTS) -> Haystack:
    """Documents of the made-up haystack, and a query from a sentence for each subtopic."""
    texts = [one["document_text"] for one in corpus.topic(n_documents=n_documents, n_systems=1)["documents"]]
    haystack = Haystack.objects.create(key=key, title=key, dataset=key, created_at=timezone.now())
    Document.objects.bulk_create(
        Document(haystack=haystack, number=number, key=f"{key}-{number}", text=text, n_words=len(text.split()))
        for number, text in enumerate(texts, 1)
    )
    queries = corpus.sentences()
    Subtopic.objects.bulk_create(
        Subtopic(
            haystack=haystack,
            number=number,
            key=f"{key}-{number}",
            name=f"Part {number}",
            query=f"{number}: {queries[number % len(queries)]}",
        )
        for number in range(1, n_subtopics + 1)
    )
    return haystack
