"""Summarizers: what there is, making one, and letting it summarize a haystack or sources, or answer questions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import may_add
from benchmarks.engine import judging, overview, summarizing, versions
from benchmarks.engine.arranging import Arranged, InTurn
from benchmarks.engine.responding import Documents, with_shared_notes
from benchmarks.engine.summarizing import IMPORTED, Shown, Source
from benchmarks.judging.model_pages import ModelOptionsForm, edit_model
from benchmarks.judging.runs import RUN, VIEW, shown_runs, start_run
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.leaderboard.sampling import source_corpora
from benchmarks.models import Haystack, Judge, JudgeRun, Question, RetrieverRanking, Subtopic, Summarizer, System
from benchmarks.questions.sets import names
from benchmarks.summarizers.arrangements import (
    ALL,
    AT,
    BY_FILE,
    DOCUMENTS,
    ENDS,
    EXPERIMENTS,
    FILLED,
    INFILLING,
    MOST,
    OF_KIND,
    POSITION,
    TRUNCATION,
    USUAL_MEASURE,
    Arrangement,
    least_of,
)
from benchmarks.summarizers.conditions import (
    CLOSED_BOOK,
    CUT,
    FULL,
    MADE,
    OWN_NOTES,
    PAPER_CUTS,
    SNIPPETS,
    SUMMARIES,
    Condition,
)
from benchmarks.systems.summarizer_forms import (
    BUDGET_RULE_NAMES,
    BULLET_NAMES,
    METHOD_NAMES,
    SHUFFLE_NAMES,
    SummarizerForm,
)
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


def sources(haystack: Haystack | None = None) -> list[tuple[str, str]]:
    """Choosers of documents: orders of all of them, and retrievers with scores for all their subtopics."""
    choices = [
        ("random", "all documents, in random order"),
        ("top", "all documents, gold first"),
        ("bottom", "all documents, gold last"),
        ("middle", "all documents, gold in the middle"),
    ]
    rows = RetrieverRanking.objects.filter(subtopic__haystack=haystack) if haystack else RetrieverRanking.objects
    ranked = rows.with_reference().order_by("retriever", "version").values_list("reference", flat=True).distinct()
    words = names_of(ranked)
    return [*choices, *((name if "@" in name else f"{name}@{IMPORTED}", text) for name, text in words.items())]


class _RunForm(ModelOptionsForm):
    """A run of a summarizer: its subjects, and what it is shown."""

    key: ClassVar[str]
    """The field that addresses know it by."""
    title: ClassVar[Any]

    def __init__(self, *args: Any, judge: Judge, **kwargs: Any) -> None:
        """Only models have options of requests."""
        super().__init__(*args, **{"auto_id": f"id_{self.key}_%s", **kwargs})
        if judge.kind != Judge.Kind.OPENAI:
            del self.fields["concurrency"], self.fields["budget"]

    def shown(self) -> Shown:
        """Documents shown to the summarizer, of a valid form."""
        raise NotImplementedError

    def subjects(self) -> list[Any]:
        raise NotImplementedError

    def about(self) -> str:
        """The haystack or set that these are in, by its name."""
        raise NotImplementedError


class SummarizeForm(_RunForm):
    key = "haystack"
    title = "Summarize a haystack"
    FIRST = ("haystack", "source", "budget")
    field_order = ("haystack", "source")

    haystack = forms.ModelChoiceField(
        label="Haystack", queryset=Haystack.objects.none(), to_field_name="uid", empty_label="choose one"
    )
    source = forms.ChoiceField(label="Documents", choices=sources)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any haystack but those of practice."""
        super().__init__(*args, **kwargs)
        rows = Haystack.objects.for_work()
        self.fields["haystack"].queryset = rows  # type: ignore[attr-defined]

    def shown(self) -> Source:
        chosen = self.cleaned_data["source"]
        return Source.named(chosen) if "@" in chosen else Source(order=chosen)

    def subjects(self) -> list[Subtopic]:
        rows = Subtopic.objects.filter(haystack=self.cleaned_data["haystack"])
        return list(rows.select_related("haystack").order_by("number"))

    def about(self) -> str:
        return str(self.cleaned_data["haystack"].title)


