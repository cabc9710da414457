"""Questions on key points one by one: the two judgments of verification, and AutoDS scores.

Whether the documents hold a point and whether it is key are two calls, as the second must not depend on what the
documents say. A model may call a point key that it did not find; figures leave that answer out, as people's.

An AutoDS score is whether a point is key, in one word, with its log-probabilities. Every judge has scores of its
own, and can be asked again: another repeat, of which the newest counts. A point of which the server listed one
answer only has bounds and no score. The first score of a key point becomes its own as well (`KeyPoint.autods`)
where none was imported; datasets are filtered by that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from django.db.models import Count, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from pydantic import BaseModel, ConfigDict, Field, field_validator

from benchmarks.engine import texts
from benchmarks.engine.task import Labels, Origin, PairTask, Sheet
from benchmarks.judges.base import ItemRef, digest
from benchmarks.judges.parsing import LabelAnswer, Problem, read_reply, strict_object
from benchmarks.judges.passages import EvidenceReply, PassageQuestion, PassageRanking, passages_of
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import Headings, ModelConfig, Question
from benchmarks.models import AutodsScore, Judge, JudgeCall, JudgeRun, JudgeRunItem, KeyPoint, KeyPointVerdict
from benchmarks.scoring.retention import Score, score
from benchmarks.states import Keyness

Judgment = KeyPointVerdict.Judgment
N_LISTED = 20
"""Most likely first tokens that the server is asked to list."""
ONE_TOKEN: Mapping[str, Any] = MappingProxyType(
    {"max_completion_tokens": 1, "temperature": 0.0, "seed": None, "logprobs": True, "top_logprobs": N_LISTED}
)


class KeyPointTask(PairTask):
    """A task whose subjects are key points, each with its question."""

    subject = "key_point"
    subjects = "key_points"
    related = "key_point__question"
    order_by = "key_point__question"
    has_repeats = True


@dataclass(frozen=True, kw_only=True)
class KeyPointQuestion(Question):
    """A question and a key point of its answer, without the documents."""

    question: str
    point: str

    last_line: ClassVar[str]

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges: they can only be compared where everybody is asked in the same words."""
        return text_of(self.task)

    def user_text(self) -> str:
        """The question says what the point may be key to."""
        return f"Question:\n{self.question}\nPoint:\n{self.point}\n{self.last_line}"


# Verification


class GroundedReply(EvidenceReply):
    """Whether the passages say a point."""

    name = "grounded"
    passage = "passage"
    labels = ("yes", "no")

    label: Literal["yes", "no"] = Field(alias="answer")


class KeynessReply(BaseModel):
    """Whether a point is key."""

    model_config = ConfigDict(extra="ignore")

    answer: Literal["agree", "neutral", "disagree"]

    @field_validator("answer", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class GroundedQuestion(PassageQuestion):
    """Passages of a question's documents, and one key point that they may say."""

    task = "grounded"
    judgment: ClassVar[str] = Judgment.GROUNDED
    reply_model = GroundedReply
    headings = Headings("Passages:", "Point:", "Points:", "Reply:")

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges, so that they can be compared with each other."""
        return text_of(self.task)

    def named(self, sources: Sequence[int]) -> dict[str, Any]:
        """The documents of all."""
        return {"documents": list(sources)}

    def input_of(self, key: str) -> str:
        return digest(text_of(self.task), self.user_text())


@dataclass(frozen=True, kw_only=True)
class KeynessQuestion(KeyPointQuestion):
    """Whether a point is key to the answer."""

    task = "keyness"
    judgment: ClassVar[str] = Judgment.KEY_POINT
    last_line = "Reply:"

    def schema(self) -> tuple[str, dict[str, Any]]:
        return "keyness", strict_object({"answer": {"type": "string", "enum": Keyness.values}})

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, LabelAnswer | Problem]:
        answer, key = read_reply(reply, KeynessReply), self.subject_key
        return {key: answer if isinstance(answer, Problem) else LabelAnswer(key, answer.answer)}

    def input_of(self, key: str) -> str:
        return digest(text_of(self.task), self.user_text())


class VerificationTask(KeyPointTask):
    """A verdict of a model for each key point and judgment."""

    name = JudgeRun.Task.VERIFICATION
    model = KeyPointVerdict
    premise = "judgment"
    labels = Labels(progress="%(title)s: %(done)s of %(total)s key points done")

    def n_pairs(self, judge: Judge) -> Combinable:
        return Value(len(Judgment))

    def sheets(self, subjects: Sequence[KeyPoint], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        """Documents that are too long are cut to the passages closest to the point."""
        known = texts.of_questions({point.question_id for point in subjects})
        cut = {question: passages_of(its.documents) for question, its in known.items()}
        background = {question: its.background() for question, its in known.items()}
        for point in subjects:
            ranking = PassageRanking(
                cut[point.question_id],
                [point.text],
                tokens=config.document_tokens,
                background=background[point.question_id],
            )
            yield Sheet(point.pk, partial(_grounded, point, ranking), premise=Judgment.GROUNDED)
            yield Sheet(point.pk, _about(KeynessQuestion, point), premise=Judgment.KEY_POINT)

    def values(self, question: Question, answer: LabelAnswer | Problem) -> dict[str, Any]:
        label = answer.label if isinstance(answer, LabelAnswer) else ""
        return {**super().values(question, answer), "answer": label}


def _about(kind: type[KeyPointQuestion], point: KeyPoint) -> partial[KeyPointQuestion]:
    return partial(kind, subject_key=str(point.pk), question=point.question.text, point=point.text)


def _grounded(point: KeyPoint, ranking: PassageRanking, *, repeat: int) -> GroundedQuestion:
    return GroundedQuestion(
        subject_key=str(point.pk),
        items=(ItemRef(str(point.pk), point.text),),
        protocol="one",
        passages=ranking.for_points([0]),
        repeat=repeat,
    )


# AutoDS


@dataclass(frozen=True, kw_only=True)
class AutodsQuestion(KeyPointQuestion):
    """Whether a point is key, in one word."""

    task = "autods"
    last_line = "Answer:"

    def prompt(self, config: ModelConfig) -> str:
        """The judge's own wording, or the usual one."""
        return config.prompt_of(self.task)

    @property
    def overrides(self) -> Mapping[str, Any]:
        """One token, with the others that it might have been."""
        return ONE_TOKEN

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Score]:
        """The score, from the tokens that the server lists."""
        return {self.subject_key: score_of(raw)}


