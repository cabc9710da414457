"""The files of a writing study: one generator of rows per file, for the download and for the command alike.

People appear as annotator1, annotator2 …, stable within the study. Times are UTC, durations milliseconds.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from operator import attrgetter, eq
from typing import Any

import orjson
from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.functional import SimpleLazyObject

from annotation.kinds import StudyFile
from annotation.models import (
    ActivePeriod,
    ClockCredit,
    Consent,
    DraftRevision,
    LateDecision,
    PackedRows,
    Session,
    Snapshot,
    Study,
    TypedText,
    WritingPlan,
)
from annotation.studies.rows import (
    Columns,
    Rows,
    cells,
    csv_file,
    fields_of,
    jsonl_file,
    objects,
    pseudonyms_of,
    removed_from,
    rows_of,
)
from annotation.writing import curves, late, packing, scoring, settling
from annotation.writing.late import new_words
from annotation.writing.results import earning_of, session_results, sessions_in, sessions_of
from benchmarks.io.schemas.topics import TopicSummary
from benchmarks.models import Haystack, Judge, Summary
from benchmarks.system_names import PEOPLE, TopicSystem, parse_system, published_retriever, setting_name
from benchmarks.web.downloads import json_lines

SCHEMA_VERSION = 2
BLOCK_BYTES = 256 * 1024


def study_sessions(study: Study) -> QuerySet[Session, Session]:
    """Those that count as work, the oldest first."""
    return sessions_of(study).filter(assignment__is_practice=False)


def _of_report(row: Any, name: str) -> Any:
    """The writer's answer after a session; None where there is none."""
    return getattr(getattr(row, "report", None), name, None)


_SESSION_VALUES: dict[str, str | Callable[[Any], Any]] = {
    "session": "uid",
    "annotator": "pseudonym",
    "haystack": "assignment.subtopic.haystack.key",
    "subtopic": "assignment.subtopic.key",
    "setting": lambda row: row.config.get("setting"),
    "preset": lambda row: row.config.get("preset"),
    "state": "state",
    "end_reason": "end_reason",
    "created_at": "created_at",
    "started_at": "started_at",
    "ended_at": "ended_at",
    "limit_ms": "limit_ms",
    "active_ms": "earned.active_ms",
    "n_periods": "n_periods",
    "n_revisions": "n_revisions",
    "n_credits": "n_credits",
    "credited_ms": "credited_ms",
    "paid_ms": "earned.paid_ms",
    "hourly_rate": "rate",
    "paid_amount": "earned.amount",
    "currency": "earned.currency",
    "guideline_version": lambda row: row.guideline and row.guideline.version,
    "n_documents": lambda row: len(row.document_numbers),
    "n_words": "assignment.n_words",
    "n_insights_present": "assignment.n_insights_present",
    "ceiling_recall": lambda row: row.assignment.ceiling.get("recall"),
    "ceiling_f1": lambda row: row.assignment.ceiling.get("f1"),
    "attested_before_at": "attested_before_at",
    "reported_at": lambda row: _of_report(row, "at"),
    "used_no_model": lambda row: _of_report(row, "used_no_model"),
    "time_was_enough": lambda row: _of_report(row, "time_was_enough"),
    "comment": lambda row: _of_report(row, "comment"),
    "exclusion_reason": lambda row: (
        "; ".join(each.reason for each in row.exclusions.all() if not each.lifted_at) or None
    ),
    "void_reason": lambda row: row.void_reason or None,
    "n_late_texts": "n_late",
    "late_text": lambda row: _late_decision(row)[0],
    "late_text_reason": lambda row: _late_decision(row)[1],
}
"""The columns of sessions: an attribute of the row, or what a function makes of it."""
_MADE = [attrgetter(of) if isinstance(of, str) else of for of in _SESSION_VALUES.values()]


def _number(model: Any, of: Any = None, **only: Any) -> Coalesce:
    """How many rows about a session there are; each count is a query of its own, joined they would multiply."""
    rows = model.objects.filter(session=OuterRef("pk"), **only).order_by().values("session")
    return Coalesce(Subquery(rows.annotate(n=of or Count("pk")).values("n")), Value(0))


