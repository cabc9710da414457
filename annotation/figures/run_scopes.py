"""Studies as runs of judges see them: which have summaries, which those are, and where people labelled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.figures.look import readable
from annotation.models import CoverageLabel, LabelItem, LateDecision, Snapshot, Study
from benchmarks.models import KeyPoint, Summary

WITH_SUMMARIES = (Study.Kind.WRITING, Study.Kind.LINKING, Study.Kind.RATING, Study.Kind.EXTERNAL)
MOST_COMPARED = 20
"""Studies that the page of a run leads to."""


class RunStudies:
    """What `benchmarks.engine.scopes` asks of studies."""

    def named(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """(id, name) of studies with summaries that a user may see, the newest first; all without a user."""
        rows = _seen_by(user)
        of_coverage = Exists(CoverageLabel.objects.filter(study=OuterRef("pk")))
        return _names(rows.filter(kind__in=WITH_SUMMARIES).filter(~Q(kind=Study.Kind.EXTERNAL) | of_coverage))

    def with_key_points(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """As `named`, of verification studies."""
        return _names(_seen_by(user).filter(kind=Study.Kind.VERIFICATION))

    def summaries(self, study: str) -> QuerySet[Summary]:
        """Items of label work, what imported labels are about, snapshots and accepted late texts of sessions."""
        sources: tuple[QuerySet[Any], ...] = (
            LabelItem.objects.filter(study__uid=study),
            CoverageLabel.objects.filter(study__uid=study),
            _of_sessions(Snapshot).filter(session__assignment__study__uid=study),
            _of_sessions(LateDecision).filter(session__assignment__study__uid=study, is_accepted=True),
        )
        wanted = Q()
        for rows in sources:
            wanted |= Q(pk__in=rows.exclude(summary=None).order_by().values("summary"))
        return Summary.objects.filter(wanted)

    def key_points(self, study: str) -> QuerySet[KeyPoint]:
        """The key points that are verified in a study; attention checks are none of them."""
        items = LabelItem.objects.filter(study__uid=study, role=LabelItem.Role.ORDINARY)
        return KeyPoint.objects.filter(pk__in=items.values("key_point"))

    def readable(self, user: Any, summaries: Collection[int]) -> Collection[int]:
        """Those texts of sessions that somebody wrote in a study of this user."""
        own = Study.objects.for_user(user).values("pk")
        return {
            pk
            for model in (Snapshot, LateDecision)
            for pk in _of_sessions(model)
            .filter(summary__in=summaries, session__assignment__study__in=own)
            .order_by()
            .values_list("summary", flat=True)
        }

    def compared(self, user: Any, summaries: QuerySet[Any, Any]) -> Sequence[tuple[str, str]]:
        """(name, address) of the agreement pages of studies in which some of these summaries were labelled."""
        labelled = CoverageLabel.objects.for_figures().filter(study=OuterRef("pk"), summary__in=summaries)
        rows = readable(user).filter(Exists(labelled)).order_by("-created_at", "-pk")[:MOST_COMPARED]
        return [(study.name, reverse("annotation:study-figures", args=[study.uid])) for study in rows]


def _seen_by(user: Any) -> QuerySet[Study]:
    return Study.objects.all() if user is None else readable(user)


def _names(found: QuerySet[Study]) -> list[tuple[str, str]]:
    return [(str(uid), name) for uid, name in found.order_by("-created_at", "-pk").values_list("uid", "name")]


def _of_sessions(model: Any) -> QuerySet[Any]:
    found: QuerySet[Any] = model.objects.filter(session__assignment__is_practice=False)
    return found
