"""Where texts take their content from, pooled, compared and set against scores (§3 and 4); scores of sources.

Scores on texts whose content lies late stand beside random subsets; those of experiments by what was moved. A
source belongs to a dataset (MiddleSum, Tables 5 and 8). Two means, both named: over all sources, and over
datasets, each counting alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, variance

import numpy as np

from benchmarks.scoring.formulas import with_student
from benchmarks.scoring.intervals import bootstrap_mean, bootstrap_ratio
from benchmarks.scoring.spread import BINS, CELLS, NAMES, SENTENCE_BINS, Ints, Shown, Spread, rouge, spread
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import TOKENS_PER_WORD
from benchmarks.scoring.sums import DEFAULT, LEVEL

SIGNIFICANT = 0.05
MIN_POINTS = 3


@dataclass(frozen=True, slots=True)
class Curve:
    """Shares of the content of texts by bin of what they were shown; None where there is no content."""

    bins: tuple[float, ...] | None
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test with its p-value, or the reason why there is none."""

    value: float | None
    p: float | None
    n: int
    reason: str = ""

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p <= SIGNIFICANT


def pooled_cells(spreads: Iterable[Spread]) -> Ints:
    rows = [spread.cells for spread in spreads]
    return np.array(rows, dtype=np.int64).reshape(-1, CELLS).sum(axis=0)


def pair_curve(cells: Ints) -> Curve:
    """Shares of matched pairs of words in 20 bins of equal words."""
    return _curve(cells.reshape(BINS, -1).sum(axis=1))


def sentence_curve(spreads: Iterable[Spread]) -> Curve:
    """Shares of the sentences that texts follow in 10 bins of sentences."""
    rows = [spread.sentences for spread in spreads]
    return _curve(np.array(rows, dtype=np.int64).reshape(-1, SENTENCE_BINS).sum(axis=0))


def _curve(counts: Ints) -> Curve:
    n = int(counts.sum())
    return Curve(tuple((counts / n).tolist()) if n else None, n)


def kolmogorov_smirnov(first: Ints, second: Ints) -> Stat:
    """The largest distance of two cumulated distributions given as cells, thousandths of what was shown.

    It has no p-value: matches of one text are not independent, so a test that takes them so rejects too often.
    """
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return Stat.undefined("no pair of words was found in the documents", n_items=n)
    apart = np.abs(np.cumsum(first) / n - np.cumsum(second) / m).max()
    return Stat(float(apart), n_items=n, method="Kolmogorov–Smirnov distance")


