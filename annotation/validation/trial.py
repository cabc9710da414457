"""The worked examples of validation: a response, and a point that it makes or does not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.labelling.trial.examples import Example, ExampleAnswers, Judged, TrialKind, sentence
from annotation.labelling.trial.schema import MOST, OwnItem, OwnSet
from annotation.models import LabelItem, LabelTask, Study
from annotation.validation.page_context import laid_out
from annotation.validation.recording import PAIR, PairAnswer
from benchmarks.io.schemas.fields import Expected, Text
from benchmarks.models import KeyPoint, Question, Response


class OwnPair(OwnItem):
    """A response with a point that it makes or does not."""

    response: Text
    point: Text
    answer: Annotated[Literal["yes", "neutral", "no"], Expected("yes, neutral or no")]
    why: Text


class OwnPairs(OwnSet):
    """Pairs about one question."""

    question: Text
    item: Annotated[list[OwnPair], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} examples")]


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
        words = PAIR.in_words(task, PairAnswer(values["answer"]))
        return [Judged("", is_right, sentence(is_right=is_right, expected=words, why=values["why"]))]


TRIAL = ValidationTrial()