def _saves() -> Any:
    """How many texts of a session reached the server, packed ones too."""
    return _number(DraftRevision) + _number(PackedRows, Sum("n_rows"), table=PackedRows.Table.REVISIONS)


def session_rows(
    study: Study, now: datetime, sessions: QuerySet[Session, Session] | None = None
) -> Iterator[Sequence[Any]]:
    """One row for each session, or for each of these, its time and pay as of `now`."""
    credits = ClockCredit.objects.filter(session__assignment__study=study).order_by()
    credited = dict(credits.values_list("session").annotate(total=Sum("delta_ms")))
    names = pseudonyms_of(study)
    rows: Any = (
        (study_sessions(study) if sessions is None else sessions)
        .annotate(
            n_periods=_number(ActivePeriod),
            n_revisions=_saves(),
            n_credits=_number(ClockCredit),
            n_late=_number(DraftRevision, reject_code="closed"),
        )
        .select_related("guideline", "report")
        .prefetch_related("exclusions", "late_decisions")
        .defer("draft_text", "notes_text", "marked_passages")
    )
    for row in rows:
        row.pseudonym, row.rate = names.get(row.annotator_id), study.hourly_rate
        row.credited_ms, row.earned = credited.get(row.pk, 0), earning_of(row, study, now)
        values = (of(row) for of in _MADE)
        yield tuple(value.isoformat() if isinstance(value, datetime) else value for value in values)


def session_objects(
    study: Study, now: datetime, sessions: QuerySet[Session, Session] | None = None
) -> Iterator[dict[str, Any]]:
    """The same rows with what an import needs beside them: the documents shown, the marks, the frozen settings."""
    names = ("documents", "mark_every_ms", "config", "marked_passages")
    wanted = study_sessions(study) if sessions is None else sessions
    more = wanted.values_list("uid", "document_numbers", *names[1:])
    frozen = {uid: dict(zip(names, values, strict=True)) for uid, *values in more}
    for row in objects(_SESSION_VALUES, session_rows(study, now, wanted)):
        plain = {name: str(value) if isinstance(value, Decimal) else value for name, value in row.items()}
        yield plain | frozen[row["session"]]


def _late_decision(row: Any) -> tuple[str | None, str | None]:
    """The newest decision on late texts, and why; None where nobody has decided."""
    for decision in sorted(row.late_decisions.all(), key=attrgetter("pk"), reverse=True):
        if verdict := _decision(decision.is_accepted, row.late_text_id, decision.revision_id):
            return verdict, decision.reason
    return None, None


def _named(*fields: str) -> dict[str, str]:
    """Columns of the session and of fields under their own names."""
    return {"session": "session__uid", **{name: name for name in fields}}


def of_sessions(model: Any, study: Study) -> QuerySet[Any, Any]:
    """Rows about the sessions of a study, session by session."""
    rows: QuerySet[Any, Any] = model.objects.filter(session__in=study_sessions(study).values("pk"))
    return rows.order_by("session_id", "pk")


PERIODS: Columns = _named("seq", "started_at", "ended_at", "acc_before_ms", "start_reason", "end_reason")
CREDITS: Columns = _named("delta_ms", "reason", "at")
REVISIONS: Columns = {
    **_named("rev", "base_rev", "accepted"),
    "reject_code": (lambda code: code or None, "reject_code"),
    **_named("received_at", "typed_at", "active_ms", "client_active_ms", "late_ms", "offline_ms"),
    **_named("source", "sha256", "text"),
}
"""Enough to replay a session; rejected texts too."""
SNAPSHOTS: Columns = _named("mark_ms", "kind") | {
    "rev": "revision__rev",
    "staleness_ms": "staleness_ms",
    "filled_by": "filled_by",
    "summary": "summary__uid",
    "text": "text",
}
"""`staleness_ms` tells "no change" from "no save" (null: nothing was saved)."""


