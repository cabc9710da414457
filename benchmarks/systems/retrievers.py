"""The retrievers of a haystack: how well each finds the gold documents within a token budget, and running one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from benchmarks.access.owning import may_change
from benchmarks.engine import retrieving
from benchmarks.judging.model_pages import addresses
from benchmarks.leaderboard.retrieval_words import in_words
from benchmarks.models import Document, Haystack, Insight, Retrieval, RetrieverRanking, Subtopic
from benchmarks.retrieval.base import Retriever, Served
from benchmarks.retrieval.lexical import CONTENT, TOKENS
from benchmarks.retrieval.registry import RETRIEVERS, WrongSettings, make
from benchmarks.scoring.retrieval import Quality, Retrieved, qualities, retrieved
from benchmarks.scoring.summhay import TOKEN_BUDGET
from benchmarks.web.lists import Column, MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import refuse_others, requires

ORACLE = "oracle"
"""The retriever that scores a document by how many insights it holds."""


@dataclass(frozen=True, slots=True)
class Line:
    """One retriever's row; `version` is empty and `settings` unknown where its scores were imported."""

    reference: str
    retriever: str
    version: str
    settings: Mapping[str, Any]
    quality: Quality

    @property
    def is_imported(self) -> bool:
        """Whether the scores came with a file."""
        return not self.version

    @property
    def words(self) -> str:
        """The retriever with the settings that are not the usual ones; its name where it was imported."""
        return self.retriever if self.is_imported else in_words(self.retriever, self.settings)


def quality_lines(haystacks: Iterable[Haystack], *, token_budget: int = TOKEN_BUDGET) -> list[Line]:
    """A line for each retriever with scores of a haystack, by recall of insights and nDCG, the highest first.

    Six queries.
    """
    chosen = list(haystacks)
    documents = Document.objects.lengths(chosen)
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    insights = Insight.objects.filter(subtopic__haystack__in=chosen)
    for subtopic, numbers in insights.values_list("subtopic", "gold_documents"):
        golds[subtopic].append(frozenset(numbers))
    rankings = RetrieverRanking.objects.filter(subtopic__haystack__in=chosen)
    names = {
        str(ranking): (ranking.retriever, ranking.version) for ranking in rankings.only("retriever", "version")
    }
    haystack_of = dict(Subtopic.objects.filter(haystack__in=chosen).values_list("pk", "haystack"))
    by_reference: dict[str, list[Retrieved]] = defaultdict(list)
    for subtopic, by_name in sorted(rankings.by_subtopic().items()):
        for reference, scores in by_name.items():
            scored = retrieved(
                subtopic=subtopic,
                documents=documents[haystack_of[subtopic]],
                scores=scores,
                golds=golds[subtopic],
                token_budget=token_budget,
            )
            by_reference[reference].append(scored)
    settings = {
        (name, version): values
        for name, version, values in Retrieval.objects.filter(haystack__in=chosen).values_list(
            "retriever", "version", "settings"
        )
    }
    oracles = [name for name in by_reference if names[name][0] == ORACLE]
    measured = qualities(by_reference, oracles=oracles)
    lines = [Line(name, *names[name], settings.get(names[name], {}), measured[name]) for name in by_reference]
    return sorted(lines, key=_rank)


def _rank(line: Line) -> tuple[float, float, str]:
    quality = line.quality
    return -(quality.recall_insights.value or 0.0), -(quality.ndcg.value or 0.0), line.reference


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
    "words": "Words",
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
    (TOKENS, "all tokens except stop words, as in the SummHay paper"),
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
            self.fields["max_requests"] = forms.IntegerField(
                label="Requests at most",
                min_value=1,
                max_value=2**31 - 1,
                required=False,
                help_text=(
                    f"This haystack needs {n} if none fails and nothing is known yet. Blank: no limit. Failed "
                    "tries count; what was answered is kept and never asked again."
                ),
            )

    def of_settings(self) -> list[forms.BoundField]:
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


def _figure(title: Any, name: str) -> Column:
    return Column(title, lambda line: getattr(line.quality, name).value, css="num", high_first=True)