def source_datasets() -> list[tuple[str, str]]:
    """The datasets of documents with reference summaries, and samples of them."""
    return [
        (name, "sample %(name)s" % {"name": name} if is_sample else name)
        for name, is_sample in source_corpora().items()
    ]


class SourcesForm(_RunForm):
    """Which sources are summarized, from which documents: all, or as an experiment arranges or cuts them."""

    key = "sources"
    title = "Summarize documents with reference summaries"
    FIRST = ("sources", "order", "budget")
    field_order = ("sources", "order", "size", "place", "by")

    sources = forms.ChoiceField(label="Dataset", choices=lambda: [("", "choose one"), *source_datasets()])
    order = forms.ChoiceField(
        label="Documents",
        choices=[
            ("random", "all, in their order"),
            (POSITION, "position: the relevant one at each place"),
            (INFILLING, "infilling: all, the ends, others between"),
            (DOCUMENTS, "the first documents: one, two … all"),
            (TRUNCATION, "truncation: until 2,048, 4,096 … tokens"),
            (AT, "only one place of position"),
            (ALL, "only all documents, in their order"),
            (ENDS, "only the first and the last"),
            (FILLED, "only those of other sources between the first and the last"),
        ],
    )
    size = forms.IntegerField(
        label="Documents in an experiment", min_value=1, max_value=MOST, initial=5,
        help_text="Infilling and the first documents take sources of just so many; of truncation, steps.",
    )  # fmt: skip
    place = forms.IntegerField(
        label="Place of the relevant one", min_value=1, max_value=MOST, initial=1,
        help_text="If it is only one place of position: from 1.",
    )  # fmt: skip
    by = forms.ChoiceField(
        label="Relevant by",
        required=False,
        choices=[
            (USUAL_MEASURE, "ROUGE-1"),
            ("rouge2", "ROUGE-2"),
            ("rougeL", "ROUGE-L"),
            (BY_FILE, "what the file says"),
        ],
        help_text="Of position: which of several documents of a source is the relevant one.",
    )

    def clean(self) -> dict[str, Any]:
        """The place is one of those there are, and the number one that the experiment takes."""
        data = super().clean() or self.cleaned_data
        if not self.errors and data["order"] != "random":
            least = least_of(OF_KIND.get(data["order"], data["order"]))
            if data["size"] < least:
                self.add_error("size", f"At least {least}.")
        if not self.errors and data["order"] == AT and data["place"] > data["size"]:
            self.add_error("place", "Must not be greater than the number of documents.")
        return data

    def shown(self) -> Source:
        """All documents, or an arrangement of them."""
        data = self.cleaned_data
        if data["order"] == "random":
            return Source()
        is_of_place = data["order"] in {POSITION, AT}
        by = data["by"] if is_of_place and data["by"] else USUAL_MEASURE
        if data["order"] in EXPERIMENTS:
            end = "" if by == USUAL_MEASURE else f"-by-{by}"
            return InTurn(order=f"{data['order']}-of-{data['size']}{end}")
        place = data["place"] if data["order"] == AT else 0
        return Arranged(order=Arrangement(data["order"], data["size"], place, by).name)

    def subjects(self) -> list[Subtopic]:
        """The only subtopic of each source that can be shown like this."""
        sources = Haystack.objects.current().sources().in_corpus(self.cleaned_data["sources"])
        rows = Subtopic.objects.filter(haystack__in=sources).select_related("haystack")
        return list(self.shown().fitting(list(rows.order_by("haystack"))))

    def about(self) -> str:
        return str(self.cleaned_data["sources"])


