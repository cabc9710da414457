"""A study of its own of any kind of label work, filled by simulated annotators; its description says so.

What is true of an item, and how somebody errs about it, is said by the kind. The study is closed.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db import transaction

from annotation.labelling.recording import AnswerKind, new_row
from annotation.models import Annotator, LabelItem, LabelTask, Study
from annotation.studies.lifecycle import Details
from benchmarks.models import Haystack, Insight, Judge

IN_A_QUERY = 500


K = TypeVar("K", bound=Hashable)


class RateOutOfRange(ValueError):
    """A rate of less than nothing or more than always."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often somebody gets the first thing that is asked wrong, and the second where there are two.

    What is said instead is as likely as any other wrong answer. `seconds` is the median time for an item.
    """

    first: float = 0.0
    second: float = 0.0
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if not (0 <= self.first <= 1 and 0 <= self.second <= 1):
            raise RateOutOfRange(f"{self.first}, {self.second}")


def mistaken(right: K, among: Sequence[K], *, rate: float, dice: random.Random) -> K:
    """An answer of somebody who is wrong at this rate; `among` is all that can be said."""
    others = [other for other in among if other != right]
    return dice.choice(others) if dice.random() < rate and others else right


def times_of(items: Iterable[K], *, rates: Rates, person: str, seed: int) -> dict[K, int]:
    """How long somebody takes for each item, in milliseconds: log-normal around the median."""
    return {
        item: int(1000 * rates.seconds * dice_of(f"time:{person}", seed, item).lognormvariate(0, 0.4))
        for item in items
    }


def dice_of(what: str, seed: int, item: Hashable) -> random.Random:
    """The dice for one item, the same whenever it is asked for."""
    return random.Random(f"{what}:{seed}:{item}")  # noqa: S311  invented work, not a secret


def near(level: K, among: Sequence[K], *, rate: float, dice: random.Random) -> K:
    """The same level of a scale, or at this rate one beside it."""
    at = among.index(level)
    return dice.choice([*among[max(at - 1, 0) : at], *among[at + 1 : at + 2]]) if dice.random() < rate else level


class Said(NamedTuple):
    """An answer of some kind, to a question of the task if its kind has several."""

    kind: AnswerKind[Any]
    answer: Any
    question: UUID | None = None


Played = Callable[[LabelItem, Rates, random.Random], Iterator[Said]]
"""All that somebody of such rates answers about an item, one thing after the other."""
T = TypeVar("T")


class StudyExists(Exception):
    """Simulated answers go into a study of their own, so its name must be new."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Subjects of a simulated study, as its kind asks for them; `n_items` draws so many, None takes all."""

    dataset: str = ""
    haystacks: Sequence[Haystack] = ()
    judge: Judge | None = None
    n_items: int | None = None
    people_per_item: int = 1
    control_share: Decimal = Decimal(0)
    n_attention_checks: int = 0


class Simulated(ABC, Generic[T]):
    """How simulated people do one kind of label work."""

    careless: Rates
    """The rates of somebody who does not look."""
    rows: tuple[str, ...] = ()
    """Read with an item, as `select_related` names it."""

    @abstractmethod
    def make(self, chosen: Chosen, **values: Any) -> Study:
        """Set up a study of what is chosen, of `seed` and of the values of a new study; raises `NotPossible`."""

    @abstractmethod
    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], T]:
        """A function that draws the truth of an item of a study, or of a question of it."""

    @abstractmethod
    def answer(self, true: T, rates: Rates, dice: random.Random) -> Any:
        """The answer of somebody of such rates where this is true."""

    @abstractmethod
    def parts(self, answer: Any) -> Mapping[str, Hashable]:
        """Parts of an answer that can be right or wrong by themselves, by name."""

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """How people of the demo answer, by what judges say or what is `known` of its material."""
        raise NotImplementedError


class Point(NamedTuple):
    """One thing that is asked of an item, or one question of it; what is true of it, and what is right."""

    number: int
    question: int | None
    truth: Any
    right: Mapping[str, Hashable]


ABOUT = "Simulated annotators of known error rates; no person did this work."


class Person(NamedTuple):
    """Answers of a simulated annotator, and how many of them differ from the truth, part by part."""

    label: str
    n: int
    wrong: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Simulation:
    """The study, its people, and how often each value of each part is true of its ordinary items."""

    study: Study
    people: tuple[Person, ...]
    n_answers: int
    truth: Mapping[str, Mapping[str, int]]


