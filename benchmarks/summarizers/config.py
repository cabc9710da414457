"""What a summary depends on beside the texts: the stored, hashed configuration of a summarizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import BadConfiguration, ModelConfig
from benchmarks.scoring.summhay import TOKEN_BUDGET
from benchmarks.summarizers.arrangements import HEADERS
from benchmarks.summarizers.prompt_fields import fields_in

AT_ONCE, HIERARCHICAL, INCREMENTAL = "at-once", "hierarchical", "incremental"
METHODS = (AT_ONCE, HIERARCHICAL, INCREMENTAL)
EXTRACTIVE = "extractive"
"""The name of the offline baseline, and its method."""
FOCUS = "Read the whole input with the same care: what matters may stand in its middle, not only at its two ends."
BLOCK_WORDS = 1500
_PROMPTS = {AT_ONCE: "summary", HIERARCHICAL: "summary", INCREMENTAL: "summary_update"}
_SOURCE_PROMPTS = {AT_ONCE: "source", HIERARCHICAL: "source", INCREMENTAL: "source_update"}

Bullets = Literal["insights", "held", "shown", "free"]
BULLETS = get_args(Bullets)
"""As many as the subtopic has insights, as documents hold, as the documents shown hold, or up to the model."""
Shuffle = Literal["each", "one", "file"]
SHUFFLES = get_args(Shuffle)
"""All documents stand in a random order for each subtopic, in one for all of them, or as in the file."""
BudgetRule = Literal["whole", "cut"]
BUDGET_RULES = get_args(BudgetRule)
"""The document that crosses the token budget of a retriever is shown whole, or cut there."""
DECODINGS: Mapping[str, Mapping[str, float | int | None]] = {
    "top-k": {"temperature": 0.3, "top_k": 50, "top_p": None},
    "greedy": {"temperature": 0.0, "top_k": None, "top_p": None},
    "top-p": {"temperature": 1.0, "top_k": None, "top_p": 0.95},
}
"""How the paper on context utilization draws words."""


def default_prompt(method: str) -> str:
    """The wording that asks for the finished summary."""
    return text_of(_PROMPTS.get(method, "summary"))


def default_block_prompt() -> str:
    """The wording that asks for the notes on one block."""
    return text_of("summary_block")


def default_source_prompt(method: str) -> str:
    """The wording that asks for the finished summary of a source; with blocks, of their summaries."""
    return text_of(_SOURCE_PROMPTS.get(method, "source"))


def default_source_block_prompt() -> str:
    """The wording that asks for the summary of one block of a source."""
    return text_of("source_block")


def default_response_prompt() -> str:
    """The wording that asks for a response to a question, from whatever is shown."""
    return text_of("response")


def note_prompt(kind: str, *, words_to: int) -> str:
    """The wording that asks for snippets or the summary of a document: one for all, so that systems compare."""
    return text_of(f"response_{kind}").replace("{words_to}", str(words_to))


def bullets_in_words(n_bullets: int | None) -> str:
    """“exactly 3 bullets”."""
    if n_bullets is None:
        return "as many bullets as the documents give points"
    return "exactly one bullet" if n_bullets == 1 else f"exactly {n_bullets} bullets"


def _check_form(values: Mapping[str, Any]) -> None:
    for name, known in (
        ("bullets", BULLETS),
        ("shuffle", SHUFFLES),
        ("budget_rule", BUDGET_RULES),
        ("headers", list(HEADERS)),
    ):
        if values.get(name, known[0]) not in known:
            raise BadConfiguration(f"{name}: one of {', '.join(filter(None, known))}")
    low, high = values.get("words_from", 200), values.get("words_to", 300)
    if not 1 <= (low or 1) <= high:
        raise BadConfiguration("words_from and words_to: from 1, in this order")
    if values.get("token_budget", TOKEN_BUDGET) < 1:
        raise BadConfiguration("token_budget: from 1")


@dataclass(frozen=True)
class SummarizerConfig(ModelConfig):
    """How a model summarizes; `max_tokens` bound one reply.

    `method` says whether all documents are sent at once or in blocks of `block_words`. `block_prompt` asks for
    the notes on a block (hierarchical), `focus` is added to every prompt, `truncate_to` cuts the documents after
    so many tokens, `token_budget` is how much a retriever may choose, and `budget_rule` what becomes of the
    document that crosses it; `shuffle` says how all documents stand, `headers` what tells the relevant one from
    others. `bullets` says how many are asked for;
    without `words_from` all of them have at most `words_to` words. `source_prompt` and `source_block_prompt` ask
    for summaries of sources, whose length is their dataset's. `response_prompt` asks for responses to questions;
    method, blocks, bullets and words are those of summaries.
    """

    LEFT_OUT = frozenset(
        {
            "protocol",
            "recall_prompt",
            "extraction_prompt",
            "support_prompt",
            "autods_prompt",
            "document_tokens",
            "examples",
        }
    )

    max_tokens: int = 2000
    timeout_s: float = 300.0
    top_p: float | None = None
    top_k: int | None = None
    method: str = AT_ONCE
    block_prompt: str = ""
    block_words: int = BLOCK_WORDS
    focus: str = ""
    bullets: Bullets = "insights"
    words_from: int | None = 200
    words_to: int = 300
    token_budget: int = TOKEN_BUDGET
    budget_rule: BudgetRule = "whole"
    shuffle: Shuffle = "each"
    headers: str = ""
    truncate_to: int | None = None
    response_prompt: str = ""
    source_prompt: str = ""
    source_block_prompt: str = ""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is missing, unknown or out of range.
        """
        cls.check_names(values)
        method = values.get("method", AT_ONCE)
        if method not in METHODS:
            raise BadConfiguration(f"method {method!r} is none of {', '.join(METHODS)}")
        if values.get("block_words", BLOCK_WORDS) < 1 or (values.get("truncate_to") or 1) < 1:
            raise BadConfiguration("block_words and truncate_to: from 1")
        _check_form(values)
        prompts = {
            "prompt": values.get("prompt") or default_prompt(method),
            "response_prompt": values.get("response_prompt") or default_response_prompt(),
            "source_prompt": values.get("source_prompt") or default_source_prompt(method),
        }
        if method == HIERARCHICAL:
            prompts["block_prompt"] = values.get("block_prompt") or default_block_prompt()
            prompts["source_block_prompt"] = values.get("source_block_prompt") or default_source_block_prompt()
        if values.get("bullets") == "free" and "n_insights" in fields_in(prompts["prompt"]):
            raise BadConfiguration("bullets: the prompt names their number, so they are not free")
        return cls(**{**values, **prompts})

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing; without headers where they are the usual ones."""
        values = super().as_mapping()
        return values if self.headers else {name: value for name, value in values.items() if name != "headers"}

    def prompt_for(self, *, of_source: bool, is_block: bool) -> str:
        """The wording for a text of a haystack or a source, finished or of one block."""
        if of_source:
            return self.source_block_prompt if is_block else self.source_prompt
        return self.block_prompt if is_block else self.prompt

    def focused(self, text: str) -> str:
        """A prompt with the sentence on focus."""
        return f"{text}\n\n{self.focus}" if self.focus else text

    def prompt_of(self, task: str) -> str:
        """All wordings of a task together."""
        of_summaries = (self.prompt, self.block_prompt, self.source_prompt, self.source_block_prompt)
        prompts = (self.response_prompt,) if task == "responses" else of_summaries
        return "\n\n".join(part for part in (*prompts, self.focus) if part)

    @property
    def decoding(self) -> dict[str, float | int]:
        """Fields of the request that say how words are drawn, beside the temperature."""
        chosen = {"top_p": self.top_p, "top_k": self.top_k}
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class ExtractiveConfig:
    """How the offline baseline chooses sentences; `diversity` is what a sentence loses for being said already."""

    method: str = EXTRACTIVE
    method_version: int = 1
    diversity: float = 0.3
    bullets: Bullets = "insights"
    words_from: int | None = 200
    words_to: int = 300
    token_budget: int = TOKEN_BUDGET
    truncate_to: int | None = None

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is unknown or out of range.
        """
        if unknown := set(values) - {field.name for field in fields(cls)}:
            raise BadConfiguration(f"unknown: {', '.join(sorted(unknown))}")
        _check_form(values)
        return cls(**values)

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return asdict(self)
