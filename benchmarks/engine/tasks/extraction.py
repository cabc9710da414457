"""Extraction: the points that a response makes, taken out by a model or split at its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from benchmarks.engine.task import Counts, Labels, Origin, Store
from benchmarks.engine.tasks.points import ResponseTask
from benchmarks.judges.base import digest
from benchmarks.judges.parsing import Problem, read_reply, strict_object
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.judges.splitting import split_points
from benchmarks.models import Extraction, Judge, JudgeRun, JudgeRunItem, ResponsePoint

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
    labels = Labels(answers=gettext_noop("Responses taken apart"))

    def answers(self) -> QuerySet[Extraction, Extraction]:
        return Extraction.objects.all()

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        there = _taken_apart(judge, [one.pk for one in subjects])
        return {one.pk: Counts(1, int(one.pk in there)) for one in subjects}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[ExtractionQuestion]]:
        """Responses that were not taken apart; one query."""
        there = _taken_apart(judge, [item.response.pk for item in items])
        prompt = config.prompt_sha256_of(self.name)
        found: dict[int, list[ExtractionQuestion]] = {item.pk: [] for item in items}
        for item in items:
            if item.response.pk not in there:
                one = item.response
                asked = ExtractionQuestion(
                    subject_key=str(one.pk), question=one.question.text, response=one.text, prompt_sha256=prompt
                )
                found[item.pk].append(asked)
        return found

    def store(
        self, question: ExtractionQuestion, answers: Mapping[str, PointsAnswer | Problem], origin: Origin
    ) -> None:
        """The extraction with its points."""
        for key, answer in answers.items():
            row = Extraction(response_id=int(key), input_sha256=question.input_of(key))
            if isinstance(answer, PointsAnswer):
                row.raw = {"how": "extracted by a model"}
                _add([(row, answer.points)], origin)
            else:
                row.is_valid, row.raw = False, {"problem": answer.reason}
                _add([(row, ())], origin)

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem]) -> Store:
        """Sentences and list lines."""
        found = []
        for item in items:
            row = Extraction(response=item.response, input_sha256=digest("split", item.response.text))
            row.raw = {"how": "split at sentences"}
            found.append((row, split_points(item.response.text)))
        return partial(_add, found)


def _taken_apart(judge: Judge, responses: Sequence[int]) -> set[int]:
    rows = Extraction.objects.filter(judge=judge, response__in=responses)
    return set(rows.values_list("response", flat=True))


def _add(extracted: Sequence[tuple[Extraction, Sequence[str]]], origin: Origin) -> None:
    """Extractions with their points; a response that was taken apart before stays as it is."""
    there = _taken_apart(origin.run.judge, [row.response_id for row, _ in extracted])
    fresh = [(row, points) for row, points in extracted if row.response_id not in there]
    Extraction.objects.bulk_create(origin.mark([row for row, _ in fresh]), batch_size=500)
    points = (
        ResponsePoint(extraction=row, number=number, text=text)
        for row, texts in fresh
        for number, text in enumerate(texts, 1)
    )
    ResponsePoint.objects.bulk_create(points, batch_size=500)
