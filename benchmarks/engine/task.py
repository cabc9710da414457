"""What the engine must know of a kind of model work; each is a module of `benchmarks.engine.tasks`.

Queuing, sending, paying, waiting, pausing and counting are the same for all tasks and live in the engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeVar

from django.db.models import Count, Model, Q, QuerySet

from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import (
    AutodsScore,
    DraftText,
    Extraction,
    Judge,
    JudgeCall,
    JudgeRun,
    JudgeRunItem,
    KeyPointVerdict,
    PointVerdict,
    SummaryRating,
    Verdict,
)

IN_A_QUERY = 5000
"""Keys in one query; databases limit them."""
T = TypeVar("T")


def parts(rows: Sequence[T], size: int = IN_A_QUERY) -> Iterator[Sequence[T]]:
    """Rows in pieces that fit a query."""
    return (rows[start : start + size] for start in range(0, len(rows), size))


@dataclass(frozen=True, slots=True)
class Counts:
    """Answers that a task asks of a subject, and those that are there; unusable ones count as there."""

    n_asked: int
    n_there: int


@dataclass(frozen=True)
class Labels:
    """What the page of a run calls its numbers; translated where they are shown."""

    progress: str = "%(title)s: %(done)s of %(total)s responses done"
    answers: str = "Verdicts"
    invalid: str = "Invalid answers"
    failed: str = "Failed responses"
    unanswered: str = "Responses without an answer"
    stale: Any = None
    """That so many answers, %(n)d, are stale (`ngettext_lazy`); None where nobody asks for it."""


A = TypeVar("A", Verdict, PointVerdict, Extraction, KeyPointVerdict, AutodsScore, DraftText, SummaryRating)


@dataclass(frozen=True)
class Origin:
    """Where answers come from: in which run, when, and from which call of a model."""

    run: JudgeRun
    now: datetime
    call: JudgeCall | None = None

    def mark(self, rows: Sequence[A]) -> Sequence[A]:
        """Write the origin on rows that are not stored yet."""
        call_id = self.call.pk if self.call else None
        for row in rows:
            row.judge_id, row.run_id, row.call_id = self.run.judge_id, self.run.pk, call_id
            row.created_at = self.now
        return rows


Store = Callable[[Origin], object]


class Task(ABC):
    """One kind of model work: which answers are missing, how they are asked for, and where they are stored."""

    name: ClassVar[str]
    """What `JudgeRun.task` holds."""
    subject: ClassVar[Literal["summary", "response", "key_point", "draft", "part"]]
    """What a run item is about, by its field."""
    subjects: ClassVar[str]
    """The same in the plural, for people."""
    related: ClassVar[str]
    """What is read with the subjects."""
    order_by: ClassVar[str]
    """What keeps items together that share texts."""
    role: ClassVar[str] = Judge.Role.JUDGE
    """Who does it."""
    has_repeats: ClassVar[bool] = False
    """Whether a model may be asked the same several times."""
    has_steps: ClassVar[bool] = False
    """Whether answers lead to further questions on the same subject: it is asked for them until there are none."""
    has_offline: ClassVar[bool] = False
    """Whether judges that are no models can do it."""
    labels: ClassVar[Labels] = Labels()

    @property
    def title(self) -> str:
        """What is done, in a few words."""
        return dict(JudgeRun.Task.choices).get(self.name, self.name)

    @property
    def subject_model(self) -> Any:
        """The model of the subjects."""
        return JudgeRunItem._meta.get_field(self.subject).related_model

    def read(self, keys: Sequence[int]) -> QuerySet[Any, Any]:
        """Subjects by their keys, with what is read with them."""
        further = self.related.removeprefix(self.subject).removeprefix("__")
        rows: QuerySet[Any, Any] = self.subject_model.objects.filter(pk__in=keys)
        return rows.select_related(further) if further else rows

    def counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int = 1) -> dict[int, Counts]:
        """What is asked of each subject and there, by its key; a fixed number of queries for 5,000 of them."""
        counts: dict[int, Counts] = {}
        for part in parts(subjects):
            counts |= self._counts(judge=judge, subjects=part, repeats=repeats)
        return counts

    @abstractmethod
    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        """The same for a part of the subjects."""

    def answers(self) -> QuerySet[Any, Any] | None:
        """All answers, where they are rows with a judge, a run, a subject and `is_valid`."""
        return None

    def n_invalid(self, *, judge: Judge, subjects: Sequence[Model]) -> int:
        """Answers on subjects that could not be used."""
        rows = self.answers()
        if rows is None:
            return 0
        invalid, field = rows.filter(judge=judge, is_valid=False), f"{self.subject}__in"
        return sum(invalid.filter(**{field: [subject.pk for subject in part]}).count() for part in parts(subjects))

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        """(answers that a run has stored, those of them that could not be used); one query."""
        rows = self.answers()
        if rows is None:
            return run.items.filter(state=JudgeRunItem.State.DONE).count(), 0
        counts = rows.filter(run=run).aggregate(n=Count("pk"), bad=Count("pk", filter=Q(is_valid=False)))
        return counts["n"], counts["bad"]

    @abstractmethod
    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> Mapping[int, Sequence[Question]]:
        """What a model has not answered on the items: {item key: questions}; a fixed number of queries."""

    def foreseen(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> Mapping[int, Sequence[Question]]:
        """All that will be asked as far as it can be known, for estimates."""
        return self.questions(judge=judge, config=config, items=items, repeats=repeats)

    @abstractmethod
    def store(self, question: Any, answers: Mapping[str, Any], origin: Origin) -> None:
        """Store the answers to one question of this task; called in a transaction."""

    def store_all(self, answered: Sequence[tuple[Any, Mapping[str, Any], Origin]]) -> None:
        """Store the answers to several questions; called in a transaction."""
        for question, answers, origin in answered:
            self.store(question, answers, origin)

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        """Let a judge that is no model answer, outside any transaction; what comes back stores the answers.

        It calls `keep` as it goes on, so that no other worker takes over what it has claimed.
        """
        raise NotImplementedError(self.name)

    def finished(self, run: JudgeRun, *, now: datetime) -> None:
        """What follows when a run is done; called in the transaction that closes it."""
        return

    def inputs(self, judge: Judge) -> QuerySet[Any, tuple[int, Any, str]] | None:
        """(subject, key, hash of the input) of a model's answers, to be compared with today's texts, or None."""
        return None
