"""Input and output of every retriever. Plain data, so that a retriever knows no database.

To write one: a frozen dataclass whose fields are its settings, a `name`, a `revision`, and `scores`; then a line
in `registry.RETRIEVERS`. Whoever has a corpus calls `retriever.scores(corpus, memory)`, takes one list of scores
for each query, and chooses documents with `benchmarks.scoring.summhay.select_by_scores`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol


class RetrievalFailed(Exception):
    """No scores; the message says why and can be shown."""


class Stopped(RetrievalFailed):
    """Nothing more may be sent to a server: it was cancelled, or has reached its limit."""


@dataclass(frozen=True, slots=True)
class Query:
    """A subtopic's query; `golds` has the gold documents of each insight, which only the oracle may look at.

    `subtopic` says in a phrase what the subtopic is about, if that is known.
    """

    key: str
    text: str
    golds: tuple[frozenset[int], ...] = ()
    subtopic: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A haystack as retrievers see it: texts by document number, queries, and the language of both."""

    documents: Mapping[int, str]
    queries: Sequence[Query]
    language: str = "en"


class Memory(Protocol):
    """Answers of servers by the hash of what was asked, so that nothing is paid twice; says who may still ask."""

    def before_request(self) -> None:
        """Count a request that is about to be sent; raises `Stopped` if it must not be."""
        ...

    def recall(self, keys: Collection[str]) -> dict[str, bytes]: ...

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Store more; what is known already stays as it is."""
        ...


Ask = Callable[[Sequence[str]], Sequence[bytes]]
"""Sends some texts to a server; an answer for each."""


class Retriever(Protocol):
    """Gives every document of a corpus a score for each query; higher is better, each retriever has its own scale.

    `revision` goes up whenever the same settings would give other scores. `knows_golds` says that scores depend on
    the reference, `asks_server` that they come from an address and may cost money.
    """

    name: ClassVar[str]
    revision: ClassVar[int]
    knows_golds: ClassVar[bool]
    asks_server: ClassVar[bool]

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """For each query in order, a score for each document in the order of `corpus.documents`.

        Offline retrievers leave `memory` alone.

        Raises:
            RetrievalFailed: a server did not answer, or not with scores.
        """
        ...


@dataclass(frozen=True)
class Offline:
    """Base of retrievers that work on this machine."""

    knows_golds: ClassVar[bool] = False
    asks_server: ClassVar[bool] = False


@dataclass(frozen=True)
class Reading:
    """Base of retrievers that read the query: as SummHay's, the query and the subtopic, or the query alone."""

    with_subtopic: bool = True

    def wording(self, query: Query) -> str:
        """Words that documents are compared with."""
        return f"{query.text} {query.subtopic}".strip() if self.with_subtopic else query.text


@dataclass(frozen=True)
class Served(Reading):
    """Base of retrievers whose scores come from an address."""

    knows_golds: ClassVar[bool] = False
    asks_server: ClassVar[bool] = True

    def answers(
        self, memory: Memory, keys: Sequence[str], texts: Sequence[str], ask: Ask, *, at_a_time: int
    ) -> list[bytes]:
        """An answer for each text under its key; those that are not known are asked for, each once, and kept."""
        known = memory.recall(keys)
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
        for start in range(0, len(missing), at_a_time):
            part = dict(missing[start : start + at_a_time])
            new = dict(zip(part, ask(list(part.values())), strict=True))
            memory.keep(new)
            known |= new
        return [known[key] for key in keys]

    @staticmethod
    def most_requests(n_documents: int, n_queries: int) -> int:
        """At most this many requests, if no answer is known and none fails."""
        raise NotImplementedError


def settings_of(retriever: Retriever) -> dict[str, Any]:
    return asdict(retriever)  # type: ignore[call-overload,no-any-return]


def version_of(retriever: Retriever) -> str:
    """Twelve hexadecimal digits that stand for the retriever with exactly these settings."""
    return digest(retriever.name, retriever.revision, settings_of(retriever))[:12]


def digest(*content: object) -> str:
    """Hash what a score depends on."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8", "replace")).hexdigest()


def inputs_of(retriever: Retriever, corpus: Corpus, query: Query) -> str:
    """Hash of the texts, and for the oracle of the gold documents, that the scores for one query depend on."""
    texts = hashlib.sha256()
    for number, text in corpus.documents.items():
        texts.update(hashlib.sha256(f"{number}\n{text}".encode("utf-8", "replace")).digest())
    golds = sorted(sorted(gold) for gold in query.golds) if retriever.knows_golds else []
    wording = retriever.wording(query) if isinstance(retriever, Reading) else query.text
    return digest(query.key, wording, corpus.language, texts.hexdigest(), golds)
