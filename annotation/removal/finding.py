"""What goes when a person's texts and labels are deleted, counted before anything happens.

A summary made from a session goes only if nobody else wrote the same text; labels, verdicts and decisions on it go
with it, whoever made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation.models import (
    Annotator,
    Assignment,
    CoverageAdjudication,
    DraftRevision,
    ExternalLabel,
    LabelTask,
    LateDecision,
    Session,
    SessionEvent,
    Snapshot,
)
from annotation.models.answers import Answer
from benchmarks.models import JudgeCall, JudgeRunItem, Summary, SummaryRating, Verdict

Counts = Counter[tuple[int | None, str]]
"""How many of what, by (study pk, what); None where it belongs to no study."""
ANSWERS: tuple[Any, ...] = (ExternalLabel, *Answer.__subclasses__())
ON_TEXTS: tuple[Any, ...] = tuple(model for model in ANSWERS if hasattr(model, "summary"))
"""Answers about summaries, which go with them."""
VERDICTS: tuple[Any, ...] = (Verdict, SummaryRating)
"""What judges say of summaries."""


@dataclass(frozen=True, slots=True)
class Going:
    """The rows that go, as primary keys, and the counts of everything that goes with them."""

    annotator: Annotator
    sessions: tuple[int, ...]
    summaries: tuple[int, ...]
    calls: tuple[int, ...]
    n_shared: int
    """Texts that stay because somebody else wrote the same."""
    counts: Counts
    others: tuple[tuple[str, int, int], ...]
    """Annotators who labelled texts that go: name, tasks, and time of work (ms)."""

    @property
    def totals(self) -> dict[str, int]:
        """How many of what, over all studies."""
        found: Counter[str] = Counter()
        for (_study, what), n in self.counts.items():
            found[what] += n
        return dict(found)


def going_of(annotator: Annotator) -> Going:
    """Find everything; changes nothing."""
    sessions = Session.objects.filter(annotator=annotator)
    summaries, n_shared = _texts_of(sessions)
    theirs = LabelTask.objects.filter(item__summary__in=summaries).exclude(annotator=annotator)
    calls = _calls_about(summaries)
    counts: Counts = Counter()
    _count(counts, "writing_tasks", Assignment.objects.filter(annotator=annotator))
    _count(counts, "sessions", sessions, "assignment__study")
    _count(counts, "revisions", DraftRevision.objects.filter(session__in=sessions), "session__assignment__study")
    _count(counts, "snapshots", Snapshot.objects.filter(session__in=sessions), "session__assignment__study")
    _count(counts, "events", SessionEvent.objects.filter(session__in=sessions), "session__assignment__study")
    _count(counts, "label_tasks", LabelTask.objects.filter(annotator=annotator))
    for model in ANSWERS:
        _count(counts, "labels", model.objects.filter(annotator=annotator))
    for model in ON_TEXTS:
        by_others = model.objects.filter(summary__in=summaries).exclude(annotator=annotator)
        _count(counts, "labels_of_others", by_others)
    _count(counts, "decisions", CoverageAdjudication.objects.filter(summary__in=summaries))
    rows = Summary.objects.filter(pk__in=summaries)
    for pk, n in (
        rows.order_by().values_list("snapshots__session__assignment__study").annotate(n=Count("pk", distinct=True))
    ):
        counts[pk, "summaries"] += n
    for verdicts in VERDICTS:
        counts[None, "verdicts"] += verdicts.objects.filter(summary__in=summaries).count()
    counts[None, "replies"] += len(calls)
    return Going(
        annotator=annotator,
        sessions=tuple(sessions.values_list("pk", flat=True)),
        summaries=summaries,
        calls=calls,
        n_shared=n_shared,
        counts=+counts,
        others=tuple(
            theirs.order_by("annotator__label")
            .values_list("annotator__label")
            .annotate(n=Count("pk"), ms=Sum("active_ms"))
        ),
    )


def _texts_of(sessions: QuerySet[Session]) -> tuple[tuple[int, ...], int]:
    """The summaries that only these sessions wrote, and how many others wrote too."""
    snapshots = Snapshot.objects.filter(summary=OuterRef("pk"))
    late = LateDecision.objects.filter(summary=OuterRef("pk"))
    written = Summary.objects.filter(origin=Summary.Origin.SESSION).filter(
        Q(Exists(snapshots.filter(session__in=sessions))) | Q(Exists(late.filter(session__in=sessions)))
    )
    by_others = Q(Exists(snapshots.exclude(session__in=sessions))) | Q(Exists(late.exclude(session__in=sessions)))
    shared = written.filter(by_others)
    own = written.exclude(by_others).order_by("pk")
    return tuple(own.values_list("pk", flat=True)), shared.count()


def _calls_about(summaries: Iterable[int]) -> tuple[int, ...]:
    """Requests whose replies speak of these texts and of no other.

    A reply that could not be used has no verdict: those of the same runs go too, for their text is not known.
    """
    about, elsewhere, unused = (
        Q(),
        Q(),
        Q(run__in=JudgeRunItem.objects.filter(summary__in=summaries).values("run")),
    )
    for verdicts in VERDICTS:
        of_call = verdicts.objects.filter(call=OuterRef("pk"))
        about |= Q(pk__in=verdicts.objects.filter(summary__in=summaries).exclude(call=None).values("call"))
        elsewhere |= Q(Exists(of_call.exclude(summary__in=summaries)))
        unused &= ~Q(Exists(of_call))
    unused &= ~Q(state=JudgeCall.State.ASKED)  # on its way, most likely about another text
    known = about & ~elsewhere
    return tuple(JudgeCall.objects.filter(known | unused).order_by("pk").values_list("pk", flat=True))


def _count(counts: Counts, what: str, rows: Any, study: str = "study") -> None:
    for pk, n in rows.order_by().values_list(study).annotate(n=Count("pk")):
        counts[pk, what] += n
