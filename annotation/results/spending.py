"""Work of people and models for a study and its cost: for an item, for an answer, for a finished task."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet, Sum

from annotation.kinds import kind_named
from annotation.models import Study
from annotation.studies.amounts import MS_PER_HOUR, pay
from benchmarks.engine.costs import cost_of
from benchmarks.models import Judge, JudgeCall, ModelPrice
from benchmarks.results.computation import totals
from benchmarks.scoring.stat import Stat

DOLLARS = "USD"
"""What models are priced in."""
UNPAID, NOTHING_YET = "nobody is paid", "nothing is finished yet"


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of models about the items of a study: rows with `judge` and `call`, and the fields of an item."""

    rows: QuerySet[Any, Any]
    item: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """Work and cost of somebody in all; `n_tasks` and `hours` are of people, None for models.

    Undefined where nobody is paid, and where a model has no price or its calls are not on record.
    """

    name: str
    is_people: bool
    total: Stat
    currency: str
    n_items: int
    n_answers: int | None
    n_tasks: int | None = None
    hours: float | None = None
    judge: str = ""
    """The key of a judge, empty for people and for models that write."""

    def each(self, n: int | None) -> Stat:
        if self.total.value is None or not n:
            return Stat.undefined(self.total.undefined_reason or NOTHING_YET)
        return Stat(self.total.value / n, n_items=n)


def spent_on(study: Study, answers: Sequence[Answers]) -> tuple[Spent, ...]:
    """People together, then each model that answered about the same items."""
    return (_of_people(study), *(row for some in answers for row in _of_models(some)))


def spending_facts(answers: Sequence[Answers]) -> object:
    prices = ModelPrice.objects.order_by("pk").values_list(
        "model", "base_url", "valid_from", "input_per_million", "cached_per_million", "output_per_million"
    )
    return [str(row) for row in prices], totals(*(answer.rows for answer in answers)) if answers else ()


def _of_people(study: Study) -> Spent:
    """Time on all tasks is paid, also on those that are not finished; imported labels have no tasks."""
    kind: Any = kind_named(study.kind)
    work = kind.worked(study)
    times = [ms or 0 for _of, ms in work.rows.values_list(work.paid_by).annotate(ms=Sum(work.time))]
    done = work.rows.filter(work.is_done).aggregate(n=Count("pk"), items=Count(work.item, distinct=True))
    answers = getattr(kind, "answers", None)
    n_answers = None if answers is None else answers.model.objects.filter(study=study).for_figures().count()
    if n_answers and not times:
        return Spent(
            "", True, Stat.undefined("no working time is known of these labels"), study.currency, 0, n_answers
        )
    if not study.hourly_rate:
        total = Stat.undefined(UNPAID)
    elif not done["n"]:
        total = Stat.undefined(NOTHING_YET)
    else:
        amounts = (pay(ms, study.hourly_rate) for ms in times)
        total = Stat(float(sum(amounts, Decimal(0))), n_items=done["n"])
    hours = sum(times) / MS_PER_HOUR
    return Spent("", True, total, study.currency, done["items"], n_answers, done["n"], hours)


def _of_models(answers: Answers) -> list[Spent]:
    """Each model with its answers, by name; the calls that gave them are counted once, repairs are not."""
    calls: dict[int, list[int | None]] = defaultdict(list)
    items: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    rows = answers.rows.order_by().values_list("judge", "call", *answers.item)
    for judge_pk, call, *item in rows.iterator(chunk_size=5_000):
        calls[judge_pk].append(call)
        items[judge_pk].add(tuple(item))
    judges = list(Judge._base_manager.filter(pk__in=calls).order_by("name", "version"))  # writers of texts too
    names = Counter(judge.name for judge in judges)
    return [
        Spent(
            name=judge.name if names[judge.name] == 1 else f"{judge.name} v{judge.version}",
            is_people=False,
            total=_cost(answers.rows.filter(judge=judge), judge, calls[judge.pk]),
            currency=DOLLARS,
            n_items=len(items[judge.pk]),
            n_answers=len(calls[judge.pk]),
            judge=str(judge.uid) if judge.role == Judge.Role.JUDGE else "",
        )
        for judge in judges
    ]


def _cost(rows: QuerySet[Any, Any], judge: Judge, calls: Sequence[int | None]) -> Stat:
    if judge.kind in {Judge.Kind.LEXICAL, Judge.Kind.SEARCH}:  # they run here and ask nobody
        return Stat(0.0, n_items=len(calls))
    if judge.kind == Judge.Kind.JURY:
        return Stat.undefined("it asks nothing itself; see what its members cost")
    if judge.published_cost is not None:
        return Stat(float(judge.published_cost), n_items=len(calls))
    if not any(calls):
        return Stat.undefined("no call of it is on record")
    if n := sum(call is None for call in calls):
        return Stat.undefined(f"{n} answers have no call on record")
    spent = cost_of(JudgeCall.objects.filter(pk__in=rows.order_by().values("call")))
    if spent.dollars is None:
        return Stat.undefined(spent.reason)
    return Stat(float(spent.dollars), n_items=len(calls))
