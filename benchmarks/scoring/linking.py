"""Whether two raters of a summary point at the same line: three rules, each by its name, and chance.

`linking`, the headline: both say covered and both link; a hit is a shared line. `linking_authors`: the judge
links exactly one line and the human any, whatever the labels, which is what the paper's numbers are.
`linking_strict`: all that the human covers and links; no link of the judge is a miss.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.scoring.summhay import Verdict
from benchmarks.scoring.sums import Bools, Floats, Ints

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
    """The bits of some line numbers."""
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
