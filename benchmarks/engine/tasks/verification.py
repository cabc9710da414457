"""Verification: the two judgments that annotators give on key points, asked of a model.

Whether the documents hold a point and whether it is key are two calls, as the second must not depend on what the
documents say. A model may call a point key that it did not find; figures leave that answer out, as people's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator

from benchmarks.engine.task import Counts, Labels, Origin
from benchmarks.engine.tasks.key_points import KeyPointTask
from benchmarks.engine.tasks.points import QuestionTexts, texts_of
from benchmarks.judges.base import ItemRef, digest
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem, read_reply, strict_object
from benchmarks.judges.passages import PassageRanking, Passages, passages_of
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import Headings, LabelQuestion, ModelConfig, Question
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, KeyPoint, KeyPointVerdict
from benchmarks.states import Grounded, Keyness

Judgment = KeyPointVerdict.Judgment


class GroundedReply(LabelReply):
    """Whether the passages say a point; exactly a yes names those that do."""

    name = "grounded"
    item = "point"
    passage = "passage"
    labels = ("yes", "no")

    label: Literal["yes", "no"] = Field(alias="answer")
    numbers: list[StrictInt] = Field(alias="evidence", max_length=1000)

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """What is wrong with a yes that names no evidence."""
        return "“yes” must name what says it in “evidence”." if label == Grounded.YES and not numbers else ""


class KeynessReply(BaseModel):
    """Whether a point is key."""

    model_config = ConfigDict(extra="ignore")

    answer: Literal["agree", "neutral", "disagree"]

    @field_validator("answer", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class GroundedQuestion(LabelQuestion):
    """Passages of a question's documents, and one key point that they may say."""

    passages: Passages

    task = "grounded"
    judgment: ClassVar[str] = Judgment.GROUNDED
    reply_model = GroundedReply
    headings = Headings("Passages:", "Point:", "Points:", "Reply:")

    @property
    def numbered(self) -> Sequence[tuple[int, str]]:
        """The passages, from 1."""
        return list(enumerate(self.passages.texts, 1))

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges, so that they can be compared with each other."""
        return text_of("grounded")

    def raw_of(self, answer: LabelAnswer | Problem) -> dict[str, Any]:
        """What is kept beside the answer: how much was shown, and the first passage that says the point."""
        shown = {"passages": self.passages.n_all, "passages_shown": len(self.passages.texts)}
        if isinstance(answer, Problem):
            return shown | {"problem": answer.reason}
        if not answer.numbers:
            return shown
        sources = [self.passages.sources[number - 1] for number in answer.numbers]
        return shown | {"evidence": self.passages.texts[answer.numbers[0] - 1], "documents": sources}


@dataclass(frozen=True, kw_only=True)
class KeynessQuestion(Question):
    """A question and a key point of its answer, without the documents."""

    question: str
    point: str

    task = "keyness"
    judgment: ClassVar[str] = Judgment.KEY_POINT

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges, so that they can be compared with each other."""
        return text_of("keyness")

    def user_text(self) -> str:
        """The question says what the point may be key to."""
        return f"Question:\n{self.question}\nPoint:\n{self.point}\nReply:"

    def schema(self) -> tuple[str, dict[str, Any]]:
        """One of three answers."""
        answers = {"type": "string", "enum": Keyness.values}
        return "keyness", strict_object({"answer": answers})

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, LabelAnswer | Problem]:
        found = read_reply(reply, KeynessReply)
        key = self.subject_key
        return {key: found if isinstance(found, Problem) else LabelAnswer(key, found.answer)}

    def raw_of(self, answer: LabelAnswer | Problem) -> dict[str, Any]:
        """Why an answer cannot be used."""
        return {"problem": answer.reason} if isinstance(answer, Problem) else {}


VerificationQuestion = GroundedQuestion | KeynessQuestion


class VerificationTask(KeyPointTask):
    """A verdict of a model for each key point and judgment."""

    name = JudgeRun.Task.VERIFICATION
    labels = Labels(
        progress=gettext_noop("%(title)s: %(done)s of %(total)s key points done"),
        failed=gettext_noop("Failed key points"),
        unanswered=gettext_noop("Key points without an answer"),
    )

    def answers(self) -> QuerySet[KeyPointVerdict, KeyPointVerdict]:
        """All verdicts on key points."""
        return KeyPointVerdict.objects.all()

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        there = self.n_given(judge=judge, subjects=subjects, repeats=repeats)
        return {one.pk: Counts(len(Judgment) * repeats, there[one.pk]) for one in subjects}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[VerificationQuestion]]:
        """Judgments without a verdict; three queries."""
        points = [item.key_point for item in items]
        rows = self.given(judge=judge, keys=[point.pk for point in points], repeats=repeats)
        there = set(rows.values_list("key_point_id", "judgment", "repeat"))
        texts = texts_of({point.question_id for point in points})
        cut = {question: passages_of(known.documents) for question, known in texts.items()}
        found: dict[int, list[VerificationQuestion]] = {}
        for item, point in zip(items, points, strict=True):
            asked = found[item.pk] = []
            known = texts[point.question_id]
            for repeat in range(repeats):
                if (point.pk, Judgment.GROUNDED, repeat) not in there:
                    asked.append(_grounded(point, known, cut[point.question_id], config, repeat))
                if (point.pk, Judgment.KEY_POINT, repeat) not in there:
                    key, question = str(point.pk), point.question.text
                    asked.append(
                        KeynessQuestion(subject_key=key, question=question, point=point.text, repeat=repeat)
                    )
        return found

    def store(
        self, question: VerificationQuestion, answers: Mapping[str, LabelAnswer | Problem], origin: Origin
    ) -> None:
        """A verdict; one that another worker stored first stays."""
        rows = [
            KeyPointVerdict(
                key_point_id=int(question.subject_key),
                judgment=question.judgment,
                repeat=question.repeat,
                answer=answer.label if isinstance(answer, LabelAnswer) else "",
                is_valid=isinstance(answer, LabelAnswer),
                raw=question.raw_of(answer),
                input_sha256=digest(text_of(question.task), question.user_text()),
            )
            for answer in answers.values()
        ]
        KeyPointVerdict.objects.bulk_create(origin.mark(rows), ignore_conflicts=True)


def _grounded(
    point: KeyPoint, texts: QuestionTexts, cut: Sequence[tuple[int, str]], config: ModelConfig, repeat: int
) -> GroundedQuestion:
    """Documents that are too long are cut to the passages closest to the point."""
    ranking = PassageRanking(cut, [point.text], tokens=config.document_tokens, background=texts.background())
    return GroundedQuestion(
        subject_key=str(point.pk),
        items=(ItemRef(str(point.pk), point.text),),
        protocol="one",
        passages=ranking.for_points([0]),
        repeat=repeat,
    )
