"""A kind of model work, and work on pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeVar

from django.db.models import Count, F, Func, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable

from benchmarks.judges.base import ItemRef
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import ModelConfig, Question, item_groups
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
    """Names of numbers on the page of a run; translated where they are shown."""

    progress: str = "%(title)s: %(done)s of %(total)s responses done"
    answers: str = "Verdicts"
    invalid: str = "Invalid answers"
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
        call_id = self.call.pk if self.call else None
        for row in rows:
            row.judge_id, row.run_id, row.call_id = self.run.judge_id, self.run.pk, call_id
            row.created_at = self.now
        return rows


Store = Callable[[Origin], object]


class Task(ABC):
    """One kind of model work: which answers are missing, how they are asked for, and where they are stored."""

    name: ClassVar[str]
    """As `JudgeRun.task` holds it."""
    subject: ClassVar[Literal["summary", "response", "key_point", "draft", "other"]]
    """The subject of a run item, by its field."""
    subjects: ClassVar[str]
    """The same in the plural, for people."""
    related: ClassVar[str]
    """Read with the subjects, as `select_related` names it."""
    order_by: ClassVar[Any]
    """Keeps items together that share texts."""
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
        return dict(JudgeRun.Task.choices).get(self.name, self.name)

    @property
    def nouns(self) -> str:
        """Its subjects in words, in the plural."""
        return self.subjects.replace("_", " ")

    @property
    def subject_model(self) -> Any:
        return JudgeRunItem._meta.get_field(self.subject).related_model

    def about(self, subject: Any) -> dict[str, Any]:
        """The field of a run item that says what it is about."""
        return {self.subject: subject}

    def read(self, keys: Sequence[int]) -> QuerySet[Any, Any]:
        further = self.related.removeprefix(self.subject).removeprefix("__")
        rows: QuerySet[Any, Any] = self.subject_model.objects.filter(pk__in=keys)
        return rows.select_related(further) if further else rows

    def counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int = 1) -> dict[int, Counts]:
        """How much is asked of each subject and there, by its key; a fixed number of queries for 5,000 of them."""
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
        """Open questions to a model on the items: {item key: questions}; a fixed number of queries."""

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
        """Called in the transaction that closes a run."""
        return

    def inputs(self, judge: Judge) -> QuerySet[Any, tuple[int, Any, str]] | None:
        """(subject, key, hash of the input) of a model's answers, to be compared with today's texts, or None."""
        return None


@dataclass(frozen=True, slots=True)
class Sheet:
    """The items of a subject on one premise; `ask` words the question on `items` of them, for a `repeat`.

    Where the subject is its own item, `ask` is called without items.
    """

    subject: int
    ask: Callable[..., Question]
    items: Sequence[ItemRef] = (ItemRef("", ""),)
    premise: str = ""


def n_of(rows: QuerySet[Any, Any]) -> Subquery:
    """How many rows of a queryset belong to an outer one; 0 where there are none."""
    counted = rows.order_by().annotate(n=Func(F("pk"), function="COUNT", output_field=IntegerField()))
    return Subquery(counted.values("n"))


class PairTask(Task):
    """A row for each subject, premise, item and repeat."""

    model: ClassVar[type[Any]]
    """The rows; with a judge, a run, a call, the subject and `input_sha256`."""
    item: ClassVar[str] = ""
    """The column of the item; empty where the subject is the only one."""
    premise: ClassVar[str] = ""
    """The column of the premise, an attribute of the questions too; empty where there is one."""
    premises: ClassVar[tuple[str, ...]] = ()
    """Those of this task, where others share the table."""

    # What a task says

    @abstractmethod
    def n_pairs(self, judge: Judge) -> Combinable:
        """How many pairs a subject has, as an expression over the subjects."""

    @abstractmethod
    def sheets(self, subjects: Sequence[Any], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        """All pairs of subjects; a fixed number of queries."""

    def values(self, question: Any, answer: Any) -> dict[str, Any]:
        """Values of a row for an answer or a `Problem`: whether it can be used, and what is kept beside it."""
        return {"is_valid": not isinstance(answer, Problem), "raw": question.raw_of(answer)}

    def offline_rows(self, *, judge: Judge, subjects: Sequence[Any]) -> Iterable[Any]:
        """The rows of a judge that is no model, not stored."""
        raise NotImplementedError(self.name)

    # What is there, and what is missing

    def all_rows(self) -> QuerySet[Any, Any]:
        rows: QuerySet[Any, Any] = self.model.objects.all()
        return rows.filter(**{f"{self.premise}__in": self.premises}) if self.premises else rows

    def answers(self) -> QuerySet[Any, Any] | None:
        return self.all_rows()

    def _rows(self, judge: Judge, repeats: int) -> QuerySet[Any, Any]:
        rows = self.all_rows().filter(judge=judge).order_by()
        return rows.filter(repeat__lt=repeats) if self.has_repeats else rows

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        times = repeats if self.has_repeats else 1
        there = n_of(self._rows(judge, repeats).filter(**{self.subject: OuterRef("pk")}))
        rows = self.subject_model.objects.filter(pk__in=[subject.pk for subject in subjects]).order_by()
        counts = rows.values_list("pk", self.n_pairs(judge), there)
        return {pk: Counts(n_pairs * times, n_there) for pk, n_pairs, n_there in counts}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[Question]]:
        """Pairs without a row, repeat by repeat, in calls as the judge's protocol groups them."""
        subjects = [getattr(item, self.subject) for item in items]
        there = self._pairs_there(judge, {subject.pk for subject in subjects}, repeats)
        by_subject: dict[int, list[Question]] = defaultdict(list)
        for sheet in self.sheets(subjects, judge=judge, config=config):
            missing = {
                repeat: {item.key for item in sheet.items if self._pair(sheet, item, repeat) not in there}
                for repeat in range(repeats if self.has_repeats else 1)
            }
            for repeat, group in item_groups(sheet.items, protocol=config.protocol, missing=missing):
                items_asked = {"items": group} if self.item else {}
                by_subject[sheet.subject].append(sheet.ask(repeat=repeat, **items_asked))
        for questions in by_subject.values():
            questions.sort(key=attrgetter("repeat"))
        return {item.pk: by_subject[item.subject_id] for item in items}

    def _pairs_there(self, judge: Judge, subjects: Collection[int], repeats: int) -> set[tuple[str, ...]]:
        if not judge.pk:  # nobody's, which `stale_answers` asks for
            return set()
        columns = (self.subject, self.premise, self.item, "repeat" if self.has_repeats else "")
        rows = self._rows(judge, repeats).filter(**{f"{self.subject}__in": subjects})
        return {tuple(map(str, row)) for row in rows.values_list(*filter(None, columns))}

    def _pair(self, sheet: Sheet, item: ItemRef, repeat: int) -> tuple[str, ...]:
        """A pair as `_pairs_there` has it."""
        premise, key = [str(sheet.premise)] * bool(self.premise), [item.key] * bool(self.item)
        return (str(sheet.subject), *premise, *key, *([str(repeat)] * self.has_repeats))

    # Rows

    def row(self, *, subject: int, item: object = None, premise: str = "", **values: Any) -> Any:
        """A row on a pair, not stored."""
        pair = {self.subject: subject, self.item: item, self.premise: premise}
        columns = ((self.model._meta.get_field(name), value) for name, value in pair.items() if name)
        return self.model(**{field.attname: field.to_python(value) for field, value in columns}, **values)

    def row_of(self, question: Question, key: str, answer: Any) -> Any:
        """The row of an answer, not stored."""
        return self.row(
            subject=int(question.subject_key),
            item=key,
            premise=getattr(question, self.premise) if self.premise else "",
            input_sha256=question.input_of(key),
            **({"repeat": question.repeat} if self.has_repeats else {}),
            **self.values(question, answer),
        )

    def store(self, question: Question, answers: Mapping[str, Any], origin: Origin) -> None:
        """A row for each answer."""
        self.add(origin, [self.row_of(question, key, answer) for key, answer in answers.items()])

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        rows = []
        for row in self.offline_rows(judge=judge, subjects=[getattr(item, self.subject) for item in items]):
            rows.append(row)
            keep()
        return lambda origin: self.add(origin, rows)

    def add(self, origin: Origin, rows: Sequence[Any]) -> None:
        """Store rows; one that another worker stored first stays."""
        self.model.objects.bulk_create(origin.mark(rows), ignore_conflicts=True, batch_size=500)

    def inputs(self, judge: Judge) -> QuerySet[Any, tuple[int, Any, str]] | None:
        """Questions to a model on pairs, where the task has words for stale answers."""
        if not self.labels.stale:
            return None
        rows = self.all_rows().filter(judge=judge)
        if hasattr(self.model, "is_imported"):
            rows = rows.filter(is_imported=False)
        return rows.values_list(self.subject, self.item, "input_sha256")
