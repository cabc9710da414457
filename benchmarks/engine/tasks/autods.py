"""AutoDS scores of key points: whether a point is key, in one word, with its log-probabilities.

Every judge has scores of its own, and can be asked again: another repeat, of which the newest counts. A point of
which the server listed one answer only has bounds and no score. The first score of a key point becomes its own as
well (`KeyPoint.autods`) where none was imported; datasets are filtered by that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop

from benchmarks.engine.task import Counts, Labels, Origin
from benchmarks.engine.tasks.key_points import KeyPointTask
from benchmarks.judges.parsing import Problem
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import AutodsScore, Judge, JudgeCall, JudgeRun, JudgeRunItem, KeyPoint
from benchmarks.scoring.autods import Score, score

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

    @property
    def overrides(self) -> Mapping[str, Any]:
        """One token, with the others that it might have been."""
        return _ONE_TOKEN

    @classmethod
    def about(cls, point: KeyPoint, *, repeat: int = 0) -> AutodsQuestion:
        """The question on a key point; it is read with its question."""
        return cls(subject_key=str(point.pk), question=point.question.text, point=point.text, repeat=repeat)

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


class AutodsTask(KeyPointTask):
    """A score of each key point by each judge."""

    name = JudgeRun.Task.AUTODS
    labels = Labels(
        progress=gettext_noop("AutoDS scores: %(done)s of %(total)s key points asked about"),
        answers=gettext_noop("Key points asked about"),
        invalid=gettext_noop("Without a score"),
        failed=gettext_noop("Failed key points"),
        unanswered=gettext_noop("Key points without an answer"),
    )

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        rows = _scores(judge, [point.pk for point in subjects], repeats).values_list("key_point")
        there = Counter(dict(rows.annotate(n=Count("pk"))))
        return {point.pk: Counts(repeats, there[point.pk]) for point in subjects}

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        """Key points that were asked about, and those of them that have no score."""
        found = scored([run])
        return found.n_scored + found.n_bounded + found.n_unanswered, found.n_bounded + found.n_unanswered

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[AutodsQuestion]]:
        """Key points without a score of this judge; one query."""
        rows = _scores(judge, [item.key_point.pk for item in items], repeats)
        there = set(rows.values_list("key_point_id", "repeat"))
        return {
            item.pk: [
                AutodsQuestion.about(item.key_point, repeat=repeat)
                for repeat in range(repeats)
                if (item.key_point_id, repeat) not in there
            ]
            for item in items
        }

    def store(self, question: AutodsQuestion, answers: Mapping[str, Score | Problem], origin: Origin) -> None:
        """Keep what the reply says; the first score of a key point that has none becomes its own."""
        given = {int(key): one for key, one in answers.items() if isinstance(one, Score)}
        rows = [
            AutodsScore(
                key_point_id=key,
                repeat=question.repeat,
                value=one.value,
                low=one.low,
                high=one.high,
                input_sha256=question.input_of(str(key)),
            )
            for key, one in given.items()
        ]
        AutodsScore.objects.bulk_create(origin.mark(rows), ignore_conflicts=True)
        for key, one in given.items():
            if one.value is not None:
                KeyPoint.objects.filter(pk=key, autods=None).update(autods=one.value)


def _scores(judge: Judge, points: Sequence[int], repeats: int) -> QuerySet[AutodsScore, AutodsScore]:
    return AutodsScore.objects.filter(judge=judge, key_point__in=points, repeat__lt=repeats).order_by()


def newest_scores(points: QuerySet[Any, Any]) -> dict[int, dict[int, float | None]]:
    """{judge pk: {key point pk: the newest score of it}} of the judges that count; one query.

    `points` selects the keys of key points. A score is None where it has bounds or nothing.
    """
    found: dict[int, dict[int, float | None]] = defaultdict(dict)
    rows = AutodsScore.objects.counted().filter(key_point__in=points).order_by("repeat")
    for judge, point, value in rows.values_list("judge_id", "key_point_id", "value"):
        found[judge][point] = value
    return found


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of key points: scored, bounded on one side only, without either answer, without a reply."""

    n_scored: int
    n_bounded: int
    n_unanswered: int
    n_failed: int
    n_asked: int


def scored(runs: Sequence[JudgeRun]) -> Scored:
    """What became of the key points of some runs."""
    has_score, has_bound = Q(value__isnull=False), Q(low__isnull=False)
    counts = AutodsScore.objects.filter(run__in=runs).aggregate(
        n_scored=Count("pk", filter=has_score),
        n_bounded=Count("pk", filter=~has_score & has_bound),
        n_unanswered=Count("pk", filter=~has_score & ~has_bound),
    )
    failed = JudgeRunItem.objects.filter(run__in=runs, state=JudgeRunItem.State.FAILED)
    return Scored(**counts, n_failed=failed.count(), n_asked=JudgeCall.objects.filter(run__in=runs).count())
