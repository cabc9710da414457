"""Forms of summarizers and their runs."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from benchmarks.corpora.retrieval_words import names_of
from benchmarks.engine.arranging import Arranged, InTurn
from benchmarks.engine.responding import Documents
from benchmarks.engine.summarizing import IMPORTED, NotPossible, Shown, Source, check_name
from benchmarks.judges.questions import BadConfiguration
from benchmarks.judging.model_forms import ModelForm, ModelOptionsForm, PromptField
from benchmarks.models import Haystack, Judge, Question, RetrieverRanking, Subtopic, System
from benchmarks.questions import sets as question_sets
from benchmarks.scoring.oracle import TOKEN_BUDGET
from benchmarks.summarizers.arrangements import (
    ALL,
    AT,
    ENDS,
    EXPERIMENTS,
    FILLED,
    INFILLING,
    LEAST,
    MOST,
    POSITION,
    Arrangement,
)
from benchmarks.summarizers.conditions import (
    CLOSED_BOOK,
    CUT,
    FULL,
    MADE,
    PAPER_CUTS,
    SNIPPETS,
    SUMMARIES,
    Condition,
)
from benchmarks.summarizers.config import (
    AT_ONCE,
    BLOCK_WORDS,
    FOCUS,
    HIERARCHICAL,
    INCREMENTAL,
    SummarizerConfig,
    default_prompt,
)
from benchmarks.web.folds import FoldedForm

METHOD_NAMES = {
    AT_ONCE: _("all documents at once"),
    HIERARCHICAL: _("hierarchical: notes on each block, then a summary of the notes"),
    INCREMENTAL: _("incremental: one summary, revised block by block"),
}


class SummarizerForm(FoldedForm, ModelForm):
    """A model that summarizes."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "decoding": ("temperature", "seed", "top_p", "top_k", "max_tokens", "timeout_s"),
        "documents": ("token_budget", "truncate_to"),
        "prompts": ("prompt", "block_prompt", "focus", "response_prompt"),
    }

    field_order = (
        "name", "base_url", "model", "method", "block_words", "truncate_to", "token_budget", "bullets",
        "words_from", "words_to", "temperature", "top_p", "top_k", "seed", "max_tokens", "timeout_s", "prompt",
        "block_prompt", "focus", "response_prompt", "note",
    )  # fmt: skip
    method = forms.ChoiceField(label=_("Method"), choices=list(METHOD_NAMES.items()))
    block_words = forms.IntegerField(
        label=_("Words in a block"), min_value=50, max_value=100_000, initial=BLOCK_WORDS,
        help_text=_("For methods with blocks. A block ends at the first sentence end after so many words."),
    )  # fmt: skip
    truncate_to = forms.IntegerField(
        label=_("Cut documents after tokens"), min_value=1, max_value=10_000_000, required=False,
        help_text=_("Blank: not cut. Counted as 1.25 tokens for a word, over all documents in their order."),
    )  # fmt: skip
    token_budget = forms.IntegerField(
        label=_("Token budget of a retriever"), min_value=1, max_value=10_000_000, initial=TOKEN_BUDGET,
        help_text=_("The document that crosses it is included."),
    )  # fmt: skip
    bullets = forms.ChoiceField(
        label=_("Number of bullets"),
        choices=[("insights", _("as many as the subtopic has insights")), ("free", _("up to the model"))],
    )
    words_from = forms.IntegerField(label=_("Words, from"), min_value=1, max_value=100_000, initial=200)
    words_to = forms.IntegerField(label=_("Words, to"), min_value=1, max_value=100_000, initial=300)
    top_p = forms.FloatField(label=_("Top-p"), min_value=0, max_value=1, required=False)
    top_k = forms.IntegerField(
        label=_("Top-k"), min_value=1, max_value=100_000, required=False,
        help_text=_("Not part of the OpenAI API, but known to vLLM and others."),
    )  # fmt: skip
    max_tokens = forms.IntegerField(
        label=_("Maximum tokens per answer"), min_value=20, max_value=200_000, initial=2000,
        help_text=_("Reasoning models need several thousand."),
    )  # fmt: skip
    timeout_s = forms.FloatField(label=_("Timeout, seconds"), min_value=1, max_value=3600, initial=300)
    prompt = PromptField(
        label=_("Prompt"), rows=14,
        help_text=_(
            "Blank: the default prompt of the method. {bullets}, {words_from} and {words_to} become the numbers. "
            "Documents and query are added after it."
        ),
    )  # fmt: skip
    block_prompt = PromptField(
        label=_("Prompt for blocks"), help_text=_("For the hierarchical method: asks for the notes on a block.")
    )
    focus = PromptField(
        label=_("Focus prompt"), rows=2,
        help_text=_("Optional. Added after each prompt, for example: %(example)s") % {"example": FOCUS},
    )  # fmt: skip

    response_prompt = PromptField(
        label=_("Prompt for responses"),
        help_text=_("For questions. Blank: the default prompt. Texts and question are added after it."),
    )

    def clean(self) -> dict[str, Any]:
        """Check the name and all settings together."""
        data = super().clean() or self.cleaned_data
        if data.get("method") == AT_ONCE:  # has no blocks, so the field is not on the page
            self.errors.pop("block_words", None)
            data["block_words"] = BLOCK_WORDS
        if self.errors:
            return data
        try:
            check_name(data["name"])
        except NotPossible as error:
            self.add_error("name", str(error))
        try:
            self.config()
        except BadConfiguration:
            self.add_error("words_to", _now("Must not be smaller than the number before it."))
        return data

    def config(self) -> SummarizerConfig:
        """The configuration of a valid form."""
        data = {name: value for name, value in self.cleaned_data.items() if name not in {"name", "note"}}
        if data["prompt"] in {"", *map(default_prompt, METHOD_NAMES)}:
            data["prompt"] = default_prompt(data["method"])
        if data["method"] != HIERARCHICAL:
            data["block_prompt"] = ""
        return SummarizerConfig.from_mapping(data)

    @staticmethod
    def values_of(judge: Judge) -> dict[str, Any]:
        """What the form of a summarizer starts with."""
        config = SummarizerConfig.from_mapping(judge.config)
        return {"name": judge.name, "note": judge.note, **config.as_mapping()}


