"""Score what was written: snapshots become summaries, a judge run is queued, final texts are checked for copying.

The snapshot table is the outbox: a snapshot without a summary is work left to do, whoever finds it.
Nothing here is ever shown to the annotator.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Subquery

from annotation.models import CopyCheck, GrowthCheck, LateDecision, Session, Snapshot, TypedText
from annotation.writing import packing
from benchmarks.engine import judging, versions
from benchmarks.io.published import sha256_of
from benchmarks.judges.registry import OFFLINE
from benchmarks.models import Document, Judge, JudgeRun, Summary, System
from benchmarks.scoring import text
from benchmarks.scoring.spread import CopyIndex
from benchmarks.scoring.text import visible
from benchmarks.system_names import HUMAN

BATCH = 200
Written = Snapshot | LateDecision | TypedText


def score_snapshots(*, now: datetime) -> list[JudgeRun]:
    """Turn snapshots into summaries and queue those that the judge of their study has not seen; gives the runs.

    A batch and its run are one transaction, so that no summary is left without a run. Safe to call at any
    time, by any number of workers: a summary is unique for its subtopic and text.
    """
    runs = []
    while batch := _next_batch():
        with transaction.atomic():
            judges = {study: judge_of(study=study, now=now) for study in dict.fromkeys(map(_study_of, batch))}
            by_judge: dict[Judge, dict[int, Summary]] = defaultdict(dict)
            for row, summary in zip(batch, _as_summaries(written=batch, now=now), strict=True):
                by_judge[judges[_study_of(row)]][summary.pk] = summary
            for judge, summaries in by_judge.items():
                subjects = list(summaries.values())
                run = judging.request_run(judge=judge, subjects=subjects, reason="session", now=now)
                if run is not None:
                    runs.append(run)
    return runs


def judge_of(*, study: int | None, now: datetime) -> Judge:
    """Who scores the texts of a study: the offline judge that scored the first of its own, else the default one.

    So a study is scored by one judge to its end, whichever is the default by then.
    """
    first_written_here = Snapshot.objects.filter(
        session__assignment__study=study, summary__created_at__gte=F("session__assignment__study__created_at")
    )
    known = Judge.objects.filter(
        kind=Judge.Kind.LEXICAL,
        name__in=OFFLINE,
        verdicts__summary=Subquery(first_written_here.order_by("pk").values("summary")[:1]),
    )
    return known.order_by("verdicts__pk").first() or versions.default_judge(now=now)


def _study_of(row: Written) -> int | None:
    return row.session.assignment.study_id


def _next_batch() -> Sequence[Written]:
    """Snapshots that are no summary yet, then accepted late texts and texts as typed; practice is never scored."""
    waiting = Q(summary=None, session__assignment__is_practice=False)
    late = LateDecision.objects.filter(waiting, is_accepted=True).select_related("revision")
    stored = (Snapshot.objects.filter(waiting), TypedText.objects.filter(waiting))
    queues: tuple[QuerySet[Any, Any], ...] = (stored[0], late, stored[1])
    for rows in queues:
        if batch := list(rows.select_related("session__assignment__subtopic").order_by("pk")[:BATCH]):
            return batch
    return ()


def _as_summaries(*, written: Sequence[Written], now: datetime) -> list[Summary]:
    """Give each written text its summary; one row for each distinct text of a subtopic."""
    people = people_system()
    wanted = {}
    for row in written:
        subtopic = row.session.assignment.subtopic
        body = text_of(row.text)
        digest = sha256_of(body)
        wanted[subtopic.pk, digest] = Summary(
            subtopic=subtopic,
            haystack_id=subtopic.haystack_id,
            system=people,
            origin=Summary.Origin.SESSION,
            text=body,
            text_sha256=digest,
            created_at=now,
        )
    Summary.objects.bulk_create(wanted.values(), ignore_conflicts=True)
    rows = Summary.objects.filter(
        origin=Summary.Origin.SESSION,
        subtopic__in={subtopic for subtopic, _ in wanted},
        text_sha256__in={digest for _, digest in wanted},
    )
    known = {(row.subtopic_id, row.text_sha256): row for row in rows}
    summaries = [known[row.session.assignment.subtopic_id, sha256_of(text_of(row.text))] for row in written]
    for row, summary in zip(written, summaries, strict=True):
        row.summary = summary
    model: Any = type(written[0])
    model.objects.bulk_update(written, ["summary"])
    return summaries


def text_of(written: str) -> str:
    """A written text as a summary stores it: browsers' line ends made one."""
    return written.replace("\r\n", "\n").replace("\r", "\n")


def people_system() -> System:
    system, _ = System._base_manager.get_or_create(
        key=HUMAN, defaults={"kind": System.Kind.HUMAN, "summarizer": HUMAN}
    )
    return system


def check_copying(*, now: datetime) -> int:
    """Compare final texts, that were not yet compared, with the documents shown; returns how many."""
    finals = _finals(copy_check=None)
    for snapshot in finals:
        rows = copied_lines(written=snapshot.text, documents=_shown_documents(snapshot.session))
        CopyCheck.objects.get_or_create(
            snapshot=snapshot,
            defaults={"lines": rows, "n_flagged": sum(row["is_flagged"] for row in rows), "created_at": now},
        )
    return len(finals)


