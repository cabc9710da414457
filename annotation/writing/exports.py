"""The files of a writing study: one generator of rows per file, for the download and for the command alike.

People appear as annotator1, annotator2 …, stable within the study. Times are UTC, durations milliseconds.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import orjson
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast

from annotation.kinds import StudyFile
from annotation.models import (
    ActivePeriod,
    Assignment,
    ClockCredit,
    DraftRevision,
    LateDecision,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    Study,
)
from annotation.studies.removed import removed_from
from annotation.writing import curves, sessions
from annotation.writing.earnings import Earning, earning_of
from annotation.writing.late import new_words
from annotation.writing.results import pseudonyms, sessions_of
from benchmarks.engine import judging
from benchmarks.models import Judge
from benchmarks.web.downloads import csv_lines, json_lines

TableRows = Callable[[Study, Judge | None, datetime], Iterable[Sequence[Any]]]
SCHEMA_VERSION = 2
CHUNK = 500
EVENT_CHUNK = 5_000

PERIOD_COLUMNS = ("session", "seq", "started_at", "ended_at", "acc_before_ms", "start_reason", "end_reason")
CREDIT_COLUMNS = ("session", "delta_ms", "reason", "at")


@dataclass(frozen=True)
class ExportFile:
    """A file one can download: its name, type, and how its rows come; of a table also columns and rows."""

    name: str
    title: str
    content_type: str
    make: Callable[[Study, Judge | None, datetime], Iterable[str | bytes]]
    columns: Sequence[str] = ()
    rows: TableRows | None = None


def _sessions(study: Study) -> QuerySet[Session, Session]:
    return sessions_of(study).filter(assignment__is_practice=False)


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _uids(study: Study) -> dict[int, str]:
    """The public id of each session, so that no file reads whole sessions, with their texts, once per row."""
    return {pk: str(uid) for pk, uid in _sessions(study).values_list("pk", "uid")}


@dataclass(frozen=True, slots=True)
class _Row:
    """A session with what its row needs beside it."""

    session: Session
    annotator: str | None
    credited_ms: int
    rate: Decimal | None
    earned: Earning

    @property
    def task(self) -> Assignment:
        return self.session.assignment

    @property
    def report(self) -> SessionReport | None:
        return getattr(self.session, "report", None)

    def counted(self, name: str) -> int:
        """One of the counts that the query adds."""
        return int(getattr(self.session, name))


def _excluded(session: Session) -> str | None:
    return "; ".join(one.reason for one in session.exclusions.all() if one.lifted_at is None) or None


_SESSION_VALUES: dict[str, Callable[[_Row], Any]] = {
    "session": lambda row: row.session.uid,
    "annotator": lambda row: row.annotator,
    "haystack": lambda row: row.task.subtopic.haystack.key,
    "subtopic": lambda row: row.task.subtopic.key,
    "setting": lambda row: row.session.config.get("setting"),
    "preset": lambda row: row.session.config.get("preset"),
    "state": lambda row: row.session.state,
    "end_reason": lambda row: row.session.end_reason,
    "created_at": lambda row: _time(row.session.created_at),
    "started_at": lambda row: _time(row.session.started_at),
    "ended_at": lambda row: _time(row.session.ended_at),
    "limit_ms": lambda row: row.session.limit_ms,
    "active_ms": lambda row: row.earned.active_ms,
    "n_periods": lambda row: row.counted("n_periods"),
    "n_revisions": lambda row: row.counted("n_revisions"),
    "n_credits": lambda row: row.counted("n_credits"),
    "credited_ms": lambda row: row.credited_ms,
    "paid_ms": lambda row: row.earned.paid_ms,
    "hourly_rate": lambda row: row.rate,
    "paid_amount": lambda row: row.earned.amount,
    "currency": lambda row: row.earned.currency,
    "guideline_version": lambda row: row.session.guideline and row.session.guideline.version,
    "n_documents": lambda row: len(row.session.document_numbers),
    "n_words": lambda row: row.task.n_words,
    "n_insights_present": lambda row: row.task.n_insights_present,
    "ceiling_recall": lambda row: row.task.ceiling.get("recall"),
    "ceiling_f1": lambda row: row.task.ceiling.get("f1"),
    "attested_before_at": lambda row: _time(row.session.attested_before_at),
    "reported_at": lambda row: row.report and _time(row.report.at),
    "used_no_model": lambda row: row.report and row.report.used_no_model,
    "time_was_enough": lambda row: row.report and row.report.time_was_enough,
    "comment": lambda row: row.report and row.report.comment,
    "exclusion_reason": lambda row: _excluded(row.session),
    "void_reason": lambda row: row.session.void_reason or None,
    "n_late_texts": lambda row: row.counted("n_late"),
    "late_text": lambda row: _late_decision(row.session)[0],
    "late_text_reason": lambda row: _late_decision(row.session)[1],
}
"""The columns of sessions, each with its value."""
SESSION_COLUMNS = tuple(_SESSION_VALUES)


def session_rows(study: Study, now: datetime) -> Iterator[Sequence[Any]]:
    """One row a session, its time and pay as of `now`."""
    credited = dict(
        ClockCredit.objects.filter(session__assignment__study=study)
        .order_by()
        .values_list("session")
        .annotate(total=Sum("delta_ms"))
    )
    names = pseudonyms(studies={study.pk})
    rows = (
        _sessions(study)
        .annotate(
            n_periods=Count("periods", distinct=True),
            n_revisions=Count("revisions", distinct=True),
            n_credits=Count("credits", distinct=True),
            n_late=Count("revisions", filter=Q(revisions__reject_code="closed"), distinct=True),
        )
        .select_related("guideline", "report")
        .prefetch_related("exclusions", "late_decisions")
        .defer("draft_text", "notes_text")
    )
    for session in rows:
        row = _Row(
            session,
            annotator=names.get((study.pk, session.annotator_id)),
            credited_ms=credited.get(session.pk, 0),
            rate=study.hourly_rate,
            earned=earning_of(session, study, now),
        )
        yield tuple(value(row) for value in _SESSION_VALUES.values())


def _late_decision(row: Session) -> tuple[str | None, str | None]:
    """What the newest decision on late texts says, and why; None where nobody has decided."""
    decisions = sorted(row.late_decisions.all(), key=lambda one: one.pk)
    in_force = [one for one in decisions if one.is_accepted == (row.late_text_id == one.revision_id)]
    if not in_force:
        return None, None
    return _verdict(in_force[-1].is_accepted), in_force[-1].reason


def period_rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row a work period."""
    uids = _uids(study)
    rows = ActivePeriod.objects.filter(session__in=_sessions(study).values("pk")).order_by("session_id", "seq")
    for row in rows.iterator(chunk_size=CHUNK):
        yield (
            uids[row.session_id],
            row.seq,
            _time(row.started_at),
            _time(row.ended_at),
            row.acc_before_ms,
            row.start_reason,
            row.end_reason,
        )


