"""What came back as a summary: its text as it is stored, and whether it is bullets with citations."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from benchmarks.scoring.text import bullets, lines_from_text, split_text

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
MOST_NAMED = 5


@dataclass(frozen=True)
class SummaryText:
    """A text and what is wrong with it; `remarks` are what was asked for otherwise, and do no harm."""

    text: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_summary(reply: str, *, shown: Collection[int], n_bullets: int | None, is_cut_off: bool) -> SummaryText:
    """Check a reply against what was shown and asked; `n_bullets` is None where any number is right.

    Blank lines, and what a model thinks aloud before it answers, are left out of the text.
    """
    text = "\n".join(split_text(_THOUGHTS.sub("", reply)))
    problems, remarks = [], []
    found = bullets(lines_from_text(text))
    if is_cut_off:
        problems.append("It was cut off at the limit of its length.")
    if not text:
        problems.append("It is empty.")
    elif not found:
        problems.append("It has no bullets.")
    if bare := [str(line.bullet) for line in found if not line.citations]:
        problems.append(f"Without a citation: bullet {', '.join(bare[:MOST_NAMED])}.")
    if unknown := sorted({number for line in found for number in line.citations} - set(shown)):
        problems.append(f"It cites what was not shown: {', '.join(map(str, unknown[:MOST_NAMED]))}.")
    if found and n_bullets is not None and len(found) != n_bullets:
        remarks.append(f"It has {len(found)} bullets; {n_bullets} were asked for.")
    return SummaryText(text, tuple(problems), tuple(remarks))
