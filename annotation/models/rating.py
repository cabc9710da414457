"""Rating of summaries: settings, and what people give each summary by aspect."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Cast, Replace, StrIndex
from django.db.models.lookups import GreaterThan

from annotation.models.answers import Answer
from annotation.models.studies import Study
from benchmarks.models import Summary
from benchmarks.scoring.likert import LEVELS


class RatingPlan(models.Model):
    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="rating_plan")
    people_per_item = models.PositiveSmallIntegerField(default=2)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(people_per_item__gte=1), name="ratingplan_people_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.people_per_item} a summary"


_TEXT = Cast("ratings", models.TextField())


def _has(text: Any, part: str) -> Q:
    return Q(GreaterThan(StrIndex(text, Value(part)), 0))


def _without(*values: object) -> Any:
    """The ratings as text, less those of these values; a colon is in the others. Any SQLite knows how."""
    text: Any = Replace(_TEXT, Value("}"), Value(","))
    for value in values:
        text = Replace(text, Value(f": {value},"), Value(","))
    return text


class RatingLabel(Answer):
    """How one person rates a summary: from 1 to 5 by the key of each aspect, null where it is not rated yet."""

    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="rating_labels")
    ratings: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta(Answer.Meta):
        constraints = [
            *Answer.Meta.constraints,
            models.CheckConstraint(
                condition=_has(_TEXT, ":") & ~_has(_without("null", *LEVELS), ":"),
                name="ratinglabel_on_the_scale",
            ),
            models.CheckConstraint(
                condition=Q(is_complete=False) & _has(_TEXT, ": null")
                | Q(is_complete=True) & ~_has(_TEXT, ": null"),
                name="ratinglabel_complete_iff_all_rated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {', '.join(str(value or '–') for value in self.ratings.values())}"
