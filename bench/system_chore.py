"""Retrievers or a summarizer on an empty database: `python -m bench.system_chore NAME ARGUMENT…`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import django

from bench import corpus

N_SUBTOPICS = 10
N_SUMMARIES, N_ONE_BY_ONE = 320, 12


def retrieve(*names: str) -> dict[str, float]:
    """Seconds of each retriever, its libraries loaded, and of splitting the documents into words."""
    from django.utils import timezone

    from benchmarks.engine import retrieving
    from benchmarks.models import RetrieverRanking
    from benchmarks.retrieval.registry import make

    first, measured = (_haystack(key, n_subtopics=n) for key, n in (("first", 1), ("measured", N_SUBTOPICS)))
    found = {}
    began = time.perf_counter()
    for text in measured.documents.values_list("text", flat=True):
        text.lower().split()
    found["split"] = time.perf_counter() - began
    for name in names:
        for haystack in (first, measured):
            began = time.perf_counter()
            now = timezone.now()
            row = retrieving.request(haystack=haystack, retriever=make(name, {}), now=now, wake=False)
            retrieving.advance(uid=row.uid, clock=timezone.now)
            found[name] = time.perf_counter() - began
    if RetrieverRanking.objects.filter(subtopic__haystack=measured).count() != N_SUBTOPICS * len(names):
        raise SystemExit("not every subtopic has scores")
    return found


def summarize(address: str, concurrency: str) -> dict[str, float]:
    """Seconds for a summary one after another, and with so many requests at a time."""
    haystack = _haystack("measured", n_subtopics=N_SUMMARIES, n_documents=5)
    _written("warm", address, haystack, n=2, concurrency=int(concurrency))
    alone_s = _written("alone", address, haystack, n=N_ONE_BY_ONE, concurrency=1)
    crowd_s = _written("crowd", address, haystack, n=N_SUMMARIES, concurrency=int(concurrency))
    return {
        "one_by_one": alone_s / N_ONE_BY_ONE,
        "at_once": crowd_s / N_SUMMARIES,
        "summaries": N_SUMMARIES,
        "seconds": crowd_s,
    }


def _written(name: str, address: str, haystack: Any, *, n: int, concurrency: int) -> float:
    """Seconds of a summarizer of its own, that shares no answers."""
    from django.utils import timezone

    from benchmarks.engine import judging, summarizing
    from benchmarks.summarizers.config import SummarizerConfig

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


def _haystack(key: str, *, n_subtopics: int, n_documents: int = corpus.N_DOCUMENTS) -> Any:
    """Documents of the made-up haystack, and a query from a sentence for each subtopic."""
    from django.utils import timezone

    from benchmarks.models import Document, Haystack, Subtopic

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


CHORES: dict[str, Callable[..., dict[str, float]]] = {"retrieve": retrieve, "summarize": summarize}

if __name__ == "__main__":
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    print(json.dumps(CHORES[sys.argv[1]](*sys.argv[2:])))