def credit_rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row a clock credit."""
    uids = _uids(study)
    for row in ClockCredit.objects.filter(session__in=_sessions(study).values("pk")).order_by("pk"):
        yield (uids[row.session_id], row.delta_ms, row.reason, _time(row.at))


def event_rows(study: Study) -> Iterator[dict[str, Any]]:
    """One object an event; there may be millions, so rows stay tuples and payloads the text that is stored."""
    uids = _uids(study)
    rows = (
        SessionEvent.objects.filter(session__in=_sessions(study).values("pk"))
        .order_by("session_id", "pk")
        .annotate(payload_text=Cast("payload", TextField()))
        .values_list("session_id", "client_seq", "type", "at_server", "happened_at", "active_ms", "payload_text")
    )
    for session, seq, kind, at, happened_at, active_ms, payload in rows.iterator(chunk_size=EVENT_CHUNK):
        yield {
            "session": uids[session],
            "seq": seq,
            "type": kind,
            "at": at,
            "happened_at": happened_at,
            "active_ms": active_ms,
            "payload": orjson.loads(payload),
        }


def revision_rows(study: Study) -> Iterator[dict[str, Any]]:
    """One object a text that reached the server, rejected ones too; enough to replay a session."""
    uids = _uids(study)
    rows = DraftRevision.objects.filter(session__in=_sessions(study).values("pk")).order_by("session_id", "pk")
    for row in rows.iterator(chunk_size=CHUNK):
        yield {
            "session": uids[row.session_id],
            "rev": row.rev,
            "base_rev": row.base_rev,
            "accepted": row.accepted,
            "reject_code": row.reject_code or None,
            "received_at": _time(row.received_at),
            "typed_at": _time(row.typed_at),
            "active_ms": row.active_ms,
            "client_active_ms": row.client_active_ms,
            "late_ms": row.late_ms,
            "offline_ms": row.offline_ms,
            "source": row.source,
            "sha256": row.sha256,
            "text": row.text,
        }


def snapshot_rows(study: Study) -> Iterator[dict[str, Any]]:
    """One object a snapshot; `staleness_ms` tells "no change" from "no save" (null: nothing was saved)."""
    uids = _uids(study)
    rows = (
        Snapshot.objects.filter(session__in=_sessions(study).values("pk"))
        .select_related("revision", "summary")
        .defer("revision__text", "summary__text")
        .order_by("session_id", "mark_ms")
    )
    for row in rows.iterator(chunk_size=CHUNK):
        yield {
            "session": uids[row.session_id],
            "mark_ms": row.mark_ms,
            "kind": row.kind,
            "rev": row.revision.rev if row.revision else None,
            "staleness_ms": row.staleness_ms,
            "filled_by": row.filled_by,
            "summary": row.summary.uid if row.summary else None,
            "text": row.text,
        }


def late_text_rows(study: Study) -> Iterator[dict[str, Any]]:
    """One object a text that arrived after the end, with the newest decision on it; none of them is a snapshot."""
    newest = LateDecision.objects.filter(revision=OuterRef("pk")).order_by("-pk")
    rows = (
        DraftRevision.objects.filter(session__in=_sessions(study), reject_code="closed")
        .annotate(
            decided=Subquery(newest.values("is_accepted")[:1]),
            reason=Subquery(newest.values("reason")[:1]),
            decided_at=Subquery(newest.values("at")[:1]),
            scored=Subquery(newest.values("summary__uid")[:1]),
        )
        .select_related("session")
        .order_by("session_id", "pk")
    )
    for row in rows.iterator(chunk_size=CHUNK):
        is_counted = row.session.late_text_id == row.pk
        yield {
            "session": row.session.uid,
            "typed_at": _time(row.typed_at),
            "received_at": _time(row.received_at),
            "n_new_words": new_words(row.session.draft_text, row.text),
            "is_accepted": is_counted,
            "decision": None if row.decided is None or row.decided != is_counted else _verdict(row.decided),
            "reason": row.reason,
            "decided_at": _time(row.decided_at),
            "summary": row.scored if is_counted else None,
            "text": row.text,
        }


def _verdict(is_accepted: bool) -> str:
    return "accepted" if is_accepted else "declined"


def gzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress a stream; members may be concatenated, so memory stays flat."""
    for chunk in _blocks(chunks, size=256 * 1024):
        yield gzip.compress(chunk, mtime=0)


