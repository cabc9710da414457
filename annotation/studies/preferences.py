"""How an annotator likes to work: one set of choices a person, kept with the annotator as JSON of this schema.

Nothing in here changes what is stored of answers, how time counts, or what others see.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotation.models import Annotator

MOST_ITEMS, MOST_MINUTES = 2_000, 960
SWITCHES = ("has_keys", "goes_on", "has_been_offered", "shows_pace", "suggests_breaks")
"""What scripts of the pages of work know, and change one by one."""


class TextSize(StrEnum):
    """How large texts to read are."""

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
    """A complete answer leads to the next item by itself."""
    has_been_offered: bool = False
    """The offer of that was answered."""
    shows_pace: bool = True
    suggests_breaks: bool = True
    goal_items: Annotated[int, Field(ge=1, le=MOST_ITEMS)] | None = None
    goal_minutes: Annotated[int, Field(ge=1, le=MOST_MINUTES)] | None = None
    text_size: TextSize = TextSize.NORMAL
    keys: dict[str, dict[str, str]] = {}
    """By kind of study, then by what they do: keys in the place of the usual ones; see `labelling.keys`."""

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