def _conditions() -> list[tuple[str, Any]]:
    """Conditions of documents, with the systems whose snippets or summaries are there."""
    rows = System.objects.filter(retriever__in=MADE, drafts__question__isnull=False).distinct().order_by("key")
    made = list(rows.values_list("retriever", "summarizer"))
    return [
        (FULL, "all documents"),
        (CUT, "all documents, each cut"),
        *((kind, f"{kind} of each, one model's for all") for kind in (SNIPPETS, SUMMARIES)),
        *((f"{kind}@{OWN_NOTES}", f"{kind} by this model") for kind in (SNIPPETS, SUMMARIES)),
        *((f"{kind}@{system}", f"{kind} by {system}") for kind, system in made),
        (CLOSED_BOOK, "no documents"),
    ]


class RespondForm(_RunForm):
    """Which questions are answered, and what of their documents is shown."""

    key = "dataset"
    title = "Answer questions"
    FIRST = ("dataset", "documents", "budget")
    field_order = ("dataset", "documents", "tokens")

    dataset = forms.ChoiceField(
        label="Question set", choices=lambda: [("", "choose one"), *names("dataset", with_archive=False)]
    )
    documents = forms.ChoiceField(label="Documents", choices=_conditions)
    tokens = forms.IntegerField(
        label="Cut each document after tokens", min_value=1, max_value=9_999_999, initial=PAPER_CUTS[-1],
        required=False,
        help_text="If they are cut. The paper took 512, 1,024 and 2,048. Runs say how tokens are counted here.",
    )  # fmt: skip

    def __init__(self, *args: Any, judge: Judge, **kwargs: Any) -> None:
        """The offline baseline makes no snippets and knows nothing by itself."""
        super().__init__(*args, judge=judge, **kwargs)
        self.judge = judge
        if judge.kind != Judge.Kind.OPENAI:
            field = self.fields["documents"]
            field.choices = [choice for choice in _conditions() if choice[0] in {FULL, CUT}]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Cut documents need a length."""
        data = super().clean() or self.cleaned_data
        if data.get("documents") == CUT and not data.get("tokens") and "tokens" not in self.errors:
            self.add_error("tokens", "Say where to cut.")
        return data

    def shown(self) -> Documents:
        """The documents under the condition."""
        name = self.cleaned_data["documents"]
        if name == CUT:
            return Documents(Condition(CUT, tokens=self.cleaned_data["tokens"]))
        return Documents(with_shared_notes(Condition.named(name), self.subjects(), self.judge))

    def subjects(self) -> list[Question]:
        return list(
            Question.objects.of(dataset=self.cleaned_data["dataset"]).filter(archived_at=None).order_by("pk")
        )

    def about(self) -> str:
        return str(self.cleaned_data["dataset"])


_edit = partial(edit_model, template="benchmarks/summarizer_edit.html", then="benchmarks:summarizer-detail")


@require_safe
@requires(VIEW)
def summarizer_list(request: HtmxHttpRequest) -> HttpResponse:
    """All summarizers with counts and costs, and the latest runs."""
    latest = JudgeRun.objects.filter(judge__role=Judge.Role.SUMMARIZER).select_related("judge")[:20]
    context = {"rows": overview.summarizer_rows(), "runs": shown_runs(latest, request.user)}
    return page(request, "benchmarks/summarizer_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.add_judge")
def summarizer_new(request: HtmxHttpRequest) -> HttpResponse:
    return _edit(request, SummarizerForm(request.POST or None), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_judge")
def summarizer_edit(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a summarizer; summaries stay with the old one."""
    judge = get_object_or_404(Summarizer, uid=uid, kind=Judge.Kind.OPENAI)
    return _edit(request, SummarizerForm(request.POST or None, initial=SummarizerForm.values_of(judge)), judge)


@require_POST
@requires(RUN)
def summarizer_offline(request: HtmxHttpRequest) -> HttpResponse:
    """Go to the offline baseline as the code of today configures it, which nobody may have run yet."""
    judge = versions.extractive(now=timezone.now())
    return redirect(f"{reverse('benchmarks:summarizer-detail', args=[judge.uid])}#run-haystack")


