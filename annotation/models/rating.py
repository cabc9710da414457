"""Rating of summaries: settings, and what people give each summary on the five aspects."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from annotation.models.answers import Answer
from annotation.models.studies import Study
from benchmarks.models import Summary
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LOWEST


class RatingPlan(models.Model):
    """The settings of a rating study."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="rating_plan")
    people_per_item = models.PositiveSmallIntegerField(default=2)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(people_per_item__gte=1), name="ratingplan_people_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.people_per_item} a summary"


def _level() -> models.PositiveSmallIntegerField[Any, Any]:
    return models.PositiveSmallIntegerField(null=True, blank=True)


_EVERY = Q(*((f"{aspect}__isnull", False) for aspect in ASPECTS))
_ON_THE_SCALE = Q(
    *(Q((aspect, None)) | Q((f"{aspect}__gte", LOWEST), (f"{aspect}__lte", HIGHEST)) for aspect in ASPECTS)
)


class RatingLabel(Answer):
    """How one person rates a summary, from 1 to 5 on each aspect; empty where not rated yet."""

    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="rating_labels")
    overall = _level()
    informativeness = _level()
    quality = _level()
    coherence = _level()
    attributability = _level()

    class Meta(Answer.Meta):
        constraints = [
            *Answer.Meta.constraints,
            models.CheckConstraint(condition=_ON_THE_SCALE, name="ratinglabel_on_the_scale"),
            models.CheckConstraint(
                condition=(Q(is_complete=True) & _EVERY) | (Q(is_complete=False) & ~_EVERY),
                name="ratinglabel_complete_iff_all_rated",
            ),
        ]

    def __str__(self) -> str:
        ratings = ", ".join(str(getattr(self, aspect) or "–") for aspect in ASPECTS)
        return f"{self.annotator_id}: {ratings}"