def sources(haystack: Haystack | None = None) -> list[tuple[str, str]]:
    """What can choose documents: orders of all of them, and retrievers with scores for all their subtopics."""
    found = [
        ("random", str(_("all documents, in random order"))),
        ("top", str(_("all documents, gold first"))),
        ("bottom", str(_("all documents, gold last"))),
    ]
    rows = RetrieverRanking.objects.filter(subtopic__haystack=haystack) if haystack else RetrieverRanking.objects
    ranked = rows.with_reference().order_by("retriever", "version").values_list("reference", flat=True).distinct()
    words = names_of(ranked)
    return [*found, *((name if "@" in name else f"{name}@{IMPORTED}", text) for name, text in words.items())]


class _RunForm(ModelOptionsForm):
    """What a summarizer writes about, and what it is shown."""

    key: ClassVar[str]
    """The field that addresses know it by."""
    title: ClassVar[Any]

    def __init__(self, *args: Any, judge: Judge, **kwargs: Any) -> None:
        """Only models have options of requests."""
        super().__init__(*args, **{"auto_id": f"id_{self.key}_%s", **kwargs})
        if judge.kind != Judge.Kind.OPENAI:
            del self.fields["concurrency"], self.fields["budget"]

    def shown(self) -> Shown:
        """What the summarizer is shown, of a valid form."""
        raise NotImplementedError

    def subjects(self) -> list[Any]:
        """What it writes about, of a valid form."""
        raise NotImplementedError

    def about(self) -> str:
        """What these are in, by its name."""
        raise NotImplementedError


