"""People against each other by the judges' formulas: the figures of the people's row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotation.results.references import majority, only_items
from annotation.results.table import LabelTable
from benchmarks.scoring.draws import Resampling, people_of
from benchmarks.scoring.formulas import Figure
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.linking import LINKING
from benchmarks.scoring.pairs import Blocks, add_pair, estimates_of

MAX_IN_CEILING = 12
"""People who are compared with each other; more pairs would take long and change little."""


@dataclass(frozen=True, slots=True)
class AmongPeople:
    """People against each other: what was compared, and the estimates."""

    batch: Batch
    pairs: list[Blocks]
    found: dict[str, Estimate]
    is_against_rest: bool


def among_people(
    table: LabelTable,
    figures: Mapping[str, Figure],
    resampling: Resampling | None,
    *,
    by_majority: bool,
    of_items: Any = None,
    names: Sequence[str] | None = None,
) -> AmongPeople | None:
    """People against each other by the judges' formulas; None where no item has two labels.

    Each pair both ways round, then the mean; where judges meet a majority of three people or more, each person
    against the majority of the others, so that both stand before the same kind of reference. With a mask
    `of_items`, on these only; with `names`, only these figures.
    """
    batch = Batch(table.n_clusters, resampling)
    items, columns = table.pair_items(), table.columns_of_people()[:MAX_IN_CEILING]
    against_rest = by_majority and len(columns) > 2
    if against_rest:
        everyone = range(len(columns))
        who: list[tuple[int, ...]] = [(person,) for person in everyone]
        sides = [
            (majority(table, [at for at in everyone if at != person])[0], columns[person]) for person in everyone
        ]
    else:
        sides = [pair for first, other in combinations(columns, 2) for pair in ((first, other), (other, first))]
        who = [pair for pair in combinations(range(len(columns)), 2) for _both_ways in range(2)]
    if of_items is not None:
        sides = [(first, only_items(second, of_items)) for first, second in sides]
    added = [add_pair(batch, items, first, second, rules=LINKING) for first, second in sides]
    kept = [at for at, blocks in enumerate(added) if blocks.n_items]
    if not kept:
        return None
    pairs = [added[at] for at in kept]
    people = people_of([who[at] for at in kept], len(columns), resampling)
    estimates = estimates_of(batch, pairs, figures, names=names, people=people)
    return AmongPeople(batch, pairs, estimates, against_rest)
