"""Retrievers as forms offer them: by name and the settings that differ from the usual ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from django.utils.translation import gettext_lazy

from benchmarks.models import Retrieval
from benchmarks.retrieval.registry import RETRIEVERS

NAMES = {
    "random": gettext_lazy("random order"),
    "oracle": gettext_lazy("oracle"),
    "keywords": gettext_lazy("keywords"),
    "tfidf": gettext_lazy("TF-IDF"),
    "bm25": gettext_lazy("BM25"),
    "embeddings": gettext_lazy("embeddings"),
    "rerank": gettext_lazy("rerank model"),
}
SHORT = {
    "is_sublinear": gettext_lazy("dampened counts"),
    "base_url": gettext_lazy("at"),
}


def in_words(name: str, settings: Mapping[str, Any]) -> str:
    """A retriever with these settings: “BM25 (k1 2.0)”, “embeddings (model e5)”."""
    usual = {one.name: one.default for one in fields(RETRIEVERS[name])} if name in RETRIEVERS else {}  # type: ignore[arg-type]
    changed = [f"{SHORT.get(key, key)} {value}" for key, value in settings.items() if usual.get(key) != value]
    title = str(NAMES.get(name, name))
    return f"{title} ({', '.join(changed)})" if changed else title


def names_of(references: Iterable[str]) -> dict[str, str]:
    """{reference: in words}, in their order; one query. Those that came with a file keep their name.

    Two that read alike have their versions behind them.
    """
    rows = Retrieval.objects.order_by().values_list("retriever", "version", "settings").distinct()
    known = {f"{name}@{version}": in_words(name, settings) for name, version, settings in rows}
    words = {reference: known.get(reference, reference) for reference in references}
    often = Counter(words.values())
    return {
        reference: f"{text} · {reference.partition('@')[2]}" if often[text] > 1 and "@" in reference else text
        for reference, text in words.items()
    }