def score_of(reply: Mapping[str, Any]) -> Score:
    """The score that a stored chat completion holds; spellings of yes and of no are added up."""
    try:
        listed = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        pairs = [(str(token["token"]), _logprob(token["logprob"])) for token in listed]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return Score(None, None, None, "the server lists no log-probabilities")
    sides: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in pairs:
        word = token.strip(" \t\n\r\"'.,:*_▁Ġ").lower()
        if word in sides:
            sides[word].append(logprob)
    least = min((logprob for _, logprob in pairs), default=None)
    return score(sides["yes"], sides["no"], least_listed=least)


def _logprob(value: Any) -> float:
    """A log-probability; raises `ValueError` where it is no finite number, such as the text “-inf”."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no log-probability")
    return min(0.0, float(value))


class AutodsTask(KeyPointTask):
    """A score of each key point by each judge."""

    name = JudgeRun.Task.AUTODS
    model = AutodsScore
    labels = Labels(
        progress="AutoDS scores: %(done)s of %(total)s key points asked about",
        answers="Key points asked about",
        invalid="Without a score",
    )

    def n_pairs(self, judge: Judge) -> Combinable:
        return Value(1)

    def sheets(self, subjects: Sequence[KeyPoint], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        for point in subjects:
            yield Sheet(point.pk, _about(AutodsQuestion, point))

    def values(self, question: AutodsQuestion, answer: Score) -> dict[str, Any]:
        return {"value": answer.value, "low": answer.low, "high": answer.high}

    def answers(self) -> None:
        """None: a score is no answer that can or cannot be used."""

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        """Key points that were asked about, and those of them that have no score."""
        counts = scored([run])
        without = counts["n_bounded"] + counts["n_unanswered"]
        return counts["n_scored"] + without, without

    def store(self, question: Question, answers: Mapping[str, Score | Problem], origin: Origin) -> None:
        """Keep what the reply says; the first score of a key point that has none becomes its own."""
        scores = {key: answer for key, answer in answers.items() if isinstance(answer, Score)}
        super().store(question, scores, origin)
        for key, answer in scores.items():
            if answer.value is not None:
                KeyPoint.objects.filter(pk=int(key), autods=None).update(autods=answer.value)


def newest_scores(points: QuerySet[Any, Any]) -> dict[int, dict[int, float | None]]:
    """{judge pk: {key point pk: the newest score of it}} of the judges that count; one query.

    `points` selects the keys of key points. A score is None where it has bounds or nothing.
    """
    by_judge: dict[int, dict[int, float | None]] = defaultdict(dict)
    rows = AutodsScore.objects.counted().filter(key_point__in=points).order_by("repeat")
    for judge, point, value in rows.values_list("judge_id", "key_point_id", "value"):
        by_judge[judge][point] = value
    return by_judge


def scored(runs: Sequence[JudgeRun]) -> dict[str, int]:
    """Count the key points of runs: scored, bounded on one side only, without either answer, without a reply."""
    has_score, has_bound = Q(value__isnull=False), Q(low__isnull=False)
    counts = AutodsScore.objects.filter(run__in=runs).aggregate(
        n_scored=Count("pk", filter=has_score),
        n_bounded=Count("pk", filter=~has_score & has_bound),
        n_unanswered=Count("pk", filter=~has_score & ~has_bound),
    )
    failed = JudgeRunItem.objects.filter(run__in=runs, state=JudgeRunItem.State.FAILED)
    return {**counts, "n_failed": failed.count(), "n_asked": JudgeCall.objects.filter(run__in=runs).count()}