def check_late_copying(*, now: datetime) -> int:
    """Compare late texts that were accepted with the documents shown; returns how many."""
    rows = list(
        LateDecision.objects.filter(is_accepted=True, copied_lines=None, session__assignment__is_practice=False)
        .select_related("session__assignment__subtopic", "revision")
        .order_by("pk")[:BATCH]
    )
    for row in rows:
        row.copied_lines = copied_lines(written=row.text, documents=_shown_documents(row.session))
        row.save(update_fields=["copied_lines"])
    return len(rows)


def check_growth(*, now: datetime) -> int:
    """Look for saves of finished texts that brought more words than were typed in the time; returns how many."""
    finals = _finals(growth_check=None)
    for snapshot in finals:
        session = snapshot.session
        columns = ("rev", "received_at", "active_ms", "text", "source", "offline_ms")
        rows = packing.rows_of(packing.Table.REVISIONS, [session.pk], ["accepted", *columns])
        saves = (Save(*(row[name] for name in columns)) for row in rows if row["accepted"])
        jumped = jumps(
            saves,
            started_at=session.started_at or session.created_at,
            may_dictate=bool(session.config.get("may_paste")),
        )
        GrowthCheck.objects.get_or_create(
            snapshot=snapshot,
            defaults={
                "jumps": [asdict(jump) for jump in jumped],
                "n_flagged": sum(jump.is_flagged for jump in jumped),
                "created_at": now,
            },
        )
    return len(finals)


def _finals(**unchecked: None) -> list[Snapshot]:
    """Some final texts of real sessions that were not checked yet."""
    rows = Snapshot.objects.filter(kind=Snapshot.Kind.FINAL, session__assignment__is_practice=False, **unchecked)
    return list(rows.select_related("session__assignment__subtopic").order_by("pk")[:BATCH])


def _shown_documents(session: Session) -> dict[int, str]:
    rows = Document.objects.filter(
        haystack=session.assignment.subtopic.haystack_id, number__in=session.document_numbers
    )
    return dict(rows.values_list("number", "text"))


def copied_lines(*, written: str, documents: dict[int, str]) -> list[dict[str, Any]]:
    """Per bullet how much of it is in the documents, as rows to store: the line and its `CopiedText`."""
    index = CopyIndex(documents.items())
    bullets = list(text.bullets(text.lines_from_list(text_of(written).split("\n"))))
    return [
        {
            "line": line.number,
            "containment": score.containment,
            "followed": score.followed,
            "alignment": score.alignment,
            "document": score.document,
            "is_flagged": score.is_flagged,
        }
        for line, score in zip(bullets, index.score_all([line.plain for line in bullets]), strict=True)
    ]


# Growth


SAVE_WINDOW_S = 10.0
"""Time that one save can hold while there is a connection: the browser saves after at most 5 s, then sends."""
DICTATION_WINDOW_S = 60.0
"""The same for somebody with the accommodation for dictation, whose program hands over whole paragraphs."""
MOST_PER_SECOND = 4.0
"""240 words a minute: fast typing is half of that, quick dictation three quarters."""
FEWEST_WORDS = 25
RUN = 3
KEPT_IN_BROWSER = frozenset({"restored", "resolve"})
"""Sources that say that the text had been kept in a browser."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Save:
    """An accepted revision; `offline_ms` is how long the browser says it had no connection."""

    rev: int
    received_at: datetime
    active_ms: int
    text: str
    source: str = "typing"
    offline_ms: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """A save with more new words than its time explains.

    `seconds` is the time that counts for it, `since_last_s` that since the save before. `is_offline` says that by
    the browser's word the text was written without a connection; `is_flagged` that this does not explain it.
    """

    rev: int
    active_ms: int
    n_words: int
    seconds: float
    per_second: float
    since_last_s: float
    source: str
    is_offline: bool
    offline_s: float
    is_flagged: bool


def jumps(saves: Iterable[Save], *, started_at: datetime, may_dictate: bool = False) -> list[Jump]:
    """The saves that brought at least `FEWEST_WORDS` new words, faster than `MOST_PER_SECOND`.

    New is what stands in no earlier accepted text as a run of three words, so that text moved, cut and put back,
    or taken back with undo is not new. `saves` come in the order of their revisions.
    """
    window = DICTATION_WINDOW_S if may_dictate else SAVE_WINDOW_S
    known: set[tuple[str, ...]] = set()
    last, additions = started_at, []
    for save in saves:
        runs = _runs(save.text)
        n_new = len(runs - known)
        known |= runs
        since = max((save.received_at - last).total_seconds(), 0.0)
        last = save.received_at
        seconds = max(min(since, window), 1.0)
        if n_new < FEWEST_WORDS or n_new / seconds <= MOST_PER_SECOND:
            continue
        is_offline = save.source in KEPT_IN_BROWSER or save.offline_ms > 0
        additions.append(
            Jump(
                rev=save.rev,
                active_ms=save.active_ms,
                n_words=n_new,
                seconds=round(seconds, 1),
                per_second=round(n_new / seconds, 1),
                since_last_s=round(since, 1),
                source=save.source,
                is_offline=is_offline,
                offline_s=round(save.offline_ms / 1000, 1),
                is_flagged=not is_offline or n_new / max(since, 1.0) > MOST_PER_SECOND,
            )
        )
    return additions


def _runs(text: str) -> set[tuple[str, ...]]:
    """Runs of three words, and shorter ones at the end, so that every word begins one."""
    words = _WORD.findall(visible(text).lower())
    return {tuple(words[start : start + RUN]) for start in range(len(words))}
