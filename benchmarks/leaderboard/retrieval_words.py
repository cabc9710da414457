"""Which documents systems were shown, as pages call it: all of them in an order, or those of a retriever.

A retriever is called by its name and the settings that differ from the usual ones. Files have names of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from benchmarks.models import Retrieval
from benchmarks.retrieval.lexical import CONTENT
from benchmarks.retrieval.registry import RETRIEVERS

NAMES = {
    "random": "random order",
    "oracle": "oracle",
    "keywords": "keywords",
    "tfidf": "TF-IDF",
    "bm25": "BM25",
    "embeddings": "embeddings",
    "rerank": "rerank model",
}
ALL_DOCUMENTS = {
    "full-ctxt": "all documents",
    "fl-ctxt-sort": "all documents, gold first",
    "fl-ctxt-rev-sort": "all documents, gold last",
    "fl-ctxt-middle": "all documents, gold in the middle",
}
"""Orders of the full context, by their names in published files."""
PHRASES = {
    ("is_sublinear", True): "dampened counts",
    ("with_subtopic", False): "query alone",
    ("words", CONTENT): "content words",
}
"""Settings that are called by what they mean."""


def in_words(name: str, settings: Mapping[str, Any]) -> str:
    """A retriever with these settings: “BM25 (k1 2.0)”, “embeddings (model e5)”."""
    usual = {field.name: field.default for field in fields(RETRIEVERS[name])} if name in RETRIEVERS else {}  # type: ignore[arg-type]
    in_order = {key: settings[key] for key in (*usual, *sorted(settings)) if key in settings}  # JSON keeps none
    changed = [
        str(PHRASES.get((key, value)) or f"{'at' if key == 'base_url' else key} {value}")
        for key, value in in_order.items()
        if usual.get(key) != value
    ]
    title = str(NAMES.get(name, name))
    return f"{title} ({', '.join(changed)})" if changed else title


def names_of(references: Iterable[str]) -> dict[str, str]:
    """{reference: in words}, in their order; one query where one has a version. Other names stay as they are.

    Of those that read alike the ones with a version say whether they were imported or run here, if need be which.
    """
    references = list(references)
    if not any("@" in reference for reference in references):
        return {reference: str(ALL_DOCUMENTS.get(reference, reference)) for reference in references}
    rows = Retrieval.objects.order_by().values_list("retriever", "version", "settings").distinct()
    known = {f"{name}@{version}": in_words(name, settings) for name, version, settings in rows}
    words = {name: str(ALL_DOCUMENTS.get(name) or known.get(name, name)) for name in references}
    alike = Counter(words.values())
    with_origin = {name: _with_origin(name, text) if alike[text] > 1 else text for name, text in words.items()}
    alike = Counter(with_origin.values())
    return {
        reference: f"{text} ({reference.partition('@')[2]})" if alike[text] > 1 else text
        for reference, text in with_origin.items()
    }


def _with_origin(reference: str, text: str) -> str:
    """“oracle, run here”, or imported; what has no version stays “oracle”."""
    _name, at, version = reference.partition("@")
    origin = "imported" if version == "imported" else "run here"
    return f"{text}, {origin}" if at else text
