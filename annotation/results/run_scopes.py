"""Studies as runs of judges see them: which have summaries, which those are, and where people labelled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.kinds import KEY_POINTS, SUMMARIES, values_where
from annotation.models import CoverageLabel, LabelItem, LateDecision, Snapshot, Study, TypedText
from annotation.studies.lifecycle import elsewhere
from benchmarks.engine.tasks.coverage import bullets_of
from benchmarks.judges.examples import Example
from benchmarks.models import Insight, KeyPoint, Summary

MOST_COMPARED = 20
"""Studies that the page of a run leads to."""


class RunStudies:
    """Studies as scopes of runs, for `benchmarks.engine.scopes`."""

    def named(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """(id, name) of studies with summaries that a user may see, the newest first; all without a user."""
        rows = _seen_by(user)
        of_coverage = Exists(CoverageLabel.objects.filter(study=OuterRef("pk")))
        return _names(
            rows.filter(kind__in=values_where(judged=SUMMARIES)).filter(~Q(kind=Study.Kind.EXTERNAL) | of_coverage)
        )

    def seen(self, user: Any) -> set[str]:
        return {str(uid) for uid in _seen_by(user).order_by().values_list("uid", flat=True)}

    def elsewhere(self, *, of: Any, haystacks: Collection[int] = (), questions: Collection[int] = ()) -> list[str]:
        """The names of studies that stand on these haystacks or questions and are not of this research group."""
        return elsewhere(of=of, haystacks=haystacks, questions=questions)

    def with_key_points(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """As `named`, of studies of key points."""
        return _names(_seen_by(user).filter(kind__in=values_where(judged=KEY_POINTS)))

    def summaries(self, study: str) -> QuerySet[Summary]:
        """Items of label work, what imported labels are about, and texts of sessions, accepted late ones too."""
        sources: tuple[QuerySet[Any], ...] = (
            LabelItem.objects.filter(study__uid=study),
            CoverageLabel.objects.filter(study__uid=study),
            _of_sessions(Snapshot).filter(session__assignment__study__uid=study),
            _of_sessions(LateDecision).filter(session__assignment__study__uid=study, is_accepted=True),
            _of_sessions(TypedText).filter(session__assignment__study__uid=study),
        )
        wanted = Q()
        for rows in sources:
            wanted |= Q(pk__in=rows.exclude(summary=None).order_by().values("summary"))
        return Summary.objects.filter(wanted)

    def key_points(self, study: str) -> QuerySet[KeyPoint]:
        """The key points that are verified in a study; attention checks are none of them."""
        items = LabelItem.objects.filter(study__uid=study, role=LabelItem.Role.ORDINARY)
        return KeyPoint.objects.filter(pk__in=items.values("key_point"))

    def with_coverage(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """As `named`, of studies with labels of coverage."""
        return _names(
            _seen_by(user).filter(Exists(CoverageLabel.objects.for_figures().filter(study=OuterRef("pk"))))
        )

    def examples(self, study: str) -> Sequence[Example]:
        """Majority labels on an insight of a summary, with the lines that most name.

        Three queries.
        """
        labels: dict[tuple[int, int], list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
        rows = CoverageLabel.objects.for_figures().filter(study__uid=study).order_by("summary", "insight", "pk")
        for summary, insight, coverage, lines in rows.values_list("summary", "insight", "coverage", "lines"):
            labels[summary, insight].append((coverage, tuple(lines)))
        texts = Summary.objects.select_related("subtopic").in_bulk({summary for summary, _insight in labels})
        insights = Insight.objects.in_bulk({insight for _summary, insight in labels})
        bullets = {pk: bullets_of(summary.lines) for pk, summary in texts.items()}
        return [
            Example(str(texts[summary].subtopic.uid), bullets[summary], insights[insight].text, coverage, numbers)
            for (summary, insight), labels_of_pair in labels.items()
            for coverage, numbers in _agreed(labels_of_pair)
            if {number for number, _text in bullets[summary]} >= set(numbers)
        ]

    def readable(self, user: Any, summaries: Collection[int]) -> Collection[int]:
        """Those texts of sessions that somebody wrote in a study of this user."""
        visible = Study.objects.for_user(user).values("pk")
        return {
            pk
            for model in (Snapshot, LateDecision, TypedText)
            for pk in _of_sessions(model)
            .filter(summary__in=summaries, session__assignment__study__in=visible)
            .order_by()
            .values_list("summary", flat=True)
        }

    def compared(self, user: Any, summaries: QuerySet[Any, Any]) -> Sequence[tuple[str, str]]:
        """(name, address) of the agreement pages of studies in which some of these summaries were labelled."""
        labelled = CoverageLabel.objects.for_figures().filter(study=OuterRef("pk"), summary__in=summaries)
        rows = Study.objects.readable_by(user).filter(Exists(labelled)).order_by("-created_at", "-pk")
        return [
            (study.name, reverse("annotation:study-figures", args=[study.uid])) for study in rows[:MOST_COMPARED]
        ]


def _agreed(labels: Sequence[tuple[str, tuple[int, ...]]]) -> list[tuple[str, tuple[int, ...]]]:
    """The label of more than half, with the lines that are named most often with it; else nothing."""
    coverage, n = Counter(label for label, _lines in labels).most_common(1)[0]
    if 2 * n <= len(labels):
        return []
    lines, _n = Counter(lines for label, lines in labels if label == coverage).most_common(1)[0]
    return [(coverage, lines)]


def _seen_by(user: Any) -> QuerySet[Study]:
    return Study.objects.all() if user is None else Study.objects.readable_by(user)


def _names(studies: QuerySet[Study]) -> list[tuple[str, str]]:
    return [(str(uid), name) for uid, name in studies.order_by("-created_at", "-pk").values_list("uid", "name")]


def _of_sessions(model: Any) -> QuerySet[Any]:
    rows: QuerySet[Any] = model.objects.filter(session__assignment__is_practice=False)
    return rows