def _decision(is_accepted: bool | None, late_text: int | None, revision: int) -> str | None:
    """A decision in words while it is in force."""
    if is_accepted is None or is_accepted != (late_text == revision):
        return None
    return "accepted" if is_accepted else "declined"


LATE_TEXTS: Columns = {
    "session": "session__uid",
    "typed_at": "typed_at",
    "received_at": "received_at",
    "n_new_words": (new_words, "session__draft_text", "text"),
    "is_accepted": (eq, "session__late_text", "pk"),
    "decision": (_decision, "decided", "session__late_text", "pk"),
    "reason": "reason",
    "decided_at": "decided_at",
    "summary": (lambda uid, late_text, pk: uid if late_text == pk else None, "scored", "session__late_text", "pk"),
    "text": "text",
}
"""A text that arrived after the end, with the newest decision on it; none of them is a snapshot."""


TYPED: Columns = {
    **_named(),
    "mark_ms": "snapshot__mark_ms",
    "kind": "snapshot__kind",
    **{name: name for name in ("rev", "typed_at", "received_at", "text")},
}
"""A text that had been typed by a mark and arrived after it, beside the snapshot that is recorded."""


EVENTS = {
    "session": "session__uid",
    "seq": "client_seq",
    "type": "type",
    "at": "at_server",
    "happened_at": "happened_at",
    "active_ms": "active_ms",
    "payload": "payload",
}


def event_rows(study: Study) -> Iterator[dict[str, Any]]:
    """One object an event; there may be millions."""
    for row in _with_packed(study, packing.Table.EVENTS, EVENTS.values()):
        yield {name: row[field] for name, field in EVENTS.items()}


