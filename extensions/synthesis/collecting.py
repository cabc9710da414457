"""Documents of questions: searched for or uploaded, without duplicates, the best for the question kept.

A search server speaks a small JSON protocol over HTTP, with limits of size and time, without redirects:
`POST ADDRESS` with `{"query", "n", "language"}` gives `{"results": [{"url", "title", "text" or "html"}, …]}`, the
best first. Addresses are on the list of the settings, the key is in the environment.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from http.client import HTTPException
from itertools import count
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from django.conf import settings as site
from django.db.models.functions import Now
from pydantic import BaseModel, ConfigDict, ValidationError

from benchmarks.engine import versions
from benchmarks.engine.retrieving import KeptAnswers
from benchmarks.engine.task import Origin, Store
from benchmarks.judges.parsing import clean_text
from benchmarks.models import Judge
from benchmarks.retrieval.base import Corpus, Memory, Query, Retriever
from benchmarks.retrieval.lexical import BM25
from benchmarks.retrieval.servers import Rerank
from extensions.synthesis.checks import near_duplicates
from extensions.synthesis.models import PartKind, SynthesisPart, SynthesisReply
from extensions.synthesis.programs import digest
from extensions.synthesis.settings import QuestionSettings, Settings
from extensions.synthesis.sources import Source, from_html, tidy

KEY_VARIABLE = "SEARCH_API_KEY"
TIMEOUT_S = 60.0
"""Of one request, from its first byte to the last of the answer."""
MOST_BYTES = 20_000_000
MOST_LETTERS = 400_000
LONGEST_URL = 2000
"""Of one document; longer ones are left out."""
MOST_TRIES = 4
BACKOFF_S = 0.5
LONGEST_WAIT_S = 30.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_PIECE = 64 * 1024


MOST_RANKED = 100
"""Documents that are looked at for a question, by a rerank model too: of more, those that BM25 puts first."""
AT_A_TIME = 8
"""Searches of a worker side by side."""


class SearchFailed(Exception):
    """A search brought nothing that can be used; the message says why and can be shown.

    `wait_s` is how many seconds to wait before it is tried again, None where waiting does not help.
    """

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Results(NamedTuple):
    """Documents that a search brought, best first; `n_left_out` held no text, too much, or an endless address."""

    hits: tuple[Source, ...]
    n_left_out: int = 0


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore")

    url: str = ""
    title: str = ""
    text: str = ""
    html: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_Result]


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Follow none: an address that is allowed must not lead to one that is not."""


# The protocol


def check_search(address: str) -> str:
    """The address as it is used; ValueError if the settings do not list it."""
    allowed = {each.rstrip("/") for each in site.SEARCH_URLS}
    if address.rstrip("/") not in allowed:
        raise ValueError(f"{address} is not allowed; SEARCH_URLS lists {', '.join(sorted(allowed)) or 'none'}.")
    return address.rstrip("/")


def search(address: str, query: str, *, n: int, language: str) -> Results:
    """The best documents for a query, `n` at most.

    What waiting may heal is tried again.

    Raises:
        SearchFailed: the address is not allowed, the server refuses, or it keeps failing.
    """
    try:
        url = check_search(address)
    except ValueError as error:
        raise SearchFailed(str(error)) from error
    body = json.dumps({"query": query, "n": n, "language": language}).encode()
    for n_tried in count():
        try:
            documents = [_document(row) for row in _sent(url, body)[:n]]
        except SearchFailed as failure:
            if failure.wait_s is None or n_tried + 1 == MOST_TRIES:
                raise
            time.sleep(min(LONGEST_WAIT_S, failure.wait_s or BACKOFF_S * 2**n_tried))
        else:
            break
    hits = [row for row in documents if 0 < len(row.text) <= MOST_LETTERS and len(row.url) <= LONGEST_URL]
    return Results(tuple(hits), len(documents) - len(hits))


def _sent(url: str, body: bytes) -> list[_Result]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key := os.environ.get(KEY_VARIABLE, "").strip():
        headers["Authorization"] = f"Bearer {key}"
    deadline = time.monotonic() + TIMEOUT_S
    request = Request(url, data=body, headers=headers, method="POST")  # noqa: S310 - on the list of the settings
    try:
        with build_opener(_NoRedirects).open(request, timeout=TIMEOUT_S) as answer:
            content = _content(answer, deadline)
    except HTTPError as error:
        error.close()
        raise _refusal(error) from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        raise SearchFailed(f"The search server did not answer ({clean_text(str(error))[:200]}).", 0) from error
    if content is None:
        raise SearchFailed(f"The search server sent more than {MOST_BYTES:,} bytes.")
    try:
        return _Answer.model_validate_json(content).results
    except (ValidationError, ValueError, RecursionError) as error:
        raise SearchFailed("The search server's answer is not what the protocol says.", 0) from error


def _refusal(error: HTTPError) -> SearchFailed:
    if 300 <= error.code < 400:
        return SearchFailed(f"{error.code}: the search server sends somewhere else, which is not followed.")
    wait = error.headers.get("Retry-After", "")
    wait_s = float(wait) if wait.replace(".", "", 1).isdecimal() else 0.0
    return SearchFailed(f"{error.code}: the search server refused.", wait_s if error.code in _BUSY else None)


