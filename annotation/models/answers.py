"""Base of all answers of label work. Append-only: a change is a new row, the first answer stays."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.studies import Annotator, Guideline, Study
from annotation.models.tasks import LabelTask
from annotation.querysets import AnswerQuerySet


class Answer(models.Model):
    """One answer of an annotator to an item; the newest is current.

    `is_complete` is false while something asked is open, and of a cleared answer; such answers count for nothing.
    `is_check` marks answers that enter no figure: to attention checks, and in training. `supersedes` is the answer
    that this one took the place of, `undoes` the one it took back; `op_id` names the act in the browser, so that a
    repeated delivery is known.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="%(class)ss")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="%(class)ss")
    task = models.ForeignKey(LabelTask, on_delete=models.RESTRICT, related_name="%(class)ss")
    guideline = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    is_complete = models.BooleanField()
    is_current = models.BooleanField(default=True)
    is_unsure = models.BooleanField(default=False)
    is_check = models.BooleanField(default=False)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="undone_by"
    )
    op_id = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    objects = AnswerQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["task"], condition=Q(is_current=True), name="%(class)s_one_current"),
            models.UniqueConstraint(fields=["task", "op_id"], name="%(class)s_one_row_per_act"),
        ]
