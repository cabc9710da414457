"""What calls cost: tokens as the server counted them, times the price of that day in UTC; unknown is undefined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from benchmarks import audit
from benchmarks.access.owning import NotYours, may_change
from benchmarks.models import JudgeCall, ModelPrice

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


NOTHING = Cost(Decimal(0), 0, 0, 0, 0, 0)
"""The cost where nothing was asked."""


class Prices:
    """The price table, read once."""

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
    return _total(_sums(calls), Prices())


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
    rows = _sums(JudgeCall.objects.filter(run__judge__in=list(judges)), "run__judge")
    prices = Prices()
    by_judge: dict[int, list[Any]] = {}
    for row in rows:
        by_judge.setdefault(row["run__judge"], []).append(row)
    return {judge: _total(by_judge_costs, prices) for judge, by_judge_costs in by_judge.items()}


def _sums(calls: QuerySet[JudgeCall, JudgeCall], *by: str) -> list[Any]:
    """Tokens by address, model and day."""
    return list(
        calls.filter(state=JudgeCall.State.ANSWERED)
        .order_by()
        .annotate(day=TruncDate("answered_at", tzinfo=UTC))
        .values("base_url", "model", "day", "price_share", *by)
        .annotate(
            n=Count("pk"),
            n_uncounted=Count("pk", filter=Q(prompt_tokens=None) | Q(completion_tokens=None)),
            prompt=Coalesce(Sum("prompt_tokens"), 0),
            cached=Coalesce(Sum("cached_tokens"), 0),
            completion=Coalesce(Sum("completion_tokens"), 0),
            reasoning=Coalesce(Sum("reasoning_tokens"), 0),
        )
    )


def no_price(model: str, day: date) -> str:
    """What to say where a price is missing."""
    return f"There is no price for {model} on {day:%Y-%m-%d}."


def _total(rows: list[Any], prices: Prices) -> Cost:
    dollars: Decimal | None = Decimal(0)
    reason = ""
    for row in rows:
        price = prices.of(base_url=row["base_url"], model=row["model"], day=row["day"])
        if row["n_uncounted"]:
            dollars, reason = None, f"{row['n_uncounted']} answers came without a token count."
        elif price is None:
            dollars, reason = None, no_price(row["model"], row["day"])
        elif dollars is not None:
            dollars += row["price_share"] * price_of_tokens(
                price, prompt=row["prompt"], cached=row["cached"], completion=row["completion"]
            )
    sums = {name: sum(row[name] for row in rows) for name in ("n", "prompt", "cached", "completion", "reasoning")}
    return Cost(
        dollars=dollars,
        n_calls=sums["n"],
        prompt_tokens=sums["prompt"],
        cached_tokens=sums["cached"],
        completion_tokens=sums["completion"],
        reasoning_tokens=sums["reasoning"],
        reason=reason,
    )


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
