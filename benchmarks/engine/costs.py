"""Costs of calls, and what a run may still spend."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from benchmarks import audit
from benchmarks.access.owning import NotYours, may_change
from benchmarks.judges.questions import ModelConfig, estimated_tokens, limit_of
from benchmarks.models import JudgeCall, JudgeRun, LostReply, ModelPrice

MILLION = Decimal(1_000_000)
PRICE_TAKEN = (
    "Somebody else set the price of this day. They or an admin can change it; you can set that of another day."
)


@dataclass(frozen=True)
class Cost:
    """US dollars; None when a call has no price or no token count, and `reason` says so."""

    dollars: Decimal | None
    n_calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    reason: str = ""

    @property
    def as_json(self) -> dict[str, Any]:
        """US dollars as commands print them, null with a reason where they are not known."""
        dollars = None if self.dollars is None else float(self.dollars)
        return {"cost": dollars, **({"cost_unknown": self.reason} if self.reason else {})}


NOTHING = Cost(Decimal(0), 0, 0, 0, 0, 0)
"""The cost where nothing was asked."""


class CostUnknown(Exception):
    """A price or a count is missing, so that no budget can be kept; the message says which."""


class Prices:
    def __init__(self) -> None:
        self._rows = list(ModelPrice.objects.all())

    def of(self, *, base_url: str, model: str, day: date) -> ModelPrice | None:
        """The newest price that held on a day; one for the address goes before one for any."""
        fitting = [
            row
            for row in self._rows
            if row.model == model and row.base_url in {"", base_url} and row.valid_from <= day
        ]
        return max(fitting, key=lambda row: (row.base_url != "", row.valid_from), default=None)


def price_of_tokens(price: ModelPrice, *, prompt: int, cached: int, completion: int) -> Decimal:
    """US dollars for tokens; `cached` are a part of `prompt`, reasoning is a part of `completion`."""
    per_cached = price.input_per_million if price.cached_per_million is None else price.cached_per_million
    dollars: Decimal = (prompt - cached) * price.input_per_million + cached * per_cached
    dollars += completion * price.output_per_million
    return dollars / MILLION


def cost_of(calls: QuerySet[JudgeCall, JudgeCall]) -> Cost:
    """Cost of the answered calls among these, in one query beside the price table."""
    return _total(_counted(calls), Prices())


def cost_of_call(call: JudgeCall, prices: Prices) -> Decimal | None:
    """Cost of one call; None where it has no answer, no count of tokens or no price."""
    sent, back = call.prompt_tokens, call.completion_tokens
    if call.answered_at is None or sent is None or back is None:
        return None
    day = call.answered_at.astimezone(UTC).date()
    price = prices.of(base_url=call.base_url, model=call.model, day=day)
    if price is None:
        return None
    dollars = price_of_tokens(price, prompt=sent, cached=call.cached_tokens or 0, completion=back)
    return call.price_share * dollars


def cost_by_judge(judges: Iterable[int]) -> dict[int, Cost]:
    """Cost of all calls that the runs of these judges made, by the judge's pk; two queries."""
    rows = _counted(JudgeCall.objects.filter(run__judge__in=list(judges)), "run__judge")
    prices = Prices()
    by_judge: dict[int, list[Any]] = {}
    for row in rows:
        by_judge.setdefault(row["run__judge"], []).append(row)
    return {judge: _total(by_judge_costs, prices) for judge, by_judge_costs in by_judge.items()}


def _sums(rows: QuerySet[Any, Any], at: str, sent: Any, back: Any, *by: str, **more: Any) -> list[Any]:
    """Tokens `sent` and sent `back`, by address, model and the day of `at`; `n_unknown` rows lack one of them."""
    by_day = rows.order_by().annotate(day=TruncDate(at, tzinfo=UTC), sent=sent, back=back)
    return list(
        by_day.values("base_url", "model", "day", "price_share", *by).annotate(
            n_unknown=Count("pk", filter=Q(sent=None) | Q(back=None)),
            prompt=Coalesce(Sum("sent"), 0),
            completion=Coalesce(Sum("back"), 0),
            **more,
        )
    )


def _counted(calls: QuerySet[JudgeCall, JudgeCall], *by: str) -> list[Any]:
    """Tokens of answered calls, as servers counted them."""
    more = {name: Coalesce(Sum(f"{name}_tokens"), 0) for name in ("cached", "reasoning")}
    answered = calls.filter(state=JudgeCall.State.ANSWERED)
    sides = F("prompt_tokens"), F("completion_tokens")
    return _sums(answered, "answered_at", *sides, *by, n=Count("pk"), **more)


def no_price(model: str, day: date) -> str:
    return f"There is no price for {model} on {day:%Y-%m-%d}."


