"""What the pages of judges show: counts, costs, estimates before a run, and one summary tried out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from benchmarks import audit, autods, budgets, call_ledger, costs, judging, model_tasks
from benchmarks.call_ledger import Request
from benchmarks.judges.questions import ModelConfig, estimated_tokens
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, Summary, Verdict
from benchmarks.recall import lacking

KEYS_IN_A_QUERY = 500
MOST_LOOKED_AT = 500
"""Summaries whose requests are worded for an estimate."""
COMPARED_AT_ONCE = 2_000
"""Verdicts, the newest, that are compared with the texts of today whenever a judge's page is opened."""
MOST_COMPARED = 100_000
"""The same, when somebody asks for all."""
REPLIES_SHOWN = 20


@dataclass(frozen=True)
class JudgeRow:
    """A judge with its counts; `cost` is None where it cannot be known or nothing was paid."""

    judge: Judge
    n_verdicts: int
    n_invalid: int
    cost: costs.Cost | None


def judge_rows() -> list[JudgeRow]:
    """All judges that are not archived, in three queries."""
    rows = list(
        Judge.objects.filter(archived_at=None).annotate(
            n=Count("verdicts"), n_bad=Count("verdicts", filter=Q(verdicts__is_valid=False))
        )
    )
    models = [judge.pk for judge in rows if judge.kind == Judge.Kind.OPENAI]
    spent = costs.cost_by_judge(models) if models else {}
    return [
        JudgeRow(
            judge=judge,
            n_verdicts=judge.n,
            n_invalid=judge.n_bad,
            cost=spent.get(judge.pk, costs.NOTHING) if judge.kind == Judge.Kind.OPENAI else None,
        )
        for judge in rows
    ]


@dataclass(frozen=True)
class Estimate:
    """What a run would ask, before it is started; tokens by words, dollars by the price of the day."""

    n_summaries: int
    n_calls: int
    n_cached: int
    prompt_tokens: int
    completion_tokens: int
    dollars: Decimal | None
    at_most: Decimal | None

    is_of_a_part: bool = False

    @property
    def n_paid(self) -> int:
        """Requests that will be sent."""
        return self.n_calls - self.n_cached

    def scaled(self, *, n_summaries: int) -> Estimate:
        """The same for so many summaries that are like these."""
        times = Fraction(n_summaries, self.n_summaries)

        def more(dollars: Decimal | None) -> Decimal | None:
            return None if dollars is None else dollars * times.numerator / times.denominator

        return Estimate(
            n_summaries=n_summaries,
            n_calls=round(self.n_calls * times),
            n_cached=round(self.n_cached * times),
            prompt_tokens=round(self.prompt_tokens * times),
            completion_tokens=round(self.completion_tokens * times),
            dollars=more(self.dollars),
            at_most=more(self.at_most),
            is_of_a_part=True,
        )


