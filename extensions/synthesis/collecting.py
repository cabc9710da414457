"""Documents of questions: searched for or uploaded, without duplicates, the best for the question kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db.models.functions import Now

from benchmarks.engine import versions
from benchmarks.engine.retrieving import KeptAnswers
from benchmarks.engine.task import Origin, Store
from benchmarks.models import Judge
from benchmarks.retrieval.base import Corpus, Memory, Query, Retriever
from benchmarks.retrieval.bm25 import BM25
from benchmarks.retrieval.rerank import Rerank
from extensions.synthesis.checks.texts import near_duplicates
from extensions.synthesis.models import PartKind, SynthesisPart, SynthesisReply
from extensions.synthesis.question_settings import QuestionSettings
from extensions.synthesis.searching import Results, SearchFailed, SearchHit, check_search, search
from extensions.synthesis.settings import Settings

MOST_RANKED = 100
"""Documents that are looked at for a question, by a rerank model too: of more, those that BM25 puts first."""
AT_A_TIME = 8
"""Searches of a worker side by side."""


@dataclass(frozen=True)
class Candidate:
    """A document that may be kept, and where it is stored: which result of which reply, or which upload."""

    hit: SearchHit
    place: Mapping[str, int]


@dataclass(frozen=True)
class _Search:
    """One search: on which part, at which address, for what."""

    part: SynthesisPart
    address: str
    query: str
    n: int
    language: str

    @property
    def key(self) -> str:
        """What its reply is stored under."""
        content = f"{self.address}\n{self.query}\n{self.n}\n{self.language}"
        return f"search-{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:16]}"


def save_search(*, addresses: Sequence[str], by: Any, now: datetime) -> Judge:
    """What searches at these addresses, or ranks uploads where there are none.

    Raises:
        ValueError: the settings do not list an address.
        NotYours: never where the addresses are the same, as they are its name.
    """
    chosen = sorted({check_search(address) for address in addresses})
    name = ", ".join(urlsplit(address).netloc for address in chosen) or "uploads"
    digest = hashlib.sha256("\n".join(chosen).encode()).hexdigest()[:8]
    return versions.ensure_judge(
        name=f"{name[:100]} ({digest})" if chosen else name,
        kind=Judge.Kind.SEARCH,
        config={"addresses": chosen},
        now=now,
        role=Judge.Role.GENERATOR,
        by=by,
    )


def collected_for(part: SynthesisPart) -> str:
    """What a query's documents depend on: they are collected where its data says the same."""
    return hashlib.sha256(part.text.encode("utf-8", "replace")).hexdigest()[:16]


def is_collected(part: SynthesisPart) -> bool:
    """Whether the documents of a query's text of today are chosen."""
    return bool(part.data.get("collected_for") == collected_for(part))


def n_searches(judge: Judge, parts: Iterable[SynthesisPart]) -> int:
    """How many searches these queries take."""
    return len(judge.config["addresses"]) * sum(len(part.text.splitlines()) for part in parts)


def collect(*, judge: Judge, parts: Sequence[SynthesisPart], keep: Callable[[], None]) -> Store:
    """Search for some queries and choose their documents; replies are stored as they come, each once.

    After each of them it calls `keep`.

    Raises:
        SearchFailed, RetrievalFailed: a server did not answer; what others answered is kept.
    """
    chosen = [part.pk for part in parts]
    rows = list(SynthesisPart.objects.filter(pk__in=chosen).select_related("synthesis", "parent").order_by("pk"))
    _search_all(judge, rows, keep)
    uploads = _uploads({row.synthesis_id for row in rows})
    kept = [(row, *_chosen(row, [*_results(row), *uploads.get(row.synthesis_id, ())])) for row in rows]

    def store(origin: Origin) -> None:
        for row, data, text in kept:
            held = SynthesisPart.objects.select_for_update().get(pk=row.pk)
            if held.text == text:
                held.data = {**held.data, **data}
                held.save(update_fields=["data"])

    return store


def _search_all(judge: Judge, parts: Sequence[SynthesisPart], keep: Callable[[], None]) -> None:
    """Send what was not answered before; raises the first failure after all others are stored."""
    wanted = {(query.part.pk, query.key): query for part in parts for query in _searches(judge, part)}
    known = set(SynthesisReply.objects.filter(part__in=parts, prompt="search").values_list("part", "ask"))
    missing = [query for place, query in wanted.items() if place not in known]
    failures: list[SearchFailed] = []
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for query, results in zip(missing, pool.map(_sent, missing), strict=True):
            if isinstance(results, SearchFailed):
                failures.append(results)
            else:
                _keep(judge, query, results)
            keep()
    if failures:
        raise failures[0]


