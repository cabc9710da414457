"""The states of studies and tasks, named by models and querysets; those of a session are its clock's."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class StudyState(models.TextChoices):
    """Annotators see the tasks of a study while it is open."""

    DRAFT = "draft", "being set up"
    OPEN = "open", "open"
    CLOSED = "closed", "closed"
    ARCHIVED = "archived", "archived"


class AssignmentState(models.TextChoices):
    """How far a writing task is."""

    ASSIGNED = "assigned", "to do"
    STARTED = "started", "started"
    DONE = "done", "done"
    WITHDRAWN = "withdrawn", "withdrawn"


class LabelTaskState(models.TextChoices):
    """How far a label task is; what was skipped is out of the way."""

    TODO = "todo", _("to do")
    BEGUN = "begun", _("begun")
    DONE = "done", _("done")
    SKIPPED = "skipped", _("skipped")
