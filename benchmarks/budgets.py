"""What a run of a model may still spend: a request is sent only if its worst case stays within the cap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from benchmarks import costs
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


def worst_case(request: Request, price: ModelPrice) -> Decimal:
    """US dollars of a request that uses its whole token limit."""
    prompt, _ = estimated_tokens(request.body, n_verdicts=1)
    return costs.price_of_tokens(
        price, prompt=int(prompt * SAFETY), cached=0, completion=request.body["max_completion_tokens"]
    )
