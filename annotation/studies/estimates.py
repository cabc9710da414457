"""How much a study would take, and how narrow its headline would be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from annotation.models import Study
from annotation.studies.amounts import pay

MS_PER_MINUTE = 60_000
CHECKS = ("n_training", "n_gold", "n_attention_checks")
"""Fields of forms for the items beside the chosen ones that everybody gets."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Choices of a form: items, answers that one person gives on all of them, and what intervals resample.

    `n_for_everyone` of the items go to everybody, where that is known: a share of whole questions is no such share
    of key points.
    """

    n_items: int
    n_labels: int
    n_clusters: int
    n_for_everyone: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The part of a study on which agreement can be measured: clusters of `size` answers, `n_each` people on each.

    `n_people` are those who do that work in all, as far as they are known.
    """

    n_clusters: int
    size: float
    n_people: int
    n_each: int


@dataclass(frozen=True, slots=True)
class Design:
    """Items for `n_each` people each, and a share of them for all of `n_people`; 0 people are not chosen yet.

    `n_checks` further items, training and hidden checks, go to everybody. `is_supposed` says that as many people
    are counted as a paper had, since nobody is chosen yet.
    """

    sizes: Sizes
    n_each: int
    share_for_everyone: float = 0.0
    n_people: int = 0
    n_checks: int = 0
    is_supposed: bool = False

    @property
    def n_for_everyone(self) -> int:
        """Items that everybody gets, rounded up as when they are assigned."""
        if self.sizes.n_for_everyone is not None:
            return self.sizes.n_for_everyone
        return math.ceil(round(self.sizes.n_items * self.share_for_everyone, 6))

    @property
    def n_tasks(self) -> int:
        """Tasks of all people; of what everybody gets one each while nobody is chosen."""
        n = self.n_for_everyone
        ordinary = (self.sizes.n_items - n) * self.n_each + n * max(self.n_each, self.n_people)
        return ordinary + self.n_checks * max(1, self.n_people)

    @property
    def is_open(self) -> bool:
        """Whether more tasks come on top, once it is known who everybody is."""
        for_everyone = self.n_checks + (self.n_for_everyone if self.n_each == 1 else 0)
        return self.n_people == 0 and for_everyone > 0

    @property
    def depends_on_supposed(self) -> bool:
        """Whether other people than are supposed would make another number of tasks."""
        return self.is_supposed and self.n_checks + self.n_for_everyone > 0

    @property
    def measured(self) -> Measured | None:
        """Work of two people or more; None where nobody's meets another's."""
        sizes, people = self.sizes, max(self.n_people, 2 if self.share_for_everyone else 1, self.n_each)
        if not sizes.n_clusters:
            return None
        if self.n_each >= 2:
            return Measured(sizes.n_clusters, sizes.n_labels / sizes.n_clusters, people, self.n_each)
        n = self.n_for_everyone
        if not n or people < 2:
            return None
        n_clusters = min(sizes.n_clusters, n)
        return Measured(n_clusters, max(1.0, sizes.n_labels * n / sizes.n_items / n_clusters), people, people)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Work that a design takes, at the usual minutes of a task."""

    design: Design
    minutes: float
    rate: Decimal
    currency: str

    @property
    def n_tasks(self) -> int:
        return self.design.n_tasks

    @property
    def active_ms(self) -> int:
        return round(self.n_tasks * self.minutes * MS_PER_MINUTE)

    @property
    def cost(self) -> Decimal:
        return pay(self.active_ms, self.rate)


def estimate(sizes: Sizes, minutes: float, sent: QueryDict, *, n_supposed: int = 0) -> Estimate | None:
    """Estimate a form that is being filled in; None while what was sent of it is wrong.

    `n_supposed` people are counted while nobody is chosen.
    """
    try:
        design = _design(sizes, sent, n_supposed)
        rate = Decimal(sent.get("hourly_rate") or 0)
    except (ValueError, ArithmeticError):
        return None
    if not rate.is_finite() or not 0 <= rate <= 10_000 or not sizes.n_items:
        return None
    return Estimate(design, minutes, rate, (sent.get("currency") or "USD")[:3])


def _design(sizes: Sizes, sent: QueryDict, n_supposed: int) -> Design:
    """How many people each item is for, as the forms of all kinds call it.

    Raises:
        ValueError: a number is missing or out of range.
    """
    n_each = int(sent.get("people_per_item") or sent.get("people_per_question") or "1")
    amount = float(sent.get("overlap") or sent.get("control_percent") or 0)
    if sent.get("overlap_unit") == "number":
        share = amount / sizes.n_items if sizes.n_items else 0.0
    else:
        share = amount / 100
    n_checks = sum(int(sent.get(name) or 0) for name in CHECKS)
    if not 1 <= n_each <= 1000 or not 0 <= amount <= 100_000 or not 0 <= n_checks <= 1000:
        raise ValueError(f"{amount} for everyone with {n_checks} checks, others for {n_each}")
    n_chosen = len(sent.getlist("annotators"))
    return Design(
        sizes,
        n_each,
        min(1.0, share),
        n_people=n_chosen or n_supposed,
        n_checks=n_checks,
        is_supposed=not n_chosen and n_supposed > 0,
    )


class NarrowedForm(forms.Form):
    """A form with fields that narrow what is chosen from; their choices are set with what is above them."""

    NARROWED_BY: ClassVar[tuple[str, ...]]
    ITEMS: ClassVar[tuple[str, ...]]
    """The fields that choose items, beside those that narrow."""

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = getattr(self, "user", user)

    @property
    def narrowing(self) -> list[forms.BoundField]:
        """The fields that narrow, where there is more than one value to choose from."""
        return [self[name] for name in self.NARROWED_BY if len(self.fields[name].choices) > 1]  # type: ignore[attr-defined]

    @property
    def items(self) -> list[forms.BoundField]:
        return [self[name] for name in self.ITEMS if name in self.fields]

    @property
    def items_open(self) -> bool:
        """Whether nothing is chosen yet, or not rightly."""
        return not self.words(None) or (self.is_bound and any(self[name].errors for name in self.ITEMS))

    def count(self) -> Any:
        """How many items a form that is right chooses."""
        raise NotImplementedError

    def words(self, count: Any) -> str:
        """Name the choice; without a count where it is none. Empty where nothing is chosen."""
        raise NotImplementedError

    def sizes(self, count: Any) -> Sizes:
        """Sizes of such a count, as the estimate of a new study takes them."""
        raise NotImplementedError


def any_of(label: Any, coerce: Callable[[Any], Any] = str) -> forms.TypedMultipleChoiceField:
    """A field that narrows by some values of a kind."""
    return forms.TypedMultipleChoiceField(
        label=label,
        coerce=coerce,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all.",
    )


def narrowed_to(chosen: Iterable[Any], offered: Iterable[Any]) -> list[Any]:
    """Initial values of such a field: none where all that are offered were chosen."""
    values = set(chosen)
    return sorted(values) if values < set(offered) else []


def part_of(n: int, n_all: int, singular: str, many: str) -> str:
    """How many of all, as a choice says it: all of them, or some."""
    if n < n_all:
        return f"{n:,} of {n_all:,} {many}"
    return f"all {n:,} {many}" if n > 1 else f"{n} {singular}"


def size_of_sample() -> forms.IntegerField:
    return forms.IntegerField(label="Size of the sample", min_value=1, max_value=100_000, required=False)


def seed_of_draw(help_text: Any) -> forms.IntegerField:
    return forms.IntegerField(label="Seed", min_value=0, max_value=2**63 - 1, required=False, help_text=help_text)


def without_stale(form: Callable[..., Any], sent: QueryDict, *, user: Any) -> QueryDict:
    """Sent values without values of narrowing fields that a form offers no longer."""
    sent = sent.copy()
    unbound = form(sent, user=user)
    for name in getattr(unbound, "NARROWED_BY", ()):
        known = {str(value) for value, _label in unbound.fields[name].choices}
        sent.setlist(name, [value for value in sent.getlist(name) if value in known])
    return sent
