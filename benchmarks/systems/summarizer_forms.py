"""The form of a summarizer: a model, its prompts, and how it goes about long texts."""

from __future__ import annotations

from typing import Any

from django import forms

from benchmarks.engine.versions import NotPossible, check_decoding, check_name
from benchmarks.judges.questions import BadConfiguration
from benchmarks.judging.model_pages import ModelForm, PromptField
from benchmarks.models import Judge
from benchmarks.scoring.summhay import TOKEN_BUDGET
from benchmarks.summarizers.arrangements import HEADERS
from benchmarks.summarizers.config import (
    AT_ONCE,
    BLOCK_WORDS,
    DECODINGS,
    FIELDS,
    FOCUS,
    HIERARCHICAL,
    INCREMENTAL,
    SummarizerConfig,
    default_prompt,
    default_source_prompt,
)
from benchmarks.web.forms import FoldedForm

METHOD_NAMES = {
    AT_ONCE: "all documents at once",
    HIERARCHICAL: "hierarchical: notes on each block, then a summary of the notes",
    INCREMENTAL: "incremental: one summary, revised block by block",
}
BULLET_NAMES = {
    "insights": "as many as the subtopic has insights",
    "held": "as many of them as any document holds (SummHay's code for news)",
    "shown": "as many of them as the documents shown hold",
    "free": "up to the model",
}
BUDGET_RULE_NAMES = {
    "whole": "is shown whole, as people see it",
    "cut": "is cut at the budget (SummHay's authors)",
}
SHUFFLE_NAMES = {
    "each": "at random for each subtopic",
    "one": "at random, the same for all subtopics",
    "file": "as in the file (SummHay's authors)",
}
DECODING_NAMES = {
    "": "as below",
    "top-k": "top-k 50 at temperature 0.3",
    "greedy": "greedy",
    "top-p": "top-p 0.95 at temperature 1",
}


