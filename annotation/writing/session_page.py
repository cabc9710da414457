"""What the researcher's page of one session shows, gathered in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from annotation import clock
from annotation.models import Session, SessionEvent, Snapshot
from annotation.writing import late, packing, timeline
from annotation.writing.contamination import saw_insights_before_the_end
from annotation.writing.drafting import SessionClosed
from annotation.writing.earnings import last_known_ms
from annotation.writing.results import ScoredSnapshot, SessionResult, session_results
from benchmarks.models import Insight, Judge
from benchmarks.scoring.summhay import InsightScore
from benchmarks.scoring.text import Line, lines_from_list

MAX_POINTS, MAX_EVENTS = 4000, 500
_EVENT = ("type", "active_ms", "payload", "happened_at", "at_server")
_SAVE = ("accepted", "active_ms", "reject_code", "rev")


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
    """Gather timeline, snapshots, scores and records of a session that has the facts that results need."""
    [result] = session_results(sessions=[session], judge=judge, present_only=present_only)
    last = result.final or (result.snapshots[-1] if result.snapshots else None)
    checks = Snapshot.objects.filter(session=session, kind=Snapshot.Kind.FINAL)
    copied, jumps = checks.values_list("copy_check__lines", "growth_check__jumps").first() or (None, None)
    recorded = packing.rows_of(packing.Table.EVENTS, [session.pk], _EVENT)
    events = [SessionEvent(**row) for row in islice(recorded, MAX_POINTS)]
    revisions = packing.rows_of(packing.Table.REVISIONS, [session.pk], _SAVE)
    saved = [tuple(row[name] for name in _SAVE) for row in islice(revisions, MAX_POINTS)]
    may_be_late = len(saved) == MAX_POINTS or any(code == SessionClosed.code for _a, _ms, code, _rev in saved)
    return {
        "session": session,
        "active_ms": last_known_ms(session),
        "result": result,
        "ceiling": session.assignment.ceiling,
        "timeline": _timeline(session, result, saved, events),
        "shown": last,
        "insights": insight_rows(session=session, snapshot=last),
        "credits": session.credits.select_related("by"),
        "requests": session.credit_requests.select_related("credit__by"),
        "exclusions": session.exclusions.select_related("by"),
        "report": getattr(session, "report", None),
        "saw_insights": bool(saw_insights_before_the_end([session])),
        "copied": [line for line in (copied or []) if line["is_flagged"]],
        "events": sorted(events, key=lambda event: event.at)[:MAX_EVENTS],
        "late_texts": late.late_texts(session) if may_be_late else [],
        "may_decide_late": session.state in clock.HANDED_IN,
        "jumps": jumps or [],
    }


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


def _timeline(
    session: Session,
    result: SessionResult,
    saved: Iterable[tuple[bool, int, str, int | None]],
    events: Iterable[SessionEvent],
) -> timeline.Timeline:
    periods = [
        timeline.PeriodRow(*row)
        for row in session.periods.order_by("seq").values_list(
            "started_at", "ended_at", "acc_before_ms", "end_reason"
        )
    ]
    points = [
        timeline.PointRow("save" if accepted else "rejected", active_ms, code or f"r{rev}")
        for accepted, active_ms, code, rev in saved
    ]
    points += [
        timeline.PointRow(event.type, event.active_ms, f"{event.type} {_short(event.payload)}", event.happened_at)
        for event in events
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
