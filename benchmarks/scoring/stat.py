"""A figure with everything that belongs beside it: n, interval, method, or the reason why there is none.

An undefined figure is never 0 and never NaN. Nothing heavy is imported here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

TOO_FEW_ITEMS = 30
FEW_CLUSTERS = 10


class NotANumber(ValueError):
    """A figure was about to hold NaN, an infinity, or neither a value nor a reason."""


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure.

    `n_items` counts the things averaged or compared, `n_pairs` the pairs of ratings behind an agreement figure
    (None where there are none to count), `n_clusters` the clusters that were resampled. `low` and `high` are
    both set or both None; `interval_reason` says why an interval is missing. `value` is None exactly when
    `undefined_reason` is given. `seed` and `n_resamples` belong to a bootstrap interval.
    `only_these` is how many people an interval is about that is not about people like them, `caution` a phrase
    that says why an interval may hold the truth less often than it claims.
    """

    value: float | None
    n_items: int = 0
    n_pairs: int | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    undefined_reason: str = ""
    n_clusters: int | None = None
    interval_reason: str = ""
    seed: int | None = None
    n_resamples: int | None = None
    only_these: int | None = None
    caution: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is None:
                continue
            if not math.isfinite(number):
                raise NotANumber(f"{name} is {number!r}; use Stat.undefined(reason)")
            object.__setattr__(self, name, float(number))
        if (self.value is None) != bool(self.undefined_reason):
            raise NotANumber("a figure has a value or a reason why it has none, never both or neither")
        if (self.low is None) != (self.high is None):
            raise NotANumber("an interval has two ends")
        if self.value is None and self.low is not None:
            raise NotANumber("an undefined figure has no interval")

    @classmethod
    def undefined(
        cls,
        reason: str,
        *,
        n_items: int = 0,
        n_pairs: int | None = None,
        n_clusters: int | None = None,
        method: str = "",
    ) -> Stat:
        """A figure that does not exist, and why; `reason` is a phrase for the reader."""
        return cls(
            None,
            n_items=n_items,
            n_pairs=n_pairs,
            n_clusters=n_clusters,
            method=method,
            undefined_reason=reason,
        )

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    @property
    def reason(self) -> str:
        """Why there is no value, or no interval; empty where there are both."""
        return self.undefined_reason or self.interval_reason

    @property
    def too_few(self) -> bool:
        """Whether there are fewer than 30 items, too few to interpret."""
        return self.n_items < TOO_FEW_ITEMS

    @property
    def has_few_clusters(self) -> bool:
        """Whether an interval is over fewer than 10 clusters, where it may hold the truth in under 93 of 100."""
        return self.low is not None and self.n_clusters is not None and self.n_clusters < FEW_CLUSTERS

    def scaled(self, factor: float) -> Stat:
        """The same figure in another unit, as 0–100 instead of 0–1."""
        if self.value is None:
            return self
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        if factor < 0:
            low, high = high, low
        return replace(self, value=self.value * factor, low=low, high=high)

    def as_json(self) -> dict[str, Any]:
        """Every field by name, `value` null where undefined, plus `too_few` and `few_clusters`."""
        return asdict(self) | {"too_few": self.too_few, "few_clusters": self.has_few_clusters}


def interval_json(stat: Stat) -> dict[str, Any]:
    """{low, high, n, clusters, method …} of an interval, with seed and resamples of a bootstrap."""
    drawn = {} if stat.seed is None else {"seed": stat.seed, "n_resamples": stat.n_resamples}
    ends = {"low": stat.low, "high": stat.high}
    marks = {"few_clusters": stat.has_few_clusters, "only_these": stat.only_these, "caution": stat.caution}
    return ends | {"n": stat.n_items, "clusters": stat.n_clusters, "method": stat.method} | drawn | marks


def stat_json(stats: Mapping[str, Stat]) -> dict[str, Any]:
    """{name: value or null, "intervals": {name: {low, high, …}}, "reasons": {name: why something is missing}}."""
    return {
        **{name: stat.value for name, stat in stats.items()},
        "intervals": {name: interval_json(stat) for name, stat in stats.items() if stat.low is not None},
        "reasons": {name: stat.reason for name, stat in stats.items() if stat.reason},
    }


def mean_of_stats(stats: Sequence[Stat], *, method: str, reason: str, n_items: Callable[..., int] = min) -> Stat:
    """Plain mean of the defined ones, undefined for `reason` when there are none; its n is `n_items` of theirs."""
    defined = [stat for stat in stats if stat.value is not None]
    if not defined:
        return Stat.undefined(reason, method=method)
    value = math.fsum(stat.value for stat in defined if stat.value is not None) / len(defined)
    return Stat(value, n_items=n_items(stat.n_items for stat in defined), method=method)


def mean(values: list[float], *, reason: str, method: str = "mean") -> Stat:
    """Plain mean of `values`; undefined for `reason` when there are none."""
    if not values:
        return Stat.undefined(reason, method=method)
    return Stat(math.fsum(values) / len(values), n_items=len(values), method=method)
