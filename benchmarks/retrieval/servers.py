"""Retrievers by models on servers: embeddings (the OpenAI protocol) and reranking (that of Cohere, Jina, vLLM).

Requests go one after another, repeated where that helps. Addresses must be on the list of the settings, the key
comes from the environment: both as for judges.
"""

from __future__ import annotations

import asyncio
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import Any, ClassVar, TypeVar

import numpy as np

from benchmarks.judges.openai import AddressNotAllowed, post
from benchmarks.judges.replies import Failure, Trouble
from benchmarks.retrieval.base import Corpus, Memory, RetrievalFailed, Served, digest

Read = TypeVar("Read")
MOST_TRIES = 5
LONGEST_WAIT_S = 30.0
TIMEOUT_S = 60.0
HEALED_BY_WAITING = (Trouble.BUSY, Trouble.TRANSIENT, Trouble.FOREIGN)


def ask(
    base_url: str, path: str, body: Mapping[str, Any], *, read: Callable[[Any], Read], before: Callable[[], None]
) -> Read:
    """Post `body` and give what `read` makes of the JSON that comes back; it raises ValueError if that is no good.

    `before` is called before each time it is sent.

    What waiting may heal is tried again, after the time that the server asks for or else a longer one each time;
    an answer that cannot be read is such a failure.

    Raises:
        RetrievalFailed: the address is not allowed, the server refuses, or it keeps failing.
    """
    n_tried = 0
    while True:
        n_tried += 1
        before()
        answer = _once(base_url, path, body, read)
        if not isinstance(answer, Failure):
            return answer
        if answer.trouble not in HEALED_BY_WAITING or n_tried == MOST_TRIES:
            raise RetrievalFailed(answer.message)
        wait_s = 2.0 ** (n_tried - 1) if answer.wait_s is None else answer.wait_s
        sleep(min(LONGEST_WAIT_S, wait_s))


def _once(base_url: str, path: str, body: Mapping[str, Any], read: Callable[[Any], Read]) -> Read | Failure:
    try:
        answer = asyncio.run(post(base_url, path, body, timeout_s=TIMEOUT_S))
    except AddressNotAllowed as error:
        raise RetrievalFailed(str(error)) from error
    if isinstance(answer, Failure):
        return answer
    try:
        return read(answer)
    except ValueError as error:
        return Failure(Trouble.TRANSIENT, f"The server's answer cannot be used: {error}.", 0)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        message = f"The server's answer has not the expected form ({type(error).__name__})."
        return Failure(Trouble.TRANSIENT, message, 0)


def numbers(values: Sequence[Any]) -> list[float]:
    """The numbers of an answer; ValueError if one is none, or not finite as four bytes hold it."""
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        raise ValueError("not all values are numbers")
    if not all(math.isfinite(value) and abs(value) < 1e38 for value in values):
        raise ValueError("not all values are finite numbers")
    return [float(value) for value in values]


@dataclass(frozen=True)
class Model(Served):
    """Base of retrievers by a model of a server; ValueError unless both are named."""

    base_url: str = ""
    model: str = ""

    def __post_init__(self) -> None:
        if not self.base_url or not self.model:
            raise ValueError("base_url and model are needed.")


TEXTS_AT_A_TIME = 32


@dataclass(frozen=True)
class Embeddings(Model):
    """Cosine of the embeddings of query and document.

    Some models want a word before each text (e5: “query: ” and “passage: ”). A text is embedded once, whatever
    haystack or subtopic it belongs to.
    """

    query_prefix: str = ""
    document_prefix: str = ""

    name: ClassVar[str] = "embeddings"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Embed what is not known yet, then compare."""
        texts = [self.document_prefix + text for text in corpus.documents.values()]
        to_embed = [*texts, *(self.query_prefix + self.wording(query) for query in corpus.queries)]
        keys = [digest(self.name, self.base_url, self.model, text) for text in to_embed]
        packed = self.answers(memory, keys, to_embed, partial(self._ask, memory), at_a_time=TEXTS_AT_A_TIME)
        if len({len(vector) for vector in packed}) > 1:
            raise RetrievalFailed("The server's embeddings are not all of one length.")
        vectors = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(packed), -1).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths > 0, lengths, 1.0)
        for query in vectors[len(texts) :]:
            yield (vectors[: len(texts)] @ query).tolist()

    @staticmethod
    def most_requests(n_documents: int, n_queries: int) -> int:
        """One for so many texts together."""
        return math.ceil((n_documents + n_queries) / TEXTS_AT_A_TIME)

    def _ask(self, memory: Memory, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text, as four-byte floats."""

        def read(answer: Any) -> list[bytes]:
            rows = {row["index"]: row["embedding"] for row in answer["data"]}
            if len(answer["data"]) != len(texts) or set(rows) != set(range(len(texts))):
                raise ValueError(f"it has not one embedding for each of {len(texts)} texts")
            vectors = [numbers(rows[at]) for at in range(len(texts))]
            if len({len(vector) for vector in vectors}) > 1 or not vectors[0]:
                raise ValueError("its embeddings are not all of one length")
            return [np.array(vector, dtype="<f4").tobytes() for vector in vectors]

        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        return ask(self.base_url, "/embeddings", body, read=read, before=memory.before_request)


DOCUMENTS_AT_A_TIME = 100
"""Hosted models charge a search by the hundred documents."""
_DOUBLE = struct.Struct("<d")


@dataclass(frozen=True)
class Rerank(Model):
    """The relevance of each document to the query by a rerank model. Each pair of the two is asked once."""

    name: ClassVar[str] = "rerank"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Ask about what is not known yet."""
        texts = list(corpus.documents.values())
        for query in corpus.queries:
            wording = self.wording(query)
            keys = [digest(self.name, self.base_url, self.model, wording, text) for text in texts]
            ask_about = partial(self._ask, memory, wording)
            answers = self.answers(memory, keys, texts, ask_about, at_a_time=DOCUMENTS_AT_A_TIME)
            yield [_DOUBLE.unpack(score)[0] for score in answers]

    @staticmethod
    def most_requests(n_documents: int, n_queries: int) -> int:
        """One for each query and so many documents."""
        return n_queries * math.ceil(n_documents / DOCUMENTS_AT_A_TIME)

    def _ask(self, memory: Memory, query: str, texts: Sequence[str]) -> list[bytes]:
        body = {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}

        def read(answer: Any) -> list[bytes]:
            rows = {row["index"]: row["relevance_score"] for row in answer["results"]}
            if len(answer["results"]) != len(texts) or set(rows) != set(range(len(texts))):
                raise ValueError(f"it has not one score for each of {len(texts)} documents")
            return [_DOUBLE.pack(score) for score in numbers([rows[at] for at in range(len(texts))])]

        return ask(self.base_url, "/rerank", body, read=read, before=memory.before_request)
