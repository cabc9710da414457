"""What tasks on key points share: they are asked about one by one, each with its question."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from benchmarks.engine.task import Task
from benchmarks.models import KeyPoint


class KeyPointTask(Task):
    """A task whose subjects are key points."""

    subject = "key_point"
    subjects = "key_points"
    related = "key_point__question"
    order_by = "key_point__question"
    has_repeats = True

    def read(self, keys: Sequence[int]) -> QuerySet[KeyPoint, KeyPoint]:
        """Key points with their questions."""
        return KeyPoint.objects.filter(pk__in=keys).select_related("question")