def _priced(rows: list[Any], prices: Prices, uncounted: str) -> Decimal:
    """US dollars for tokens by address, model and day.

    Raises:
        CostUnknown: there is no price, or some are `uncounted`.
    """
    total = Decimal(0)
    for row in rows:
        price = prices.of(base_url=row["base_url"], model=row["model"], day=row["day"])
        if row["n_unknown"]:
            raise CostUnknown(uncounted % row["n_unknown"])
        if price is None:
            raise CostUnknown(no_price(row["model"], row["day"]))
        total += row["price_share"] * price_of_tokens(
            price, prompt=row["prompt"], cached=row.get("cached", 0), completion=row["completion"]
        )
    return total


def _total(rows: list[Any], prices: Prices) -> Cost:
    try:
        dollars, reason = _priced(rows, prices, "%d answers came without a token count."), ""
    except CostUnknown as unknown:
        dollars, reason = None, str(unknown)
    n, prompt, cached, completion, reasoning = (
        sum(row[name] for row in rows) for name in ("n", "prompt", "cached", "completion", "reasoning")
    )
    return Cost(dollars, n, prompt, cached, completion, reasoning, reason)


@transaction.atomic
def set_price(
    *,
    model: str,
    base_url: str,
    valid_from: date,
    input_per_million: Decimal,
    cached_per_million: Decimal | None,
    output_per_million: Decimal,
    by: Any,
    now: datetime,
) -> ModelPrice:
    """Write the price of a model from a day on; the same day again replaces it.

    Raises:
        NotYours: somebody else set the price of that day, and others have counted on it.
    """
    key = {"model": model, "base_url": base_url, "valid_from": valid_from}
    before = ModelPrice.objects.select_for_update().filter(**key).first()
    if before is not None and not may_change(by, before):
        raise NotYours(PRICE_TAKEN)
    prices = {
        "input_per_million": input_per_million,
        "cached_per_million": cached_per_million,
        "output_per_million": output_per_million,
    }
    price, _ = ModelPrice.objects.update_or_create(
        **key, defaults=prices, create_defaults={**prices, "created_by": by}
    )
    audit.record(actor=by, action="price.set", target=price, now=now, input=str(input_per_million))
    return price


SAFETY = 1.5
"""Servers may count more tokens in a text than the estimate by words."""
BYTES_IN_A_TOKEN = 3
"""No fewer on average, also where a script has no spaces; the whole body counts, with the schema of the reply."""


@dataclass
class Account:
    """US dollars of a run against its cap; `settled` does not shrink any more, `reserved` may as answers come."""

    cap: Decimal
    settled: Decimal
    reserved: Decimal

    def admit(self, worst: Decimal) -> bool:
        """Reserve the worst case of a request if it fits."""
        if self.settled + self.reserved + worst > self.cap:
            return False
        self.reserved += worst
        return True

    def may_fit_later(self, worst: Decimal) -> bool:
        """Whether answers on their way may leave room for it."""
        return self.settled + worst <= self.cap


class Budget:
    """The budget of a run, opened for one claim of requests; without a cap everything is admitted."""

    def __init__(
        self,
        *,
        run: JudgeRun,
        config: ModelConfig,
        gone: Collection[int],
        now: datetime,
        price_share: Decimal = Decimal(1),
    ) -> None:
        """Read the account; `gone` are calls in flight whose worker will not come back."""
        self._price_share = price_share
        self._account: Account | None = None
        self.pause_because = ""
        if run.budget is None:
            return
        prices = Prices()
        self._price_of = _worst_price(prices, base_url=config.base_url, model=config.model, now=now)
        if not self._price_of:
            self.pause_because = "The run has a budget, but there is no price for %s." % config.model
            return
        try:
            self._account = account_of(run, prices=prices, gone=gone, now=now)
        except CostUnknown as error:
            self.pause_because = f"Spending is unknown, so the budget cannot be enforced. {error}"

    def admits(self, tokens: tuple[int, int]) -> bool:
        """Reserve the worst case of a request if it fits; if it never will, say why the run pauses."""
        if self._account is None:
            return not self.pause_because
        worst = self._price_share * max(_dollars(price, tokens) for price in self._price_of)
        if self._account.admit(worst):
            return True
        if not self._account.may_fit_later(worst):
            self.pause_because = (
                "The budget of $%(cap)s allows no more: $%(spent).4f are spent, "
                "and the next request may cost $%(next).4f."
            ) % {
                "cap": f"{self._account.cap.normalize():f}",
                "spent": self._account.settled,
                "next": worst,
            }
        return False


def account_of(run: JudgeRun, *, prices: Prices, now: datetime, gone: Collection[int] | None = None) -> Account:
    """Sum up what counts against a run's budget; four queries.

    Raises:
        CostUnknown: a price or a count is missing.
    """
    settled, reserved = Decimal(0), _on_file(run, prices, now)
    # In flight first: what is answered between two queries is counted twice, never left out
    rows = run.calls.filter(state=JudgeCall.State.ASKED, batch=None).values_list(
        "pk", "base_url", "model", "most_prompt_tokens", "most_completion_tokens"
    )
    for pk, base_url, model, prompt, completion in rows:
        if prompt is None or completion is None:
            raise CostUnknown("A request on its way has no known worst case.")
        both = _worst_price(prices, base_url=base_url, model=model, now=now)
        if not both:
            raise CostUnknown("There is no price for %s." % model)
        worst = max(_dollars(price, (prompt, completion)) for price in both)
        if gone is not None and pk in gone:
            settled += worst
        else:
            reserved += worst
    settled += _answered(run, prices) + _lost(run, prices)
    return Account(cap=run.budget or Decimal(0), settled=settled, reserved=reserved)


