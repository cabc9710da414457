"""Rerank models behind any address with a `/rerank` like that of Cohere and Jina; vLLM and others have one too."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Served, digest
from benchmarks.retrieval.servers import ask, check_server, numbers

DOCUMENTS_AT_A_TIME = 100
"""Hosted models charge a search by the hundred documents."""
_DOUBLE = struct.Struct("<d")


@dataclass(frozen=True)
class Rerank(Served):
    """The relevance of each document to the query by a rerank model. Each pair of the two is asked once."""

    base_url: str = ""
    model: str = ""

    name: ClassVar[str] = "rerank"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_server(base_url=self.base_url, model=self.model)

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
