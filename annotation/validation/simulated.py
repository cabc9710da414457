"""How simulated people validate verdicts: the judge that they check is right about a known share of the pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken
from annotation.models import LabelItem, Study, ValidationPlan, WhyNot
from annotation.studies.guidelines import default_guidelines
from annotation.studies.kind import NotPossible
from annotation.validation import planning
from annotation.validation.files import verdicts_on
from annotation.validation.recording import PAIR, PairAnswer
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment

WRONG_SHARE = 0.15
"""How often the judge is wrong about a pair."""
SHARE_WITHOUT_REASON = 0.15


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

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """What the judge says, or something else, and why a response does not make a point."""
        verdicts = verdicts_on(study)

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            pair: Any = (item.response_id, item.key_point_id)
            answer = mistaken(verdicts[pair], ENTAILMENTS, rate=rates.first, dice=dice)
            yield Said(PAIR, PairAnswer(answer, why_not=_why_not(answer, dice)))

        return answers


def _why_not(answer: str, dice: random.Random) -> str:
    """The reason for an answer; some give none. What a response mentions is incomplete or too general."""
    if answer == Entailment.YES or dice.random() < SHARE_WITHOUT_REASON:
        return ""
    if answer == Entailment.NO:
        return dice.choice([WhyNot.MISSING, WhyNot.MISSING, WhyNot.CONTRADICTED])
    return dice.choice([WhyNot.INCOMPLETE, WhyNot.GENERAL])


SIMULATED = SimulatedValidation()
