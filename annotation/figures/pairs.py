"""Two columns of a table of labels side by side: sums per cluster, from which every figure of the pair is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.figures.table import Bools, LabelTable, Masks
from benchmarks.scoring.cross_table import LINKED, PairFigures, cross_tables, hit_sums
from benchmarks.scoring.intervals import Floats, Ints, Resampling
from benchmarks.scoring.resampled import Batch, Spread, rate_stat, spread
from benchmarks.scoring.stat import Stat

LINKING = ("linking", "linking_authors", "linking_strict")
CHANCE = "linking_chance"
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
class Column:
    """One reader's labels of all items: codes, links, and which links the authors' rule counts."""

    codes: Ints
    links: Masks
    is_single: Bools


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where in a batch the sums of one pair are: the cross table, and hits and n by linking rule."""

    cells: int
    links: Mapping[str, int]
    n_items: int


def column(table: LabelTable, index: int) -> Column:
    """Column `index` of a table."""
    return Column(table.codes[:, index], table.links[:, index], table.is_single[:, index])


def add_pair(batch: Batch, table: LabelTable, first: Column, second: Column, *, rules: Sequence[str]) -> Blocks:
    """Put the sums of a pair into a batch; `second` is the judge where the rules tell them apart."""
    q, clusters, n = len(table.categories), table.clusters, table.n_clusters
    cells = batch.add(cross_tables(first.codes, second.codes, q=q, clusters=clusters, n_clusters=n))
    both = (first.codes >= 0) & (second.codes >= 0)
    links = _link_hits(table, first, second, both)
    blocks = {
        rule: batch.add(hit_sums(hits, counted, clusters=clusters, n_clusters=n))
        for rule, (hits, counted) in links.items()
        if rule in rules
    }
    return Blocks(cells, blocks, int(both.sum()))


def _link_hits(table: LabelTable, first: Column, second: Column, both: Bools) -> dict[str, tuple[Floats, Floats]]:
    covers = [(one.codes > 0) if table.has_covered else (one.codes >= 0) for one in (first, second)]
    has_link = [one.links.astype(bool) for one in (first, second)]
    shares = np.zeros(len(both), dtype=bool)
    linked = np.flatnonzero(both & has_link[0] & has_link[1])
    shares[linked] = (first.links[linked] & second.links[linked]).astype(bool)
    headline = both & covers[0] & covers[1] & has_link[0] & has_link[1]
    authors = both & first.is_single & second.is_single
    strict = both & covers[0] & has_link[0]
    found = {
        "linking": (headline & shares, headline),
        "linking_authors": (authors & shares, authors),
        "linking_strict": (strict & shares & covers[1], strict),
    }
    result = {
        rule: (hits.astype(np.float64), counted.astype(np.float64)) for rule, (hits, counted) in found.items()
    }
    if table.summaries:
        result[CHANCE] = (_chance(table, first, headline), headline.astype(np.float64))
    return result


def _chance(table: LabelTable, first: Column, counted: Bools) -> Floats:
    n_lines = np.array([info.n_lines for info in table.summaries])[table.summary_of]
    shares = np.zeros(len(counted))
    n_linked = np.array([mask.bit_count() for mask in first.links[counted]])
    shares[counted] = np.minimum(1.0, n_linked / np.maximum(1, n_lines[counted]))
    return shares


def figures_of(
    batch: Batch, blocks: Sequence[Blocks], figures: PairFigures, *, names: Sequence[str] | None = None
) -> tuple[dict[str, Stat], dict[str, Spread], dict[str, tuple[int, int]]]:
    """Figures averaged over pairs, their draws, and hits and n of the rates pooled over pairs."""
    resampling = batch.resampling
    stats: dict[str, Stat] = {}
    spreads: dict[str, Spread] = {}
    counts: dict[str, tuple[int, int]] = {}
    cells = [one.cells for one in blocks]
    n_items = max((one.n_items for one in blocks), default=0)
    for name, rate in figures.rates.items():
        if names is None or name in names:
            each = [rate.counts(batch.total(block)) for block in cells]
            counts[name] = (sum(hits for hits, _ in each), sum(n for _, n in each))
            spreads[name] = spread(batch, cells, rate)
            stats[name] = _rate(spreads[name], counts[name], name, rate.reason, resampling)
    for name, (figure, reason) in figures.others.items():
        if names is None or name in names:
            spreads[name] = spread(batch, cells, figure)
            stats[name] = spreads[name].stat(
                n_items=n_items, method=METHODS[name], reason=reason, resampling=resampling
            )
    for rule in blocks[0].links if blocks else ():
        places = [one.links[rule] for one in blocks]
        each = [LINKED.counts(batch.total(block)) for block in places]
        spreads[rule] = spread(batch, places, LINKED)
        n = sum(among for _, among in each)
        if rule == CHANCE:
            stats[rule] = spreads[rule].stat(
                n_items=n, method=METHODS[rule], reason=LINKED.reason, resampling=resampling
            )
            continue
        counts[rule] = (sum(hits for hits, _ in each), n)
        stats[rule] = _rate(spreads[rule], counts[rule], rule, LINKED.reason, resampling)
    return stats, spreads, counts


def _rate(found: Spread, counts: tuple[int, int], name: str, reason: str, resampling: Resampling | None) -> Stat:
    hits, n = counts
    return rate_stat(found, hits=hits, n=n, method=METHODS[name], reason=reason, resampling=resampling)
