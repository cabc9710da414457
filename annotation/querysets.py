"""Named reads of people, studies, assignments and sessions, scoped by who asks."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q


class AnnotatorQuerySet(models.QuerySet[Any]):
    """Reads of annotators."""

    def active(self) -> AnnotatorQuerySet:
        """People who can be given work."""
        return self.filter(is_active=True, user__is_active=True)


class StudyQuerySet(models.QuerySet[Any]):
    """Reads of studies."""

    def for_user(self, user: Any) -> StudyQuerySet:
        """Studies a researcher is a member of; admins see all."""
        if user.has_perm("annotation.delete_study"):
            return self
        return self.filter(Q(researchers=user) | Q(created_by=user)).distinct()


class AssignmentQuerySet(models.QuerySet[Any]):
    """Reads of assignments."""

    def for_annotator(self, user: Any) -> AssignmentQuerySet:
        """A person's own tasks, whatever their state."""
        return self.filter(annotator__user=user)

    def live(self) -> AssignmentQuerySet:
        """Tasks that were not withdrawn."""
        return self.exclude(state="withdrawn")


class SessionQuerySet(models.QuerySet[Any]):
    """Reads of sessions."""

    def for_writer(self, user: Any) -> SessionQuerySet:
        """A person's own sessions."""
        return self.filter(annotator__user=user)

    def for_researcher(self, user: Any) -> SessionQuerySet:
        """Sessions of the studies that a researcher may see; admins see all."""
        if user.has_perm("annotation.delete_study"):
            return self.filter(assignment__is_practice=False)
        return self.filter(
            Q(assignment__study__researchers=user) | Q(assignment__study__created_by=user)
        ).distinct()
