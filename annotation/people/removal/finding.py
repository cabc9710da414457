"""What goes when a person's texts and labels are deleted, counted before anything happens.

A summary made from a session goes only if nobody else wrote the same text; labels, verdicts and decisions on it go
with it, whoever made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast

from annotation.models import (
    Annotator,
    Assignment,
    CoverageAdjudication,
    CoverageLabel,
    DraftRevision,
    ExternalLabel,
    LabelTask,
    LateDecision,
    PackedRows,
    Session,
    SessionEvent,
    Snapshot,
    Trial,
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
    def labels(self) -> QuerySet[CoverageLabel]:
        """The labels of coverage that go: the person's, and those of anyone on texts that go."""
        return CoverageLabel.objects.filter(Q(annotator=self.annotator) | Q(summary__in=self.summaries))

    @property
    def totals(self) -> dict[str, int]:
        """How many of what, over all studies."""
        counts: Counter[str] = Counter()
        for (_study, what), n in self.counts.items():
            counts[what] += n
        return dict(counts)


def going_of(annotator: Annotator) -> Going:
    """Find everything; changes nothing."""
    sessions = Session.objects.filter(annotator=annotator)
    summaries, n_shared = _texts_of(sessions)
    theirs = LabelTask.objects.filter(item__summary__in=summaries).exclude(annotator=annotator)
    calls = _calls_about(summaries)
    counts = _counts(annotator, sessions=sessions, summaries=summaries)
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
    texts = [model.objects.order_by().exclude(summary=None) for model in (Snapshot, LateDecision)]
    theirs = {pk for rows in texts for pk in rows.filter(session__in=sessions).values_list("summary", flat=True)}
    by_others = Q()
    for rows in texts:
        by_others |= Q(Exists(rows.filter(summary=OuterRef("pk")).exclude(session__in=sessions)))
    written = Summary.objects.filter(origin=Summary.Origin.SESSION, pk__in=theirs)
    shared = set(written.filter(by_others).values_list("pk", flat=True))
    deleted = set(written.values_list("pk", flat=True)) - shared
    return tuple(sorted(deleted)), len(shared)


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


def _counts(annotator: Annotator, *, sessions: QuerySet[Session], summaries: Iterable[int]) -> Counts:
    """How many of everything, in one query: each part of it gives study, what, and how many."""
    of_session = "session__assignment__study"
    parts = [
        _part("writing_tasks", Assignment.objects.filter(annotator=annotator)),
        _part("sessions", sessions, "assignment__study"),
        *(
            _part(what, model.objects.filter(session__in=sessions), of_session)
            for what, model in (("revisions", DraftRevision), ("snapshots", Snapshot), ("events", SessionEvent))
        ),
        _part(F("table"), PackedRows.objects.filter(session__in=sessions), of_session, n=Sum("n_rows")),
        _part("label_tasks", LabelTask.objects.filter(annotator=annotator)),
        _part("trials", Trial.objects.filter(annotator=annotator)),
        *(_part("labels", model.objects.filter(annotator=annotator)) for model in ANSWERS),
        *(
            _part("labels_of_others", model.objects.filter(summary__in=summaries).exclude(annotator=annotator))
            for model in ON_TEXTS
        ),
        _part("decisions", CoverageAdjudication.objects.filter(summary__in=summaries)),
        _part(
            "summaries",
            Summary.objects.filter(pk__in=summaries),
            "snapshots__session__assignment__study",
            n=Count("pk", distinct=True),
        ),
        *(_part("verdicts", model.objects.filter(summary__in=summaries), study=None) for model in VERDICTS),
    ]
    counts: Counts = Counter()
    for study, what, n in parts[0].union(*parts[1:], all=True):
        counts[study, what] += n
    return counts


def _part(what: str | F, rows: QuerySet[Any], study: str | None = "study", *, n: Any = None) -> QuerySet[Any, Any]:
    named = Value(what, output_field=CharField()) if isinstance(what, str) else what
    of_study = F(study) if study else Cast(Value(None), BigIntegerField())
    grouped: QuerySet[Any, Any] = (
        rows.order_by().annotate(of_study=of_study, what=named).values_list("of_study", "what")
    )
    counted: QuerySet[Any, Any] = grouped.annotate(n=n or Count("pk"))
    return counted