RunForm = SummarizeForm | SourcesForm | RespondForm


def _form(judge: Judge, data: QueryDict) -> RunForm:
    """The form that was sent, by the field that names what it is about."""
    named: tuple[type[RunForm], ...] = (RespondForm, SourcesForm)
    kind: type[RunForm] = next((form for form in named if form.key in data), SummarizeForm)
    return kind(data, judge=judge)


@require_safe
@requires(VIEW)
def summarizer_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A summarizer's configuration and runs; with the documents of a run in the query, its estimate."""
    judge = get_object_or_404(Summarizer, uid=uid)
    is_asked = any(name in request.GET for name in ("source", "documents", "order"))
    return _detail(request, judge, _form(judge, request.GET) if is_asked else None)


@require_POST
@requires(RUN)
def summarizer_start(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Queue what is missing and show the run."""
    judge = get_object_or_404(Summarizer, uid=uid)
    form = _form(judge, request.POST)
    if not form.is_valid():
        return _detail(request, judge, form)
    shown, back = form.shown(), reverse("benchmarks:summarizer-detail", args=[judge.uid])
    try:
        drafts = summarizing.drafted(judge=judge, subjects=form.subjects(), shown=shown, now=timezone.now())
    except versions.NotPossible as error:
        messages.error(request, str(error))
        return redirect(back)
    return start_run(
        request,
        judge=judge,
        task=shown.task,
        subjects=drafts,
        options=form.options(),
        back=back,
        scope=shown.scope(form.about(), judge),
    )


def _detail(request: HtmxHttpRequest, judge: Judge, sent: RunForm | None) -> HttpResponse:
    """The forms of runs, one of them perhaps as it was sent; that of sources where there are any."""
    of_sources: tuple[type[RunForm], ...] = (SourcesForm,) if source_datasets() else ()
    kinds: tuple[type[RunForm], ...] = (SummarizeForm, *of_sources, RespondForm)
    forms = [sent if isinstance(sent, kind) else kind(initial=request.GET.dict(), judge=judge) for kind in kinds]
    versions = list(Summarizer.objects.filter(name=judge.name))
    context = {
        "judge": judge,
        "may_edit": may_add(request.user, versions),
        "is_model": judge.kind == Judge.Kind.OPENAI,
        "method": METHOD_NAMES.get(judge.config.get("method", ""), "sentences of the documents, no model"),
        "bullets": BULLET_NAMES.get(judge.config.get("bullets", "insights")),
        "budget_rule": BUDGET_RULE_NAMES.get(judge.config.get("budget_rule", "")),
        "shuffle": SHUFFLE_NAMES.get(judge.config.get("shuffle", "")),
        "runs": shown_runs(judge.runs.select_related("judge")[:20], request.user),
        "versions": [version for version in versions if version.pk != judge.pk],
        "forms": forms,
    }
    is_wrong = sent is not None and not sent.is_valid()
    if sent is not None and not is_wrong:
        context |= _planned(judge, sent)
    return page(request, "benchmarks/summarizer_detail.html", context, status=422 if is_wrong else 200)


def _planned(judge: Judge, form: RunForm) -> dict[str, Any]:
    """Texts that a run would write, and what a model would be asked; for a template."""
    now, shown = timezone.now(), form.shown()
    try:
        drafts = summarizing.planned(judge=judge, subjects=form.subjects(), shown=shown, now=now)
        waiting = judging.missing(judge=judge, task=shown.task, subjects=drafts)
        plan: dict[str, Any] = {"n_texts": len(drafts), "n_waiting": len(waiting)}
        if judge.kind == Judge.Kind.OPENAI:
            plan["estimate"] = overview.estimate(
                judge=judge, task=shown.task, subjects=waiting, repeats=1, now=now
            )
    except ValueError as error:
        return {"refused": str(error), "is_planned": True}
    return {**plan, "is_planned": True}
