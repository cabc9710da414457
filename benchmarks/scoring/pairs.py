"""Every figure of two raters, from one cross table per cluster and the hits of each linking rule.

Cross tables are flat, q² cells, row by row: the first rater's category, then the second's.

Whether two raters point at the same line is said by three rules. `linking`, the headline: both say covered and
both link; a hit is a shared line. `linking_authors`: the judge links exactly one line and the human any, whatever
the labels, which is what the paper's numbers are. `linking_strict`: all that the human covers and links; no link
of the judge is a miss.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.scoring.agreement import (
    ONE_ALLOWED,
    ONE_USED,
    Level,
    Weights,
    above_chance,
    alpha_formula,
    cohen_formula,
    minority_of_table,
)
from benchmarks.scoring.formulas import COEFFICIENT, SHARE, Figure, Formula, Rate
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.ranking import MIN_POINTS, r_of_moments
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Verdict
from benchmarks.scoring.sums import Bools, Floats, Ints, People, divide, ratio

Masks = NDArray[np.object_]
"""Linked lines of each label as the bits of a whole number of any size; 0 is no link."""
LINKING = ("linking", "linking_authors", "linking_strict")
CHANCE = "linking_chance"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One rater's labels of all items: codes (-1: none), links, and which links the authors' rule counts."""

    codes: Ints
    links: Masks
    is_single: Bools


@dataclass(frozen=True, slots=True)
class Compared:
    """One insight of one summary as a human and a judge (or another human) saw it.

    None is no (valid) verdict. `n_lines` are the lines one could have linked; `cluster` the summary, subtopic
    or question that is resampled. `judge_gave_list` marks an imported answer that was a list, even of one line:
    the authors' rule passes over those.
    """

    human: Verdict | None
    judge: Verdict | None
    cluster: Hashable = None
    n_lines: int | None = None
    judge_gave_list: bool = False


def mask_of(lines: Iterable[int]) -> int:
    mask = 0
    for line in lines:
        mask |= 1 << line
    return mask


def link_hits(first: Column, second: Column, *, has_covered: bool) -> dict[str, tuple[Bools, Bools]]:
    """By rule, which items are hits and which are counted; `second` is the judge where a rule tells them apart.

    With `has_covered` the first category means that nothing is covered.
    """
    both = (first.codes >= 0) & (second.codes >= 0)
    covers = [(column.codes > 0) if has_covered else (column.codes >= 0) for column in (first, second)]
    has_link = [column.links.astype(bool) for column in (first, second)]
    shares = np.zeros(len(both), dtype=bool)
    linked = np.flatnonzero(both & has_link[0] & has_link[1])
    shares[linked] = (first.links[linked] & second.links[linked]).astype(bool)
    headline = both & covers[0] & covers[1] & has_link[0] & has_link[1]
    authors = both & first.is_single & second.is_single
    strict = both & covers[0] & has_link[0]
    return {
        "linking": (headline & shares, headline),
        "linking_authors": (authors & shares, authors),
        "linking_strict": (strict & shares & covers[1], strict),
    }


def chance_shares(first: Column, n_lines: Ints, counted: Bools) -> Floats:
    """Of each counted item the share of its `n_lines` lines that the first rater linked, else 0, shape (n,)."""
    shares = np.zeros(len(counted))
    shares[counted] = np.minimum(1.0, _n_bits(first.links[counted]) / n_lines[counted])
    return shares


def _n_bits(masks: Masks) -> Ints:
    try:
        return np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)
    except OverflowError:  # more than 64 lines
        return np.array([mask.bit_count() for mask in masks], dtype=np.int64)


CORRELATIONS = ("pearson", "spearman", "tau_b")
CONSTANT = f"under {MIN_POINTS} items, or one side is constant"
NOTHING_SHARED = "no item has both"
NOTHING_LINKED = "no insight is linked by both"
METHODS = {
    "pearson": "Pearson on the worth of the labels",
    "spearman": "Spearman's rho, ties at their mean rank",
    "tau_b": "Kendall's tau-b",
    "exact_agreement": "share of equal labels",
    "cohen_kappa": "Cohen's kappa",
    "linear_kappa": "Cohen's kappa, linear weights",
    "quadratic_kappa": "Cohen's kappa, quadratic weights",
    "randolph_kappa": "Randolph's kappa",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "covered.accuracy": "share of equal answers to covered or not",
    "covered.kappa": "Cohen's kappa of covered or not",
    "covered.tpr": "share found of what the human calls covered",
    "covered.tnr": "share found of what the human calls not covered",
    "linking": "both say covered and link: a line in common",
    "linking_authors": "the judge links one line and the human any: a line in common",
    "linking_strict": "all that the human covers and links: covered with a line in common",
    CHANCE: "mean of 1 / lines of the summary",
}


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items that two raters are compared on: n in clusters, and what the categories are worth.

    `clusters`, shape (n,), number what is resampled. `n_lines`, shape (n,), are the lines that one could link,
    None where chance is not known. With `has_covered` the first category means that nothing is covered.
    """

    clusters: Ints
    n_clusters: int
    worth: tuple[float, ...]
    has_covered: bool
    n_lines: Ints | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where in a batch the sums of one pair are: the cross table, and hits and n by linking rule."""

    cells: int
    links: Mapping[str, int]
    n_items: int


