"""The stored, hashed configuration of a summarizer: all that a summary depends on beside the texts.

Prompts have fields, {query}, {documents} …, also by the names of the published prompts of the papers. A prompt
that names its documents is the whole request, so that a published one is asked to the letter; of any other
documents and query follow in a message of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import OF_JUDGES, BadConfiguration, ModelConfig
from benchmarks.scoring.summhay import TOKEN_BUDGET
from benchmarks.summarizers.arrangements import HEADERS
from benchmarks.summarizers.documents import Passage

DOCUMENTS = "documents"
FIELDS = {
    "topic": "what all documents are about",
    "scenario": "the situation of conversations, else the topic",
    "participants": "who takes part in them, separated by commas",
    "subtopic": "what the summary is about, in a phrase",
    "facts": "all of these that are known, a line each",
    "query": "the question that it answers",
    "n_documents": "how many documents are shown",
    DOCUMENTS: "all of them with their numbers",
    "n_insights": "the number of bullets",
    "bullets": "the same in words",
    "length": "the number of words, from and to",
    "words_from": "the least words",
    "words_to": "the most words",
    "n_sentences": "the number of sentences, of sources",
    "sentences": "the same in words",
    "summary": "the summary of the blocks before, of the incremental method",
}
"""Fields of a prompt, and what takes their place."""
_OF_SUMMHAY = {
    "[TOPIC]": "topic",
    "[SCENARIO]": "topic",
    "[PARTICIPANTS]": "participants",
    "[SUBTOPIC]": "subtopic",
    "[QUERY]": "query",
    "[N_articles]": "n_documents",
    "[N_conversations]": "n_documents",
    "[N_insights]": "n_insights",
    "[ARTICLES]": "articles",
    "[CONVERSATIONS]": "conversations",
}
_OF_MIDDLESUM = {"[text]": DOCUMENTS, "[n]": "n_sentences"}
_HEADS = {"articles": "Article", "conversations": "Conversation"}
NONE_YET = "(none: this is the first part)"
Values = Mapping[str, Callable[[], str]]
"""The text of each field, made when a prompt asks for it."""


def _places(*, of_source: bool) -> dict[str, str]:
    """Placeholders of prompts, each with its field."""
    published = _OF_MIDDLESUM if of_source else _OF_SUMMHAY
    return {**{f"{{{name}}}": name for name in FIELDS}, **published}


def fields_in(prompt: str, *, of_source: bool = False) -> set[str]:
    return {field for place, field in _places(of_source=of_source).items() if place in prompt}


def has_documents(prompt: str, *, of_source: bool = False) -> bool:
    """Whether a prompt says where its documents stand, and so is the whole request."""
    return bool(fields_in(prompt, of_source=of_source) & {DOCUMENTS, *_HEADS})


def filled(prompt: str, values: Values, *, of_source: bool = False) -> str:
    """A prompt with its fields filled in, all at once: what stands in a document is never taken for a field.

    What is no field, or has no value, stays as it is.
    """
    places = {place: field for place, field in _places(of_source=of_source).items() if field in values}
    pattern = re.compile("|".join(map(re.escape, places)))
    return pattern.sub(lambda match: values[places[match.group()]](), prompt)


def worded_documents(
    passages: Sequence[Passage], notes: Sequence[str], *, of_source: bool, mark: Callable[[int], str]
) -> Values:
    """Documents as prompts head them: “[3]”, “Article 3:”; those of a source stand as they are. Or notes on them.

    `mark` says of a number which document is meant, in experiments of position.
    """

    def headed(head: str) -> Callable[[], str]:
        if notes:
            return lambda: "\n\n".join(notes)
        return lambda: "".join(f"{head} {number}:\n{text}\n\n" for number, text in passages)

    def plain() -> str:
        if notes:
            return "\n\n".join(notes)
        if of_source:
            marked = ((mark(number).strip(), text) for number, text in passages)
            return "\n\n".join(f"{head}\n{text}" if head else text for head, text in marked)
        return "\n\n".join(f"[{number}]{mark(number)} {text}" for number, text in passages)

    return {DOCUMENTS: plain, **{field: headed(head) for field, head in _HEADS.items()}}


def facts(**known: str) -> str:
    return "\n".join(f"{name.capitalize()}: {text}" for name, text in known.items() if text)


def n_sentences_in_words(n: int) -> str:
    """“one sentence”, “5 sentences”."""
    return "one sentence" if n == 1 else f"{n} sentences"


def length_in_words(words_from: int | None, words_to: int) -> str:
    """“200 to 300 words”, “at most 300 words”."""
    return f"{words_from} to {words_to} words" if words_from else f"at most {words_to} words"


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


def default_source_prompt(method: str) -> str:
    """The wording that asks for the finished summary of a source; with blocks, of their summaries."""
    return text_of(_SOURCE_PROMPTS.get(method, "source"))


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

    LEFT_OUT = OF_JUDGES

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
            "response_prompt": values.get("response_prompt") or text_of("response"),
            "source_prompt": values.get("source_prompt") or default_source_prompt(method),
        }
        if method == HIERARCHICAL:
            prompts["block_prompt"] = values.get("block_prompt") or text_of("summary_block")
            prompts["source_block_prompt"] = values.get("source_block_prompt") or text_of("source_block")
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
        return f"{text}\n\n{self.focus}" if self.focus else text

    def prompt_of(self, task: str) -> str:
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
        return asdict(self)
