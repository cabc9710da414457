"""Studies as the papers set them up: what a form is filled with. What they take here, the form works out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotation.kinds import Text

USUAL_RATE = Decimal(25)
"""Of the papers, in US dollars an hour."""


def _nothing(seed: int) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A study of a paper: how many tasks it had there, shared by `n_people`; not `in_paper` they are ours.

    `values` fill the form; `choose` adds what depends on the data at hand, as which subtopics, and `lacks` says
    what of these data is missing here, in a sentence, empty where all is there.
    """

    key: str
    title: Text
    paper: str
    section: str
    about: Text
    n_tasks: int
    n_people: int
    values: Mapping[str, Any] = field(default_factory=dict)
    choose: Callable[[int], Mapping[str, Any]] = _nothing
    lacks: Callable[[], str] = str
    seed: int = 1
    in_paper: bool = True

    def initial(self) -> dict[str, Any]:
        """Initial values of the form of a new study."""
        return {"name": str(self.title), "hourly_rate": USUAL_RATE, **self.values, **self.choose(self.seed)}