def cross_tables(first: Ints, second: Ints, *, q: int, clusters: Ints, n_clusters: int) -> Floats:
    """Cross tables of two columns of codes (-1: none), one for each cluster: shape (n_clusters, q²)."""
    both = (first >= 0) & (second >= 0)
    cells = (clusters[both] * q + first[both]) * q + second[both]
    counts = np.bincount(cells, minlength=n_clusters * q * q)
    return counts.reshape(n_clusters, q * q).astype(np.float64)


def hit_sums(hits: ArrayLike, counted: ArrayLike, *, clusters: Ints, n_clusters: int) -> Floats:
    """Hits and counted items of each cluster, shape (n_clusters, 2); both arguments have a number per item."""
    return np.column_stack(
        [np.bincount(clusters, weights=np.asarray(column), minlength=n_clusters) for column in (hits, counted)]
    ).astype(np.float64)


def add_pair(batch: Batch, items: Items, first: Column, second: Column, *, rules: Sequence[str] = ()) -> Blocks:
    """Put the sums of a pair into a batch; `second` is the judge where the rules tell them apart."""
    where = {"clusters": items.clusters, "n_clusters": items.n_clusters}
    cells = batch.add(cross_tables(first.codes, second.codes, q=len(items.worth), **where))  # type: ignore[arg-type]
    links: dict[str, int] = {}
    if rules:
        hits: dict[str, tuple[ArrayLike, ArrayLike]] = {**link_hits(first, second, has_covered=items.has_covered)}
        if items.n_lines is not None:
            counted = np.asarray(hits["linking"][1]) & (items.n_lines > 0)
            hits[CHANCE] = (chance_shares(first, items.n_lines, counted), counted)
        links = {
            rule: batch.add(hit_sums(*sums, **where))  # type: ignore[arg-type]
            for rule, sums in hits.items()
            if rule in rules
        }
    return Blocks(cells, links, int(((first.codes >= 0) & (second.codes >= 0)).sum()))


def estimates_of(
    batch: Batch,
    pairs: Sequence[Blocks],
    figures: Mapping[str, Figure],
    *,
    names: Iterable[str] | None = None,
    people: People | None = None,
) -> dict[str, Estimate]:
    """Figures by name, averaged over pairs; `names` chooses among those of the cross table.

    `people` are drawn where each pair is of another person, or of other two.
    """
    chosen = figures if names is None else [name for name in figures if name in names]
    cells = [pair.cells for pair in pairs]
    estimates = {name: batch.estimate(figures[name], cells, people=people) for name in chosen}
    for rule in pairs[0].links if pairs else ():
        estimates[rule] = batch.estimate(LINK_FIGURES[rule], [pair.links[rule] for pair in pairs], people=people)
    return estimates


def stats_of(batch: Batch, pairs: Sequence[Blocks], estimates: Mapping[str, Estimate]) -> dict[str, Stat]:
    """The figures with their intervals. Rates count over all pairs, the others items of the largest pair."""
    n_items = {name: max((pair.n_items for pair in pairs), default=0) for name in estimates}
    n_items |= {name: estimate.counts[1] for name, estimate in estimates.items() if estimate.counts is not None}
    if CHANCE in estimates:
        n_items[CHANCE] = round(sum(float(batch.total(pair.links[CHANCE])[0, 1]) for pair in pairs))
    return {name: estimate.stat(n_items=n_items[name]) for name, estimate in estimates.items()}


def confusion_of(batch: Batch, pairs: Sequence[Blocks], categories: Sequence[str]) -> dict[str, dict[str, int]]:
    """{first rater's label: {second rater's label: count}}, added up over pairs."""
    q = len(categories)
    cells = np.sum([np.zeros((1, q * q)), *(batch.total(pair.cells) for pair in pairs)], axis=0).reshape(q, q)
    return {
        first: {second: round(float(cells[row, column])) for column, second in enumerate(categories)}
        for row, first in enumerate(categories)
    }


LINK_FIGURES: Mapping[str, Figure] = {
    **{rule: Rate.of(METHODS[rule], NOTHING_LINKED) for rule in LINKING},
    CHANCE: Figure(METHODS[CHANCE], ratio, NOTHING_LINKED, SHARE),
}
"""The figures of hits and n, by rule."""


