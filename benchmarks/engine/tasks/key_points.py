"""What tasks on key points share: they are asked about one by one, each with its question."""

from __future__ import annotations

from benchmarks.engine.task import Task


class KeyPointTask(Task):
    """A task whose subjects are key points."""

    subject = "key_point"
    subjects = "key_points"
    related = "key_point__question"
    order_by = "key_point__question"
    has_repeats = True
