"""What a measurement is, and the list of cases. A new one is a function with `@case(…)` in one of `MODULES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.stage import Stage

MODULES = (
    "saving",
    "logins",
    "labelling",
    "verifying",
    "pages",
    "browsing",
    "processes",
    "offline",
    "figures",
    "points",
    "positions",
    "model_judge",
    "systems",
    "batch_files",
    "dealing_questions",
)


class Unmeasurable(Exception):
    """Something that a case needs is not on this machine; the text says what."""


@dataclass(frozen=True, slots=True)
class Target:
    """The bound a figure must keep: at most, or at least, so much; `of` says whether value or ratio is bound."""

    bound: float
    is_most: bool = True
    of: str = "value"

    def is_met(self, *, value: float, ratio: float | None) -> bool | None:
        """Whether the bound is kept; None if there is no ratio to look at."""
        looked_at = value if self.of == "value" else ratio
        if looked_at is None:
            return None
        return looked_at <= self.bound if self.is_most else looked_at >= self.bound

    def __str__(self) -> str:
        unit = "" if self.of == "value" else " × floor"
        return f"{'≤' if self.is_most else '≥'} {self.bound:g}{unit}"


def most(bound: float) -> Target:
    """A target that is met at or below the bound."""
    return Target(bound)


def least(bound: float) -> Target:
    """A target that is met at or above the bound."""
    return Target(bound, is_most=False)


def times_floor(bound: float) -> Target:
    """At most so many times the floor."""
    return Target(bound, of="ratio")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure with the floor beside it; both in `unit`, medians over the repetitions."""

    name: str
    value: float
    unit: str
    target: Target | None = None
    floor: float | None = None
    floor_is: str = ""

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of its floor; None without a floor."""
        return self.value / self.floor if self.floor else None

    @property
    def is_met(self) -> bool | None:
        """Whether the target is kept; None without one."""
        return self.target.is_met(value=self.value, ratio=self.ratio) if self.target else None

    def as_json(self, *, case: str) -> dict[str, Any]:
        """A row of the results file."""
        row = asdict(self)
        row["target"] = str(self.target) if self.target else None
        return {"case": case, **row, "ratio": self.ratio, "met": self.is_met}


Run = Callable[["Stage"], Iterable[Measurement]]


@dataclass(frozen=True, slots=True)
class Case:
    """A named set of measurements."""

    name: str
    about: str
    run: Run


_cases: dict[str, Case] = {}


def case(name: str) -> Callable[[Run], Run]:
    """Register a function as a case; its docstring says what it measures."""

    def register(run: Run) -> Run:
        about = (run.__doc__ or "").strip().splitlines()[0]
        _cases[name] = Case(name=name, about=about, run=run)
        return run

    return register


def all_cases() -> dict[str, Case]:
    """Every case by name, in the order in which they run."""
    for module in MODULES:
        import_module(f"bench.{module}")
    return dict(_cases)


def medians(rounds: Iterable[dict[str, float]]) -> dict[str, float]:
    """The median of each figure over several rounds."""
    rows = list(rounds)
    return {name: median(row[name] for row in rows) for name in rows[0]}


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which this share (0 to 1) of all values lies, without interpolation."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
