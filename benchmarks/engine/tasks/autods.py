"""AutoDS scores of key points: whether a point is key, in one word, with its log-probabilities.

A score is stored with its key point, the reply with the call, so that nothing is asked twice. A point of which the
server listed one answer only has bounds and no score; it stays without one, and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from benchmarks.engine.task import Counts, Labels, Origin, Task, parts
from benchmarks.judges.parsing import Problem
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import ModelConfig, Question, ResponseFormat, cache_key, request_body
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, KeyPoint
from benchmarks.scoring.autods import Score, score

IN_A_QUERY = 500
N_LISTED = 20
"""Most likely first tokens that the server is asked to list."""
_ONE_TOKEN: Mapping[str, Any] = MappingProxyType(
    {"max_completion_tokens": 1, "temperature": 0.0, "seed": None, "logprobs": True, "top_logprobs": N_LISTED}
)


@dataclass(frozen=True, kw_only=True)
class AutodsQuestion(Question):
    """A question and a key point of its answer."""

    question: str
    point: str

    task = "autods"
    overrides = _ONE_TOKEN

    @classmethod
    def about(cls, point: KeyPoint) -> AutodsQuestion:
        """The question on a key point; it is read with its question."""
        return cls(subject_key=str(point.pk), question=point.question.text, point=point.text)

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges: scores can only be compared where everybody is asked in the same words."""
        return text_of("autods")

    def user_text(self) -> str:
        """The question says what the point may be key to."""
        return f"Question:\n{self.question}\nPoint:\n{self.point}\nAnswer:"

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Score]:
        """The score, from the tokens that the server lists."""
        return {self.subject_key: score_of(raw)}


def score_of(reply: Mapping[str, Any]) -> Score:
    """The score that a stored chat completion holds; spellings of yes and of no are added up."""
    try:
        listed = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        pairs = [(str(one["token"]), min(0.0, float(one["logprob"]))) for one in listed]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return Score(None, None, None, "the server lists no log-probabilities")
    sides: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in pairs:
        word = token.strip(" \t\n\r\"'.,:*_▁Ġ").lower()
        if word in sides:
            sides[word].append(logprob)
    least = min((logprob for _, logprob in pairs), default=None)
    return score(sides["yes"], sides["no"], least_listed=least)


class AutodsTask(Task):
    """One score for each key point, whichever judge gave it."""

    name = JudgeRun.Task.AUTODS
    subject = "key_point"
    subjects = "key_points"
    related = "key_point"
    order_by = "key_point__question"
    labels = Labels(
        progress=gettext_noop("AutoDS scores: %(done)s of %(total)s key points asked about"),
        answers=gettext_noop("Key points asked about"),
        invalid=gettext_noop("Without a score"),
        failed=gettext_noop("Failed key points"),
        unanswered=gettext_noop("Key points without an answer"),
    )

    def read(self, keys: Sequence[int]) -> QuerySet[KeyPoint, KeyPoint]:
        """Key points."""
        return KeyPoint.objects.filter(pk__in=keys)

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        return {point.pk: Counts(1, int(point.autods is not None)) for point in subjects}

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        """Key points that were asked about, and those of them that have no score."""
        asked = run.items.filter(state=JudgeRunItem.State.DONE)
        return asked.count(), asked.filter(key_point__autods=None).count()

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[AutodsQuestion]]:
        """Key points without a score, as they are now; one query."""
        rows = KeyPoint.objects.filter(pk__in=[item.key_point_id for item in items], autods=None)
        missing = {point.pk: point for point in rows.select_related("question")}
        return {
            item.pk: [AutodsQuestion.about(missing[item.key_point_id])] if item.key_point_id in missing else []
            for item in items
        }

    def store(self, question: AutodsQuestion, answers: Mapping[str, Score | Problem], origin: Origin) -> None:
        """Give the key point its score if the reply has one; a score that is there stays."""
        for key, answer in answers.items():
            if isinstance(answer, Score) and answer.value is not None:
                KeyPoint.objects.filter(pk=int(key), autods=None).update(autods=answer.value)


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of key points: scored, bounded on one side only, without either answer, without a reply."""

    n_scored: int
    n_bounded: int
    n_unanswered: int
    n_failed: int
    n_asked: int


def scored(*, runs: Sequence[JudgeRun], config: ModelConfig) -> Scored:
    """What became of the key points of some runs."""
    items = JudgeRunItem.objects.filter(run__in=runs)
    counts: Counter[str] = Counter()
    rows = items.filter(state=JudgeRunItem.State.DONE).select_related("key_point__question")
    for part in parts([item.key_point for item in rows.filter(key_point__autods=None)], IN_A_QUERY):
        bodies = [request_body(config, AutodsQuestion.about(point), ResponseFormat.NONE) for point in part]
        keys = [cache_key(body, base_url=config.base_url, repeat=0) for body in bodies]
        calls = JudgeCall.objects.filter(cache_key__in=keys, state=JudgeCall.State.ANSWERED)
        for reply in calls.values_list("reply", flat=True):
            counts["bounded" if score_of(reply).low is not None else "unanswered"] += 1
    return Scored(
        n_scored=rows.filter(key_point__autods__isnull=False).count(),
        n_bounded=counts["bounded"],
        n_unanswered=counts["unanswered"],
        n_failed=items.filter(state=JudgeRunItem.State.FAILED).count(),
        n_asked=JudgeCall.objects.filter(run__in=runs).count(),
    )
