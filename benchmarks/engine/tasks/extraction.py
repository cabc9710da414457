"""Extraction: the points that a response makes, taken out by a model or split at its sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Value
from django.db.models.expressions import Combinable
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from benchmarks.engine.task import Labels, Origin, Sheet, Store
from benchmarks.engine.tasks.points import ResponseTask
from benchmarks.judges.base import digest
from benchmarks.judges.parsing import Problem, read_reply, strict_object
from benchmarks.judges.passages import split_points
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.models import Extraction, Judge, JudgeRun, JudgeRunItem, Response, ResponsePoint

LIMITS_OF_EXTRACTION = 5
"""How many times the limit of one verdict a list of points may be long."""
MOST_POINTS = 200
LONGEST_POINT = 2000


@dataclass(frozen=True)
class PointsAnswer:
    """The points of a response, each once, perhaps none."""

    points: tuple[str, ...]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    points: list[StrictStr] = Field(max_length=MOST_POINTS)


def read_points(text: str) -> PointsAnswer | Problem:
    """Read a list of points; blank ones are a problem, repeated ones count once."""
    reply = read_reply(text, _Reply)
    if isinstance(reply, Problem):
        return reply
    points = [" ".join(point.split()) for point in reply.points]
    if not all(points):
        return Problem("A point is empty.")
    if any(len(point) > LONGEST_POINT for point in points):
        return Problem(f"A point is longer than {LONGEST_POINT} characters.")
    return PointsAnswer(tuple(dict.fromkeys(points)))


@dataclass(frozen=True, kw_only=True)
class ExtractionQuestion(Question):
    """A response, to be taken apart into points."""

    question: str
    response: str
    prompt_sha256: str

    task = "extraction"

    @property
    def n_limits(self) -> int:
        """A list of points is longer than a verdict."""
        return LIMITS_OF_EXTRACTION

    @property
    def n_verdicts(self) -> int:
        """Points repeat about what the response says."""
        return max(1, round(len(self.response.split()) * TOKENS_PER_WORD / TOKENS_OF_A_VERDICT))

    def user_text(self) -> str:
        """The question says what the answer's words refer to."""
        return f"Question:\n{self.question}\nAnswer:\n{self.response}\nReply:"

    def schema(self) -> tuple[str, dict[str, Any]]:
        """A list of texts."""
        return "points", strict_object({"points": {"type": "array", "items": {"type": "string"}}})

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, PointsAnswer | Problem]:
        return {self.subject_key: read_points(reply)}

    def input_of(self, key: str) -> str:
        """What is taken apart, and the wording."""
        return digest("extraction", self.question, self.response, self.prompt_sha256)


class ExtractionTask(ResponseTask):
    """One extraction for each response."""

    name = JudgeRun.Task.EXTRACTION
    model = Extraction
    labels = Labels(answers="Responses taken apart")

    def n_pairs(self, judge: Judge) -> Combinable:
        return Value(1)

    def sheets(self, subjects: Sequence[Response], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        prompt = config.prompt_sha256_of(self.name)
        for response in subjects:
            ask = partial(
                ExtractionQuestion,
                subject_key=str(response.pk),
                question=response.question.text,
                response=response.text,
                prompt_sha256=prompt,
            )
            yield Sheet(response.pk, ask)

    def values(self, question: ExtractionQuestion, answer: PointsAnswer | Problem) -> dict[str, Any]:
        values = super().values(question, answer)
        return {**values, "raw": {"how": "extracted by a model"}} if values["is_valid"] else values

    def store(self, question: Question, answers: Mapping[str, PointsAnswer | Problem], origin: Origin) -> None:
        """The extraction with its points."""
        for key, answer in answers.items():
            points = answer.points if isinstance(answer, PointsAnswer) else ()
            _add([(self.row_of(question, key, answer), points)], origin)

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        """Sentences and list lines."""
        split = []
        for item in items:
            text = item.response.text
            row = self.row(
                subject=item.response.pk, input_sha256=digest("split", text), raw={"how": "split at sentences"}
            )
            split.append((row, split_points(text)))
        return partial(_add, split)


def _add(extracted: Sequence[tuple[Extraction, Sequence[str]]], origin: Origin) -> None:
    """Extractions with their points; a response that was taken apart before stays as it is."""
    rows = Extraction.objects.filter(
        judge=origin.run.judge, response__in=[row.response_id for row, _ in extracted]
    )
    there = set(rows.values_list("response", flat=True))
    fresh = [(row, points) for row, points in extracted if row.response_id not in there]
    Extraction.objects.bulk_create(origin.mark([row for row, _ in fresh]), batch_size=500)
    points = (
        ResponsePoint(extraction=row, number=number, text=text)
        for row, texts in fresh
        for number, text in enumerate(texts, 1)
    )
    ResponsePoint.objects.bulk_create(points, batch_size=500)
