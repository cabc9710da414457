"""What a summary depends on beside the texts: the stored, hashed configuration of a summarizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import BadConfiguration, ModelConfig
from benchmarks.scoring.oracle import TOKEN_BUDGET

AT_ONCE, HIERARCHICAL, INCREMENTAL = "at-once", "hierarchical", "incremental"
METHODS = (AT_ONCE, HIERARCHICAL, INCREMENTAL)
EXTRACTIVE = "extractive"
"""The name of the offline baseline, and its method."""
FOCUS = "Read the whole input with the same care: what matters may stand in its middle, not only at its two ends."
BLOCK_WORDS = 1500
_PROMPTS = {AT_ONCE: "summary", HIERARCHICAL: "summary", INCREMENTAL: "summary_update"}

Bullets = Literal["insights", "free"]


def default_prompt(method: str) -> str:
    """The wording that asks for the finished summary."""
    return text_of(_PROMPTS.get(method, "summary"))


def default_block_prompt() -> str:
    """The wording that asks for the notes on one block."""
    return text_of("summary_block")


def default_response_prompt() -> str:
    """The wording that asks for a response to a question, from whatever is shown."""
    return text_of("response")


def note_prompt(kind: str, *, words_to: int) -> str:
    """The wording that asks for snippets or the summary of a document: one for all, so that systems compare."""
    return text_of(f"response_{kind}").replace("{words_to}", str(words_to))


def worded(prompt: str, *, n_bullets: int | None, words_from: int, words_to: int) -> str:
    """A prompt with its numbers filled in; other braces stay as they are."""
    if n_bullets is None:
        bullets = "as many bullets as the documents give points"
    else:
        bullets = "exactly one bullet" if n_bullets == 1 else f"exactly {n_bullets} bullets"
    numbers = {"{bullets}": bullets, "{words_from}": str(words_from), "{words_to}": str(words_to)}
    for name, value in numbers.items():
        prompt = prompt.replace(name, value)
    return prompt


def _check_form(values: Mapping[str, Any]) -> None:
    if values.get("bullets", "insights") not in {"insights", "free"}:
        raise BadConfiguration("bullets: “insights” or “free”")
    low, high = values.get("words_from", 200), values.get("words_to", 300)
    if not 1 <= low <= high:
        raise BadConfiguration("words_from and words_to: from 1, in this order")
    if values.get("token_budget", TOKEN_BUDGET) < 1:
        raise BadConfiguration("token_budget: from 1")


@dataclass(frozen=True)
class SummarizerConfig(ModelConfig):
    """How a model summarizes; `max_tokens` bound one reply.

    `method` says whether all documents are sent at once or in blocks of `block_words`. `block_prompt` asks for the
    notes on a block (hierarchical), `focus` is added to every prompt, `truncate_to` cuts the documents after so
    many tokens, `token_budget` is how much a retriever may choose. `bullets` are as many as insights, or free.
    `response_prompt` asks for responses to questions; method, blocks, bullets and words are those of summaries.
    """

    LEFT_OUT = frozenset({"protocol", "recall_prompt", "extraction_prompt", "support_prompt", "document_tokens"})

    max_tokens: int = 2000
    timeout_s: float = 300.0
    top_p: float | None = None
    top_k: int | None = None
    method: str = AT_ONCE
    block_prompt: str = ""
    block_words: int = BLOCK_WORDS
    focus: str = ""
    bullets: Bullets = "insights"
    words_from: int = 200
    words_to: int = 300
    token_budget: int = TOKEN_BUDGET
    truncate_to: int | None = None
    response_prompt: str = ""

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
        }
        if method == HIERARCHICAL:
            prompts["block_prompt"] = values.get("block_prompt") or default_block_prompt()
        return cls(**{**values, **prompts})

    def worded(self, prompt: str, *, n_bullets: int | None) -> str:
        """A prompt with its numbers and the sentence on focus."""
        text = worded(prompt, n_bullets=n_bullets, words_from=self.words_from, words_to=self.words_to)
        return self.focused(text)

    def focused(self, text: str) -> str:
        """A prompt with the sentence on focus."""
        return f"{text}\n\n{self.focus}" if self.focus else text

    def prompt_of(self, task: str) -> str:
        """All wordings of a task together."""
        own = (self.response_prompt,) if task == "responses" else (self.prompt, self.block_prompt)
        return "\n\n".join(part for part in (*own, self.focus) if part)

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
    words_from: int = 200
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
