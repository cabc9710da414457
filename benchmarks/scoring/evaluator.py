"""How far people confirm the judge behind key point recall (Long²RAG, section 6.2), and agree themselves.

Entailed or not is what recall counts, so neutral is not entailed; the three answers are kept beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.scoring.agreement import cohen_kappa, percent_agreement, randolph_kappa
from benchmarks.scoring.comparison import mean_over_annotators
from benchmarks.scoring.intervals import (
    DEFAULT,
    Figure,
    Floats,
    Ints,
    Resampling,
    bootstrap,
    divide,
    rate,
    sum_by_cluster,
)
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat

ANSWERS = ("yes", "neutral", "no")
JUDGE = "judge"
ENTAILED = {"yes": "entailed", "neutral": "not entailed", "no": "not entailed"}


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

    `ratings` are in `ANSWERS`, an item a pair of response and key point, clustered by response; `verdicts` says
    how often the judge gave each answer anywhere, the sample included.
    """
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
            "cohen": mean_over_annotators([cohen_kappa(only_people.only(pair)) for pair in only_people.pairs()]),
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
            answer: accuracy_where(ratings, _judge(ratings) == code) for code, answer in enumerate(ANSWERS)
        },
        n_items=int((ratings.only(names).codes != MISSING).any(axis=1).sum()) if names else 0,
    )


def accuracy_where(ratings: Ratings, mask: object, *, resampling: Resampling = DEFAULT) -> Stat:
    """Accuracy, entailed or not, over all answers of people to the items of `mask`, shape (items,)."""
    part = ratings.items(np.asarray(mask, dtype=bool)).merged(ENTAILED)
    hits, clusters = _pooled(part)
    return rate(hits, clusters=clusters, resampling=resampling, method="accuracy")


def _against(ratings: Ratings, merged: Ratings, name: str, resampling: Resampling) -> AgainstPerson:
    three, two = ratings.both_rated(name, JUDGE), merged.both_rated(name, JUDGE)
    same = {"clusters": two.clusters, "resampling": resampling}
    stats = {
        "accuracy": rate(two.codes[:, 0] == two.codes[:, 1], method="accuracy", **same),  # type: ignore[arg-type]
        "accuracy_three": rate(three.codes[:, 0] == three.codes[:, 1], method="accuracy, three answers", **same),  # type: ignore[arg-type]
        "cohen": cohen_kappa(two, resampling=resampling),
        "randolph": randolph_kappa(two, resampling=resampling),
        "randolph_three": randolph_kappa(three, resampling=resampling),
    }
    confusion = {
        person: {
            judge: int(((three.codes[:, 0] == row) & (three.codes[:, 1] == column)).sum())
            for column, judge in enumerate(ANSWERS)
        }
        for row, person in enumerate(ANSWERS)
    }
    return AgainstPerson(name, stats, confusion)


def _mean(
    merged: Ratings, against: Sequence[AgainstPerson], names: Sequence[str], resampling: Resampling
) -> dict[str, Stat]:
    """The mean over annotators of each figure; that of accuracy with an interval."""
    figures = list(against[0].stats) if against else []
    found = {name: mean_over_annotators([one.stats[name] for one in against]) for name in figures}
    if "accuracy" not in found or found["accuracy"].value is None:
        return found
    judge, n = _judge(merged), len(names)
    rows = np.zeros((len(merged.codes), 2 * n))
    for place, name in enumerate(names):
        own = merged.codes[:, merged.raters.index(name)]
        both = (own != MISSING) & (judge != MISSING)
        rows[:, place], rows[:, n + place] = both & (own == judge), both
    kept = rows[:, n:].any(axis=1)
    clusters = _kept(merged.clusters, kept)

    def figure(totals: Floats) -> Floats:
        # A person of whom nothing was drawn takes no part in the mean
        shares = divide(totals[:, :n], totals[:, n:])
        known = np.isfinite(shares)
        return divide(np.where(known, shares, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))

    interval = bootstrap(
        figure, sum_by_cluster(rows[kept], clusters), n_items=int(kept.sum()), resampling=resampling
    )
    found["accuracy"] = interval.on(found["accuracy"])
    return found


def _weighted(
    ratings: Ratings, merged: Ratings, names: Sequence[str], verdicts: Mapping[str, int], resampling: Resampling
) -> Stat:
    """Accuracy within each answer of the judge, weighted by how often it gives that answer."""
    method = "accuracy, weighted to all verdicts"
    total = sum(verdicts.values())
    judge_three, judge = _judge(ratings), _judge(merged)
    rows, clusters = np.zeros((len(ratings.codes), 2 * len(ANSWERS))), ratings.clusters
    for name in names:
        own = merged.codes[:, merged.raters.index(name)]
        both = (own != MISSING) & (judge != MISSING)
        for code in range(len(ANSWERS)):
            inside = both & (judge_three == code)
            rows[:, code] += inside & (own == judge)
            rows[:, len(ANSWERS) + code] += inside
    n_items = int(rows[:, len(ANSWERS) :].any(axis=1).sum())
    if not total or not n_items:
        return Stat.undefined("no verdict was answered by a person", n_items=n_items, method=method)
    shares = np.array([verdicts.get(answer, 0) / total for answer in ANSWERS])
    counts = rows.sum(axis=0)[len(ANSWERS) :]
    lacking = [answer for answer, share, n in zip(ANSWERS, shares, counts, strict=True) if share and not n]
    if lacking:
        reason = f"no verdict “{lacking[0]}” was answered by a person"
        return Stat.undefined(reason, n_items=n_items, method=method)
    figure = _weighted_figure(shares)
    value = float(figure(rows.sum(axis=0)[None, :])[0])
    interval = bootstrap(figure, sum_by_cluster(rows, clusters), n_items=n_items, resampling=resampling)
    return interval.on(Stat(value, n_items=n_items, method=method))


def _weighted_figure(shares: Floats) -> Figure:
    used = shares > 0

    def figure(totals: Floats) -> Floats:
        q = len(shares)
        accuracies = divide(totals[:, :q], totals[:, q:])
        weighted: Floats = (accuracies[:, used] * shares[used]).sum(axis=1)
        return weighted

    return figure


def _pooled(merged: Ratings) -> tuple[Floats, list[Hashable] | None]:
    """Whether each answer of a person equals the judge's, with the cluster of its item."""
    judge = _judge(merged)
    hits: list[float] = []
    clusters: list[Hashable] = []
    for column, name in enumerate(merged.raters):
        if name == JUDGE:
            continue
        own = merged.codes[:, column]
        for item in np.flatnonzero((own != MISSING) & (judge != MISSING)):
            hits.append(float(own[item] == judge[item]))
            clusters.append(int(item) if merged.clusters is None else merged.clusters[item])
    return np.array(hits), clusters


def _judge(ratings: Ratings) -> Ints:
    return ratings.codes[:, ratings.raters.index(JUDGE)]


def _kept(clusters: Sequence[Hashable] | None, mask: Any) -> list[Hashable] | None:
    return None if clusters is None else [key for key, keep in zip(clusters, mask, strict=True) if keep]
