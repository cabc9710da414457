"""Pairs of insights and documents in a verification study: what the plan of a haystack misses, and what leaks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from django.db.models import QuerySet

from annotation.models import Study
from annotation.verification.labels import PointTable, key_points_of
from benchmarks.models import Haystack, KeyPoint
from benchmarks.scoring.means import wilson
from benchmarks.scoring.retention import CATEGORIES, Task
from benchmarks.scoring.stat import Stat


class Stratum(StrEnum):
    """What is known of a pair before anybody reads: planned, or not and more or less alike by words."""

    PLANNED = "planned"
    CLOSE = "close"
    FAR = "far"


SIZES: list[Callable[[Haystack], Mapping[Stratum, int]]] = []
"""How many pairs of each stratum a haystack has; of the extension that draws pairs."""


@dataclass(frozen=True, slots=True)
class StratumRow:
    """Pairs of one stratum: how many the haystacks have, how many people decided on, and how many they find said.

    `wrong` is the share that does not fit the plan: planned and not said, or not planned and said.
    """

    name: str
    n_pairs: int
    n_drawn: int
    n_tied: int
    wrong: Stat

    @property
    def n_expected(self) -> float | None:
        """How many of all pairs of the stratum are wrong, by the share."""
        return None if self.wrong.value is None else self.wrong.value * self.n_pairs


def haystacks_of(study: Study) -> QuerySet[Haystack]:
    """Those whose insights are key points of a study."""
    return Haystack.objects.filter(questions__label_items__study=study).distinct()


def strata_of(study: Study, table: PointTable) -> tuple[StratumRow, ...]:
    """What people say of each stratum, by the majority of each pair; empty where the study has no pairs."""
    rows = KeyPoint.objects.filter(pk__in=key_points_of(study), question__haystack__isnull=False)
    places = rows.values_list("pk", "key", "question__haystack")
    known = {pk: (stratum_of(key), haystack) for pk, key, haystack in places}
    if not known or not SIZES:
        return ()
    sizes: Counter[Stratum] = Counter()
    for haystack in Haystack.objects.filter(pk__in={haystack for _stratum, haystack in known.values()}):
        sizes.update(SIZES[0](haystack))
    said = _by_majority(table, {pk: stratum for pk, (stratum, _haystack) in known.items()})
    drawn = Counter(stratum for stratum, _haystack in known.values())
    return tuple(
        StratumRow(
            name=stratum,
            n_pairs=sizes[stratum],
            n_drawn=drawn[stratum],
            n_tied=sum(answer is None for answer in said[stratum]),
            wrong=_wrong(stratum, [answer for answer in said[stratum] if answer is not None]),
        )
        for stratum in Stratum
        if drawn[stratum]
    )


def stratum_of(key: str) -> Stratum:
    """The stratum that the key of a key point names."""
    return Stratum(key.partition(":")[0])


def _by_majority(table: PointTable, strata: Mapping[int, Stratum]) -> Mapping[Stratum, list[bool | None]]:
    """Whether each labelled pair is said, None where as many say no; by stratum."""
    yes, no = (CATEGORIES[Task.GROUNDED].index(answer) for answer in ("yes", "no"))
    said: dict[Stratum, list[bool | None]] = defaultdict(list)
    for point, codes in zip(table.points, table.grounded, strict=True):
        n_yes, n_no = int(np.sum(codes == yes)), int(np.sum(codes == no))
        if point in strata and n_yes + n_no:
            said[strata[point]].append(None if n_yes == n_no else n_yes > n_no)
    return said


def _wrong(stratum: Stratum, said: Sequence[bool]) -> Stat:
    is_planned = stratum == Stratum.PLANNED
    return wilson(sum(answer != is_planned for answer in said), len(said), method="share")
