"""What the documents of a question are made into before a response is written from them (Long²RAG, Table 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from benchmarks.summarizers.documents import Passage
from benchmarks.summarizers.token_budget import beginning, counted_by
from benchmarks.system_names import FULL_CONTEXT

FULL, CUT, SNIPPETS, SUMMARIES, CLOSED_BOOK = "full", "cut", "snippets", "summaries", "closed-book"
MADE = (SNIPPETS, SUMMARIES)
"""Made by a model, one document at a time."""
OWN_NOTES = "own"
"""What stands in place of a system where a summarizer is to make its own."""
NOTE_WORDS = {SNIPPETS: 150, SUMMARIES: 150}
"""The most words that are asked for of one document."""
PAPER_CUTS = (512, 1024, 2048)
NOTHING = "nothing"
"""What a model answers where a document does not help."""
_NAME = re.compile(
    rf"(?:{FULL}|{CLOSED_BOOK}|{CUT}-(?P<tokens>[1-9]\d{{0,6}})|(?P<kind>{'|'.join(MADE)})(?:@(?P<by>.+))?)"
)


class UnknownCondition(ValueError):
    """This is no name of a condition."""


@dataclass(frozen=True)
class Condition:
    """All documents whole, each cut after `tokens`, snippets or summaries of each, or none.

    `by` is the system whose snippets or summaries are taken, empty where the model makes its own.
    """

    kind: str = FULL
    tokens: int = 0
    by: str = ""

    @classmethod
    def named(cls, name: str) -> Self:
        """A condition by its name: full, cut-512, snippets, summaries@SYSTEM, closed-book.

        Raises:
            UnknownCondition: there is none of this name.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            known = f"{FULL}, {CUT}-TOKENS, {SNIPPETS}, {SUMMARIES}, {CLOSED_BOOK}"
            raise UnknownCondition(f"“{name}” is none of {known}, nor {SNIPPETS}@SYSTEM or {SUMMARIES}@SYSTEM.")
        if match["tokens"]:
            return cls(CUT, tokens=int(match["tokens"]))
        return cls(match["kind"] or name, by=match["by"] or "")

    @property
    def name(self) -> str:
        """The condition in one word, which `named` reads back."""
        if self.kind == CUT:
            return f"{CUT}-{self.tokens}"
        return f"{self.kind}@{self.by}" if self.by else self.kind

    def applied(self, documents: Sequence[Passage]) -> list[Passage]:
        """The documents as they are shown, where no model is needed for that; tokens as they are counted here."""
        if self.kind == CLOSED_BOOK:
            return []
        if self.kind == CUT:
            how = counted_by()
            return [(number, text[: beginning(text, self.tokens, how)]) for number, text in documents]
        return list(documents)


def named_system(key: str) -> tuple[str, str]:
    """What the name of a system in a file says: (condition, "" for all documents, and model).

    `cut-512_heron` and `snippets@heron_gull` say a condition and a model, `full-ctxt_heron` all documents; any
    other name is a model's. Where another system made snippets or summaries, the last underscore parts them.
    """
    front, _, model = key.partition("_")
    if "@" in front:
        front, _, model = key.rpartition("_")
    if model and front == FULL_CONTEXT:
        return "", model
    match = _NAME.fullmatch(front)
    return (front, model) if model and match is not None and front != FULL else ("", key)


def column_order(name: str) -> tuple[int, int, str]:
    """What sorts conditions as the paper's table does: cut ones, made ones, none, all; others last, by name."""
    try:
        condition = Condition.named(name)
    except UnknownCondition:
        return (5, 0, name)
    return ((CUT, SNIPPETS, SUMMARIES, CLOSED_BOOK, FULL).index(condition.kind), condition.tokens, condition.by)