class RetrieverTable(MemoryTable):
    retriever = Column("Retriever", "reference")
    recall_insights = _figure("Recall of insights, %", "recall_insights")
    recall_documents = _figure("Recall of gold documents, %", "recall_documents")
    ndcg = _figure("nDCG, %", "ndcg")
    documents = Column("Documents taken", "quality__mean_documents", css="num", high_first=True)
    subtopics = Column("Subtopics", "quality__n_subtopics", css="num", high_first=True)

    class Meta:
        order_by = "-recall_insights"


class BudgetForm(forms.Form):
    budget = forms.IntegerField(label="Token budget", min_value=1, max_value=10_000_000, initial=TOKEN_BUDGET)


@require_safe
@requires("benchmarks.view_haystack")
def retriever_list(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Every retriever with scores; the fragment is polled while one is at work."""
    haystack = get_object_or_404(Haystack, uid=uid)
    return _page(request, haystack, RetrieverForm(initial=request.GET.dict(), haystack=haystack))


@require_safe
@requires("benchmarks.change_haystack")
def retriever_settings(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The fields of the retriever that is chosen in the form."""
    haystack = get_object_or_404(Haystack, uid=uid)
    form = RetrieverForm(initial=request.GET.dict(), haystack=haystack)
    return page(request, "benchmarks/_retriever_settings.html", {"form": form})


@require_POST
@requires("benchmarks.change_haystack")
def retriever_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    haystack = get_object_or_404(Haystack, uid=uid)
    form = RetrieverForm(request.POST, haystack=haystack)
    if not form.is_valid():
        return _page(request, haystack, form, status=422)
    retrieving.request(
        haystack=haystack,
        retriever=form.made,
        actor=request.user,
        now=timezone.now(),
        max_requests=form.cleaned_data.get("max_requests"),
    )
    messages.success(request, "The retriever is running. Stored scores are not computed again.")
    return redirect("benchmarks:retriever-list", haystack.uid)


@require_POST
@requires("benchmarks.change_haystack")
def retriever_again(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Run a retriever once more, with the settings it had."""
    row = get_object_or_404(Retrieval.objects.select_related("haystack"), uid=uid)
    try:
        retriever = make(row.retriever, row.settings)
    except WrongSettings as error:  # of a release that knew other settings
        messages.error(request, str(error))
    else:
        retrieving.request(
            haystack=row.haystack,
            retriever=retriever,
            actor=request.user,
            now=timezone.now(),
            max_requests=row.max_requests,
        )
    return redirect("benchmarks:retriever-list", row.haystack.uid)


@require_POST
@requires("benchmarks.change_haystack")
def retriever_cancel(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Stop a retriever before its next request."""
    row = get_object_or_404(Retrieval.objects.select_related("haystack"), uid=uid)
    refuse_others(request.user, row, words="Whoever started this retriever, or an admin, can cancel it.")
    retrieving.cancel(row=row, by=request.user, now=timezone.now())
    return redirect("benchmarks:retriever-list", row.haystack.uid)


def _page(request: HtmxHttpRequest, haystack: Haystack, form: RetrieverForm, *, status: int = 200) -> HttpResponse:
    budget_form = BudgetForm(request.GET if "budget" in request.GET else None)
    budget = budget_form.cleaned_data["budget"] if budget_form.is_valid() else TOKEN_BUDGET
    rows = haystack.retrievals.exclude(state=Retrieval.State.DONE).select_related("created_by")
    unfinished = rows.order_by("-created_at")
    working = [row for row in unfinished if row.state in retrieving.WORKING]
    context: dict[str, Any] = {
        "haystack": haystack,
        "form": form,
        "budget_form": budget_form,
        "budget": budget,
        "working": [(row, may_change(request.user, row)) for row in working],
        "failed": [row for row in unfinished if row.state not in retrieving.WORKING],
        "table": RetrieverTable(quality_lines([haystack], token_budget=budget), request.GET),
    }
    if status != 200:
        return page(request, "benchmarks/retriever_list.html", context, part="state", status=status)
    return polled(request, "benchmarks/retriever_list.html", context, part="state", is_working=bool(working))
