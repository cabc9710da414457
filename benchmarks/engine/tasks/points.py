"""Key points of a question in a response, and the points that a response makes, extracted and supported.

Recall asks which key points a response says, and in which sentence. Points are taken out of a response by a model,
or it is split at its sentences. Support asks of them whether the documents, and the key points, say them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Case, Exists, OuterRef, Value, When
from django.db.models.expressions import Combinable
from django.utils.translation import ngettext_lazy
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from benchmarks.engine import texts
from benchmarks.engine.task import Labels, Origin, PairTask, Sheet, Store, n_of, parts
from benchmarks.engine.texts import Text
from benchmarks.judges.base import EntailmentItem, EntailmentVerdict, ItemRef, digest
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.parsing import LabelAnswer, Problem, read_reply, strict_object
from benchmarks.judges.passages import (
    EvidenceReply,
    PassageQuestion,
    PassageRanking,
    Passages,
    passages_of,
    split_points,
)
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, Headings, ModelConfig, Question
from benchmarks.judges.registry import offline_judge
from benchmarks.models import (
    Extraction,
    Judge,
    JudgeRun,
    JudgeRunItem,
    KeyPoint,
    PointVerdict,
    Response,
    ResponsePoint,
)
from benchmarks.scoring.keypoints import Entailment
from benchmarks.states import PointPremise as Premise

SOURCES = {Premise.RESPONSE: "sentence", Premise.DOCUMENTS: "document", Premise.KEY_POINTS: "key_point"}
"""Numbers in the evidence count these."""


class EntailmentReply(EvidenceReply):
    """Whether a point is said."""

    name = "entailment"
    passage = "number"
    labels = ("yes", "no", "neutral")

    label: Entailment = Field(alias="answer")


@dataclass(frozen=True, kw_only=True)
class EntailmentQuestion(PassageQuestion):
    """Passages and the points that they may say; `premise` says what the passages are."""

    premise: Premise
    prompt_sha256: str

    reply_model = EntailmentReply

    def input_of(self, key: str) -> str:
        return digest(self.premise, self.passages.texts, self.texts_of(key), self.prompt_sha256)

    def named(self, sources: Sequence[int]) -> dict[str, Any]:
        """That of the first, and all."""
        return {SOURCES[self.premise]: sources[0], "all_evidence": list(sources)}


@dataclass(frozen=True, kw_only=True)
class RecallQuestion(EntailmentQuestion):
    """The sentences of a response and the key points that they may say."""

    premise: Premise = Premise.RESPONSE

    task = "recall"
    headings = Headings("Answer:", "Key point:", "Key points:", "Reply:")


@dataclass(frozen=True, kw_only=True)
class SupportQuestion(EntailmentQuestion):
    """Passages of documents, or key points, and the points of a response that they may say."""

    task = "support"
    headings = Headings("Passages:", "Point:", "Points:", "Reply:")


class ResponseTask(PairTask):
    """A task on responses, of a model or of the offline judge."""

    subject = "response"
    subjects = "responses"
    related = "response__question"
    order_by = "response__question"
    has_offline = True


class PointTask(ResponseTask):
    """Verdicts on the points of responses."""

    model = PointVerdict
    premise = "premise"

    def values(self, question: EntailmentQuestion, answer: Any) -> dict[str, Any]:
        label = answer.label if isinstance(answer, LabelAnswer) else ""
        return {**super().values(question, answer), "answer": label}

    def offline_row(
        self, response: Response, point: int | str, premise: Premise, verdict: EntailmentVerdict, **values: Any
    ) -> PointVerdict:
        row: PointVerdict = self.row(
            subject=response.pk,
            item=point,
            premise=premise,
            answer=verdict.answer.value,
            score=verdict.score,
            **values,
        )
        return row


class RecallTask(PointTask):
    """A verdict for each response and key point of its question."""

    name = JudgeRun.Task.RECALL
    item = "key_point"
    premises = (Premise.RESPONSE,)
    has_repeats = True
    labels = Labels(
        stale=ngettext_lazy(
            "%(n)d verdict on a key point is stale: a text or the wording has changed since it was given.",
            "%(n)d verdicts on key points are stale: a text or the wording has changed since they were given.",
            "n",
        )
    )

    def n_pairs(self, judge: Judge) -> Combinable:
        return n_of(KeyPoint.objects.filter(question=OuterRef("question")))

    def sheets(self, subjects: Sequence[Response], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        known = texts.of_questions({response.question_id for response in subjects}, with_documents=False)
        prompt = config.prompt_sha256_of(self.name)
        for response in subjects:
            ask = partial(
                RecallQuestion,
                subject_key=str(response.pk),
                passages=Passages.numbered(sentences(response.text)),
                protocol=config.protocol,
                prompt_sha256=prompt,
            )
            yield Sheet(response.pk, ask, texts.refs(known[response.question_id].key_points), Premise.RESPONSE)

    def offline_rows(self, *, judge: Judge, subjects: Sequence[Response]) -> Iterator[PointVerdict]:
        """Words shared with the closest sentence; every key point of a question in each of its responses."""
        offline, by_question = offline_judge(judge.kind, judge.config), defaultdict[int, list[Response]](list)
        for response in subjects:
            by_question[response.question_id].append(response)
        for question, known in texts.of_questions(by_question).items():
            pairs = [(response, point) for response in by_question[question] for point in known.key_points]
            items = [EntailmentItem(f"{response.pk} {pk}", response.text, text) for response, (pk, text) in pairs]
            background = known.background()
            split = {response.pk: sentences(response.text) for response in by_question[question]}
            verdicts = offline.judge_entailment(items, background)
            for (response, (pk, text)), verdict in zip(pairs, verdicts, strict=True):
                at = verdict.sentence
                raw = {} if at is None else {"sentence": at, "evidence": split[response.pk][at - 1]}
                hashed = digest("recall", response.text, text, background.version)
                yield self.offline_row(response, pk, Premise.RESPONSE, verdict, raw=raw, input_sha256=hashed)


class SupportTask(PointTask):
    """A verdict for each extracted point and premise: the documents, and the key points where there are any."""

    name = JudgeRun.Task.SUPPORT
    item = "point"
    premises = (Premise.DOCUMENTS, Premise.KEY_POINTS)

    def n_pairs(self, judge: Judge) -> Combinable:
        points = ResponsePoint.objects.filter(extraction__judge=judge, extraction__response=OuterRef("pk"))
        has_key_points = Exists(KeyPoint.objects.filter(question=OuterRef("question")))
        return n_of(points) * Case(When(has_key_points, then=Value(2)), default=Value(1))

    def sheets(self, subjects: Sequence[Response], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        known = texts.of_questions({response.question_id for response in subjects})
        extracted = extracted_points(judge, [response.pk for response in subjects])
        cut = {question: passages_of(its.documents) for question, its in known.items()}
        prompt = config.prompt_sha256_of(self.name)
        background = {question: its.background() for question, its in known.items()}
        for response in subjects:
            its, points = known[response.question_id], texts.refs(extracted.get(response.pk, []))
            ranking = PassageRanking(
                cut[response.question_id],
                [point.text for point in points],
                tokens=config.document_tokens,
                background=background[response.question_id],
            )
            shown = {Premise.DOCUMENTS: partial(_closest, ranking, [point.key for point in points])}
            if its.key_points:
                key_points = Passages.numbered([text for _, text in its.key_points])
                shown[Premise.KEY_POINTS] = partial(_all, key_points)
            for premise, passages_for in shown.items():
                ask = partial(
                    _support_question,
                    passages_for=passages_for,
                    subject_key=str(response.pk),
                    premise=premise,
                    protocol=config.protocol,
                    prompt_sha256=prompt,
                )
                yield Sheet(response.pk, ask, points, premise)

    def offline_rows(self, *, judge: Judge, subjects: Sequence[Response]) -> Iterator[PointVerdict]:
        """Words shared with the closest sentence of the documents, and with the closest key point."""
        offline = offline_judge(judge.kind, judge.config)
        known = texts.of_questions({response.question_id for response in subjects})
        extracted = extracted_points(judge, [response.pk for response in subjects])
        for response in subjects:
            its, points = known[response.question_id], texts.refs(extracted.get(response.pk, []))
            background = its.background().with_insights([point.text for point in points])
            numbered = {
                Premise.DOCUMENTS: [(line, number) for number, text in its.documents for line in sentences(text)],
                Premise.KEY_POINTS: [(text, number) for number, (_, text) in enumerate(its.key_points, 1)],
            }
            for premise, lines in numbered.items():
                if not points or (premise == Premise.KEY_POINTS and not lines):
                    continue
                verdicts = offline.judge_support(points, [text for text, _ in lines], background)
                for point, verdict in zip(points, verdicts, strict=True):
                    raw = {}
                    if verdict.sentence is not None:
                        evidence, number = lines[verdict.sentence - 1]
                        raw = {"evidence": evidence, SOURCES[premise]: number}
                    hashed = digest(premise.value, point.text, background.version)
                    yield self.offline_row(response, point.key, premise, verdict, raw=raw, input_sha256=hashed)


def _support_question(
    *, passages_for: Callable[[Sequence[ItemRef]], Passages], items: tuple[ItemRef, ...], **values: Any
) -> SupportQuestion:
    return SupportQuestion(passages=passages_for(items), items=items, **values)


def _closest(ranking: PassageRanking, keys: Sequence[str], items: Sequence[ItemRef]) -> Passages:
    """The passages of documents that are closest to some of the points."""
    return ranking.for_points([keys.index(item.key) for item in items])


def _all(passages: Passages, items: Sequence[ItemRef]) -> Passages:
    return passages


def extracted_points(judge: Judge, responses: Collection[int]) -> dict[int, list[Text]]:
    """Points that a judge extracted from responses: {response pk: [(point pk, text)]}. One query."""
    by_response: dict[int, list[Text]] = defaultdict(list)
    rows = ResponsePoint.objects.filter(
        extraction__judge=judge, extraction__response__in=responses, extraction__is_valid=True
    ).order_by("extraction", "number")
    for pk, response, text in rows.values_list("pk", "extraction__response", "text"):
        by_response[response].append((pk, text))
    return by_response


def n_not_extracted(*, judge: Judge, responses: Sequence[Response]) -> int:
    """Responses that this judge has not taken apart yet, so that support cannot be asked."""
    rows = Extraction.objects.filter(judge=judge)
    there = sum(rows.filter(response__in=[response.pk for response in part]).count() for part in parts(responses))
    return len(responses) - there


LIMITS_OF_EXTRACTION = 5
"""How many times the limit of one verdict a list of points may be long."""
MOST_POINTS = 200
LONGEST_POINT = 2000


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    points: list[StrictStr] = Field(max_length=MOST_POINTS)


def read_points(text: str) -> tuple[str, ...] | Problem:
    """Read a list of points, perhaps none; blank ones are a problem, repeated ones count once."""
    reply = read_reply(text, _Reply)
    if isinstance(reply, Problem):
        return reply
    points = [" ".join(point.split()) for point in reply.points]
    if not all(points):
        return Problem("A point is empty.")
    if any(len(point) > LONGEST_POINT for point in points):
        return Problem(f"A point is longer than {LONGEST_POINT} characters.")
    return tuple(dict.fromkeys(points))


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
        return "points", strict_object({"points": {"type": "array", "items": {"type": "string"}}})

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, tuple[str, ...] | Problem]:
        return {self.subject_key: read_points(reply)}

    def input_of(self, key: str) -> str:
        """The text that is taken apart, and the wording."""
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

    def values(self, question: ExtractionQuestion, answer: tuple[str, ...] | Problem) -> dict[str, Any]:
        values = super().values(question, answer)
        return {**values, "raw": {"how": "extracted by a model"}} if values["is_valid"] else values

    def store(self, question: Question, answers: Mapping[str, tuple[str, ...] | Problem], origin: Origin) -> None:
        for key, answer in answers.items():
            points = () if isinstance(answer, Problem) else answer
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
