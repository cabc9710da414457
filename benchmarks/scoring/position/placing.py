"""A text and its reference in the same documents, and what many such texts say of a system or of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from benchmarks.scoring.means import bootstrap_ratio
from benchmarks.scoring.position.curves import (
    Comparison,
    Curve,
    Distance,
    kolmogorov_smirnov,
    pair_curve,
    pooled_cells,
    sentence_curve,
    spearman,
)
from benchmarks.scoring.position.rouge import NAMES, rouge
from benchmarks.scoring.position.source import Shown
from benchmarks.scoring.position.spread import CELLS, SENTENCE_BINS, Spread, spread
from benchmarks.scoring.stat import Stat

FIFTH, TENTH = CELLS // 5, SENTENCE_BINS // 10


@dataclass(frozen=True, slots=True)
class Placement:
    """A text and its reference in what the writer was shown, with ROUGE F1 scores of the two from 0 to 1."""

    text: Spread
    reference: Spread
    rouge: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """One text of a system or of people; `subtopic` is what it shares with others, `scores` are a judge's."""

    entry: str
    subtopic: int
    placement: Placement
    scores: Mapping[str, float | None] = field(default_factory=dict)

    def score(self, name: str) -> float | None:
        """A ROUGE score or one of the judge's, None where there is none."""
        return self.placement.rouge[name] if name in NAMES else self.scores.get(name)


@dataclass(frozen=True, slots=True)
class Positions:
    """Where the texts of one system, or of people, take their content from.

    `ks` compares their pairs of words with those of the reference, `ks_people` with those of people on the
    subtopics that both wrote on. `shares` are those of the content in the first and the last fifth of the words
    (`first`, `last`) and tenth of the sentences (`first_tenth`, `last_tenth`). `mean_word` is the mean position of
    the reference's content; `by_position` has Spearman's ρ of that position with each score.
    """

    entry: str
    n_texts: int
    pairs: Curve
    reference_pairs: Curve
    ks: Distance
    ks_people: Distance | None
    sentences: Curve
    reference_sentences: Curve
    mean_word: float | None
    by_position: Mapping[str, Comparison]
    shares: Mapping[str, Stat]


def reference_spread(reference: Sequence[str], shown: Shown, whole: Shown) -> Spread:
    """The reference in what was visible, with the position of its content in the whole source.

    The mean position is left out where it lies beyond what was visible (section 3.3).
    """
    visible = spread(reference, shown)
    if shown.visible_words is None:
        return visible
    whole_spread = spread(reference, whole)
    mean = whole_spread.mean_word
    is_visible = mean is not None and mean <= shown.visible_words
    return replace(visible, mean_word=mean if is_visible else None, first_word=whole_spread.first_word)


def place(lines: Sequence[str], reference: Sequence[str], shown: Shown, *, of_reference: Spread) -> Placement:
    """Place a text, given as lines; the spread of the reference is given, as many texts share it."""
    return Placement(spread(lines, shown), of_reference, rouge(lines, reference))


def positions(
    entry: str, texts: Sequence[Placed], *, scores: Iterable[str], people: Sequence[Placed] = ()
) -> Positions:
    """Pool the texts of one entry; `people` are those of people, to compare with."""
    ours = [text.placement.text for text in texts]
    references = [text.placement.reference for text in texts]
    cells, of_references = pooled_cells(ours), pooled_cells(references)
    means = [text.mean_word for text in references]
    known = [mean for mean in means if mean is not None]
    return Positions(
        entry=entry,
        n_texts=len(texts),
        pairs=pair_curve(cells),
        reference_pairs=pair_curve(of_references),
        ks=kolmogorov_smirnov(cells, of_references),
        ks_people=_to_people(texts, people),
        sentences=sentence_curve(ours),
        reference_sentences=sentence_curve(references),
        mean_word=fmean(known) if known else None,
        by_position={name: spearman(means, [text.score(name) for text in texts]) for name in (*scores, *NAMES)},
        shares=shares_of(texts),
    )


def shares_of(texts: Sequence[Placed]) -> dict[str, Stat]:
    """How much of the content stands in the first and the last fifth or tenth, with intervals over subtopics."""
    cells = np.array([text.placement.text.cells for text in texts], dtype=np.int64)
    sentences = np.array([text.placement.text.sentences for text in texts], dtype=np.int64)
    chosen = {
        "first": (cells, slice(0, FIFTH)),
        "last": (cells, slice(-FIFTH, None)),
        "first_tenth": (sentences, slice(0, TENTH)),
        "last_tenth": (sentences, slice(-TENTH, None)),
    }
    return {
        name: bootstrap_ratio(
            counts[:, part].sum(axis=1),
            counts.sum(axis=1),
            clusters=[text.subtopic for text in texts],
            method="share of matches pooled over texts",
            reason="no content was found in the documents",
            bounds=(0.0, 1.0),
        )
        for name, (counts, part) in chosen.items()
    }


def _to_people(texts: Sequence[Placed], people: Sequence[Placed]) -> Distance | None:
    common = {text.subtopic for text in texts} & {text.subtopic for text in people}
    if not common:
        return None
    ours, theirs = (
        pooled_cells(text.placement.text for text in side if text.subtopic in common) for side in (texts, people)
    )
    return kolmogorov_smirnov(ours, theirs)