def _on_file(run: JudgeRun, prices: Prices, now: datetime) -> Decimal:
    """The worst case of all requests that wait in files, which may be many."""
    rows = run.calls.filter(state=JudgeCall.State.ASKED).exclude(batch=None).order_by()
    sums = rows.values("base_url", "model", "price_share").annotate(
        prompt=Coalesce(Sum("most_prompt_tokens"), 0), completion=Coalesce(Sum("most_completion_tokens"), 0)
    )
    total = Decimal(0)
    for row in sums:
        both = _worst_price(prices, base_url=row["base_url"], model=row["model"], now=now)
        if not both:
            raise CostUnknown("There is no price for %s." % row["model"])
        sides = ((row["prompt"], 0), (0, row["completion"]))
        total += row["price_share"] * sum(max(_dollars(price, side) for price in both) for side in sides)
    return total


NEITHER = "%d requests have neither a token count nor a worst case."


def _answered(run: JudgeRun, prices: Prices) -> Decimal:
    """What answers cost: by the server's count, else the worst case."""
    sent, back = (Coalesce(f"{side}_tokens", f"most_{side}_tokens") for side in ("prompt", "completion"))
    answered = run.calls.filter(state=JudgeCall.State.ANSWERED)
    cached = Coalesce(Sum("cached_tokens"), 0)
    return _priced(_sums(answered, "answered_at", sent, back, cached=cached), prices, NEITHER)


def _lost(run: JudgeRun, prices: Prices) -> Decimal:
    about = {name: F(f"call__{name}") for name in ("base_url", "model", "price_share")}
    rows = LostReply.objects.filter(run=run).annotate(**about)
    sides = F("most_prompt_tokens"), F("most_completion_tokens")
    return _priced(_sums(rows, "sent_at", *sides), prices, NEITHER)


def lost_dollars(run: JudgeRun) -> tuple[int, Decimal | None]:
    """(replies of a run that were lost, what they cost at most in US dollars or None where it is not known)."""
    count = LostReply.objects.filter(run=run).count()
    try:
        return count, _lost(run, Prices()) if count else Decimal(0)
    except CostUnknown:
        return count, None


class BudgetRefused(Exception):
    """The run is not paused, or has spent more than that already; the message says which."""


@transaction.atomic
def change_budget(*, run: JudgeRun, budget: Decimal | None, by: Any, now: datetime) -> None:
    """Give a paused run another budget in US dollars, None for no limit; it goes on when it is resumed.

    Raises:
        BudgetRefused: the run is not paused, or the new budget is spent or reserved already.
    """
    held = JudgeRun.objects.select_for_update().get(pk=run.pk)
    if held.state != JudgeRun.State.PAUSED:
        raise BudgetRefused("Only a paused run can be given another budget.")
    if budget is not None:
        try:
            account = account_of(held, prices=Prices(), now=now)
        except CostUnknown:
            pass  # the run says so when it goes on, and sends nothing
        else:
            if budget <= (taken := account.settled + account.reserved):
                raise BudgetRefused("The run has spent $%(spent).4f already." % {"spent": taken})
    before, held.budget = held.budget, budget
    held.save(update_fields=["budget"])
    audit.record(
        actor=by, action="run.budget_changed", target=held, now=now, before=str(before), after=str(budget)
    )


def worst_tokens(body: Mapping[str, Any]) -> tuple[int, int]:
    """(tokens sent, tokens of the reply) of a request at most: a safe estimate, and its whole token limit."""
    by_words, _verdict = estimated_tokens(body, n_verdicts=1)
    by_bytes = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")) / BYTES_IN_A_TOKEN
    return ceil(max(by_words * SAFETY, by_bytes)), limit_of(body)


def worst_case(body: Mapping[str, Any], price: ModelPrice) -> Decimal:
    """US dollars of a request that uses its whole token limit."""
    return _dollars(price, worst_tokens(body))


def _dollars(price: ModelPrice, tokens: tuple[int, int]) -> Decimal:
    return price_of_tokens(price, prompt=tokens[0], cached=0, completion=tokens[1])


def _worst_price(prices: Prices, *, base_url: str, model: str, now: datetime) -> list[ModelPrice]:
    """The prices of today and tomorrow: an answer is paid at that of the day on which it comes."""
    today: date = now.astimezone(UTC).date()
    current = prices.of(base_url=base_url, model=model, day=today)
    later = prices.of(base_url=base_url, model=model, day=today + timedelta(days=1))
    return [price for price in (current, later) if price is not None] if current is not None else []
