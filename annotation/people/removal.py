"""Deletion of a person's work on request, and what goes with it."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast

from annotation.approvals.recording import labels_go
from annotation.models import (
    AllowedId,
    Annotator,
    Assignment,
    CoverageAdjudication,
    CoverageLabel,
    DraftRevision,
    ExternalLabel,
    LabelItem,
    LabelTask,
    LateDecision,
    LateNotes,
    PackedRows,
    Participant,
    RemarkReply,
    Removal,
    RemovedWork,
    Session,
    SessionEvent,
    Snapshot,
    SpotCheck,
    Trial,
    TurnedAway,
    TypedText,
)
from annotation.models.answers import Answer
from annotation.people.held import all_held
from benchmarks.models import JudgeCall, JudgeRunItem, Summary, SummaryRating, Verdict
from benchmarks.personal import Person
from benchmarks.results.stored import forget_all

Counts = Counter[tuple[int | None, str]]
"""How many of what, by (study pk, what); None where it belongs to no study."""
ANSWERS: tuple[Any, ...] = (ExternalLabel, *Answer.__subclasses__())
ON_TEXTS: tuple[Any, ...] = tuple(model for model in ANSWERS if hasattr(model, "summary"))
"""Answers about summaries, which go with them."""
VERDICTS: tuple[Any, ...] = (Verdict, SummaryRating)
"""Answers of judges on summaries."""


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
    texts = [model.objects.order_by().exclude(summary=None) for model in (Snapshot, LateDecision, TypedText)]
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


@transaction.atomic
def remove_work(
    *,
    annotator: Annotator | None,
    mode: str,
    by: Any,
    now: datetime,
    uid: UUID | None = None,
    account: UUID | None = None,
) -> Removal:
    """Delete the work of a person or make it anonymous, and record how much; twice does no harm.

    `uid` is that of a removal which is done again, after a restore; `account` that of the account which goes too.
    """
    transaction.on_commit(forget_all)  # stored figures hold names
    counts: Counts = Counter()
    if annotator is not None:
        # Nobody may open a session or answer a task in between.
        Annotator.objects.select_for_update().get(pk=annotator.pk)
        forget_panel_ids(annotator)
        if mode == Removal.Mode.DELETED:
            going = going_of(annotator)
            labels_go(going.labels, now=now)
            _delete(going)
            counts = going.counts
        else:
            counts = _without_remarks(annotator)
    removal = Removal.objects.create(
        annotator=annotator,
        account=account,
        mode=mode,
        by=by,
        at=now,
        **({"uid": uid} if uid is not None else {}),
    )
    RemovedWork.objects.bulk_create(
        RemovedWork(removal=removal, study_id=study, what=what, n=n) for (study, what), n in counts.items()
    )
    return removal


def forget_panel_ids(annotator: Annotator) -> None:
    """Let ids of panels go, from the lists of links too."""
    for participant in Participant.objects.filter(annotator=annotator):
        keys = {participant.panel_key, participant.panel_id.lower()}
        for model in (AllowedId, TurnedAway):
            model.objects.filter(link__panel=participant.panel, panel_key__in=keys).delete()
        participant.delete()


def totals(removal: Removal) -> dict[str, int]:
    return dict(removal.work.order_by("what").values_list("what").annotate(Sum("n")))


def _delete(going: Going) -> None:
    """Delete what was found, in the order in which rows hold each other."""
    annotator, texts = going.annotator, going.summaries
    SpotCheck.objects.filter(annotator=annotator).delete()
    Trial.objects.filter(annotator=annotator).delete()
    for model in ON_TEXTS:
        model.objects.filter(summary__in=texts).delete()
    for model in ANSWERS:
        model.objects.filter(annotator=annotator).delete()
    LabelTask.objects.filter(item__summary__in=texts).delete()
    LabelTask.objects.filter(annotator=annotator).delete()
    CoverageAdjudication.objects.filter(summary__in=texts).delete()
    LabelItem.objects.filter(summary__in=texts).delete()
    for pk in going.calls:  # what they cost stays with their runs, and nobody finds them by their request again
        JudgeCall.objects.filter(pk=pk).update(
            cache_key=secrets.token_hex(32), prompt_sha256="", reply={}, error="", request_id=""
        )
    Session.objects.filter(pk__in=going.sessions).update(late_text=None)
    Snapshot.objects.filter(session__in=going.sessions).delete()
    Session.objects.filter(pk__in=going.sessions).delete()
    Assignment.objects.filter(annotator=annotator).delete()
    Summary.objects.filter(pk__in=texts).delete()


def _without_remarks(annotator: Annotator) -> Counts:
    """Take away what a person wrote beside the work: notes, comments, reasons, remarks on the time."""
    counts: Counts = Counter()
    person = Person(user=None, annotator=annotator)
    for held in all_held():
        rows = held.rows_of(person) if held.annotator else None  # the annotator's own row is not beside the work
        if rows is None:
            continue
        for field, instead in held.emptied.items():
            n = rows.exclude(**{field: ""}).update(**{field: instead})
            counts[None, "remarks"] += 0 if held.model is RemarkReply else n  # there the comment stands once more
    counts[None, "remarks"] += LateNotes.objects.filter(session__annotator=annotator).delete()[0]
    return +counts
