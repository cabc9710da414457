"""Pairs of response and key point to validate, worked examples of a trial, and how simulated people answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

from django.db import transaction

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken
from annotation.labelling.trial import Example, ExampleAnswers, Judged, OwnItem, OwnSet, TrialKind, sentence, some
from annotation.models import LabelItem, LabelTask, Study, ValidationPlan, WhyNot
from annotation.studies.dealing import Item, sample
from annotation.studies.kind import NotPossible, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from annotation.validation.answers import PAIR, PairAnswer, laid_out
from annotation.validation.files import verdicts_on
from benchmarks import audit
from benchmarks.io.schemas.fields import Expected, OptionalText, Text
from benchmarks.models import Judge, KeyPoint, PointVerdict, Question, Response
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment

IN_A_QUERY = 500


class NothingToValidate(NotPossible):
    """The judge has given no verdict on what was chosen."""

    field = "dataset"


@transaction.atomic
def create_study(
    *,
    plan: ValidationPlan,
    n: int,
    dataset: str = "",
    **values: Unpack[NewStudy],
) -> Study:
    """Make a validation study on `n` verdicts of the judge of `plan`, assigned and not yet open.

    Raises:
        NothingToValidate: there is no verdict to sample.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.VALIDATION, plan=plan, **values)
    if not add_pairs(study=study, n=n, dataset=dataset, by=by, now=now):
        raise NothingToValidate("This judge has no verdicts on that question set.")
    work_of(study).deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def add_pairs(*, study: Study, n: int, by: Any, now: datetime, dataset: str = "") -> int:
    """Draw up to `n` more verdicts, stratified by answer, then category, then system; gives how many."""
    judge = study.validation_plan.judge
    known = set(study.label_items.values_list("response_id", "key_point_id"))
    rows = verdicts_of(judge, dataset=dataset)
    pairs: dict[int, tuple[int, int]] = {}
    items = []
    for pk, response, point, answer, category, system in rows.values_list(
        "pk", "response_id", "key_point_id", "answer", "response__question__category", "response__system_id"
    ):
        if (response, point) not in known:
            pairs[pk] = (response, point)
            items.append(Item(pk, (answer, category, system)))
    drawn = sample(items, n, seed=study.seed + len(known), label="verdicts")[:n]
    chosen = sorted(pairs[item.pk] for item in drawn)
    rows_made = [
        LabelItem(
            study=study,
            response_id=response,
            key_point_id=point,
            block=f"response-{response}",
            n_questions=1,
            added_at=now,
        )
        for response, point in chosen
    ]
    LabelItem.objects.bulk_create(rows_made, batch_size=IN_A_QUERY)
    if chosen:
        audit.record(actor=by, action="study.add_pairs", target=study, now=now, n=len(chosen))
    return len(chosen)


def verdicts_of(judge: Judge, *, dataset: str = "") -> Any:
    """The usable verdicts of a judge on key points and responses, of a question set or of all that are in use."""
    rows = PointVerdict.objects.filter(
        judge=judge,
        premise=PointVerdict.Premise.RESPONSE,
        repeat=0,
        is_valid=True,
        response__question__archived_at=None,
    )
    return rows.filter(response__question__dataset=dataset) if dataset else rows


WRONG_SHARE = 0.15
"""How often the judge is wrong about a pair."""
SHARE_WITHOUT_REASON = 0.15


class SimulatedValidation(Simulated[str]):
    """One of three answers to each pair."""

    careless = Rates(first=2 / 3, seconds=4)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        if chosen.judge is None:
            raise NotPossible("Name the judge whose verdicts are checked with --judge.")
        n_verdicts = verdicts_of(chosen.judge, dataset=chosen.dataset).count()
        return create_study(
            plan=ValidationPlan(judge=chosen.judge, people_per_item=chosen.people_per_item),
            n=n_verdicts if chosen.n_items is None else chosen.n_items,
            dataset=chosen.dataset,
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
        """Invent answers: the label of the judge, or another, and why a response does not make a point."""
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


class OwnPair(OwnItem):
    """A response with a point that it makes or does not; `decides` is a passage of it, as it stands there."""

    response: Text
    decides: OptionalText = ""
    point: Text
    answer: Annotated[Literal["yes", "neutral", "no"], Expected("yes, neutral or no")]
    why: Text

    def problem(self, shared: Any) -> tuple[str, str] | None:
        return (
            None if self.decides in self.response else ("decides", "a passage of the response, letter by letter")
        )


class OwnPairs(OwnSet):
    question: Text
    item: some(OwnPair, "examples")  # type: ignore[valid-type]


class ValidationTrial(TrialKind[PairAnswer]):
    """Right is the expected answer; the reason and the passage are optional and not judged."""

    file = Path(__file__).with_name("trial.toml")
    answers = PAIR
    schema = OwnPairs

    def texts(self, example: Example) -> Iterable[str]:
        return (example.values["response"], example.values["point"])

    def texts_of_items(self, study: Study) -> Iterable[str]:
        return chain.from_iterable(study.label_items.values_list("response__text", "key_point__text"))

    def item(self, example: Example) -> LabelItem:
        question = Question(text=example.shared["question"], language=example.language)
        return LabelItem(
            response=Response(pk=0, question=question, text=example.values["response"]),
            key_point=KeyPoint(text=example.values["point"]),
        )

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[PairAnswer]) -> dict[str, Any]:
        return laid_out(task, answers.answers.get("", PairAnswer()))

    def judged(self, task: LabelTask, example: Example, question: str, answer: PairAnswer) -> list[Judged]:
        values = example.values
        is_right = answer.answer == values["answer"]
        chosen, wanted = PAIR.in_words(task, answer), PAIR.in_words(task, PairAnswer(values["answer"]))
        told = sentence(is_right=is_right, answer=chosen, expected=wanted, why=values["why"])
        return [Judged("", is_right, told, values["point"], values.get("decides", ""))]


TRIAL = ValidationTrial()
