"""Writing sessions of an archive: finished ones come back with their texts at every mark, to be scored anew.

Texts as typed and marks that writers made for themselves come with them.
Periods, credits, events, revisions and late texts do not come back; they stay in the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field

from annotation.importing.label_studies import LabelPlan
from annotation.importing.opened import Opened
from annotation.models import (
    Assignment,
    Exclusion,
    Session,
    SessionReport,
    Snapshot,
    Study,
    TypedText,
    WritingPlan,
)
from annotation.writing.planning import AIDS, PLAN_FIELDS
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import Expected, Part, Text
from benchmarks.models import Subtopic

SESSIONS, TEXTS, TYPED = "sessions.jsonl", "snapshots.jsonl", "as_typed.jsonl"
KEPT = {
    *("state", "limit_ms", "mark_every_ms", "config", "attested_before_at", "started_at", "ended_at"),
    "marked_passages",
}
"""Columns that are fields of a session as they are."""
OVER = (Session.State.SUBMITTED, Session.State.EXPIRED, Session.State.VOIDED)
Moment = Annotated[datetime | None, Expected("a moment in ISO 8601, or nothing")]
Milliseconds = Annotated[int, Expected("a whole number of milliseconds")]
Id = Annotated[UUID, Expected("the id of a session")]
Count = Annotated[int, Field(ge=0)]
Passage = tuple[Count, Count, Count, Count]


class FromArchive(Part):
    """A row of an archive, where ids and moments are texts; every column is there."""

    model_config = ConfigDict(strict=False)
    EXPECTED = "a row as an archive has them"


class SessionPart(FromArchive):
    """A row of `sessions.jsonl`; further columns stay in the archive."""

    session: Id
    annotator: Text
    haystack: Text
    subtopic: Text
    state: str
    end_reason: str | None
    void_reason: str | None
    created_at: Moment
    started_at: Moment
    ended_at: Moment
    attested_before_at: Moment
    reported_at: Moment
    limit_ms: Milliseconds
    active_ms: Milliseconds
    mark_every_ms: Milliseconds
    documents: Annotated[list[int], Expected("a list of numbers of documents")]
    config: Annotated[dict[str, Any], Expected("the settings of the session")]
    n_words: int
    n_insights_present: int
    ceiling_recall: Any
    ceiling_f1: Any
    time_was_enough: Any
    used_no_model: Any
    comment: str | None
    exclusion_reason: str | None
    marked_passages: Annotated[list[Passage], Expected("passages: document, start, end, colour")] = []


class SnapshotPart(FromArchive):
    session: Id
    mark_ms: Milliseconds
    kind: str
    text: str
    staleness_ms: Milliseconds | None
    filled_by: str


class TypedPart(FromArchive):
    session: Id
    mark_ms: Milliseconds
    rev: int | None
    typed_at: Annotated[datetime, Expected("a moment in ISO 8601")]
    received_at: Annotated[datetime, Expected("a moment in ISO 8601")]
    text: str


Texts = tuple[Sequence[SnapshotPart], Mapping[int, TypedPart]]
"""The texts of a session, and by the mark those as typed."""
Sessions = tuple[Sequence[SessionPart], Mapping[UUID, Texts], Mapping[str, str]]
"""The finished sessions of a study, the texts of each by its id, and the data versions that they were on."""


class SessionsPlan(LabelPlan[Sessions]):
    """Sessions that the site does not hold, by their ids; their haystacks have to be here."""

    COUNTED = "sessions"
    TOLD = ("session",)
    MODELS = (*LabelPlan.MODELS, WritingPlan, Assignment, Session, SessionReport, Exclusion, Snapshot, TypedText)

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.subtopics: dict[tuple[str, str], Subtopic] = {}

    @classmethod
    def read(cls, archive: Opened) -> tuple[Sessions, Iterable[Mapping[str, Any]]]:
        """Sessions that are not over are left out with a warning."""
        rows, texts, problems = [], defaultdict(list), archive.problems
        expected = "a session that is over"
        for row in archive.rows(SESSIONS, SessionPart):
            if row.state in OVER:
                rows.append(row)
            else:
                problems.warning("unfinished_session", SESSIONS, "state", expected=expected, got=row.state)
        if not rows:
            expected = "at least one session that is over"
            problems.error("no_sessions", SESSIONS, "", expected=expected, got=Got("none"))
        for text in archive.rows(TEXTS, SnapshotPart):
            texts[text.session].append(text)
        for session, of_session in texts.items():
            marks = {text.mark_ms for text in of_session if text.kind == Snapshot.Kind.MARK}
            ends = {text.mark_ms for text in of_session if text.kind != Snapshot.Kind.MARK}
            if marks and ends and max(marks) > min(ends):
                expected, got = f"a final text at {max(marks)} ms or later", Got(f"one at {min(ends)} ms")
                problems.error("wrong_value", f"{TEXTS}, {session}", "mark_ms", expected=expected, got=got)
        typed: dict[UUID, dict[int, TypedPart]] = defaultdict(dict)
        for text_as_typed in archive.rows(TYPED, TypedPart) if TYPED in archive.members else ():
            typed[text_as_typed.session][text_as_typed.mark_ms] = text_as_typed
        every = {row.session: (texts[row.session], typed[row.session]) for row in rows}
        return (rows, every, archive.corpora), [{"session": row.session} for row in rows]

    def take(self, rows: Sessions) -> None:
        sessions, texts, versions = rows
        study = self.find_study(self.request.options["study"], kind=Study.Kind.WRITING)
        self._find_subtopics({(row.haystack, row.subtopic) for row in sessions}, versions)
        uids = [row.session for row in sessions]
        known = set(Session._base_manager.filter(uid__in=uids).values_list("uid", flat=True))
        self.problems.raise_errors()
        first = sessions[0]
        frozen = {name: first.config[name] for name in (*PLAN_FIELDS, *AIDS) if name in first.config}
        times = {"limit_ms": first.limit_ms, "mark_every_ms": first.mark_every_ms}
        self.create(WritingPlan(study=study, **times, **frozen))
        for row in sessions:
            if row.session in known:
                got = Got("one in another study of this site")
                self.problems.error("known_session", str(row.session), "", expected="a new session", got=got)
            else:
                self._add(study, row, *texts[row.session])

    def _find_subtopics(self, wanted: set[tuple[str, str]], versions: Mapping[str, str]) -> None:
        """Every subtopic that was written on, by the key of its haystack and its own."""
        written_on = Subtopic.objects.filter(haystack__key__in={key for key, _subtopic in wanted})
        for subtopic in written_on.select_related("haystack"):
            haystack = subtopic.haystack
            self.subtopics[haystack.key, subtopic.key] = subtopic
            version = versions.get(haystack.key)
            if version and version != haystack.content_sha256:
                expected, got = f"the data version {version[:12]}", Got(haystack.content_sha256[:12])
                self.problems.warning("other_data_version", haystack.key, "", expected=expected, got=got)
        expected, message = "a subtopic of a haystack that is here", "Import the haystack first."
        for place in sorted(wanted - self.subtopics.keys()):
            self.problems.error(
                "unknown_subtopic", SESSIONS, "subtopic", expected=expected, got="/".join(place), message=message
            )

    def _add(
        self, study: Study, row: SessionPart, texts: Sequence[SnapshotPart], typed: Mapping[int, TypedPart]
    ) -> None:
        annotator, made_at = self.annotator(row.annotator), row.created_at or self.now
        subtopic = self.subtopics[row.haystack, row.subtopic]
        task = self.create(
            Assignment(
                study=study,
                annotator=annotator,
                subtopic=subtopic,
                state=Assignment.State.DONE,
                document_numbers=row.documents,
                n_words=row.n_words,
                n_insights_present=row.n_insights_present,
                ceiling={"recall": row.ceiling_recall, "f1": row.ceiling_f1},
                created_at=made_at,
            )
        )
        session = Session(
            uid=row.session,
            assignment=task,
            annotator=annotator,
            document_numbers=row.documents,
            acc_ms=row.active_ms,
            last_mark_ms=max((text.mark_ms for text in texts if text.kind == Snapshot.Kind.MARK), default=0),
            draft_text=next((text.text for text in texts if text.kind == Snapshot.Kind.FINAL), ""),
            created_at=made_at,
            end_reason=row.end_reason or "",
            void_reason=row.void_reason or "",
            as_typed_at=self.now,
            **row.model_dump(include=KEPT),
        )
        self.create(session, "sessions")
        if row.reported_at:
            said = {"time_was_enough": row.time_was_enough, "used_no_model": row.used_no_model}
            self.create(SessionReport(session=session, comment=row.comment or "", at=row.reported_at, **said))
        if row.exclusion_reason:
            self.create(Exclusion(session=session, reason=row.exclusion_reason, at=self.now))
        for session_text in texts:
            values = session_text.model_dump(exclude={"session"})
            snapshot = Snapshot(session=session, created_at=row.ended_at or made_at, **values)
            self.create(snapshot, "snapshots")
            if (second := typed.get(session_text.mark_ms)) is not None:
                kept = second.model_dump(exclude={"session", "mark_ms"})
                self.create(TypedText(session=session, snapshot=snapshot, **kept))

    def write(self) -> None:
        """Save the rows; the study is on the subtopics that were written on."""
        super().write()
        if self.study is not None and hasattr(self.study, "writing_plan"):
            written_on = {task.subtopic.pk: task.subtopic for task in self.new(Assignment)}
            self.study.writing_plan.subtopics.add(*written_on.values())
