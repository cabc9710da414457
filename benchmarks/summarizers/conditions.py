"""Conditions of responses (Long²RAG, Table 2): what of the documents is given, and how texts that return read."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from benchmarks.scoring.spread import sentences
from benchmarks.scoring.text import bullets, lines_from_text, split_text
from benchmarks.summarizers.documents import Passage, beginning, counted_by
from benchmarks.system_names import FULL_CONTEXT

FULL, CUT, SNIPPETS, SUMMARIES, CLOSED_BOOK = "full", "cut", "snippets", "summaries", "closed-book"
MADE = (SNIPPETS, SUMMARIES)
"""Made by a model, one document at a time."""
OWN_NOTES = "own"
"""Stands in place of a system where a summarizer is to make its own."""
NOTE_WORDS = {SNIPPETS: 150, SUMMARIES: 150}
"""The most words that are asked for of one document."""
PAPER_CUTS = (512, 1024, 2048)
NOTHING = "nothing"
"""A model's answer where a document does not help."""
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
    """The parts of a system's name in a file: (condition, "" for all documents, and model).

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
    """A sort key for conditions as in the paper's table: cut ones, made ones, none, all; others last, by name."""
    try:
        condition = Condition.named(name)
    except UnknownCondition:
        return (5, 0, name)
    return ((CUT, SNIPPETS, SUMMARIES, CLOSED_BOOK, FULL).index(condition.kind), condition.tokens, condition.by)


_WORDS = re.compile(r"\w+")
MOST_NAMED = 5
CUT_OFF, EMPTY = "It was cut off at the limit of its length.", "It is empty."


@dataclass(frozen=True)
class Written:
    """A text and what is wrong with it; `remarks` are what was asked for otherwise, and do no harm.

    `n_shown` counts the words that a response was written from, None for other texts.
    """

    text: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    n_shown: int | None = None


def read_summary(reply: str, *, shown: Collection[int], n_bullets: int | None, is_cut_off: bool) -> Written:
    """Check a reply against what was shown and asked; `n_bullets` is None where any number is right.

    Blank lines are left out of the text.
    """
    text = "\n".join(split_text(reply))
    problems, remarks = [], []
    lines = bullets(lines_from_text(text))
    if is_cut_off:
        problems.append(CUT_OFF)
    if not text:
        problems.append(EMPTY)
    elif not lines:
        problems.append("It has no bullets.")
    if bare := [str(line.bullet) for line in lines if not line.citations]:
        problems.append(f"Without a citation: bullet {', '.join(bare[:MOST_NAMED])}.")
    if unknown := sorted({number for line in lines for number in line.citations} - set(shown)):
        problems.append(f"It cites what was not shown: {', '.join(map(str, unknown[:MOST_NAMED]))}.")
    if lines and n_bullets is not None and len(lines) != n_bullets:
        remarks.append(f"It has {len(lines)} bullets; {n_bullets} were asked for.")
    return Written(text, tuple(problems), tuple(remarks))


def read_running_text(reply: str, *, n_sentences: int | None, is_cut_off: bool) -> Written:
    """The summary of a source: any text is one. Another number of sentences than was asked for is remarked."""
    text = "\n".join(split_text(reply))
    problems = (*([CUT_OFF] if is_cut_off else []), *([] if text else [EMPTY]))
    n = len(sentences(text))
    is_other = n_sentences is not None and text and n != n_sentences
    remarks = (f"It has {n} sentences; {n_sentences} were asked for.",) if is_other else ()
    return Written(text, problems, remarks)


def read_response(reply: str, *, n_shown: int, is_cut_off: bool) -> Written:
    text = reply.strip()
    problems = (*([CUT_OFF] if is_cut_off else []), *([] if text else [EMPTY]))
    return Written(text, problems, n_shown=n_shown)


def read_note(reply: str, *, kind: str, document: str, is_cut_off: bool) -> Written:
    """Snippets or the summary of a document, "" where it does not help; changed snippets are remarked."""
    written = read_response(reply, n_shown=0, is_cut_off=is_cut_off)
    lines = [line.plain for line in lines_from_text(written.text) if line.plain.strip()]
    if [line.strip(" .").casefold() for line in lines] == [NOTHING]:
        return Written("")
    remarks = []
    if kind == SNIPPETS:
        source = _bare(document)
        if changed := sum(_bare(line) not in source for line in lines):
            remarks.append(f"{changed} of {len(lines)} passages are not the document's words.")
    return Written(written.text, written.problems, tuple(remarks))


def _bare(text: str) -> str:
    """Words alone, for comparing a passage with its document."""
    return f" {' '.join(_WORDS.findall(text.casefold()))} "
