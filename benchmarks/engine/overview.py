"""Figures on pages of judges: counts, costs, how far each task is, estimates before a run, stale answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db.models import Count, Model, Q

from benchmarks.engine import costs, judging, ledger, sending
from benchmarks.engine.ledger import Request
from benchmarks.engine.task import Task, parts
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.questions import ModelConfig, estimated_tokens
from benchmarks.models import Judge, JudgeCall, JudgeRunItem, Summarizer, Verdict

IN_A_QUERY = 500
MOST_LOOKED_AT = 500
"""Subjects whose requests are worded for an estimate."""
COMPARED_AT_ONCE = 2_000
"""Answers of a task, the newest, that are compared with the texts of today whenever a judge's page is opened."""
MOST_COMPARED = 100_000
"""The same, when somebody asks for all."""


def judge_rows() -> list[dict[str, Any]]:
    """All judges that are not archived with their verdicts, in three queries.

    `cost` is None where it cannot be known or nothing was paid.
    """
    rows = list(Judge.objects.filter(archived_at=None))
    counts = (
        Verdict._base_manager.order_by()
        .values("judge")
        .annotate(n=Count("pk"), n_bad=Count("pk", filter=Q(is_valid=False)))
    )
    n_of = {row["judge"]: (row["n"], row["n_bad"]) for row in counts.filter(judge__in=[row.pk for row in rows])}
    spent = _cost_of_models(rows)
    return [
        {"judge": judge, "n_verdicts": n, "n_invalid": n_bad, "cost": spent.get(judge.pk)}
        for judge in rows
        for n, n_bad in [n_of.get(judge.pk, (0, 0))]
    ]


def _cost_of_models(rows: Iterable[Judge]) -> dict[int, costs.Cost]:
    """Payments for those that ask a model, by their key; one query."""
    models = [judge.pk for judge in rows if judge.kind == Judge.Kind.OPENAI]
    spent = costs.cost_by_judge(models) if models else {}
    return {pk: spent.get(pk, costs.NOTHING) for pk in models}


def summarizer_rows() -> list[dict[str, Any]]:
    """All summarizers that are not archived with their finished summaries and responses, in three queries.

    `n_invalid` of them are not what was asked for; `cost` is None where it cannot be known or nothing was paid.
    """
    finished = Q(drafts__texts__number=0)
    rows = list(
        Summarizer.objects.filter(archived_at=None).annotate(
            n=Count("drafts__texts", filter=finished & Q(drafts__question=None)),
            n_responses=Count("drafts__texts", filter=finished & Q(drafts__subtopic=None)),
            n_bad=Count("drafts__texts", filter=finished & Q(drafts__texts__is_valid=False)),
        )
    )
    spent = _cost_of_models(rows)
    return [
        {
            "judge": judge,
            "n_summaries": judge.n,
            "n_responses": judge.n_responses,
            "n_invalid": judge.n_bad,
            "cost": spent.get(judge.pk),
        }
        for judge in rows
    ]


@dataclass(frozen=True)
class Estimate:
    """Requests of a run before it is started; tokens by words, dollars by the price of the day."""

    n_subjects: int
    n_calls: int
    n_cached: int
    prompt_tokens: int
    completion_tokens: int
    dollars: Decimal | None
    at_most: Decimal | None

    is_of_a_part: bool = False

    @property
    def n_paid(self) -> int:
        return self.n_calls - self.n_cached

    def scaled(self, *, n_subjects: int) -> Estimate:
        """The same for so many subjects that are like these."""
        times = Fraction(n_subjects, self.n_subjects)

        def more(dollars: Decimal | None) -> Decimal | None:
            return None if dollars is None else dollars * times.numerator / times.denominator

        return replace(
            self,
            n_subjects=n_subjects,
            n_calls=round(self.n_calls * times),
            n_cached=round(self.n_cached * times),
            prompt_tokens=round(self.prompt_tokens * times),
            completion_tokens=round(self.completion_tokens * times),
            dollars=more(self.dollars),
            at_most=more(self.at_most),
            is_of_a_part=True,
        )


def task_state(*, judge: Judge, task: str, subjects: Sequence[Model]) -> dict[str, Any]:
    """How far a judge has come with a task, in answers; `n_missing` subjects are left to ask."""
    counts = TASKS[task].counts(judge=judge, subjects=subjects).values()
    return {
        "task": TASKS[task],
        "n_there": sum(count.n_there for count in counts),
        "n_asked": sum(count.n_asked for count in counts),
        "n_invalid": TASKS[task].n_invalid(judge=judge, subjects=subjects),
        "n_missing": sum(count.n_there < count.n_asked for count in counts),
    }


