"""What recall and support share: whether a text says a point, how a model is asked that, and what is stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet
from pydantic import Field, StrictInt

from benchmarks.engine.task import Origin, Task
from benchmarks.judges.base import Background, digest
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem
from benchmarks.judges.passages import Passages
from benchmarks.judges.questions import LabelQuestion
from benchmarks.models import Judge, KeyPoint, PointVerdict, QuestionDocument, Response
from benchmarks.scoring.keypoints import Entailment
from benchmarks.states import PointPremise

Premise = PointPremise


# What a model is asked


class EntailmentReply(LabelReply):
    """Whether a point is said; a yes names what says it."""

    name = "entailment"
    item = "point"
    passage = "number"
    labels = ("yes", "no", "neutral")

    label: Entailment = Field(alias="answer")
    numbers: list[StrictInt] = Field(alias="evidence", max_length=1000)

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """What is wrong with a yes that names no evidence."""
        return "“yes” must name what says it in “evidence”." if label == Entailment.YES and not numbers else ""


@dataclass(frozen=True, kw_only=True)
class EntailmentQuestion(LabelQuestion):
    """Passages and the points that they may say; `premise` says what the passages are."""

    premise: Premise
    passages: Passages
    prompt_sha256: str

    reply_model = EntailmentReply

    @property
    def numbered(self) -> Sequence[tuple[int, str]]:
        """The passages, from 1."""
        return list(enumerate(self.passages.texts, 1))

    def input_of(self, key: str) -> str:
        """Passages, point and wording."""
        asked = [item.text for item in self.items if item.key == key]
        return digest(self.premise, self.passages.texts, asked, self.prompt_sha256)


# What is stored


SOURCES: Mapping[str, str] = {
    Premise.RESPONSE: "sentence",
    Premise.DOCUMENTS: "document",
    Premise.KEY_POINTS: "key_point",
}
"""What a number in the evidence counts."""


class ResponseTask(Task):
    """What is asked of responses, of a model or of the offline judge."""

    subject = "response"
    subjects = "responses"
    related = "response__question"
    order_by = "response__question"
    has_offline = True


class PointTask(ResponseTask):
    """Verdicts on the points of responses."""

    premises: tuple[Premise, ...]

    def answers(self) -> QuerySet[PointVerdict, PointVerdict]:
        """Verdicts of this task's premises."""
        return PointVerdict.objects.filter(premise__in=self.premises)

    def store(
        self, question: EntailmentQuestion, answers: Mapping[str, LabelAnswer | Problem], origin: Origin
    ) -> None:
        """A verdict for each point."""
        add_verdicts([_verdict(question, key, answer) for key, answer in answers.items()], origin)

    def _judged(
        self, judge: Judge, responses: Sequence[Response], repeats: int
    ) -> set[tuple[int, str, int | None, int]]:
        """(response, premise, key point or point, repeat) of every verdict that is there."""
        rows = self.given(judge=judge, keys=[one.pk for one in responses], repeats=repeats)
        fields = ("response_id", "premise", "key_point_id", "point_id", "repeat")
        return {
            (response, premise, point if key_point is None else key_point, repeat)
            for response, premise, key_point, point, repeat in rows.values_list(*fields)
        }


def _verdict(question: EntailmentQuestion, key: str, answer: LabelAnswer | Problem) -> PointVerdict:
    passages = question.passages
    raw: dict[str, Any] = {"passages": passages.n_all, "passages_shown": len(passages.texts)}
    if isinstance(answer, Problem):
        raw |= {"problem": answer.reason}
    elif answer.numbers:
        first = answer.numbers[0]
        raw |= {
            "evidence": passages.texts[first - 1],
            SOURCES[question.premise]: passages.sources[first - 1],
            "all_evidence": [passages.sources[number - 1] for number in answer.numbers],
        }
    label = answer.label if isinstance(answer, LabelAnswer) else ""
    row = point_verdict(question.premise, int(question.subject_key), int(key), label, raw, question.input_of(key))
    row.repeat = question.repeat
    return row


def point_verdict(
    premise: Premise, response_id: int, point_id: int, answer: str, raw: Mapping[str, Any], input_sha256: str
) -> PointVerdict:
    """A verdict on a key point if the premise is the response, else on an extracted point; empty: not usable."""
    point = "key_point_id" if premise == Premise.RESPONSE else "point_id"
    return PointVerdict(
        premise=premise,
        response_id=response_id,
        answer=answer,
        is_valid=bool(answer),
        raw=dict(raw),
        input_sha256=input_sha256,
        **{point: point_id},
    )


def add_verdicts(rows: Sequence[PointVerdict], origin: Origin) -> None:
    """One that another worker stored first stays."""
    PointVerdict.objects.bulk_create(origin.mark(rows), ignore_conflicts=True, batch_size=500)


# What is read


@dataclass(frozen=True)
class QuestionTexts:
    """Key points as (primary key, text) in order, documents as (number, text)."""

    key_points: tuple[tuple[int, str], ...]
    documents: tuple[tuple[int, str], ...]

    def background(self) -> Background:
        """The texts that say which words are telling: the question's own."""
        return Background(
            texts=tuple(text for _, text in self.documents), insights=tuple(text for _, text in self.key_points)
        )


def question_texts(responses: Iterable[Response], *, with_documents: bool = True) -> dict[int, QuestionTexts]:
    """{question pk: its texts} of the responses' questions; two queries."""
    return texts_of({response.question_id for response in responses}, with_documents=with_documents)


def texts_of(questions: Collection[int], *, with_documents: bool = True) -> dict[int, QuestionTexts]:
    """{question pk: its texts}; two queries."""
    key_points: dict[int, list[tuple[int, str]]] = defaultdict(list)
    documents: dict[int, list[tuple[int, str]]] = defaultdict(list)
    points = KeyPoint.objects.filter(question__in=questions).order_by("question", "number")
    for pk, question, text in points.values_list("pk", "question", "text"):
        key_points[question].append((pk, text))
    if with_documents:
        rows = QuestionDocument.objects.filter(question__in=questions).order_by("question", "number")
        for number, question, text in rows.values_list("number", "question", "text"):
            documents[question].append((number, text))
    return {
        question: QuestionTexts(tuple(key_points[question]), tuple(documents[question])) for question in questions
    }


def n_key_points(responses: Sequence[Response]) -> Counter[int]:
    """{question pk: how many key points it has}."""
    rows = KeyPoint.objects.filter(question__in={one.question_id for one in responses}).order_by()
    return Counter(dict(rows.values_list("question").annotate(n=Count("pk"))))