def estimate(*, judge: Judge, summaries: Iterable[Summary], repeats: int, now: datetime) -> Estimate:
    """Word every request that is lacking and see which were answered before; sends nothing.

    Of many summaries only some are looked at, evenly spread, and the rest is taken to be like them.
    """
    config = model_tasks.config_of(judge)
    waiting = judging.not_yet_judged(judge=judge, summaries=summaries, repeats=repeats)
    looked_at = waiting[:: -(-len(waiting) // MOST_LOOKED_AT) or 1]
    requests = list(requests_on(judge=judge, config=config, summaries=looked_at, repeats=repeats))
    found = estimate_of(requests, config=config, n_texts=len(looked_at), now=now)
    return found if len(looked_at) == len(waiting) else found.scaled(n_summaries=len(waiting))


def estimate_of(requests: Sequence[Request], *, config: ModelConfig, n_texts: int, now: datetime) -> Estimate:
    """What requests on so many texts would need; those that were answered before need nothing."""
    known = _answered({request.key for request in requests})
    fresh = {request.key: request for request in requests if request.key not in known}
    tokens = [estimated_tokens(request.body, n_verdicts=request.question.n_verdicts) for request in fresh.values()]
    prompt, completion = sum(sent for sent, _ in tokens), sum(back for _, back in tokens)
    price = costs.Prices().of(base_url=config.base_url, model=config.model, day=now.date())
    dollars = at_most = None
    if price is not None:
        dollars = costs.price_of_tokens(price, prompt=prompt, cached=0, completion=completion)
        at_most = sum((budgets.worst_case(request.body, price) for request in fresh.values()), Decimal(0))
    return Estimate(n_texts, len(requests), len(requests) - len(fresh), prompt, completion, dollars, at_most)


def requests_on(
    *, judge: Judge, config: ModelConfig, summaries: Sequence[Summary], repeats: int = 1
) -> Iterator[Request]:
    """The requests that this judge has still to send on summaries."""
    response_format = call_ledger.remembered_format(config)
    items = [JudgeRunItem(pk=summary.pk, summary=summary) for summary in summaries]
    for start in range(0, len(items), KEYS_IN_A_QUERY):
        part = items[start : start + KEYS_IN_A_QUERY]
        asked = model_tasks.coverage_questions(judge=judge, config=config, items=part, repeats=repeats)
        for questions in asked.values():
            yield from (Request.of(config, question, response_format) for question in questions)


def _answered(keys: set[str]) -> set[str]:
    listed, found = sorted(keys), set[str]()
    answered = JudgeCall.objects.filter(state=JudgeCall.State.ANSWERED)
    for start in range(0, len(listed), KEYS_IN_A_QUERY):
        part = listed[start : start + KEYS_IN_A_QUERY]
        found |= set(answered.filter(cache_key__in=part).values_list("cache_key", flat=True))
    return found


def stale_count(*, judge: Judge, most: int = MOST_COMPARED) -> int:
    """Verdicts of a model on texts that have changed since: bullets or insight are no longer what was judged.

    Of the newest `most` verdicts; a query, and three for every 500 summaries.
    """
    config = ModelConfig.from_mapping(judge.config)
    rows = Verdict.objects.filter(judge=judge, is_imported=False).values_list(
        "summary", "insight", "repeat", "input_sha256"
    )
    newest = rows.order_by("-pk")[:most]
    judged = {(summary, insight, repeat): digest for summary, insight, repeat, digest in newest}
    keys, nobody = sorted({key[0] for key in judged}), Judge(pk=0)
    now_is: dict[tuple[int, int], str] = {}
    for start in range(0, len(keys), KEYS_IN_A_QUERY):
        summaries = Summary.objects.filter(pk__in=keys[start : start + KEYS_IN_A_QUERY])
        items = [JudgeRunItem(pk=summary.pk, summary=summary) for summary in summaries]
        asked = model_tasks.coverage_questions(judge=nobody, config=config, items=items, repeats=1)
        now_is |= {
            (int(question.summary_key), int(key)): question.input_of(key)
            for questions in asked.values()
            for question in questions
            for key in question.keys
        }
    return sum(now_is.get(key[:2]) != digest for key, digest in judged.items())


@dataclass(frozen=True)
class RunState:
    """A run as its page shows it."""

    run: JudgeRun
    progress: judging.RunProgress
    n_verdicts: int
    n_invalid: int
    n_failed_calls: int
    cost: costs.Cost
    n_lost: int = 0
    lost_dollars: Decimal | None = None

    @property
    def is_working(self) -> bool:
        """Whether it is worth looking again."""
        return self.run.state in {JudgeRun.State.PENDING, JudgeRun.State.RUNNING}

    @property
    def can_resume(self) -> bool:
        """Whether a person stopped it, or a server did."""
        return self.run.state == JudgeRun.State.PAUSED


def run_state(run: JudgeRun) -> RunState:
    """Counts of a run; a fixed number of queries."""
    count = {JudgeRun.Task.COVERAGE: _coverage_of, JudgeRun.Task.AUTODS: autods.answers_of}
    n_verdicts, n_invalid = count.get(JudgeRun.Task(run.task), lacking.answers_of)(run)
    failed = run.calls.filter(state=JudgeCall.State.FAILED).count()
    progress, cost = judging.run_progress(run), costs.cost_of(run.calls.all())
    return RunState(run, progress, n_verdicts, n_invalid, failed, cost, *budgets.lost_dollars(run))


def _coverage_of(run: JudgeRun) -> tuple[int, int]:
    counts = run.verdicts.aggregate(n=Count("pk"), bad=Count("pk", filter=Q(is_valid=False)))
    return counts["n"], counts["bad"]


@transaction.atomic
def save_judge(*, name: str, config: ModelConfig, note: str, by: Any, now: datetime) -> Judge:
    """A model judge, or the next version of it when the configuration differs."""
    judge = judging.ensure_judge(name=name, kind=Judge.Kind.OPENAI, config=config.as_mapping(), note=note, now=now)
    audit.record(actor=by, action="judge.saved", target=judge, now=now, version=judge.version)
    return judge