def estimate(*, judge: Judge, task: str, subjects: Iterable[Any], repeats: int, now: datetime) -> Estimate:
    """Word every request that is missing and see which were answered before; sends nothing.

    Of many subjects only some are looked at, evenly spread, and the rest is taken to be like them.

    Raises:
        ValueError: the judge's configuration cannot be used.
    """
    config = sending.config_of(judge)
    repeats = judging.repeats_of(judge=judge, task=task, wanted=repeats)
    waiting = judging.missing(judge=judge, task=task, subjects=subjects, repeats=repeats)
    looked_at = waiting[:: -(-len(waiting) // MOST_LOOKED_AT) or 1]
    requests = list(requests_on(judge=judge, config=config, task=task, subjects=looked_at, repeats=repeats))
    estimated = _estimate_of(requests, config=config, n_subjects=len(looked_at), now=now)
    return estimated if len(looked_at) == len(waiting) else estimated.scaled(n_subjects=len(waiting))


def _estimate_of(requests: Sequence[Request], *, config: ModelConfig, n_subjects: int, now: datetime) -> Estimate:
    """Needs of requests on so many subjects; those that were answered before need nothing."""
    known = _answered({request.key for request in requests})
    fresh = {request.key: request for request in requests if request.key not in known}
    tokens = [estimated_tokens(request.body, n_verdicts=request.question.n_verdicts) for request in fresh.values()]
    prompt, completion = sum(sent for sent, _ in tokens), sum(back for _, back in tokens)
    price = costs.Prices().of(base_url=config.base_url, model=config.model, day=now.date())
    dollars = at_most = None
    if price is not None:
        dollars = costs.price_of_tokens(price, prompt=prompt, cached=0, completion=completion)
        at_most = sum((costs.worst_case(request.body, price) for request in fresh.values()), Decimal(0))
    return Estimate(n_subjects, len(requests), len(requests) - len(fresh), prompt, completion, dollars, at_most)


def requests_on(
    *, judge: Judge, config: ModelConfig, task: str, subjects: Sequence[Any], repeats: int = 1
) -> Iterator[Request]:
    """The requests that this judge has still to send on subjects of a task."""
    kind, remembered = TASKS[task], ledger.remembered_format(config)
    for part in parts(subjects, IN_A_QUERY):
        items = [JudgeRunItem(pk=subject.pk, **kind.about(subject)) for subject in part]
        by_item = kind.foreseen(judge=judge, config=config, items=items, repeats=repeats)
        for questions in by_item.values():
            yield from (
                Request.of(config, question, ledger.format_of(question, remembered)) for question in questions
            )


def _answered(keys: set[str]) -> set[str]:
    answered = JudgeCall.objects.filter(state=JudgeCall.State.ANSWERED)
    keys_there = set[str]()
    for part in parts(sorted(keys), IN_A_QUERY):
        keys_there |= set(answered.filter(cache_key__in=part).values_list("cache_key", flat=True))
    return keys_there


# Stale answers


def stale_answers(*, judge: Judge, most: int = MOST_COMPARED) -> tuple[dict[str, int], bool]:
    """{task: how many of a model's newest answers are about another text or wording}, of tasks that can tell.

    Besides, whether older ones were left out. A query for a task, and those of its questions for every 500
    subjects.
    """
    n_stale, has_older = {}, False
    for name, task in TASKS.items():
        rows = task.inputs(judge)
        if rows is not None:
            newest = list(rows.order_by("-pk")[: most + 1])
            n_stale[name] = _n_stale(task, judge, newest[:most])
            has_older |= len(newest) > most
    return n_stale, has_older


def _n_stale(kind: Task, judge: Judge, newest: Sequence[tuple[int, Any, str]]) -> int:
    config = ModelConfig.from_mapping(judge.config)
    keys, nobody = sorted({subject for subject, _, _ in newest}), Judge(pk=0)
    today: dict[tuple[int, str], str] = {}
    for part in parts(keys, IN_A_QUERY):
        items = [JudgeRunItem(pk=subject.pk, **kind.about(subject)) for subject in kind.read(part)]
        by_item = kind.questions(judge=nobody, config=config, items=items, repeats=1)
        today |= {
            (int(question.subject_key), key): question.input_of(key)
            for questions in by_item.values()
            for question in questions
            for key in question.keys
        }
    return sum(today.get((subject, str(key))) != given_on for subject, key, given_on in newest)
