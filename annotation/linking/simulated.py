"""How simulated people link: a coverage of each insight, and the bullet that covers it."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from annotation.labelling.simulating import Chosen, Rates, Simulated, mistaken
from annotation.labelling.summaries import chosen_summaries
from annotation.linking import planning
from annotation.linking.bullets import linkable_numbers
from annotation.linking.recording import LinkingAnswer
from annotation.models import LabelItem, LinkingPlan, Study
from annotation.studies.guidelines import default_guidelines
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

WEIGHTS = (0.5, 0.2, 0.3)
"""How often insights are covered not at all, partially, fully."""


class Truth(NamedTuple):
    """The coverage of an insight, the bullet that covers it where it is covered, and all that can be linked."""

    coverage: str
    line: int
    lines: tuple[int, ...]


def _truth(item: LabelItem, dice: random.Random) -> Truth:
    lines = tuple(sorted(linkable_numbers(item.summary)))
    coverage = dice.choices(COVERAGES, WEIGHTS)[0]
    return Truth(coverage, dice.choice(lines), lines) if lines else Truth(Coverage.NONE.value, 0, ())


class SimulatedLinking(Simulated[Truth]):
    """A coverage and a bullet, of one insight after the other."""

    careless = Rates(first=2 / 3, second=0.75, seconds=6)
    rows = ("summary",)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        return planning.create_study(
            plan=LinkingPlan(people_per_item=chosen.people_per_item, overlap_share=chosen.control_share or None),
            summaries=chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"]),
            at_random=chosen.n_items is not None,
            guidelines=default_guidelines(Study.Kind.LINKING),
            **values,
        )

    def answer(self, true: Truth, rates: Rates, dice: random.Random) -> LinkingAnswer:
        coverage = mistaken(true.coverage, COVERAGES, rate=rates.first, dice=dice)
        line = mistaken(true.line, true.lines, rate=rates.second, dice=dice)
        is_covered = coverage in COVERED and true.lines
        return LinkingAnswer(coverage, (line,)) if is_covered else LinkingAnswer(Coverage.NONE.value)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Truth]:
        return _truth

    def parts(self, answer: LinkingAnswer) -> Mapping[str, Hashable]:
        return {"coverage": answer.coverage, "link": answer.lines}


SIMULATED = SimulatedLinking()
