"""The retrievers by name, and how one is made from settings that somebody typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from benchmarks.retrieval.base import Retriever
from benchmarks.retrieval.bm25 import BM25
from benchmarks.retrieval.embeddings import Embeddings
from benchmarks.retrieval.keywords import Keywords
from benchmarks.retrieval.oracle import Oracle
from benchmarks.retrieval.random_order import RandomOrder
from benchmarks.retrieval.rerank import Rerank
from benchmarks.retrieval.tfidf import TfIdf

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
