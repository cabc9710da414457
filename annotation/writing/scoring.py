"""Score what was written: snapshots become summaries, a judge run is queued, final texts are checked for copying.

The snapshot table is the outbox: a snapshot without a summary is work left to do, whoever finds it.
Nothing here is ever shown to the annotator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import CopyCheck, Session, Snapshot
from benchmarks import judging
from benchmarks.models import Document, JudgeRun, Summary, System
from benchmarks.scoring import copying, text

BATCH = 200


def score_snapshots(*, now: datetime) -> list[JudgeRun]:
    """Turn snapshots into summaries and queue those that the default judge has not seen; gives the runs, if any.

    A batch and its run are one transaction, so that no summary is left without a run. Safe to call at any
    time, by any number of workers: a summary is unique for its subtopic and text.
    """
    runs = []
    while batch := list(_waiting()[:BATCH]):
        with transaction.atomic():
            summaries = _as_summaries(snapshots=batch, now=now)
            run = judging.request_run(
                judge=judging.default_judge(now=now), summaries=summaries, reason="session", now=now
            )
        if run is not None:
            runs.append(run)
    return runs


def _waiting() -> QuerySet[Snapshot, Snapshot]:
    """Snapshots of real sessions that are no summary yet; practice is never scored."""
    return (
        Snapshot.objects.filter(summary=None, session__assignment__is_practice=False)
        .select_related("session__assignment__subtopic")
        .order_by("pk")
    )


def _as_summaries(*, snapshots: Sequence[Snapshot], now: datetime) -> list[Summary]:
    """Give each snapshot its summary; one row for each distinct text of a subtopic."""
    people = people_system()
    wanted = {}
    for snapshot in snapshots:
        subtopic = snapshot.session.assignment.subtopic
        body = text_of(snapshot.text)
        digest = hashlib.sha256(body.encode()).hexdigest()
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
    found = {(row.subtopic_id, row.text_sha256): row for row in rows}
    for snapshot in snapshots:
        digest = hashlib.sha256(text_of(snapshot.text).encode()).hexdigest()
        snapshot.summary = found[snapshot.session.assignment.subtopic_id, digest]
    Snapshot.objects.bulk_update(snapshots, ["summary"])
    return [found[key] for key in wanted]


def text_of(written: str) -> str:
    """A written text as a summary stores it: browsers' line ends made one."""
    return written.replace("\r\n", "\n").replace("\r", "\n")


def people_system() -> System:
    """The system that stands for people."""
    system, _ = System.objects.get_or_create(
        key="human", defaults={"kind": System.Kind.HUMAN, "summarizer": "human"}
    )
    return system


def check_copying(*, now: datetime) -> int:
    """Compare final texts, that were not yet compared, with the documents shown; returns how many."""
    finals = list(
        Snapshot.objects.filter(kind=Snapshot.Kind.FINAL, copy_check=None, session__assignment__is_practice=False)
        .select_related("session__assignment__subtopic")
        .order_by("pk")[:BATCH]
    )
    for snapshot in finals:
        rows = copied_lines(written=snapshot.text, documents=_shown_documents(snapshot.session))
        CopyCheck.objects.get_or_create(
            snapshot=snapshot,
            defaults={"lines": rows, "n_flagged": sum(row["is_flagged"] for row in rows), "created_at": now},
        )
    return len(finals)


def _shown_documents(session: Session) -> dict[int, str]:
    rows = Document.objects.filter(
        haystack=session.assignment.subtopic.haystack_id, number__in=session.document_numbers
    )
    return dict(rows.values_list("number", "text"))


def copied_lines(*, written: str, documents: dict[int, str]) -> list[dict[str, Any]]:
    """Per bullet how much of it stands in one document: {line, containment, alignment, document, is_flagged}."""
    index = copying.CopyIndex(documents.items())
    rows = []
    for line in text.bullets(text.lines_from_list(text_of(written).split("\n"))):
        found = index.score(line.plain)
        rows.append(
            {
                "line": line.number,
                "containment": found.containment,
                "alignment": found.alignment,
                "document": found.document,
                "is_flagged": found.is_flagged,
            }
        )
    return rows