def _content(answer: Any, deadline: float) -> bytes | None:
    """All of an answer; None if it is too long, TimeoutError if it takes too long."""
    content = bytearray()
    while piece := answer.read1(_PIECE):
        content += piece
        if len(content) > MOST_BYTES:
            return None
        if time.monotonic() > deadline:
            raise TimeoutError(f"longer than {TIMEOUT_S:.0f} s")
    return bytes(content)


def _document(row: _Result) -> Source:
    source = from_html(clean_text(row.html)) if row.html else Source("", tidy(clean_text(row.text)))
    title = " ".join(clean_text(row.title).split()) or source.title
    return Source(title[:300], source.text, clean_text(row.url))


# Documents of queries


class Candidate(NamedTuple):
    """A document that may be kept, and where it is stored: which result of which reply, or which upload."""

    hit: Source
    place: Mapping[str, int]


class _Search(NamedTuple):
    part: SynthesisPart
    address: str
    request: dict[str, Any]

    @property
    def key(self) -> str:
        """The key that its reply is stored under."""
        return f"search-{digest(self.address, *map(str, self.request.values()))}"


def save_search(*, addresses: Sequence[str], by: Any, now: datetime) -> Judge:
    """Find or make what searches at these addresses, or ranks uploads where there are none.

    Raises:
        ValueError: the settings do not list an address.
        NotYours: never where the addresses are the same, as they are its name.
    """
    chosen = sorted({check_search(address) for address in addresses})
    name = ", ".join(urlsplit(address).netloc for address in chosen) or "uploads"
    return versions.ensure_judge(
        name=f"{name[:100]} ({digest(*chosen)[:8]})" if chosen else name,
        kind=Judge.Kind.SEARCH,
        config={"addresses": chosen},
        now=now,
        role=Judge.Role.GENERATOR,
        by=by,
    )


def is_collected(part: SynthesisPart) -> bool:
    """Whether the documents of a query's text of today are chosen."""
    return bool(part.data.get("collected_for") == digest(part.text))


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
    uploads: dict[int, list[Candidate]] = defaultdict(list)
    syntheses = {row.synthesis_id for row in rows}
    for row in SynthesisPart.objects.filter(synthesis__in=syntheses, kind=PartKind.UPLOAD).order_by("number"):
        uploads[row.synthesis_id].append(Candidate(Source(row.title, row.text), {"upload": row.pk}))
    kept = [(row, _chosen(row, [*_results(row), *uploads[row.synthesis_id]])) for row in rows]

    def store(origin: Origin) -> None:
        for row, data in kept:
            held = SynthesisPart.objects.select_for_update().get(pk=row.pk)
            if held.text == row.text:
                held.data = {**held.data, **data}
                held.save(update_fields=["data"])

    return store


def _search_all(judge: Judge, parts: Sequence[SynthesisPart], keep: Callable[[], None]) -> None:
    """Send what was not answered before; raises the first failure after all others are stored."""
    wanted = {(query.part.pk, query.key): query for part in parts for query in _searches(judge, part)}
    known = set(SynthesisReply.objects.filter(part__in=parts, prompt="search").values_list("part", "ask"))
    missing = [query for place, query in wanted.items() if place not in known]
    failures: list[SearchFailed] = []

    def results(query: _Search) -> Results | SearchFailed:
        try:
            return search(query.address, **query.request)
        except SearchFailed as failure:
            return failure

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for query, brought in zip(missing, pool.map(results, missing), strict=True):
            if isinstance(brought, SearchFailed):
                failures.append(brought)
            else:
                _keep(judge, query, brought)
            keep()
    if failures:
        raise failures[0]


def _searches(judge: Judge, part: SynthesisPart) -> Iterator[_Search]:
    numbers = Settings.from_mapping(part.synthesis.settings).questions
    for address in judge.config["addresses"]:
        for line in part.text.splitlines():
            if query := line.strip():
                yield _Search(part, address, {"query": query, "n": numbers.results, "language": numbers.language})


def _keep(judge: Judge, query: _Search, results: Results) -> None:
    SynthesisReply.objects.get_or_create(
        part=query.part,
        ask=query.key,
        defaults={
            "prompt": "search",
            "request": f"{query.address}\n{json.dumps(query.request, ensure_ascii=False)}",
            "value": {"results": [asdict(hit) for hit in results.hits], "left_out": results.n_left_out},
            "judge": judge,
            "created_at": Now(),
        },
    )


def _results(part: SynthesisPart) -> list[Candidate]:
    """Documents that searches brought for a query, in the order in which its lines were asked."""
    rows = SynthesisReply.objects.filter(part=part, prompt="search").order_by("pk")
    return [
        Candidate(Source(**result), {"reply": pk, "at": at})
        for pk, value in rows.values_list("pk", "value")
        for at, result in enumerate(value["results"])
    ]


def _chosen(part: SynthesisPart, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Values of a query to write on; its documents are those of the text that `collected_for` names."""
    numbers = Settings.from_mapping(part.synthesis.settings).questions
    question = part.parent.text if part.parent else part.text
    kept, n_duplicates = best(question, candidates, numbers, KeptAnswers())
    return {
        "documents": [{**candidate.place, "score": score} for candidate, score in kept],
        "n_found": len(candidates),
        "n_duplicates": n_duplicates,
        "collected_for": digest(part.text),
    }


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
