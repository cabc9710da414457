"""Writing sessions of an archive: finished ones come back with their texts at every mark, to be scored anew.

Periods, credits, events, revisions and late texts do not come back; they stay in the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, Protocol
from uuid import UUID

import orjson

from annotation.importing.label_studies import LabelPlan
from annotation.models import Assignment, Exclusion, Session, SessionReport, Snapshot, Study, WritingPlan
from annotation.writing.planning import AIDS
from annotation.writing.starting import PLAN_FIELDS
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.models import Subtopic

Row = Mapping[str, Any]
MOMENTS = ("attested_before_at", "created_at", "started_at", "ended_at", "reported_at")
NEEDED = (
    *("annotator", "haystack", "subtopic", "documents", "n_words", "n_insights_present", "ceiling_recall"),
    *("ceiling_f1", "limit_ms", "mark_every_ms", "config", "active_ms", "end_reason", "void_reason"),
    *("time_was_enough", "used_no_model", "comment", "exclusion_reason"),
)
OVER = (Session.State.SUBMITTED, Session.State.EXPIRED, Session.State.VOIDED)


class Files(Protocol):
    """An archive that is open."""

    problems: Problems
    manifest: Mapping[str, Any]

    def stream(self, name: str) -> IO[bytes]:
        """A file of it."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """The finished sessions of a study, the texts of each by its id, and the data versions that they were on."""

    rows: tuple[Row, ...]
    texts: Mapping[str, Sequence[Row]]
    versions: Mapping[str, str]


def read_sessions(files: Files) -> Sessions:
    """Read sessions and snapshots; those that are not over are left out with a warning."""
    rows, texts = [], defaultdict(list)
    for row in _lines(files, "sessions.jsonl"):
        if row["state"] in OVER:
            rows.append(_typed(row))
        else:
            files.problems.warning(
                "unfinished_session",
                "sessions.jsonl",
                "state",
                expected="a session that is over",
                got=row["state"],
            )
    for row in _lines(files, "snapshots.jsonl"):
        texts[row["session"]].append(row)
    versions = {one["key"]: one["sha256"] for one in files.manifest["corpora"]}
    return Sessions(tuple(rows), texts, versions)


def _lines(files: Files, name: str) -> Iterator[Row]:
    try:
        with files.stream(name) as stream:
            yield from map(orjson.loads, stream)
    except orjson.JSONDecodeError as error:
        files.problems.error("no_json", name, "", expected="JSON lines", got=Got(str(error)))
        raise ImportFailed(files.problems) from error


class SessionsPlan(LabelPlan[Sessions]):
    """Sessions compared with those that the site holds, by their ids; their haystacks have to be here."""

    MODELS = (*LabelPlan.MODELS, WritingPlan, Assignment, Session, SessionReport, Exclusion, Snapshot)

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.subtopics: dict[tuple[str, str], Subtopic] = {}

    def take(self, rows: Sessions) -> None:
        """Compare the sessions of an archive."""
        study = self.find_study(self.request.options["study"], kind=Study.Kind.WRITING)
        self._find_subtopics(rows)
        uids = [row["session"] for row in rows.rows]
        known = dict(Session.objects.filter(uid__in=uids).values_list("uid", "assignment__study"))
        self.problems.raise_errors()
        if self.is_new and rows.rows:
            first = rows.rows[0]
            frozen = {name: first["config"][name] for name in (*PLAN_FIELDS, *AIDS) if name in first["config"]}
            times = {"limit_ms": first["limit_ms"], "mark_every_ms": first["mark_every_ms"]}
            self.create(WritingPlan(study=study, **times, **frozen))
        for row in rows.rows:
            uid = row["uid"]
            if uid in known and known[uid] != study.pk:
                got = Got("one in another study of this site")
                self.problems.error("known_session", row["session"], "", expected="a new session", got=got)
            elif uid in known:
                self.unchanged["sessions"] += 1
                self.unchanged["snapshots"] += len(rows.texts[row["session"]])
            else:
                self._add(study, row, rows.texts[row["session"]])

    def _find_subtopics(self, rows: Sessions) -> None:
        """Every subtopic that was written on, by the key of its haystack and its own."""
        wanted = {(row["haystack"], row["subtopic"]) for row in rows.rows}
        found = Subtopic.objects.filter(haystack__key__in={key for key, _subtopic in wanted})
        for subtopic in found.select_related("haystack"):
            self.subtopics[subtopic.haystack.key, subtopic.key] = subtopic
            version = rows.versions.get(subtopic.haystack.key)
            if version and version != subtopic.haystack.content_sha256:
                self.problems.warning(
                    "other_data_version",
                    subtopic.haystack.key,
                    "",
                    expected=f"the data version {version[:12]}",
                    got=Got(subtopic.haystack.content_sha256[:12]),
                )
        for haystack, key in sorted(wanted - self.subtopics.keys()):
            self.problems.error(
                "unknown_subtopic",
                "sessions.jsonl",
                "subtopic",
                expected="a subtopic of a haystack that is here",
                got=f"{haystack}/{key}",
                message="Import the haystack first.",
            )

    def _add(self, study: Study, row: Row, texts: Sequence[Row]) -> None:
        annotator, made_at = self.annotator(row["annotator"]), row["created_at"] or self.now
        subtopic = self.subtopics[row["haystack"], row["subtopic"]]
        task = Assignment(
            study=study,
            annotator=annotator,
            subtopic=subtopic,
            state=Assignment.State.DONE,
            document_numbers=row["documents"],
            n_words=row["n_words"],
            n_insights_present=row["n_insights_present"],
            ceiling={"recall": row["ceiling_recall"], "f1": row["ceiling_f1"]},
            created_at=made_at,
        )
        self.create(task)
        session = Session(
            uid=row["uid"],
            assignment=task,
            annotator=annotator,
            state=row["state"],
            limit_ms=row["limit_ms"],
            mark_every_ms=row["mark_every_ms"],
            config=row["config"],
            document_numbers=row["documents"],
            acc_ms=row["active_ms"],
            last_mark_ms=max((one["mark_ms"] for one in texts if one["kind"] == Snapshot.Kind.MARK), default=0),
            draft_text=next((one["text"] for one in texts if one["kind"] == Snapshot.Kind.FINAL), ""),
            attested_before_at=row["attested_before_at"],
            created_at=made_at,
            started_at=row["started_at"],
            ended_at=row["ended_at"],
            end_reason=row["end_reason"] or "",
            void_reason=row["void_reason"] or "",
        )
        self.create(session, "sessions")
        self._add_remarks(session, row)
        for one in texts:
            snapshot = Snapshot(
                session=session,
                mark_ms=one["mark_ms"],
                kind=one["kind"],
                text=one["text"],
                staleness_ms=one["staleness_ms"],
                filled_by=one["filled_by"],
                created_at=session.ended_at or made_at,
            )
            self.create(snapshot, "snapshots")

    def _add_remarks(self, session: Session, row: Row) -> None:
        """What the writer said afterwards, and why the session is left out, if it is."""
        if reported_at := row["reported_at"]:
            report = SessionReport(
                session=session,
                time_was_enough=row["time_was_enough"],
                used_no_model=row["used_no_model"],
                comment=row["comment"] or "",
                at=reported_at,
            )
            self.create(report)
        if row["exclusion_reason"]:
            self.create(Exclusion(session=session, reason=row["exclusion_reason"], at=self.now))

    def write(self) -> None:
        """Save the rows; the study is on the subtopics that were written on."""
        super().write()
        if self.study is not None and hasattr(self.study, "writing_plan"):
            self.study.writing_plan.subtopics.add(*self.subtopics_written())

    def subtopics_written(self) -> list[Subtopic]:
        """The subtopics that sessions of the archive are on."""
        return list({task.subtopic.pk: task.subtopic for task in self._new[Assignment]}.values())  # type: ignore[attr-defined]


def _typed(row: Row) -> Row:
    """A session with its id and moments as such; KeyError or ValueError where it is none."""
    moments = {name: datetime.fromisoformat(row[name]) if row[name] else None for name in MOMENTS}
    return {**{name: row[name] for name in NEEDED}, **row, **moments, "uid": UUID(row["session"])}
