"""A table of categorical ratings, items by raters with gaps, as the agreement figures take it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.scoring.sums import BadShape, Bools, Floats, Ints

MISSING = -1


class UnknownCategory(ValueError):
    """A rating that the task does not allow."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of items by raters.

    `codes` has shape (items, raters): the position of the rating in `categories`, -1 where there is none.
    `categories` are those the task allows, in order, used or not. `clusters` has a key for each item (its
    summary, subtopic or question), None when every item is its own cluster.
    """

    codes: Ints
    categories: tuple[str, ...]
    raters: tuple[str, ...]
    clusters: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.raters):
            raise BadShape(f"ratings of shape {self.codes.shape} for {len(self.raters)} raters")
        if self.clusters is not None and len(self.clusters) != len(self.codes):
            raise BadShape(f"{len(self.clusters)} cluster keys for {len(self.codes)} items")
        if self.codes.size and not -1 <= self.codes.min() <= self.codes.max() < len(self.categories):
            raise UnknownCategory(f"a code outside 0 … {len(self.categories) - 1}")

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, str | None]],
        *,
        categories: Sequence[str],
        raters: Sequence[str] | None = None,
        clusters: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Ratings from one mapping of rater to label per item; absent or None is no rating.

        `raters` fixes the columns and drops others; by default all who rated, in order of appearance.
        """
        items = list(rows)
        if raters is None:
            raters = tuple(dict.fromkeys(rater for item in items for rater in item))
        numbers: dict[str | None, int] = {label: number for number, label in enumerate(categories)}
        numbers[None] = MISSING
        codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
        for row, item in enumerate(items):
            for column, rater in enumerate(raters):
                label = item.get(rater)
                if label not in numbers:
                    raise UnknownCategory(f"item {row + 1}, {rater}: {label!r} is none of {', '.join(categories)}")
                codes[row, column] = numbers[label]
        return cls(codes, tuple(categories), tuple(raters), None if clusters is None else tuple(clusters))

    @property
    def counts(self) -> Floats:
        """How often each category was given to each item: shape (items, categories)."""
        width = len(self.categories)
        return np.stack([(self.codes == code).sum(axis=1) for code in range(width)], axis=1).astype(np.float64)

    def only(self, raters: Iterable[str]) -> Ratings:
        """The columns of some raters; every item stays, rated or not."""
        kept = tuple(raters)
        columns = [self.raters.index(rater) for rater in kept]
        return Ratings(self.codes[:, columns], self.categories, kept, self.clusters)

    def items(self, mask: Bools) -> Ratings:
        """The items for which `mask`, shape (items,), is true."""
        if mask.all():
            return self
        return Ratings(self.codes[mask], self.categories, self.raters, self.clusters_of(mask))

    def clusters_of(self, mask: Bools) -> tuple[Hashable, ...] | None:
        if self.clusters is None:
            return None
        return tuple(key for key, keep in zip(self.clusters, mask.tolist(), strict=True) if keep)

    def merged(self, groups: Mapping[str, str]) -> Ratings:
        """The same ratings in coarser categories, as none / covered; `groups` names each category's new one."""
        names = tuple(dict.fromkeys(groups[label] for label in self.categories))
        table = np.array([*(names.index(groups[label]) for label in self.categories), MISSING], dtype=np.int64)
        return Ratings(table[self.codes], names, self.raters, self.clusters)

    def both_rated(self, first: str, second: str) -> Ratings:
        """The two raters on the items that both rated."""
        pair = self.only((first, second))
        return pair.items((pair.codes != MISSING).all(axis=1))

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield from combinations(self.raters, 2)

    def subsets(self) -> Iterator[tuple[str, ...]]:
        """Every set of two or more raters, small ones first."""
        for size in range(2, len(self.raters) + 1):
            yield from combinations(self.raters, size)
