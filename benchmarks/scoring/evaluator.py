"""How far people confirm the judge behind key point recall (Long²RAG, section 6.2), and agree themselves.

Entailed or not is what recall counts, so neutral is not entailed; the three answers are kept beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.scoring.agreement import cohen_kappa, percent_agreement, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.formulas import SHARE, Figure, Formula
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment
from benchmarks.scoring.means import figure_of, rate
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat, mean_of_stats
from benchmarks.scoring.sums import Bools, Floats, Ints, divide, mean_of_ratios

JUDGE = "judge"
ENTAILED = {
    Entailment.YES.value: "entailed",
    Entailment.NEUTRAL.value: "not entailed",
    Entailment.NO.value: "not entailed",
}
MEAN_OVER_ANNOTATORS = "mean over annotators"
NO_FIGURE = "no annotator has this figure"


@dataclass(frozen=True, slots=True)
class AgainstPerson:
    """The judge against one annotator. `confusion[person][judge]` counts the three answers."""

    name: str
    stats: Mapping[str, Stat]
    confusion: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two annotators on what both answered, entailed or not."""

    first: str
    second: str
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judge against each annotator and their mean, people among themselves as the ceiling, and parts.

    `weighted` is the accuracy of all verdicts of the judge, where the sample took its answers in other shares.
    """

    people: tuple[AgainstPerson, ...]
    mean: Mapping[str, Stat]
    weighted: Stat
    ceiling: Mapping[str, Stat]
    pairs: tuple[Pair, ...]
    by_answer: Mapping[str, Stat]
    n_items: int


def evaluate(ratings: Ratings, *, verdicts: Mapping[str, int], resampling: Resampling = DEFAULT) -> Evaluation:
    """Compare the column `judge` with all others.

    `ratings` are in `ENTAILMENTS`, an item a pair of response and key point, clustered by response; `verdicts`
    says how often the judge gave each answer anywhere, the sample included.
    """
    with shared_draws():
        return _evaluation(ratings, verdicts, resampling)


def _evaluation(ratings: Ratings, verdicts: Mapping[str, int], resampling: Resampling) -> Evaluation:
    names = tuple(name for name in ratings.raters if name != JUDGE)
    merged = ratings.merged(ENTAILED)
    against = tuple(_against(ratings, merged, name, resampling) for name in names)
    only_people = merged.only(names)
    return Evaluation(
        people=against,
        mean=_mean(merged, against, names, resampling),
        weighted=_weighted(ratings, merged, names, verdicts, resampling),
        ceiling={
            "percent": percent_agreement(only_people, resampling=resampling),
            "randolph": randolph_kappa(only_people, resampling=resampling),
            "randolph_three": randolph_kappa(ratings.only(names), resampling=resampling),
            "cohen": _mean_over_annotators([cohen_kappa(only_people.only(pair)) for pair in only_people.pairs()]),
        },
        pairs=tuple(
            Pair(
                *pair,
                {
                    "percent": percent_agreement(only_people.only(pair), resampling=resampling),
                    "cohen": cohen_kappa(only_people.only(pair), resampling=resampling),
                    "randolph": randolph_kappa(only_people.only(pair), resampling=resampling),
                },
            )
            for pair in only_people.pairs()
        ),
        by_answer={
            answer: accuracy_where(ratings, _judge(ratings) == code) for code, answer in enumerate(ENTAILMENTS)
        },
        n_items=int((ratings.only(names).codes != MISSING).any(axis=1).sum()) if names else 0,
    )


def accuracy_where(ratings: Ratings, mask: object, *, resampling: Resampling = DEFAULT) -> Stat:
    """Accuracy, entailed or not, over all answers of people to the items of `mask`, shape (items,)."""
    part = ratings.items(np.asarray(mask, dtype=bool)).merged(ENTAILED)
    hits, counted = _hits(part, [name for name in part.raters if name != JUDGE])
    column, item = np.nonzero(counted.T)
    keys = item.tolist() if part.clusters is None else [part.clusters[at] for at in item.tolist()]
    return rate(hits[item, column], clusters=keys, resampling=resampling, method="accuracy")


def _against(ratings: Ratings, merged: Ratings, name: str, resampling: Resampling) -> AgainstPerson:
    three, two = ratings.both_rated(name, JUDGE), merged.both_rated(name, JUDGE)

    def accuracy(pair: Ratings, method: str) -> Stat:
        hits = pair.codes[:, 0] == pair.codes[:, 1]
        return rate(hits, clusters=pair.clusters, resampling=resampling, method=method)

    stats = {
        "accuracy": accuracy(two, "accuracy"),
        "accuracy_three": accuracy(three, "accuracy, three answers"),
        "cohen": cohen_kappa(two, resampling=resampling),
        "randolph": randolph_kappa(two, resampling=resampling),
        "randolph_three": randolph_kappa(three, resampling=resampling),
    }
    confusion = {
        person: {
            judge: int(((three.codes[:, 0] == row) & (three.codes[:, 1] == column)).sum())
            for column, judge in enumerate(ENTAILMENTS)
        }
        for row, person in enumerate(ENTAILMENTS)
    }
    return AgainstPerson(name, stats, confusion)


def _mean(
    merged: Ratings, against: Sequence[AgainstPerson], names: Sequence[str], resampling: Resampling
) -> dict[str, Stat]:
    """The mean over annotators of each figure; that of accuracy with an interval."""
    figures = list(against[0].stats) if against else []
    means = {name: _mean_over_annotators([comparison.stats[name] for comparison in against]) for name in figures}
    if "accuracy" not in means or means["accuracy"].value is None:
        return means
    hits, counted = _hits(merged, names)
    kept: Bools = counted.sum(axis=1) > 0
    stat = figure_of(
        Figure(MEAN_OVER_ANNOTATORS, mean_of_ratios, NO_FIGURE, SHARE),
        np.hstack([hits, counted])[kept],
        clusters=merged.clusters_of(kept),
        n_items=int(kept.sum()),
        resampling=resampling,
    )
    means["accuracy"] = replace(stat, n_items=means["accuracy"].n_items)
    return means


def _weighted(
    ratings: Ratings, merged: Ratings, names: Sequence[str], verdicts: Mapping[str, int], resampling: Resampling
) -> Stat:
    """Accuracy within each answer of the judge, weighted by how often it gives that answer."""
    method = "accuracy, weighted to all verdicts"
    total = sum(verdicts.values())
    hits, counted = (side.sum(axis=1) for side in _hits(merged, names))
    said = _judge(ratings)[:, None] == np.arange(len(ENTAILMENTS))
    rows = np.hstack([hits[:, None] * said, counted[:, None] * said])
    n_items = int((counted > 0).sum())
    if not total or not n_items:
        return Stat.undefined("no verdict was answered by a person", n_items=n_items, method=method)
    shares = np.array([verdicts.get(answer, 0) / total for answer in ENTAILMENTS])
    counts = rows.sum(axis=0)[len(ENTAILMENTS) :]
    missing = [answer for answer, share, n in zip(ENTAILMENTS, shares, counts, strict=True) if share and not n]
    reason = f"no verdict “{missing[0]}” was answered by a person" if missing else ""
    figure = Figure(method, _weighted_by(shares), reason, SHARE)
    return figure_of(figure, rows, clusters=ratings.clusters, n_items=n_items, resampling=resampling)


def _weighted_by(shares: Floats) -> Formula:
    used = shares > 0

    def formula(totals: Floats) -> Floats:
        q = len(shares)
        accuracies = divide(totals[:, :q], totals[:, q:])
        weighted: Floats = (accuracies[:, used] * shares[used]).sum(axis=1)
        return weighted

    return formula


def _mean_over_annotators(stats: Sequence[Stat]) -> Stat:
    return mean_of_stats(stats, method=MEAN_OVER_ANNOTATORS, reason=NO_FIGURE)


def _hits(merged: Ratings, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Whether each annotator equals the judge, and whether both answered: each of shape (items, annotators)."""
    judge = _judge(merged)[:, None]
    person = merged.only(names).codes
    both = (person != MISSING) & (judge != MISSING)
    return (both & (person == judge)).astype(np.float64), both.astype(np.float64)


def _judge(ratings: Ratings) -> Ints:
    return ratings.codes[:, ratings.raters.index(JUDGE)]
