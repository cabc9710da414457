"""How simulated people validate verdicts: the judge that they check is right about a known share of the pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from annotation.labelling.simulating import Chosen, Rates, Simulated, mistaken
from annotation.models import LabelItem, Study, ValidationPlan
from annotation.studies.guidelines import default_guidelines
from annotation.studies.kind import NotPossible
from annotation.validation import planning
from annotation.validation.exports import verdicts_on
from annotation.validation.recording import PairAnswer
from benchmarks.scoring.keypoints import ENTAILMENTS

WRONG_SHARE = 0.15
"""How often the judge is wrong about a pair."""


class SimulatedValidation(Simulated[str]):
    """One of three answers to each pair."""

    careless = Rates(first=2 / 3, seconds=4)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        if chosen.judge is None:
            raise NotPossible("Name the judge whose verdicts are checked with --judge.")
        n_verdicts = planning.verdicts_of(chosen.judge, dataset=chosen.dataset).count()
        return planning.create_study(
            plan=ValidationPlan(judge=chosen.judge, people_per_item=chosen.people_per_item),
            n=n_verdicts if chosen.n_items is None else chosen.n_items,
            dataset=chosen.dataset,
            guidelines=default_guidelines(Study.Kind.VALIDATION),
            **values,
        )

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], str]:
        verdicts = verdicts_on(study)

        def draw(item: LabelItem, dice: random.Random) -> str:
            pair: Any = (item.response_id, item.key_point_id)
            return mistaken(verdicts[pair], ENTAILMENTS, rate=WRONG_SHARE, dice=dice)

        return draw

    def answer(self, true: str, rates: Rates, dice: random.Random) -> PairAnswer:
        return PairAnswer(mistaken(true, ENTAILMENTS, rate=rates.first, dice=dice))

    def parts(self, answer: PairAnswer) -> Mapping[str, Hashable]:
        return {"answer": answer.answer}


SIMULATED = SimulatedValidation()