def pair_figures(worth: Sequence[float], *, has_covered: bool) -> dict[str, Figure]:
    """The figures for categories worth so much; with `has_covered` the first one is "not covered"."""
    q = len(worth)
    everything = np.ones(q * q)
    figures: dict[str, Figure] = {"exact_agreement": _rate("exact_agreement", np.eye(q).ravel(), everything)}
    if has_covered:
        positive = np.arange(q) > 0
        yes = np.outer(positive, positive).ravel().astype(float)
        no = np.outer(~positive, ~positive).ravel().astype(float)
        covered = np.repeat(positive, q).astype(float)
        figures |= {
            "covered.accuracy": _rate("covered.accuracy", yes + no, everything),
            "covered.tpr": _rate("covered.tpr", yes, covered, "the human calls nothing covered"),
            "covered.tnr": _rate("covered.tnr", no, 1 - covered, "the human calls nothing not covered"),
        }
    kappas = {
        name: cohen_formula(weights, q)
        for name, weights in (
            ("cohen_kappa", Weights.NONE),
            ("linear_kappa", Weights.LINEAR),
            ("quadratic_kappa", Weights.QUADRATIC),
        )
    }
    minorities: dict[str, Formula] = dict.fromkeys((*kappas, "alpha_ordinal"), minority_of_table(q))
    ordinal, eye = alpha_formula(Level.ORDINAL, np.arange(q, dtype=np.float64)), np.eye(q).ravel()
    both_ways = np.arange(q * q).reshape(q, q).T.ravel()
    formulas: dict[str, Formula] = {
        "pearson": _pearson(np.array(worth)),
        "spearman": _spearman(q),
        "tau_b": _tau_b(q),
        **kappas,
        "randolph_kappa": lambda totals: above_chance(divide(totals @ eye, totals.sum(axis=1)), 1 / q),
        "alpha_ordinal": lambda totals: ordinal(totals + totals[:, both_ways]),
    }
    if has_covered:
        formulas["covered.kappa"] = _of_covered(q, cohen_formula(Weights.NONE, 2))
        minorities["covered.kappa"] = _of_covered(q, minority_of_table(2))
    reasons = dict.fromkeys(CORRELATIONS, CONSTANT) | {"randolph_kappa": NOTHING_SHARED if q > 1 else ONE_ALLOWED}
    return figures | {
        name: Figure(
            METHODS[name],
            formula,
            reasons.get(name, ONE_USED),
            COEFFICIENT,
            minority=minorities.get(name),
            is_correlation=name in CORRELATIONS,
        )
        for name, formula in formulas.items()
    }


def _rate(name: str, hits: Floats, among: Floats, reason: str = NOTHING_SHARED) -> Rate:
    return Rate.of(METHODS[name], reason, hits=hits, among=among)


def _of_covered(q: int, formula: Formula) -> Formula:
    """A figure of cross tables after all categories but the first are merged."""
    positive = np.arange(q) > 0
    merge = np.zeros((q * q, 4))
    merge[np.arange(q * q), np.repeat(positive, q) * 2 + np.tile(positive, q)] = 1
    return lambda totals: formula(totals @ merge)


def _pearson(worth: Floats) -> Formula:
    values = worth - worth.mean()
    q = len(values)
    x, y = np.repeat(values, q), np.tile(values, q)
    moments = np.column_stack([np.ones(q * q), x, y, x * x, y * y, x * y])
    return lambda totals: r_of_moments(totals @ moments)


def _spearman(q: int) -> Formula:
    """Pearson of the mean ranks that ties share."""

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        x, y = (  # the mean rank of each category less the mean of all
            np.cumsum(counts, axis=1) - counts / 2 - counts.sum(axis=1, keepdims=True) / 2
            for counts in (table.sum(axis=2), table.sum(axis=1))
        )
        product = (table * x[:, :, None] * y[:, None, :]).sum(axis=(1, 2))
        squares = [(table.sum(axis=axis) * ranks**2).sum(axis=1) for axis, ranks in ((2, x), (1, y))]
        return np.where(n < MIN_POINTS, np.nan, divide(product, np.sqrt(squares[0] * squares[1])))

    return formula


def _tau_b(q: int) -> Formula:
    """Kendall's tau-b: agreeing less opposed pairs of items, among the pairs that are tied on neither side."""

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        beyond = table[:, ::-1].cumsum(axis=1)[:, ::-1]
        below = np.zeros_like(table)
        below[:, :-1] = beyond[:, 1:]
        left = np.cumsum(below, axis=2)
        right = below.sum(axis=2, keepdims=True) - left
        order = (table * (right - (left - below))).sum(axis=(1, 2))
        pairs = n * (n - 1) / 2
        untied = [pairs - (sums * (sums - 1)).sum(axis=1) / 2 for sums in (table.sum(axis=2), table.sum(axis=1))]
        return np.where(n < MIN_POINTS, np.nan, divide(order, np.sqrt(untied[0] * untied[1])))

    return formula
