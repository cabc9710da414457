"""How simulated people rate: an overall level of each summary, and aspects at most one step from it."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from annotation.labelling.simulating import Chosen, Rates, Simulated, mistaken
from annotation.labelling.summaries import chosen_summaries
from annotation.models import LabelItem, RatingPlan, Study
from annotation.rating import planning
from annotation.rating.recording import Rated
from annotation.studies.guidelines import default_guidelines
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LEVELS, LOWEST

WEIGHTS = (0.05, 0.15, 0.3, 0.35, 0.15)
"""How often summaries are of each level, from the lowest."""


def _truth(_item: LabelItem, dice: random.Random) -> Rated:
    [level] = dice.choices(LEVELS, WEIGHTS)
    steps = (0, *(dice.choice((-1, 0, 0, 1)) for _aspect in ASPECTS[1:]))
    return _rated(min(HIGHEST, max(LOWEST, level + step)) for step in steps)


def _rated(values: Iterable[int]) -> Rated:
    return Rated(**dict(zip(ASPECTS, values, strict=True)), is_unsure=False)


class SimulatedRating(Simulated[Rated]):
    """All aspects of a summary at once."""

    careless = Rates(first=0.8, seconds=8)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        return planning.create_study(
            plan=RatingPlan(people_per_item=chosen.people_per_item),
            summaries=chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"]),
            at_random=chosen.n_items is not None,
            guidelines=default_guidelines(Study.Kind.RATING),
            **values,
        )

    def answer(self, true: Rated, rates: Rates, dice: random.Random) -> Rated:
        return _rated(mistaken(value, LEVELS, rate=rates.first, dice=dice) for value in true.values if value)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Rated]:
        return _truth

    def parts(self, answer: Rated) -> Mapping[str, Hashable]:
        return dict(zip(ASPECTS, answer.values, strict=True))


SIMULATED = SimulatedRating()
