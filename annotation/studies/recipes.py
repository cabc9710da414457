"""Studies as the papers set them up: what a form is filled with, and the hours and money that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotation.kinds import Text
from annotation.studies.earnings import MS_PER_HOUR, pay

USUAL_RATE = Decimal(25)
"""Of the papers, in US dollars an hour."""


def _nothing(seed: int) -> dict[str, Any]:
    return {}


def _nowhere() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A study of a paper: how many tasks of `minutes` each, shared by `n_people`.

    `values` fill the form; `choose` adds what depends on the data at hand, as which subtopics, and `lacks` says
    what of these data is missing here, in a sentence, empty where all is there.
    """

    key: str
    title: Text
    paper: str
    section: str
    about: Text
    n_tasks: int
    minutes: float
    n_people: int
    values: Mapping[str, Any] = field(default_factory=dict)
    choose: Callable[[int], Mapping[str, Any]] = _nothing
    lacks: Callable[[], str] = _nowhere
    seed: int = 1

    @property
    def hours(self) -> float:
        """Active time of all people."""
        return self.n_tasks * self.minutes / 60

    @property
    def cost(self) -> Decimal:
        """What that time costs at the rate of the papers."""
        return pay(round(self.hours * MS_PER_HOUR), USUAL_RATE)

    def initial(self) -> dict[str, Any]:
        """What the form of a new study is filled with."""
        return {"name": str(self.title), "hourly_rate": USUAL_RATE, **self.values, **self.choose(self.seed)}
