"""How simulated people rate: an overall level of each summary, and aspects at most one step from it."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import cycle
from typing import Any

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken, near
from annotation.labelling.summaries import chosen_summaries
from annotation.models import LabelItem, RatingPlan, Study
from annotation.rating import planning
from annotation.rating.answers import RATED, Rated
from annotation.studies.guidelines import default_guidelines
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import Verdict
from benchmarks.scoring.likert import HIGHEST, LEVELS, LOWEST
from benchmarks.scoring.summhay import worth
from benchmarks.scoring.text import lines_from_list, words_per_bullet

WEIGHTS = (0.05, 0.15, 0.3, 0.35, 0.15)
"""How often summaries are of each level, from the lowest."""


def _truth(_item: LabelItem, dice: random.Random) -> Rated:
    [level] = dice.choices(LEVELS, WEIGHTS)
    steps = (0, *(dice.choice((-1, 0, 0, 1)) for _aspect in range(1, len(ASPECTS))))
    return _rated(min(HIGHEST, max(LOWEST, level + step)) for step in steps)


def _rated(values: Iterable[int]) -> Rated:
    return Rated(dict(zip(ASPECTS, values, strict=True)))


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
        values = filter(None, true.ratings.values())
        return _rated(mistaken(value, LEVELS, rate=rates.first, dice=dice) for value in values)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Rated]:
        return _truth

    def parts(self, answer: Rated) -> Mapping[str, Hashable]:
        return answer.ratings

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """One aspect after the other, near what verdicts and lengths of a summary suggest."""

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            ratings: dict[str, int | None] = dict.fromkeys(ASPECTS)
            for aspect, level in zip(ASPECTS, cycle(_levels(item.summary)), strict=False):
                ratings[aspect] = near(level, LEVELS, rate=rates.first, dice=dice)
                yield Said(RATED, Rated(dict(ratings)))

        return answers


def _levels(summary: Any) -> list[int]:
    """A rating for each aspect: the more insights the offline judge found, the more informative, and so on."""
    rows = Verdict.objects.valid().filter(summary=summary, is_imported=False)
    worths = [worth()[coverage] for coverage in rows.values_list("coverage", flat=True)]
    informative = LOWEST + round((HIGHEST - LOWEST) * sum(worths) / (len(worths) or 1))
    words = words_per_bullet(lines_from_list(summary.lines)).value or 0
    clear = HIGHEST if words < 25 else HIGHEST - 1 if words < 35 else LOWEST + 2
    supported = min(HIGHEST, informative + 1)
    return [round((informative + clear + supported) / 3), informative, clear, clear, supported]


SIMULATED = SimulatedRating()