class SummarizerForm(FoldedForm, ModelForm):
    FIRST = (
        "name", "base_url", "model", "method", "block_words", "bullets", "words_from", "words_to",
    )  # fmt: skip
    field_order = (
        "name", "base_url", "model", "method", "block_words", "truncate_to", "token_budget", "budget_rule",
        "headers",
        "shuffle", "bullets", "words_from", "words_to", "decoding", "temperature", "top_p", "top_k", "seed",
        "max_tokens", "limit_name", "timeout_s", "prompt", "block_prompt", "source_prompt",
        "source_block_prompt", "focus", "response_prompt", "note",
    )  # fmt: skip
    method = forms.ChoiceField(label="Method", choices=list(METHOD_NAMES.items()))
    block_words = forms.IntegerField(
        label="Words in a block", min_value=50, max_value=100_000, initial=BLOCK_WORDS,
        help_text="For methods with blocks. A block ends at the first sentence end after so many words.",
    )  # fmt: skip
    truncate_to = forms.IntegerField(
        label="Cut documents after tokens", min_value=1, max_value=10_000_000, required=False,
        help_text="Blank: not cut. Counted as 1.25 tokens for a word, over all documents in their order.",
    )  # fmt: skip
    token_budget = forms.IntegerField(
        label="Token budget of a retriever", min_value=1, max_value=10_000_000, initial=TOKEN_BUDGET,
    )  # fmt: skip
    budget_rule = forms.ChoiceField(
        label="The document that crosses it", required=False, choices=list(BUDGET_RULE_NAMES.items())
    )
    shuffle = forms.ChoiceField(
        label="Order of all documents", required=False, choices=list(SHUFFLE_NAMES.items())
    )
    headers = forms.ChoiceField(
        label="Above relevant and other documents", required=False,
        choices=[(name, " / ".join(pair)) for name, pair in HEADERS.items()],
        help_text="In the position experiment. The second pair is that of On Context Utilization.",
    )  # fmt: skip
    bullets = forms.ChoiceField(label="Number of bullets", choices=list(BULLET_NAMES.items()))
    words_from = forms.IntegerField(
        label="Words, from", min_value=1, max_value=100_000, initial=200, required=False,
        help_text="Blank: at most as many as at the right.",
    )  # fmt: skip
    words_to = forms.IntegerField(label="Words, to", min_value=1, max_value=100_000, initial=300)
    decoding = forms.ChoiceField(
        label="Decoding", required=False, choices=list(DECODING_NAMES.items()),
        help_text="The first one takes the fields below. The others are those of On Context Utilization.",
    )  # fmt: skip
    top_p = forms.FloatField(label="Top-p", min_value=0, max_value=1, required=False)
    top_k = forms.IntegerField(
        label="Top-k", min_value=1, max_value=100_000, required=False,
        help_text="Not part of the OpenAI API, but known to vLLM and others.",
    )  # fmt: skip
    max_tokens = forms.IntegerField(
        label="Maximum tokens per answer", min_value=20, max_value=200_000, initial=2000,
        help_text="Reasoning models need several thousand.",
    )  # fmt: skip
    timeout_s = forms.FloatField(label="Timeout, seconds", min_value=1, max_value=3600, initial=300)
    prompt = PromptField(
        label="Prompt", rows=14,
        help_text=("Blank: the default prompt of the method. These are filled in: %(fields)s, and the fields of "
            "SummHay's published prompts, such as [N_insights]. A prompt with {documents}, [ARTICLES] or "
            "[CONVERSATIONS] is the whole request; else documents and query are added after it.")
        % {"fields": ", ".join(f"{{{name}}}" for name in FIELDS)},
    )  # fmt: skip
    block_prompt = PromptField(
        label="Prompt for blocks", help_text="For the hierarchical method: asks for the notes on a block."
    )
    source_prompt = PromptField(
        label="Prompt for sources",
        help_text=(
            "For documents with reference summaries. Blank: the default prompt of the method. {documents} or "
            "[text] and {sentences} or [n] are filled in; the number is that of the dataset."
        ),
    )
    source_block_prompt = PromptField(
        label="Prompt for blocks of sources", help_text="For the hierarchical method."
    )
    focus = PromptField(
        label="Focus prompt", rows=2,
        help_text=f"Optional. Added after each prompt, for example: {FOCUS}",
    )  # fmt: skip

    response_prompt = PromptField(
        label="Prompt for responses",
        help_text="For questions. Blank: the default prompt. Texts and question are added after it.",
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
        if (data.get("words_from") or 0) > data["words_to"]:
            self.add_error("words_to", "Must not be smaller than the number before it.")
            return data
        try:
            check_decoding(self.config())
        except BadConfiguration:
            self.add_error("bullets", "The prompt names their number, so they cannot be up to the model.")
        except NotPossible as error:
            self.add_error("top_k", str(error))
        return data

    def config(self) -> SummarizerConfig:
        kept_apart = {"name", "note", "decoding"}
        data = {name: value for name, value in self.cleaned_data.items() if name not in kept_apart}
        data |= DECODINGS.get(self.cleaned_data["decoding"], {})
        data |= {"budget_rule": data["budget_rule"] or "whole", "shuffle": data["shuffle"] or "each"}
        if data["source_prompt"] in map(default_source_prompt, METHOD_NAMES):
            data["source_prompt"] = ""
        if data["prompt"] in {"", *map(default_prompt, METHOD_NAMES)}:
            data["prompt"] = default_prompt(data["method"])
        if data["method"] != HIERARCHICAL:
            data["block_prompt"] = data["source_block_prompt"] = ""
        return SummarizerConfig.from_mapping(data)

    @staticmethod
    def values_of(judge: Judge) -> dict[str, Any]:
        values = SummarizerConfig.from_mapping(judge.config).as_mapping()
        named = (name for name, its in DECODINGS.items() if its.items() <= values.items())
        return {"name": judge.name, "note": judge.note, "decoding": next(named, ""), **values}