def spearman(positions: Sequence[float | None], scores: Sequence[float | None]) -> Comparison:
    """Spearman's ρ of the mean position with a score, over texts that have both (section 3.3)."""
    from scipy.stats import spearmanr

    both = [(x, y) for x, y in zip(positions, scores, strict=True) if x is not None and y is not None]
    if len(both) < MIN_POINTS:
        return Comparison(None, None, len(both), f"under {MIN_POINTS} texts with both")
    xs, ys = zip(*both, strict=True)
    if len(set(xs)) == 1 or len(set(ys)) == 1:
        return Comparison(None, None, len(both), "one side is constant")
    correlation = spearmanr(xs, ys)
    return Comparison(float(correlation.statistic), float(correlation.pvalue), len(both))


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
    ks: Stat
    ks_people: Stat | None
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
    common = {text.subtopic for text in texts} & {text.subtopic for text in people}
    shared = (
        pooled_cells(text.placement.text for text in side if text.subtopic in common) for side in (texts, people)
    )
    return Positions(
        entry=entry,
        n_texts=len(texts),
        pairs=pair_curve(cells),
        reference_pairs=pair_curve(of_references),
        ks=kolmogorov_smirnov(cells, of_references),
        ks_people=kolmogorov_smirnov(*shared) if common else None,
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


LATE_FROM = 1_200
"""Words before the earliest sentence that the reference follows, at least."""
MIN_TEXTS = 5
"""No comparison with fewer late texts, or with fewer others."""


@dataclass(frozen=True, slots=True)
class Late:
    """The mean score of texts whose content lies late, and of random subsets of all texts of the same size.

    `low` and `high` hold 95 of 100 such subsets; `share_below` is the share of them whose mean is lower, half of
    the equal ones counted. `value` is None, with a reason, where there are too few texts.
    """

    value: float | None
    n: int
    n_all: int
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    share_below: float | None = None
    reason: str = ""


def is_late(text: Placed, *, from_word: int = LATE_FROM) -> bool:
    """Whether the reference follows some sentence, and none that starts before this many words."""
    first = text.placement.reference.first_word
    return first is not None and first >= from_word


def late_score(texts: Sequence[Placed], score: str, *, from_word: int = LATE_FROM) -> Late:
    """Compare a score on late texts with that on random subsets, drawn without putting texts back."""
    scored = ((text.score(score), is_late(text, from_word=from_word)) for text in texts)
    known = [(value, late, "") for value, late in scored if value is not None]
    reason = f"under {MIN_TEXTS} texts whose content lies late, or of the others"
    return beside_random(known, reason=reason)


def beside_random(texts: Sequence[tuple[float, bool, str]], *, reason: str) -> Late:
    """Compare the mean of chosen values with those of random subsets of all that take as many of each group.

    `texts` are (value, whether it is chosen, group); `reason` says what is missing where few are chosen or left.
    """
    n, n_all = sum(chosen for _value, chosen, _group in texts), len(texts)
    if min(n, n_all - n) < MIN_TEXTS:
        return Late(None, n, n_all, reason=reason)
    dice = np.random.default_rng(DEFAULT.seed)
    total, expected = np.zeros(DEFAULT.n_resamples), 0.0
    for group in sorted({group for _value, _chosen, group in texts}):
        known = sorted((value, chosen) for value, chosen, its in texts if its == group)  # drawn in this order
        values = np.array([value for value, _chosen in known], dtype=np.float64)
        size = sum(chosen for _value, chosen in known)
        if size == 0:
            continue
        expected += size * float(values.mean())
        keys = dice.random((DEFAULT.n_resamples, len(values)))
        taken = np.argpartition(keys, size - 1, axis=1)[:, :size] if size < len(values) else slice(None)
        total += values[taken].sum(axis=1) if size < len(values) else values.sum()
    means = total / n
    value = sum(value for value, chosen, _group in texts if chosen) / n
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Late(
        value,
        n,
        n_all,
        expected=expected / n,
        low=float(low),
        high=float(high),
        share_below=float(np.mean(means < value - 1e-9) + np.mean(np.abs(means - value) <= 1e-9) / 2),
    )


@dataclass(frozen=True, slots=True)
class Written:
    """A text that was written with documents arranged in some way; `item` is what it summarizes."""

    item: Hashable
    lines: Sequence[str]
    reference: Sequence[str]
    scores: Mapping[str, float | None]
    """Beside ROUGE, which is computed from the texts."""


def scored(text: Written) -> dict[str, float | None]:
    """ROUGE F1 with the reference, from 0 to 1, and the other scores of a text."""
    return {**rouge(text.lines, text.reference), **text.scores}


def mean_scores(texts: Sequence[Written], names: Sequence[str]) -> dict[str, Stat]:
    """The mean of each score over the texts that have it, each with its interval over items."""
    rows, items = [scored(text) for text in texts], [text.item for text in texts]
    return {name: bootstrap_mean([row.get(name) for row in rows], clusters=items) for name in names}


def shuffled(texts: Sequence[Written], *, seed: int = DEFAULT.seed) -> list[Written]:
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
    return [Written(text.item, text.lines, references[next_of[text.item]], {}) for text in texts]


def relative(means: Mapping[str, Stat], baseline: Mapping[str, Stat]) -> float | None:
    """The mean over scores of mean / mean of the baseline; None where no score is known of both (Table 3's %)."""
    shares = [
        stat.value / other.value
        for name, stat in means.items()
        if stat.value is not None and (other := baseline.get(name)) is not None and other.value
    ]
    return fmean(shares) if shares else None


WINDOWS = (2_048, 4_096, 8_192, 16_384, 32_768)
"""Lengths of context windows, in tokens (Figure 8)."""
MIN_OF_DATASET = 4
"""Sources that each dataset needs for an interval of their mean."""
OVER_DATASETS = "mean of the means of datasets"


@dataclass(frozen=True, slots=True)
class Scored:
    """A system's scores on one source; a measure that a text does not have is missing."""

    item: int
    dataset: str
    values: Mapping[str, float]


def mean_over_sources(texts: Sequence[Scored], measure: str) -> Stat:
    """The mean over the sources whose text has the measure, with an interval over sources."""
    known = sorted((text.values[measure], text.item) for text in texts if measure in text.values)
    return bootstrap_mean([value for value, _item in known], reason="no text has it")


def mean_over_datasets(texts: Sequence[Scored], measure: str) -> Stat:
    """The mean of the means of datasets, as the columns AVG of Table 5.

    The interval takes datasets as given and sources of each as a sample: the variances of means added up,
    Student's t with degrees of freedom after Satterthwaite. Without one where a dataset has too few sources.
    """
    return _over_strata(_by_dataset({(text.dataset, text.item): text.values.get(measure) for text in texts}))


def difference(first: Sequence[Scored], second: Sequence[Scored], measure: str) -> Stat:
    """The first less the second on the sources that both have the measure of, with an interval over these."""
    apart = sorted(_apart(first, second, measure).values())
    return bootstrap_mean(apart, method="mean difference on the same sources", reason="no source in common")


def difference_over_datasets(first: Sequence[Scored], second: Sequence[Scored], measure: str) -> Stat:
    """The mean over datasets of their mean differences on the same sources."""
    return _over_strata(_by_dataset(_apart(first, second, measure)))


def _apart(first: Sequence[Scored], second: Sequence[Scored], measure: str) -> dict[tuple[str, int], float]:
    theirs = {text.item: text.values[measure] for text in second if measure in text.values}
    return {
        (text.dataset, text.item): text.values[measure] - theirs[text.item]
        for text in first
        if measure in text.values and text.item in theirs
    }


def _by_dataset(values: Mapping[tuple[str, int], float | None]) -> dict[str, list[float]]:
    by_dataset: dict[str, list[float]] = defaultdict(list)
    for (dataset, _item), value in values.items():
        if value is not None:
            by_dataset[dataset].append(value)
    return by_dataset


def _over_strata(strata: Mapping[str, Sequence[float]]) -> Stat:
    if not strata:
        return Stat.undefined("no text has it", method=OVER_DATASETS)
    n_items = sum(len(values) for values in strata.values())
    stat = Stat(fmean(map(fmean, strata.values())), n_items=n_items, method=OVER_DATASETS)
    if min(len(values) for values in strata.values()) < MIN_OF_DATASET:
        return replace(stat, interval_reason=f"no interval with under {MIN_OF_DATASET} sources in a dataset")
    parts = [(variance(values) / len(values), len(values) - 1) for values in strata.values()]
    total = sum(part for part, _df in parts)
    if not total:
        return replace(stat, interval_reason="all sources of a dataset have the same score")
    df = total**2 / sum(part**2 / df for part, df in parts)
    return with_student(stat, math.sqrt(total) / len(parts), df, method=f"{OVER_DATASETS}, Student's t")


def visible_share(n_words: Sequence[int], window: int) -> float:
    """The mean share of sources, given by their words, that fits into a window of so many tokens."""
    return fmean(min(1.0, window / (TOKENS_PER_WORD * words)) if words else 1.0 for words in n_words)
