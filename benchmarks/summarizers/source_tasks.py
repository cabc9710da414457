"""How long summaries of sources are to be: the same for a whole dataset, never the length of a source's reference.

The paper asks for a fixed number of sentences, about the mean of a dataset's references, and bounds the tokens of
the reply (On Context Utilization in Summarization, sections 2 and A, Table 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

STEPS = (64, 128, 192, 384, 512, 768)
"""Limits of tokens in the paper."""
ROOM = 2.5
"""Tokens for a word of the references, where the paper does not know a dataset."""


@dataclass(frozen=True, slots=True)
class SourceTask:
    """So many sentences, in at most so many new tokens."""

    n_sentences: int
    new_tokens: int


PAPER = {
    "cnndm": SourceTask(3, 192),
    "xsum": SourceTask(1, 64),
    "reddittifu": SourceTask(2, 128),
    "samsum": SourceTask(2, 128),
    "multixscience": SourceTask(5, 384),
    "arxiv": SourceTask(6, 512),
    "pubmed": SourceTask(7, 512),
    "govreport": SourceTask(22, 768),
    "summscreenfd": SourceTask(5, 512),
    "multinews": SourceTask(10, 512),
}
_ALSO = {
    "cnndailymail": "cnndm",
    "reddittifulong": "reddittifu",
    "multix": "multixscience",
    "summscreen": "summscreenfd",
}


def usual_task(dataset: str, references: Sequence[Sequence[str]]) -> SourceTask:
    """The paper's task for a dataset of this name, else one of the mean length of references (as sentences)."""
    name = re.sub(r"[^a-z0-9]", "", dataset.lower()).removeprefix("middlesum")
    known = PAPER.get(_ALSO.get(name, name))
    if known is not None:
        return known
    lengths = [
        (len(sentences), sum(len(sentence.split()) for sentence in sentences)) for sentences in references
    ] or [(1, 0)]
    n_words = fmean(words for _n, words in lengths)
    return SourceTask(
        max(1, round(fmean(n for n, _words in lengths))),
        next((step for step in STEPS if step >= ROOM * n_words), STEPS[-1]),
    )
