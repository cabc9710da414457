"""What came back as a summary, a response or a note on a document: its text as it is stored, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from benchmarks.scoring.spread import sentences
from benchmarks.scoring.text import bullets, lines_from_text, split_text
from benchmarks.summarizers.conditions import NOTHING, SNIPPETS

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
    """A reply as a response."""
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
