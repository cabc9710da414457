"""What the researcher's page of one session shows, gathered in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Coalesce

from annotation import clock
from annotation.models import DraftRevision, GrowthCheck, Session, SessionEvent, Snapshot
from annotation.writing import late, timeline
from annotation.writing.contamination import saw_insights_before_the_end
from annotation.writing.earnings import last_known_ms
from annotation.writing.results import ScoredSnapshot, SessionResult, session_results, sessions_of
from benchmarks.models import Insight, Judge
from benchmarks.scoring.summhay import InsightScore
from benchmarks.scoring.text import Line, lines_from_list

MAX_POINTS = 4000


@dataclass(frozen=True)
class InsightRow:
    """One reference insight, how it scored, and where it is covered."""

    number: int
    text: str
    score: InsightScore | None
    linked: tuple[Line, ...]
    gold: tuple[int, ...]
    shown_gold: tuple[int, ...]
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    missed: tuple[int, ...]


def build(*, session: Session, judge: Judge, present_only: bool) -> dict[str, Any]:
    """Gather a session's timeline, snapshots, scores and records."""
    row = sessions_of(session.assignment.study).get(pk=session.pk)
    [result] = session_results(sessions=[row], judge=judge, present_only=present_only)
    last = result.final or (result.snapshots[-1] if result.snapshots else None)
    copy_check = Snapshot.objects.filter(session=session, kind=Snapshot.Kind.FINAL).values_list(
        "copy_check__lines", flat=True
    )
    return {
        "session": row,
        "active_ms": last_known_ms(row),
        "result": result,
        "ceiling": session.assignment.ceiling,
        "timeline": _timeline(row, result),
        "shown": last,
        "insights": insight_rows(session=row, snapshot=last),
        "credits": row.credits.select_related("by"),
        "requests": row.credit_requests.select_related("credit__by"),
        "exclusions": row.exclusions.select_related("by"),
        "report": getattr(row, "report", None),
        "saw_insights": bool(saw_insights_before_the_end([row])),
        "copied": [line for line in (copy_check.first() or []) if line["is_flagged"]],
        "events": row.events.annotate(at=Coalesce("happened_at", "at_server")).order_by("at", "pk")[:500],
        "late_texts": late.late_texts(row),
        "may_decide_late": session.state in clock.HANDED_IN,
        "jumps": _jumps(session),
    }


def _jumps(session: Session) -> list[dict[str, Any]]:
    """Saves with more words than their time explains; found out once the session is over."""
    check = GrowthCheck.objects.filter(snapshot__session=session).first()
    return check.jumps if check else []


def snapshot(*, session: Session, mark_ms: int, judge: Judge, present_only: bool) -> dict[str, Any] | None:
    """Gather one snapshot with what changed since the one before; None if there is none at this mark."""
    [result] = session_results(sessions=[session], judge=judge, present_only=present_only)
    position = next((i for i, scored in enumerate(result.snapshots) if scored.mark_ms == mark_ms), None)
    if position is None:
        return None
    chosen = result.snapshots[position]
    before = result.snapshots[position - 1] if position else None
    return {
        "session": session,
        "result": result,
        "snapshot": chosen,
        "changes": timeline.changes(before.text if before else "", chosen.text),
        "insights": insight_rows(session=session, snapshot=chosen),
    }


def insight_rows(*, session: Session, snapshot: ScoredSnapshot | None) -> list[InsightRow]:
    """One row per reference insight of the subtopic, with gold and cited documents compared."""
    insights = Insight.objects.filter(subtopic=session.assignment.subtopic_id).order_by("number")
    scores = {score.key: score for score in snapshot.score.insights} if snapshot and snapshot.score else {}
    lines = lines_from_list(snapshot.text.split("\n")) if snapshot else ()
    return [_insight_row(insight, scores.get(str(insight.pk)), lines, session) for insight in insights]


def _insight_row(
    insight: Insight, score: InsightScore | None, lines: Sequence[Line], session: Session
) -> InsightRow:
    gold = set(insight.gold_documents)
    cited = set(score.cited) if score else set()
    numbers = set(score.lines) if score else set()
    return InsightRow(
        number=insight.number,
        text=insight.text,
        score=score,
        linked=tuple(line for line in lines if line.number in numbers),
        gold=tuple(sorted(gold)),
        shown_gold=tuple(sorted(gold & set(session.document_numbers))),
        right=tuple(sorted(cited & gold)),
        wrong=tuple(sorted(cited - gold)),
        missed=tuple(sorted(gold - cited)),
    )


def _timeline(session: Session, result: SessionResult) -> timeline.Timeline:
    periods = [
        timeline.PeriodRow(*row)
        for row in session.periods.order_by("seq").values_list(
            "started_at", "ended_at", "acc_before_ms", "end_reason"
        )
    ]
    saves = DraftRevision.objects.filter(session=session).order_by("pk")
    points = [
        timeline.PointRow("save" if accepted else "rejected", active_ms, code or f"r{rev}")
        for accepted, active_ms, code, rev in saves.values_list("accepted", "active_ms", "reject_code", "rev")[
            :MAX_POINTS
        ]
    ]
    events = SessionEvent.objects.filter(session=session).order_by("pk")
    points += [
        timeline.PointRow(kind, active_ms, f"{kind} {_short(payload)}", at)
        for kind, active_ms, payload, at in events.values_list("type", "active_ms", "payload", "happened_at")[
            :MAX_POINTS
        ]
    ]
    points += [
        timeline.PointRow("snapshot", scored.mark_ms, f"{scored.minutes:g} min") for scored in result.snapshots
    ]
    active = max([last_known_ms(session), *(point.active_ms for point in points)], default=0)
    is_paused = session.state == Session.State.PAUSED
    return timeline.build(
        limit_ms=session.limit_ms, active_ms=active, periods=periods, points=points, is_paused=is_paused
    )


def _short(payload: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in payload.items())[:120]
