"""The five aspects as pages name them, in the reader's language."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchmarks.judges.aspects import ENDS
from benchmarks.scoring.likert import ASPECTS, MEAN

NAMES = {
    "overall": gettext_noop("overall"),
    "informativeness": gettext_noop("informativeness"),
    "quality": gettext_noop("quality"),
    "coherence": gettext_noop("coherence"),
    "attributability": gettext_noop("attributability"),
    MEAN: gettext_noop("mean of the five"),
}


@dataclass(frozen=True, slots=True)
class Aspect:
    """An aspect: its key, name and question, and what the ends of the scale mean."""

    key: str
    name: str
    question: str
    low: str
    high: str


def name_of(measure: str) -> str:
    """The name of an aspect, or of their mean."""
    return _(NAMES[measure])


def aspects() -> tuple[Aspect, ...]:
    """All five, in the order of the page."""
    return tuple(Aspect(key, name_of(key), *(_(text) for text in ENDS[key])) for key in ASPECTS)
