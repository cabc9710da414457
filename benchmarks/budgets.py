"""What a run of a model may still spend: a request is sent only if its worst case stays within the cap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks import audit, costs
from benchmarks.call_ledger import Request
from benchmarks.judges.questions import ModelConfig, estimated_tokens
from benchmarks.models import JudgeCall, JudgeRun, ModelPrice

UNLIMITED = 1_000_000
SAFETY = Decimal("1.5")
"""Servers may count more tokens in a text than the estimate by words."""


@dataclass(frozen=True)
class Allowed:
    """How many more requests the budget lets; why the run pauses if that stays at none."""

    n_calls: int
    pause_because: str = ""


class Purse:
    """The budget of a run, as one worker watches it; what other workers spend counts too."""

    def __init__(self, *, run: JudgeRun, config: ModelConfig) -> None:
        self.run, self.config = run, config
        self._prices = costs.Prices() if run.budget is not None else None

    def allows(self, request: Request, *, now: datetime) -> Allowed:
        """Count what was spent and what is on its way."""
        if self.run.budget is None or self._prices is None:
            return Allowed(UNLIMITED)
        price = self._prices.of(base_url=self.config.base_url, model=self.config.model, day=now.date())
        if price is None:
            return Allowed(0, f"The run has a budget, but there is no price for {self.config.model}.")
        spent = costs.cost_of(self.run.calls.all(), prices=self._prices)
        if spent.dollars is None:
            return Allowed(0, f"What was spent is not known, so the budget cannot be kept. {spent.reason}")
        worst = worst_case(request, price)
        on_the_way = self.run.calls.filter(state=JudgeCall.State.ASKED).count()
        left = self.run.budget - spent.dollars - worst * on_the_way
        n_calls = UNLIMITED if worst == 0 else max(0, int(left / worst))
        because = f"The budget of ${self.run.budget.normalize():f} allows no more: ${spent.dollars:.4f} are spent."
        return Allowed(n_calls, "" if n_calls else because)


class BudgetRefused(Exception):
    """The run is not paused, or has spent more than that already; the message says which."""


@transaction.atomic
def change_budget(*, run: JudgeRun, budget: Decimal | None, by: Any, now: datetime) -> None:
    """Give a paused run another budget in US dollars, None for no limit; it goes on when it is resumed.

    Raises:
        BudgetRefused: the run is not paused, or the new budget is spent already.
    """
    held = JudgeRun.objects.select_for_update().get(pk=run.pk)
    if held.state != JudgeRun.State.PAUSED:
        raise BudgetRefused(_("Only a paused run can be given another budget."))
    spent = costs.cost_of(held.calls.all()).dollars
    if budget is not None and spent is not None and budget <= spent:
        raise BudgetRefused(_("The run has spent $%(spent).4f already.") % {"spent": spent})
    before, held.budget = held.budget, budget
    held.save(update_fields=["budget"])
    told = {"before": str(before), "after": str(budget)}
    audit.record(actor=by, action="run.budget_changed", target=held, now=now, **told)


def worst_case(request: Request, price: ModelPrice) -> Decimal:
    """US dollars of a request that uses its whole token limit."""
    prompt, _ = estimated_tokens(request.body, n_verdicts=1)
    return costs.price_of_tokens(
        price, prompt=int(prompt * SAFETY), cached=0, completion=request.body["max_completion_tokens"]
    )
