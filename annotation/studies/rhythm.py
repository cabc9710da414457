"""How an annotator likes to work, and a day and pace for the quiet line on their pages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from statistics import mean, median
from typing import Annotated, Any

from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.utils.timezone import localtime
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotation import clock
from annotation.models import Annotator, LabelTask, Session, Study
from annotation.studies.amounts import MS_PER_HOUR, pay

MOST_ITEMS, MOST_MINUTES = 2_000, 960
SWITCHES = ("has_keys", "goes_on", "has_been_offered", "shows_pace", "suggests_breaks")
"""Switches that scripts of the pages of work know, and change one by one."""


class TextSize(StrEnum):
    SMALL = "small"
    NORMAL = "normal"
    LARGE = "large"
    LARGEST = "largest"


class NotPreferences(ValueError):
    """These are no preferences."""


class Preferences(BaseModel):
    """All choices, with what holds for whoever has chosen nothing; a goal is of items or of minutes a day."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    has_keys: bool = True
    """Single keys do something in label work."""
    goes_on: bool = False
    """A complete answer leads to the next item by itself; `goes_on_in` by kind of study, where switched there."""
    goes_on_in: dict[str, bool] = {}
    has_been_offered: bool = False
    """The offer of that was answered."""
    shows_pace: bool = True
    suggests_breaks: bool = True
    goal_items: Annotated[int, Field(ge=1, le=MOST_ITEMS)] | None = None
    goal_minutes: Annotated[int, Field(ge=1, le=MOST_MINUTES)] | None = None
    text_size: TextSize = TextSize.NORMAL
    keys: dict[str, dict[str, str]] = {}
    """By kind of study, then by what they do: keys in the place of the usual ones; see `labelling.task_page`."""

    def of_kind(self, kind: str) -> Preferences:
        """What holds in label work of a kind."""
        return self.model_copy(update={"goes_on": self.goes_on_in.get(kind, self.goes_on)})

    @model_validator(mode="after")
    def _has_one_goal(self) -> Preferences:
        if self.goal_items and self.goal_minutes:
            raise ValueError("one goal")
        return self


def preferences_of(annotator: Annotator) -> Preferences:
    """The preferences of a person; what is stored and no longer makes sense counts as not chosen."""
    try:
        return Preferences.model_validate(annotator.preferences)
    except ValidationError:
        return Preferences()


@transaction.atomic
def prefer(*, annotator: Annotator, **choices: Any) -> Preferences:
    """Change these preferences and leave the others as they are.

    Raises:
        NotPreferences: a name is unknown, or a value does not fit.
    """
    row = Annotator.objects.select_for_update(of=("self",)).get(pk=annotator.pk)
    if not choices.keys() <= Preferences.model_fields.keys():
        raise NotPreferences(sorted(choices))
    try:
        made = Preferences.model_validate(preferences_of(row).model_dump() | choices)
    except ValidationError as problem:
        raise NotPreferences(str(problem)) from problem
    row.preferences = annotator.preferences = made.model_dump(mode="json", exclude_defaults=True)
    row.save(update_fields=["preferences"])
    return made


PACE_OF, PACE_NEEDS, PACE_AFTER_MS = 50, 5, 600_000
"""The pace is that of the last fifty items, once five are done; shown after ten minutes in a study."""
NEW_UNTIL = 3
"""Items of a study that are done before a tour of its page is no longer offered."""
OFFER_AFTER = 10
"""Items that are done before going on automatically is offered."""


@dataclass(frozen=True, slots=True)
class Day:
    """A person's work of today: earned by currency, items that were finished, and active time (ms)."""

    earned: tuple[tuple[str, Decimal], ...]
    n_items: int
    worked_ms: int


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal of one's own for today: items, or minutes."""

    n: int
    done: int
    is_of_items: bool

    @property
    def is_reached(self) -> bool:
        """Whether nothing is left of it."""
        return self.done >= self.n


def day_of(annotator: Annotator, now: datetime) -> Day:
    """All work of today until `now`, in the time zone of the reader. Two queries."""
    midnight = localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    begun, done = Q(begun_at__gte=midnight), Q(done_at__gte=midnight)
    labels = (
        LabelTask.objects.filter(annotator=annotator, last_seen_at__gte=midnight)  # an index has that
        .order_by()
        .values_list("study__currency", "study__hourly_rate", "study")
        .annotate(ms=Sum("active_ms", filter=begun), n=Count("pk", filter=done))
    )
    sessions = Session.objects.filter(
        annotator=annotator, assignment__is_practice=False, started_at__gte=midnight
    ).annotate(currency=F("assignment__study__currency"), rate=F("assignment__study__hourly_rate"))
    rows = [
        *((currency, rate, ms or 0, n) for currency, rate, _study, ms, n in labels),
        *((row.currency, row.rate, row.active_ms_at(now), int(row.state in clock.HANDED_IN)) for row in sessions),
    ]
    earned: dict[str, Decimal] = defaultdict(Decimal)
    for currency, rate, ms, _n in rows:
        earned[currency] += pay(ms, rate)
    return Day(
        tuple(sorted((currency, amount) for currency, amount in earned.items() if amount)),
        n_items=sum(n for *_row, n in rows),
        worked_ms=sum(ms for _currency, _rate, ms, _n in rows),
    )


def goal_of(preferences: Preferences, day: Day) -> Goal | None:
    """How far somebody is with the goal they set themselves, if they did."""
    if preferences.goal_items:
        return Goal(preferences.goal_items, day.n_items, is_of_items=True)
    if preferences.goal_minutes:
        return Goal(preferences.goal_minutes, day.worked_ms // 60_000, is_of_items=False)
    return None


def items_an_hour(annotator: Annotator, study: Study) -> int | None:
    """How many items of a study a person does in an hour, at their own median, to two digits; None before five.

    One query.
    """
    done = LabelTask.objects.filter(annotator=annotator, study=study, state=LabelTask.State.DONE)
    times = list(done.order_by("-done_at", "-pk").values_list("active_ms", flat=True)[:PACE_OF])
    each = median(times) if len(times) >= PACE_NEEDS else 0
    return int(float(f"{MS_PER_HOUR / each:.2g}")) if each else None


MOST_BARS, BAR_HEIGHT = 12, 24


def course_of_pace(annotator: Annotator, study: Study) -> list[dict[str, int]]:
    """The mean time (ms) of the tasks done in a study, part by part in their order, as bars of a small plot.

    None before five in each of two parts; one query.
    """
    done = LabelTask.objects.filter(annotator=annotator, study=study, state=LabelTask.State.DONE)
    times = list(done.order_by("done_at", "pk").values_list("active_ms", flat=True))
    n = min(MOST_BARS, len(times) // PACE_NEEDS)
    if n < 2:
        return []
    parts = [int(mean(times[len(times) * k // n : len(times) * (k + 1) // n])) for k in range(n)]
    most = max(parts) or 1
    heights = [max(1, ms * BAR_HEIGHT // most) for ms in parts]
    return [
        {"ms": ms, "x": 10 * k, "y": BAR_HEIGHT - height, "height": height}
        for k, (ms, height) in enumerate(zip(parts, heights, strict=True))
    ]
