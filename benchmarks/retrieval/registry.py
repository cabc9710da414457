"""The retrievers by name, made from settings that somebody typed; among them the oracle and random scores."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline, Retriever
from benchmarks.retrieval.lexical import BM25, Keywords, TfIdf
from benchmarks.retrieval.servers import Embeddings, Rerank


@dataclass(frozen=True)
class Oracle(Offline):
    """The number of the subtopic's insights in each document."""

    name: ClassVar[str] = "oracle"
    revision: ClassVar[int] = 1
    knows_golds: ClassVar[bool] = True

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """How many of a query's insights each document contains."""
        for query in corpus.queries:
            yield [float(sum(number in gold for gold in query.golds)) for number in corpus.documents]


@dataclass(frozen=True)
class RandomOrder(Offline):
    """A number from 0 to 1 for each document, the same for the same seed, subtopic and document."""

    seed: int = 0

    name: ClassVar[str] = "random"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Numbers from 0 to 1, drawn by seed, query and document number."""
        for query in corpus.queries:
            yield [random.Random(f"{self.seed}/{query.key}/{n}").random() for n in corpus.documents]  # noqa: S311


RETRIEVERS: dict[str, Callable[..., Retriever]] = {
    RandomOrder.name: RandomOrder,
    Oracle.name: Oracle,
    Keywords.name: Keywords,
    TfIdf.name: TfIdf,
    BM25.name: BM25,
    Embeddings.name: Embeddings,
    Rerank.name: Rerank,
}
OFFLINE = ("random", "oracle", "keywords", "tfidf", "bm25")
"""Those that need no server."""


class WrongSettings(ValueError):
    """A retriever cannot be made like this; the message says why."""


def make(name: str, settings: Mapping[str, Any]) -> Retriever:
    """A retriever by name; settings that are not given have their defaults.

    Raises:
        WrongSettings: there is no such retriever, it has no such setting, or a value is of the wrong type.
    """
    kind = RETRIEVERS.get(name)
    if kind is None:
        raise WrongSettings(f"There is no retriever “{name}”; there are: {', '.join(RETRIEVERS)}.")
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    unknown = settings.keys() - known.keys()
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise WrongSettings(f"{name} has no setting {', '.join(sorted(unknown))}; {has}.")
    try:
        return kind(**{key: _read(key, str(known[key].type), value) for key, value in settings.items()})
    except ValueError as error:
        raise WrongSettings(f"{name}: {error}") from error


def _read(key: str, kind: str, value: Any) -> Any:
    read, what = _READERS[kind]
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{key} must be {what}, not “{value}”.") from error


def _truth(value: Any) -> bool:
    if str(value).lower() not in {"true", "false", "1", "0"}:
        raise ValueError(value)
    return str(value).lower() in {"true", "1"}


_READERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "bool": (_truth, "true or false"),
    "str": (str, "text"),
}
