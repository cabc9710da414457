"""The form that runs a retriever on a haystack: its settings become fields."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.judging.model_forms import addresses
from benchmarks.models import Haystack
from benchmarks.retrieval.base import Retriever, Served
from benchmarks.retrieval.keywords import CONTENT, TOKENS
from benchmarks.retrieval.registry import RETRIEVERS, WrongSettings, make

TITLES = {
    "random": "Random order",
    "oracle": "Oracle: number of insights in the document",
    "keywords": "Keywords: share of the query's words in the document",
    "tfidf": "TF-IDF",
    "bm25": "BM25",
    "embeddings": "Embeddings of a model",
    "rerank": "Rerank model",
}
LABELS = {
    "with_subtopic": "Ask with the query and the subtopic, as SummHay's authors",
    "words": _("Words"),
    "seed": "Seed",
    "k1": "k1",
    "b": "b",
    "is_sublinear": "Dampen the count of a word (1 + ln tf)",
    "base_url": "Address",
    "model": "Model",
    "query_prefix": "Text before each query",
    "document_prefix": "Text before each document",
}
WORDS = [
    (TOKENS, "all tokens but stop words, as SummHay's authors"),
    (CONTENT, "different content words"),
]
HELP = {
    "with_subtopic": "Otherwise with the query alone.",
    "model": "As the server names it.",
    "base_url": "One of those that the administrator allows; the key is in the server's environment.",
    "query_prefix": "Some models want one, such as “query: ”.",
    "document_prefix": "Some models want one, such as “passage: ”.",
}


class RetrieverForm(forms.Form):
    """Choose a retriever; `retriever` in the data or in `initial` decides which settings are asked for."""

    retriever = forms.ChoiceField(label="Retriever", choices=list(TITLES.items()))

    def __init__(self, *args: Any, haystack: Haystack, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = (self.data if self.is_bound else self.initial).get("retriever", "")
        self.kind = RETRIEVERS.get(str(name), RETRIEVERS["bm25"])
        self.initial["retriever"] = self.kind.name  # type: ignore[attr-defined]
        for field in fields(self.kind):  # type: ignore[arg-type]
            self.fields[field.name] = _field(field)
        if isinstance(self.kind, type) and issubclass(self.kind, Served):
            n = self.kind.most_requests(haystack.documents.count(), haystack.subtopics.count())
            self.fields["max_requests"] = _max_requests(n)

    def of_settings(self) -> list[forms.BoundField]:
        """The fields of the chosen retriever."""
        return [self[name] for name in self.fields if name != "retriever"]

    def clean(self) -> dict[str, Any]:
        """Make the retriever, so that what is wrong with its settings is said here."""
        data = super().clean() or {}
        if not self.errors:
            values = {name: value for name, value in data.items() if name not in {"retriever", "max_requests"}}
            try:
                self.made: Retriever = make(data["retriever"], values)
            except WrongSettings as error:
                raise forms.ValidationError(str(error)) from error
        return data


def _max_requests(n: int) -> forms.Field:
    return forms.IntegerField(
        label="Requests at most",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text=(
            f"This haystack needs {n} if none fails and nothing is known yet. Blank: no limit. Failed "
            "tries count; what was answered is kept and never asked again."
        ),
    )


def _field(field: Field[Any]) -> forms.Field:
    common: dict[str, Any] = {
        "label": LABELS.get(field.name, field.name),
        "help_text": HELP.get(field.name, ""),
        "initial": field.default,
    }
    if field.name == "base_url":
        del common["initial"]
        return forms.ChoiceField(choices=addresses(), **common)
    if field.name == "words":
        return forms.ChoiceField(choices=WORDS, **common)
    if field.type == "bool":
        return forms.BooleanField(required=False, **common)
    if field.type == "int":
        return forms.IntegerField(min_value=-(2**31), max_value=2**31, **common)
    if field.type == "float":
        return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **common)
    return forms.CharField(max_length=200, strip=False, required=field.name == "model", **common)
