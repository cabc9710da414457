"""Settings and answers."""

from django.db import models

from annotation.models import Study
from annotation.models.answers import Answer


class PreferencePlan(models.Model):
    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="preference_plan")
    people_per_item = models.PositiveSmallIntegerField(default=2)

    def __str__(self) -> str:
        return f"{self.people_per_item} a pair"


class PreferenceLabel(Answer):
    """Which of two summaries is better; the second is named by the block of the item."""

    choice = models.CharField(max_length=6, blank=True)

    def __str__(self) -> str:
        return self.choice