def _searches(judge: Judge, part: SynthesisPart) -> Iterator[_Search]:
    numbers = Settings.from_mapping(part.synthesis.settings).questions
    for address in judge.config["addresses"]:
        for query in part.text.splitlines():
            if query.strip():
                yield _Search(part, address, query.strip(), numbers.results, numbers.language)


def _sent(query: _Search) -> Results | SearchFailed:
    try:
        return search(query.address, query.query, n=query.n, language=query.language)
    except SearchFailed as failure:
        return failure


def _keep(judge: Judge, query: _Search, results: Results) -> None:
    request = {"query": query.query, "n": query.n, "language": query.language}
    SynthesisReply.objects.get_or_create(
        part=query.part,
        ask=query.key,
        defaults={
            "prompt": "search",
            "request": f"{query.address}\n{json.dumps(request, ensure_ascii=False)}",
            "value": {
                "results": [hit.as_json() for hit in results.hits],
                "left_out": results.n_left_out,
            },
            "judge": judge,
            "created_at": Now(),
        },
    )


def _results(part: SynthesisPart) -> list[Candidate]:
    """What searches brought for a query, in the order in which its lines were asked."""
    rows = SynthesisReply.objects.filter(part=part, prompt="search").order_by("pk")
    return [
        Candidate(SearchHit(**result), {"reply": pk, "at": at})
        for pk, value in rows.values_list("pk", "value")
        for at, result in enumerate(value["results"])
    ]


def _uploads(syntheses: Iterable[int]) -> dict[int, list[Candidate]]:
    uploads: dict[int, list[Candidate]] = {}
    rows = SynthesisPart.objects.filter(synthesis__in=syntheses, kind=PartKind.UPLOAD).order_by("number")
    for row in rows:
        uploads.setdefault(row.synthesis_id, []).append(
            Candidate(SearchHit(row.title, row.text), {"upload": row.pk})
        )
    return uploads


def _chosen(part: SynthesisPart, candidates: Sequence[Candidate]) -> tuple[dict[str, Any], str]:
    """What is written on a query, and the text that it is about."""
    numbers = Settings.from_mapping(part.synthesis.settings).questions
    question = part.parent.text if part.parent else part.text
    kept, n_duplicates = best(question, candidates, numbers, KeptAnswers())
    data = {
        "documents": [{**candidate.place, "score": score} for candidate, score in kept],
        "n_found": len(candidates),
        "n_duplicates": n_duplicates,
        "collected_for": collected_for(part),
    }
    return data, part.text


def best(
    question: str, candidates: Sequence[Candidate], numbers: QuestionSettings, memory: Memory
) -> tuple[list[tuple[Candidate, float]], int]:
    """The documents that fit a question best with their scores, and how many duplicates were left out.

    Raises:
        RetrievalFailed: the rerank model gives no scores.
    """
    language = numbers.language
    ranked = _ranked(question, candidates, BM25(), memory, language)[:MOST_RANKED]
    unlike = distinct([candidate for candidate, _score in ranked])
    n_duplicates = len(ranked) - len(unlike)
    if numbers.rerank_url:
        rerank = Rerank(base_url=numbers.rerank_url, model=numbers.rerank_model)
        ranked = _ranked(question, unlike, rerank, memory, language)
    else:
        ranked = [pair for pair in ranked if pair[0] in unlike]
    return ranked[: numbers.documents], n_duplicates


def _ranked(
    question: str, candidates: Sequence[Candidate], retriever: Retriever, memory: Memory, language: str
) -> list[tuple[Candidate, float]]:
    """The best first; of equal ones that which was found first."""
    if not candidates:
        return []
    texts = {number: candidate.hit.text for number, candidate in enumerate(candidates, 1)}
    corpus = Corpus(texts, [Query("question", question)], language)
    scores = next(iter(retriever.scores(corpus, memory)))
    return sorted(zip(candidates, scores, strict=True), key=lambda pair: -pair[1])


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without later ones of the same address, with the same words, or that share half of their runs of words."""
    known: set[str] = set()
    unlike: list[Candidate] = []
    for candidate in candidates:
        marks = {" ".join(candidate.hit.text.casefold().split()), candidate.hit.url} - {""}
        if not marks & known:
            unlike.append(candidate)
        known |= marks
    repeated = {pair.second for pair in near_duplicates([candidate.hit.text for candidate in unlike])}
    return [candidate for at, candidate in enumerate(unlike) if at not in repeated]