def _with_packed(study: Study, table: str, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Rows of the sessions of a study, packed or not, session by session, with the session's uid."""
    uids = dict(study_sessions(study).values_list("pk", "uid"))
    wanted = [name for name in names if name != "session__uid"]
    for row in packing.rows_of(table, uids, wanted):
        yield {**row, "session__uid": uids[row["session_id"]]}


def late_texts(study: Study) -> QuerySet[Any, Any]:
    """The texts that arrived after the end, each with the newest decision on it."""
    newest = LateDecision.objects.filter(revision=OuterRef("pk")).order_by("-pk")
    late = of_sessions(DraftRevision, study).filter(reject_code="closed")
    texts: QuerySet[Any, Any] = late.annotate(
        decided=Subquery(newest.values("is_accepted")[:1]),
        reason=Subquery(newest.values("reason")[:1]),
        decided_at=Subquery(newest.values("at")[:1]),
        scored=Subquery(newest.values("summary__uid")[:1]),
    )
    return texts


def gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Compress a stream; members may be concatenated, so memory stays flat."""
    block = bytearray()
    for piece in pieces:
        block += piece
        if len(block) >= BLOCK_BYTES:
            yield gzip.compress(block, mtime=0)
            block.clear()
    yield gzip.compress(block, mtime=0)


def manifest(study: Study, judge: Judge | None, *, now: datetime) -> dict[str, Any]:
    """Contents of the files: schema version, filters, counts, judge, guideline versions and time."""
    sessions = study_sessions(study)
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
            "revisions": sum(sessions.annotate(n=_saves()).values_list("n", flat=True)),
            "snapshots": Snapshot.objects.filter(session__in=sessions).count(),
        },
        "removed_on_request": removed_from(study),
        "files": sorted(files(study, judge, now)),
    }


def files(study: Study, judge: Judge | None, now: datetime) -> dict[str, StudyFile]:
    """Every file by its name; curves are scored by the judge."""

    def of(model: Any, columns: Columns, *order: str) -> Rows:
        return lambda: rows_of(study, of_sessions(model, study).order_by(*order), columns)

    def saved() -> Iterator[bytes]:
        rows = cells(_with_packed(study, packing.Table.REVISIONS, fields_of(REVISIONS)), REVISIONS)
        return gzipped(json_lines(objects(REVISIONS, rows)))

    def typed() -> Iterable[Sequence[Any]]:
        while late.note_typed(now=now, sessions=study_sessions(study)):
            pass
        return of(TypedText, TYPED, "session_id", "snapshot__mark_ms")()

    tables = (
        csv_file("sessions.csv", "Sessions", _SESSION_VALUES, partial(session_rows, study, now)),
        StudyFile(
            "sessions.jsonl", "Sessions with their settings", lambda: json_lines(session_objects(study, now))
        ),
        csv_file("periods.csv", "Work periods", PERIODS, of(ActivePeriod, PERIODS, "session_id", "seq")),
        csv_file("credits.csv", "Clock credits", CREDITS, of(ClockCredit, CREDITS, "pk")),
        StudyFile("events.jsonl", "Events", lambda: json_lines(event_rows(study))),
        StudyFile("revisions.jsonl.gz", "Every text that was saved", saved),
        jsonl_file("snapshots.jsonl", "Snapshots", SNAPSHOTS, of(Snapshot, SNAPSHOTS, "session_id", "mark_ms")),
        jsonl_file(
            "late_texts.jsonl",
            "Texts that arrived after the end",
            LATE_TEXTS,
            lambda: rows_of(study, late_texts(study), LATE_TEXTS),
        ),
        jsonl_file("as_typed.jsonl", "Texts as typed by a mark", TYPED, typed),
        csv_file("curve.csv", "Progress curves", curves.CURVE_COLUMNS, partial(curves.curve_rows, study, judge)),
    )
    return {file.name: file for file in tables}


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """All of them with their manifest, as an archive holds them; curves are scored by the study's judge."""
    judge: Any = SimpleLazyObject(partial(scoring.judge_of, study=study.pk, now=now))
    settling.settle_study(study=study, now=now)

    def about() -> list[bytes]:
        return [orjson.dumps(manifest(study, judge, now=now))]

    return [
        *files(study, judge, now).values(),
        StudyFile("sessions.manifest.json", "Manifest of the sessions", about),
    ]


def texts_on(haystack: Haystack) -> dict[int, list[tuple[TopicSystem, TopicSummary]]]:
    """{subtopic pk: final texts}, as summaries of the system “people” in the file of a haystack. Five queries.

    Only of sessions that count, never of somebody who withdrew. Nothing tells which texts have one writer: further
    ones on a subtopic are of “people-2”, “people-3” …
    """
    agreed = Consent.objects.in_force().values("annotator")
    withdrawn = Consent.objects.exclude(annotator__in=agreed).values("annotator")
    sessions = (
        sessions_in(Study.objects.all())
        .filter(assignment__subtopic__haystack=haystack, assignment__is_practice=False)
        .exclude(annotator__in=withdrawn)
    )
    taken: dict[int, set[str]] = defaultdict(set)
    imported = Summary.objects.filter(haystack=haystack).counted().values_list("subtopic", "system__key")
    for subtopic, key in imported:
        taken[subtopic].add(key)
    texts: dict[int, list[tuple[TopicSystem, TopicSummary]]] = defaultdict(list)
    for result in session_results(sessions=sessions, judge=None):
        if not result.counts or result.final is None or not result.final.text.strip():
            continue
        subtopic = result.session.assignment.subtopic_id
        key = _free_key(_setting(result.session.config), taken[subtopic])
        taken[subtopic].add(key)
        text = TopicSummary(system_key=key, lines=tuple(scoring.text_of(result.final.text).split("\n")))
        texts[subtopic].append((parse_system(key), text))
    return texts


def _setting(config: dict[str, str]) -> str:
    """Where a session's documents came from, as published files spell it."""
    if config.get("setting") == WritingPlan.Setting.FULL:
        return setting_name("", "")
    return published_retriever(config.get("retriever") or WritingPlan.Setting.ORACLE.value)


def _free_key(setting: str, taken: set[str]) -> str:
    key, number = f"{setting}_{PEOPLE}", 1
    while key in taken:
        number += 1
        key = f"{setting}_{PEOPLE}-{number}"
    return key
