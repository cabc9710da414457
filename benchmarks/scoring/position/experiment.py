"""Scores of experiments that move content (section 4.1): by place, by what stands between, and shuffled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.means import bootstrap_mean
from benchmarks.scoring.position.rouge import rouge
from benchmarks.scoring.stat import Stat


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that was written with documents arranged in some way; `item` is what it summarizes."""

    item: Hashable
    lines: Sequence[str]
    reference: Sequence[str]
    scores: Mapping[str, float | None]
    """Beside ROUGE, which is computed from the texts."""


def scored(text: Shown) -> dict[str, float | None]:
    """ROUGE F1 with the reference, from 0 to 1, and the other scores of a text."""
    return {**rouge(text.lines, text.reference), **text.scores}


def mean_scores(
    texts: Sequence[Shown], names: Sequence[str], *, resampling: Resampling = DEFAULT
) -> dict[str, Stat]:
    """The mean of each score over the texts that have it, each with its interval over items."""
    rows, items = [scored(text) for text in texts], [text.item for text in texts]
    return {
        name: bootstrap_mean([row.get(name) for row in rows], clusters=items, resampling=resampling)
        for name in names
    }


def shuffled(texts: Sequence[Shown], *, seed: int = DEFAULT.seed) -> list[Shown]:
    """Each text beside the reference of another item: what a summary of something else would score.

    Items are put in a random order and each takes the reference of the next, so that none keeps its own. The other
    scores are left out, since they are of the text with its own item. Nothing where there is only one item.
    """
    references = {text.item: text.reference for text in texts}
    if len(references) < 2:
        return []
    items = sorted(references, key=lambda item: tuple(references[item]))
    order = np.random.default_rng(seed).permutation(len(items))
    next_of = {items[order[at]]: items[order[(at + 1) % len(items)]] for at in range(len(items))}
    return [Shown(text.item, text.lines, references[next_of[text.item]], {}) for text in texts]


def relative(means: Mapping[str, Stat], baseline: Mapping[str, Stat]) -> float | None:
    """The mean over scores of mean / mean of the baseline; None where no score is known of both (Table 3's %)."""
    shares = [
        stat.value / other.value
        for name, stat in means.items()
        if stat.value is not None and (other := baseline.get(name)) is not None and other.value
    ]
    return fmean(shares) if shares else None
