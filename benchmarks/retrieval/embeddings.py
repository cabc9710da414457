"""Embeddings from any address that speaks the OpenAI protocol (`/embeddings`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.retrieval.base import Corpus, Memory, RetrievalFailed, Served, digest
from benchmarks.retrieval.servers import ask, check_server, numbers

TEXTS_AT_A_TIME = 32


@dataclass(frozen=True)
class Embeddings(Served):
    """Cosine of the embeddings of query and document.

    Some models want a word before each text (e5: “query: ” and “passage: ”). A text is embedded once, whatever
    haystack or subtopic it belongs to.
    """

    base_url: str = ""
    model: str = ""
    query_prefix: str = ""
    document_prefix: str = ""

    name: ClassVar[str] = "embeddings"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_server(base_url=self.base_url, model=self.model)

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