def _blocks(chunks: Iterable[bytes], *, size: int) -> Iterator[bytes]:
    block = bytearray()
    for chunk in chunks:
        block += chunk
        if len(block) >= size:
            yield bytes(block)
            block.clear()
    yield bytes(block)


def manifest(study: Study, judge: Judge | None, *, now: datetime) -> dict[str, Any]:
    """What the files hold: schema version, filters, counts, judge, guideline versions and time."""
    sessions = _sessions(study)
    return {
        "schema_version": SCHEMA_VERSION,
        "study": study.name,
        "study_uid": str(study.uid),
        "created_at": now.isoformat(),
        "judge": str(judge) if judge else None,
        "judge_config_sha256": judge.config_sha256 if judge else None,
        "guideline_versions": sorted(study.guidelines.values_list("version", flat=True)),
        "haystacks": sorted(set(sessions.values_list("assignment__subtopic__haystack__key", flat=True)) - {None}),
        "haystack_sha256": sorted(
            set(sessions.values_list("assignment__subtopic__haystack__content_sha256", flat=True))
        ),
        "counts": {
            "sessions": sessions.count(),
            "revisions": DraftRevision.objects.filter(session__in=sessions).count(),
            "snapshots": Snapshot.objects.filter(session__in=sessions).count(),
        },
        "removed_on_request": removed_from(study),
        "files": sorted(FILES),
    }


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """All of them with their manifest, as an archive holds them; curves are scored by the offline judge."""
    judge = judging.default_judge(now=now)
    sessions.settle_study(study=study, now=now)
    about = manifest(study, judge, now=now)
    return [
        *(
            StudyFile(
                file.name,
                file.title,
                partial(file.make, study, judge, now),
                file.columns,
                file.rows and partial(file.rows, study, judge, now),
            )
            for file in FILES.values()
        ),
        StudyFile("sessions.manifest.json", "Manifest of the sessions", lambda: [orjson.dumps(about)]),
    ]


def _table(name: str, title: str, columns: Sequence[str], rows: TableRows) -> ExportFile:
    return ExportFile(
        name, title, CSV, lambda study, judge, now: csv_lines(columns, rows(study, judge, now)), columns, rows
    )


def _jsonl(rows: Callable[[Study], Iterable[Any]]) -> Callable[..., Iterable[bytes]]:
    return lambda study, judge, now: json_lines(rows(study))


Kind = Literal["text/csv; charset=utf-8", "application/x-ndjson", "application/gzip"]
CSV: Kind = "text/csv; charset=utf-8"
JSONL: Kind = "application/x-ndjson"
GZIP: Kind = "application/gzip"

FILES: dict[str, ExportFile] = {
    file.name: file
    for file in (
        _table("sessions.csv", "Sessions", SESSION_COLUMNS, lambda study, judge, now: session_rows(study, now)),
        _table("periods.csv", "Work periods", PERIOD_COLUMNS, lambda study, judge, now: period_rows(study)),
        _table("credits.csv", "Clock credits", CREDIT_COLUMNS, lambda study, judge, now: credit_rows(study)),
        ExportFile("events.jsonl", "Events", JSONL, _jsonl(event_rows)),
        ExportFile(
            "revisions.jsonl.gz",
            "Every text that was saved",
            GZIP,
            lambda study, judge, now: gzipped(json_lines(revision_rows(study))),
        ),
        ExportFile("snapshots.jsonl", "Snapshots", JSONL, _jsonl(snapshot_rows)),
        ExportFile("late_texts.jsonl", "Texts that arrived after the end", JSONL, _jsonl(late_text_rows)),
        _table(
            "curve.csv",
            "Progress curves",
            curves.CURVE_COLUMNS,
            lambda study, judge, now: curves.curve_rows(study, judge),
        ),
    )
}
