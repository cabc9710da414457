"""A response in pieces without a model: its sentences and list lines. It splits, it extracts nothing.

A sentence that makes two points stays one, and one that leans on the sentence before it is not made whole.
"""

from __future__ import annotations

from benchmarks.judges.lexical_terms import sentences
from benchmarks.scoring.text import LineKind, lines_from_text

FEWEST_WORDS = 3


def split_points(text: str) -> list[str]:
    """Sentences without list marks and citations; headings, lead-ins and scraps under three words are left out."""
    points: list[str] = []
    for line in lines_from_text(text):
        if line.kind is not LineKind.HEADER:
            parts = (part for part in sentences(line.plain) if not part.endswith((":", "：")))
            points += (part for part in parts if len(part.split()) >= FEWEST_WORDS)
    return list(dict.fromkeys(points))
