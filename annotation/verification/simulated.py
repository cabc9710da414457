"""How simulated people verify key points: what is true of each point, and what each would say.

For trying out the choice of annotators. Two people who turn yes and no around with the rates e and f agree on
(1 − e)(1 − f) + ef of the points, so Randolph's kappa of the first judgment is (1 − 2e)(1 − 2f).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, dice_of, mistaken
from annotation.models import LabelItem, Study, VerificationPlan
from annotation.studies.guidelines import default_guidelines
from annotation.studies.kind import NotPossible
from annotation.verification import planning
from annotation.verification.recording import POINT, Judgments
from benchmarks.models import Question
from benchmarks.states import Grounded, Keyness

K = TypeVar("K", bound=Hashable)
CARELESS = Rates(first=0.5, second=2 / 3, seconds=2.5)
"""Somebody who does not look."""


class Truth(NamedTuple):
    """What is true of a key point; `keyness` is also known where it is not grounded."""

    grounded: bool
    keyness: str


def true_of(dice: random.Random, *, grounded_share: float = 0.9, agree_share: float = 0.7) -> Truth:
    """Draw what is true of a key point; what is not agreed is neutral twice as often as not."""
    weights = (agree_share, (1 - agree_share) * 2 / 3, (1 - agree_share) / 3)
    return Truth(dice.random() < grounded_share, dice.choices(Keyness.values, weights)[0])


def said_of(true: Truth, rates: Rates, dice: random.Random) -> Judgments:
    """What somebody says who confuses yes and no and, after a yes, gives another of the three answers."""
    is_grounded = true.grounded != (dice.random() < rates.first)
    keyness = mistaken(true.keyness, Keyness.values, rate=rates.second, dice=dice)
    return Judgments(Grounded.YES.value, keyness) if is_grounded else Judgments(Grounded.NO.value)


def answers_of(truth: Mapping[K, Truth], *, rates: Rates, person: str, seed: int) -> dict[K, Judgments]:
    """What somebody says of each key point."""
    return {point: said_of(true, rates, dice_of(person, seed, point)) for point, true in truth.items()}


def _truth(item: LabelItem, dice: random.Random) -> Truth:
    """The text of an attention check cannot hold its point."""
    return Truth(False, Keyness.AGREE.value) if item.role == LabelItem.Role.GOLD else true_of(dice)


class SimulatedVerification(Simulated[Truth]):
    """Yes or no, and what follows a yes."""

    careless = CARELESS

    def make(self, chosen: Chosen, **values: Any) -> Study:
        questions: list[Question] = list(Question.objects.of(dataset=chosen.dataset)) if chosen.dataset else []
        if not questions:
            raise NotPossible(f"There is no question set “{chosen.dataset}”; name one with --dataset.")
        if chosen.n_items is not None:
            questions = planning.draw_questions(questions, chosen.n_items, seed=values["seed"])
        return planning.create_study(
            plan=VerificationPlan(
                control_share=chosen.control_share,
                people_per_question=chosen.people_per_item,
                n_attention_checks=chosen.n_attention_checks,
            ),
            questions=questions,
            guidelines=default_guidelines(Study.Kind.VERIFICATION),
            **values,
        )

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Truth]:
        return _truth

    def answer(self, true: Truth, rates: Rates, dice: random.Random) -> Judgments:
        return said_of(true, rates, dice)

    def parts(self, answer: Judgments) -> Mapping[str, Hashable]:
        is_kept = (answer.grounded, answer.keyness) == (Grounded.YES, Keyness.AGREE)
        return {"grounded": answer.grounded, "keep": is_kept}

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """What is `known` to be wrong with key points; the text of an attention check cannot hold its point."""

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            point: Any = item.key_point
            flaw = known.get(point.key, "")
            is_grounded = item.role != LabelItem.Role.GOLD and flaw != "not grounded"
            keyness = Keyness.DISAGREE if flaw and is_grounded else Keyness.AGREE
            yield Said(POINT, said_of(Truth(is_grounded, keyness.value), rates, dice))

        return answers


SIMULATED = SimulatedVerification()