@transaction.atomic
def simulate(
    *,
    kind: AnswerKind[Any],
    simulated: Simulated[Any],
    chosen: Chosen,
    name: str,
    people: Mapping[str, Rates],
    researchers: Iterable[Any],
    seed: int,
    now: datetime,
) -> Simulation:
    """Make a study of what is chosen and let simulated people answer all of it, as of `now`.

    Raises:
        StudyExists: there is a study of this name.
        NotPossible: such a study cannot be set up.
    """
    if Study.objects.filter(name=name).exists():
        raise StudyExists(f"There is a study “{name}”; nothing was written into it.")
    rows = {label: Annotator.objects.create(label=label, created_at=now) for label in people}
    details = Details(name=name, description=ABOUT)
    study = simulated.make(
        chosen, details=details, annotators=rows.values(), researchers=researchers, by=None, now=now, seed=seed
    )
    items = {item.pk: item for item in study.label_items.select_related(*simulated.rows).order_by("pk")}
    points = _points(kind, simulated, study, items)

    def work(label: str, rates: Rates) -> Person:
        """Let somebody answer all that is assigned, one item after the other, so that the last ends now."""
        tasks = list(study.label_tasks.filter(annotator=rows[label]).order_by("position"))
        guideline = study.guidelines.order_by("-version").values_list("pk", flat=True).first()
        times = times_of([task.item_id for task in tasks], rates=rates, person=label, seed=study.seed)
        at = now - timedelta(milliseconds=sum(times.values()))
        wrong: Counter[str] = Counter()
        made = []
        for task in tasks:
            task.study, task.item, task.begun_at = study, items[task.item_id], at
            task.active_ms = times[task.item_id]
            at += timedelta(milliseconds=task.active_ms)
            task.state, task.n_answered = LabelTask.State.DONE, task.n_questions
            task.last_seen_at = task.done_at = at
            for each in points[task.item_id]:
                answer = simulated.answer(each.truth, rates, dice_of(label, study.seed, each.number))
                wrong.update({name: part != each.right[name] for name, part in simulated.parts(answer).items()})
                act = f"simulated-{each.number}-{task.uid.hex}"
                made.append(
                    new_row(kind, task, answer, question=each.question, guideline=guideline, op_id=act, now=at)
                )
        changed = ["state", "n_answered", "active_ms", "begun_at", "last_seen_at", "done_at"]
        LabelTask.objects.bulk_update(tasks, changed, batch_size=IN_A_QUERY)
        kind.model.objects.bulk_create(made, batch_size=IN_A_QUERY)
        return Person(label, len(made), wrong)

    done = tuple(work(label, rates) for label, rates in people.items())
    Annotator.objects.filter(pk__in=[row.pk for row in rows.values()]).update(is_active=False)
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    study.refresh_from_db()
    ordinary = [each for pk, item in items.items() if item.role == LabelItem.Role.ORDINARY for each in points[pk]]
    return Simulation(study, done, len(ordinary), _counted(ordinary))


def _counted(points: Iterable[Point]) -> Mapping[str, Mapping[str, int]]:
    """How often each value of each part is right."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for point in points:
        for part, value in point.right.items():
            counts[part][str(value)] += 1
    return counts


def _points(
    kind: AnswerKind[Any], simulated: Simulated[Any], study: Study, items: Mapping[int, LabelItem]
) -> dict[int, list[Point]]:
    """Questions on each item: its insights in their order, or the item itself.

    It is numbered through, since the same data give the same truth everywhere.
    """
    subtopics = dict(LabelItem.objects.filter(pk__in=items).values_list("pk", "summary__subtopic"))
    insights: dict[int | None, list[int | None]] = defaultdict(list)
    if kind.by_insight:
        rows = Insight.objects.filter(subtopic__in=set(subtopics.values())).order_by("pk")
        for pk, subtopic in rows.values_list("pk", "subtopic"):
            insights[subtopic].append(pk)
    truth_of, numbers = simulated.truth(study), count(1)
    points: dict[int, list[Point]] = {pk: [] for pk in items}
    for pk, item in items.items():
        for question in insights[subtopics[pk]] if kind.by_insight else [None]:
            n = next(numbers)
            truth = truth_of(item, dice_of("truth", study.seed, n))
            right = simulated.parts(simulated.answer(truth, Rates(), dice_of("right", 0, n)))
            points[pk].append(Point(n, question, truth, right))
    return points