class SummarizeForm(_RunForm):
    """Which haystack is summarized, from which documents."""

    key = "haystack"
    title = _("Summarize a haystack")
    field_order = ("haystack", "source")

    haystack = forms.ModelChoiceField(
        label=_("Haystack"), queryset=Haystack.objects.none(), to_field_name="uid", empty_label=_("choose one")
    )
    source = forms.ChoiceField(label=_("Documents"), choices=sources)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any haystack but those of practice."""
        super().__init__(*args, **kwargs)
        rows = Haystack.objects.for_work()
        self.fields["haystack"].queryset = rows  # type: ignore[attr-defined]

    def shown(self) -> Source:
        """What chooses the documents."""
        chosen = self.cleaned_data["source"]
        return Source.named(chosen) if "@" in chosen else Source(order=chosen)

    def subjects(self) -> list[Subtopic]:
        rows = Subtopic.objects.filter(haystack=self.cleaned_data["haystack"])
        return list(rows.select_related("haystack").order_by("number"))

    def about(self) -> str:
        return str(self.cleaned_data["haystack"].title)


def source_datasets() -> list[tuple[str, str]]:
    """The datasets of documents with reference summaries."""
    names = Haystack.objects.current().sources().order_by("dataset").values_list("dataset", flat=True)
    return [(name, name) for name in names.distinct()]


class SourcesForm(_RunForm):
    """Which sources are summarized, from which documents: all, or as an experiment of position arranges them."""

    key = "sources"
    title = _("Summarize documents with reference summaries")
    field_order = ("sources", "order", "size", "place")

    sources = forms.ChoiceField(label=_("Dataset"), choices=lambda: [("", _("choose one")), *source_datasets()])
    order = forms.ChoiceField(
        label=_("Documents"),
        choices=[
            ("random", _("all, in random order")),
            (POSITION, _("position: the relevant one at each place")),
            (INFILLING, _("infilling: all, the ends, others between")),
            (AT, _("only one place of position")),
            (ALL, _("only all documents, in their order")),
            (ENDS, _("only the first and the last")),
            (FILLED, _("only those of other sources between the first and the last")),
        ],
    )
    size = forms.IntegerField(
        label=_("Documents in an experiment"), min_value=LEAST, max_value=MOST, initial=5,
        help_text=_("Infilling takes sources of just so many."),
    )  # fmt: skip
    place = forms.IntegerField(
        label=_("Place of the relevant one"), min_value=1, max_value=MOST, initial=1,
        help_text=_("If it is only one place of position: from 1."),
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """The place is one of those there are."""
        data = super().clean() or self.cleaned_data
        if not self.errors and data["order"] == AT and data["place"] > data["size"]:
            self.add_error("place", _now("Must not be greater than the number of documents."))
        return data

    def shown(self) -> Source:
        """All documents, or an arrangement of them."""
        data = self.cleaned_data
        if data["order"] == "random":
            return Source()
        if data["order"] in EXPERIMENTS:
            return InTurn(order=f"{data['order']}-of-{data['size']}")
        place = data["place"] if data["order"] == AT else 0
        return Arranged.of(Arrangement(data["order"], data["size"], place))

    def subjects(self) -> list[Subtopic]:
        """The only subtopic of each source that can be shown like this."""
        rows = Subtopic.objects.filter(haystack__in=Haystack.objects.current().sources())
        rows = rows.filter(haystack__dataset=self.cleaned_data["sources"]).select_related("haystack")
        return list(self.shown().fitting(list(rows.order_by("haystack"))))

    def about(self) -> str:
        return str(self.cleaned_data["sources"])


def _datasets() -> list[tuple[str, str]]:
    return [(found.name, found.name) for found in question_sets.sets() if not found.is_archived]


def _conditions() -> list[tuple[str, Any]]:
    """What documents can be made into, with the systems whose snippets or summaries are there."""
    names = {
        SNIPPETS: (_("snippets of each, copied by the model"), _("snippets by %(system)s")),
        SUMMARIES: (_("summaries of each, by the model"), _("summaries by %(system)s")),
    }
    rows = System.objects.filter(retriever__in=MADE, drafts__question__isnull=False).distinct().order_by("key")
    made = list(rows.values_list("retriever", "summarizer"))
    return [
        (FULL, _("all documents")),
        (CUT, _("all documents, each cut")),
        *((kind, own) for kind, (own, _other) in names.items()),
        *((f"{kind}@{system}", names[kind][1] % {"system": system}) for kind, system in made),
        (CLOSED_BOOK, _("no documents")),
    ]


class RespondForm(_RunForm):
    """Which questions are answered, and what of their documents is shown."""

    key = "dataset"
    title = _("Answer questions")
    field_order = ("dataset", "documents", "tokens")

    dataset = forms.ChoiceField(label=_("Question set"), choices=lambda: [("", _("choose one")), *_datasets()])
    documents = forms.ChoiceField(label=_("Documents"), choices=_conditions)
    tokens = forms.IntegerField(
        label=_("Cut each document after tokens"), min_value=1, max_value=9_999_999, initial=PAPER_CUTS[-1],
        required=False,
        help_text=_("If they are cut; 1.25 tokens for a word. The paper took 512, 1,024 and 2,048."),
    )  # fmt: skip

    def __init__(self, *args: Any, judge: Judge, **kwargs: Any) -> None:
        """The offline baseline makes no snippets and knows nothing by itself."""
        super().__init__(*args, judge=judge, **kwargs)
        if judge.kind != Judge.Kind.OPENAI:
            field = self.fields["documents"]
            field.choices = [one for one in _conditions() if one[0] in {FULL, CUT}]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Cut documents need a length."""
        data = super().clean() or self.cleaned_data
        if data.get("documents") == CUT and not data.get("tokens") and "tokens" not in self.errors:
            self.add_error("tokens", _now("Say where to cut."))
        return data

    def shown(self) -> Documents:
        """The documents under the condition."""
        name = self.cleaned_data["documents"]
        if name == CUT:
            return Documents(Condition(CUT, tokens=self.cleaned_data["tokens"]))
        return Documents(Condition.named(name))

    def subjects(self) -> list[Question]:
        return list(
            Question.objects.of(dataset=self.cleaned_data["dataset"]).filter(archived_at=None).order_by("pk")
        )

    def about(self) -> str:
        return str(self.cleaned_data["dataset"])
