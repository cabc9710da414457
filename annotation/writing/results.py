"""Outcome of writing sessions: time and money, snapshots scored, final texts, and systems to compare them with.

Reads only; a fixed number of queries whatever the number of sessions. All active time is paid, whatever became of
the session; practice is not, nor is anything in a study that pays nothing. A clock credit is time to work in: it
is paid once it is worked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import fmean
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from annotation import clock
from annotation.models import (
    Exclusion,
    LateDecision,
    Membership,
    Session,
    SessionReport,
    Snapshot,
    Study,
    TypedText,
)
from annotation.studies.amounts import pay
from benchmarks.leaderboard.board import ORDERS, place_of, scored_summaries, scores_of
from benchmarks.models import Haystack, Judge
from benchmarks.scoring.leaderboard import Leaderboard, Scored
from benchmarks.scoring.sessions import Curve, SessionCurve, measures_of
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES as SCORED
from benchmarks.scoring.summhay import Average, Score, SummaryScore
from benchmarks.scoring.text import lines_from_text, words_per_bullet


@dataclass(frozen=True, slots=True)
class Earning:
    """One session: its active time so far (ms), how much of it is paid, and what that comes to."""

    session: Session
    active_ms: int
    paid_ms: int
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Total:
    """Sums of one study, or of one person in it."""

    n_sessions: int
    active_ms: int
    amount: Decimal
    currency: str


def last_known_ms(session: Session) -> int:
    """Active time (ms) of a session when the server last heard of it; for pages that ask no clock."""
    return session.acc_ms if session.clock_hwm is None else session.active_ms_at(session.clock_hwm)


def earnings_of(sessions: Iterable[Session], now: datetime) -> list[Earning]:
    """One row per session of a study; the sessions carry their assignment and study."""
    return [
        earning_of(session, study, now) for session in sessions if (study := session.assignment.study) is not None
    ]


def earning_of(session: Session, study: Study, now: datetime) -> Earning:
    """Earnings of the writer of a session until now."""
    worked, rate = session.active_ms_at(now), study.hourly_rate
    return Earning(session, worked, worked if rate > 0 else 0, pay(worked, rate), study.currency)


def total_of(rows: Sequence[Earning]) -> Total | None:
    """The sum of sessions of one study; None where there are none."""
    if not rows:
        return None
    amount = sum((row.amount for row in rows), Decimal(0))
    return Total(len(rows), sum(row.active_ms for row in rows), amount, rows[0].currency)


def by_annotator(earnings: Iterable[Earning]) -> dict[int, Total | None]:
    """Totals per annotator id, within one study."""
    groups: dict[int, list[Earning]] = defaultdict(list)
    for row in earnings:
        groups[row.session.annotator_id].append(row)
    return {person: total_of(rows) for person, rows in groups.items()}


MEASURES = ("coverage", "citation", "precision", "recall", "joint")
LATE = "late"
"""Name of a late text that was accepted, beside `mark` and `final`."""


@dataclass(frozen=True)
class ScoredSnapshot:
    """A snapshot with its score by one judge; None while there is no verdict."""

    pk: int | None
    mark_ms: int
    kind: str
    text: str
    staleness_ms: int | None
    summary_id: int | None
    score: SummaryScore | None

    @property
    def minutes(self) -> float:
        return self.mark_ms / 60_000

    @property
    def is_final(self) -> bool:
        return self.kind == Snapshot.Kind.FINAL


@dataclass(frozen=True)
class SessionResult:
    """One session with everything a figure needs."""

    session: Session
    pseudonym: str
    snapshots: tuple[ScoredSnapshot, ...]
    is_excluded: bool
    used_a_model: bool
    late: ScoredSnapshot | None = None
    with_late: bool = False

    @property
    def final(self) -> ScoredSnapshot | None:
        return next((snapshot for snapshot in self.snapshots if snapshot.is_final), None)

    @property
    def last(self) -> ScoredSnapshot | None:
        """The text that ends the session in figures: as submitted, or the accepted late one where asked for."""
        return (self.late if self.with_late else None) or self.final

    @property
    def curve(self) -> SessionCurve:
        """The scores along active time; of two texts at a mark the later one counts."""
        final = self.last
        points = {
            snapshot.mark_ms: measures_of(snapshot.score.scores) if snapshot.score else None
            for snapshot in ([*self.snapshots, final] if final else self.snapshots)
        }
        return SessionCurve(
            key=f"{self.pseudonym} · {self.session.assignment.subtopic.name}",
            end_ms=final.mark_ms if final else max(points, default=0),
            points=points,
            is_running=self.is_running,
            writer=self.session.annotator_id,
            subtopic=self.session.assignment.subtopic_id,
        )

    @property
    def is_running(self) -> bool:
        """Whether the session goes on, or is paused, and has reached a mark."""
        goes_on = self.session.state in (Session.State.RUNNING, Session.State.PAUSED)
        return goes_on and bool(self.snapshots) and not self.is_excluded

    @property
    def counts(self) -> bool:
        """Whether the session enters figures: over, not voided, not excluded."""
        return self.session.state in clock.HANDED_IN and not self.is_excluded


def sessions_of(study: Study | None) -> QuerySet[Session, Session]:
    """A study's sessions, oldest first, with what results need."""
    return with_facts(Session.objects.filter(assignment__study=study))


def sessions_in(studies: QuerySet[Study]) -> QuerySet[Session, Session]:
    return with_facts(Session.objects.filter(assignment__study__in=studies))


def with_facts(sessions: QuerySet[Session, Session]) -> QuerySet[Session, Session]:
    """Sessions with what results need: subtopic, study, the number of the writer there, what was said of them."""
    member = Membership.objects.filter(study=OuterRef("assignment__study"), annotator=OuterRef("annotator"))
    current = Exclusion.objects.filter(session=OuterRef("pk"), lifted_at=None)
    reported = SessionReport.objects.filter(session=OuterRef("pk"), used_no_model=False)
    rows: QuerySet[Session, Session] = (
        sessions.select_related("assignment__subtopic__haystack", "assignment__study", "annotator")
        .annotate(
            is_excluded=Exists(current),
            used_a_model=Exists(reported),
            member_number=Subquery(member.values("number")[:1]),
        )
        .order_by("created_at", "pk")
    )
    return rows


def session_results(
    *,
    sessions: Iterable[Any],
    judge: Judge | None,
    present_only: bool = False,
    with_late: bool = False,
    as_typed: bool = False,
    score: Score = Score.LABEL,
) -> list[SessionResult]:
    """Score every snapshot of sessions `with_facts` by one judge; five queries, six with accepted late texts.

    `late` of a result is always there where a late text was accepted; `with_late` lets it end the session. By
    `as_typed` texts that arrived after the mark by which they had been typed take the place of those recorded.
    """
    known = list(sessions)
    recorded = Snapshot.objects.filter(session__in=[session.pk for session in known])
    rows: Iterable[Snapshot] = recorded.order_by("session_id", "mark_ms")
    if as_typed:
        rows = _with_typed(rows)
    by_session: dict[int, list[Snapshot]] = defaultdict(list)
    for row in [*rows, *_accepted_late(known)]:
        by_session[row.session_id].append(row)
    return [
        SessionResult(
            session=session,
            pseudonym=f"annotator{session.member_number}" if session.member_number else "—",
            snapshots=tuple(text for text in scored if text.kind != LATE),
            late=next((text for text in scored if text.kind == LATE), None),
            with_late=with_late,
            is_excluded=session.is_excluded,
            used_a_model=session.used_a_model,
        )
        for session, scored in zip(known, _scored(known, by_session, judge, present_only, score), strict=True)
    ]


def _with_typed(rows: Iterable[Snapshot]) -> Iterator[Snapshot]:
    """Snapshots with the texts as typed, where there are; nothing of it is stored."""
    typed = {text.snapshot_id: text for text in TypedText.objects.filter(snapshot__in=rows)}
    for row in rows:
        if (text := typed.get(row.pk)) is not None:
            row.text, row.summary_id, row.staleness_ms = text.text, text.summary_id, None
        yield row


def _accepted_late(sessions: Sequence[Session]) -> list[Snapshot]:
    """The late texts that are accepted now, in the form of snapshots that are never stored."""
    ended = {session.pk: session for session in sessions if session.late_text_id is not None}
    if not ended:
        return []
    decisions = LateDecision.objects.filter(
        session__in=ended, is_accepted=True, revision=F("session__late_text")
    ).select_related("revision")
    newest = {decision.session_id: decision for decision in decisions.order_by("pk")}
    return [
        Snapshot(
            session_id=decision.session_id,
            mark_ms=ended[decision.session_id].acc_ms,
            kind=LATE,
            text=decision.revision.text,
            summary_id=decision.summary_id,
        )
        for decision in newest.values()
    ]


def _scored(
    sessions: Sequence[Session],
    rows: dict[int, list[Snapshot]],
    judge: Judge | None,
    present_only: bool,
    score: Score,
) -> list[tuple[ScoredSnapshot, ...]]:
    scores: dict[tuple[int, int], SummaryScore] = {}
    if judge is not None:
        # Sessions that saw the same documents can be scored together.
        groups: dict[Collection[int] | None, list[Session]] = defaultdict(list)
        for session in sessions:
            groups[frozenset(session.document_numbers) if present_only else None].append(session)
        for shown, group in groups.items():
            ids = {row.summary_id for session in group for row in rows[session.pk] if row.summary_id}
            limits = None if shown is None else dict.fromkeys(ids, shown)
            scores_of_group = scores_of(summaries=ids, judge=judge, shown=limits, score=score)
            scores |= {(session.pk, pk): scored for session in group for pk, scored in scores_of_group.items()}
    return [
        tuple(
            ScoredSnapshot(
                pk=row.pk,
                mark_ms=row.mark_ms,
                kind=row.kind,
                text=row.text,
                staleness_ms=row.staleness_ms,
                summary_id=row.summary_id,
                score=scores.get((session.pk, row.summary_id)) if row.summary_id else None,
            )
            for row in rows[session.pk]
        )
        for session in sessions
    ]


# Final texts


AVERAGES = {"pooled": Average.OVER_INSIGHTS, "summary": Average.OVER_SUMMARIES}
"""The averages of the leaderboard by name."""


@dataclass(frozen=True, slots=True)
class Final:
    """Figures of the texts that end sessions, by one average; shares from 0 to 1."""

    average: str
    stats: Mapping[str, Stat]
    n_sessions: int
    n_insights: int


def scored_text(entry: str, result: SessionResult, text: ScoredSnapshot | None) -> Scored | None:
    """A text of a session as the leaderboard adds it up; None without a score."""
    if text is None or text.score is None:
        return None
    subtopic = result.session.assignment.subtopic
    return Scored(
        entry,
        subtopic.pk,
        text.score,
        words_per_bullet(lines_from_text(text.text)).value,
        place_of(subtopic.haystack.key, subtopic.key),
        result.session.annotator_id,
    )


def finals(results: Sequence[SessionResult]) -> tuple[Final, ...]:
    """Both averages of the last texts of sessions, those of the leaderboard's people; empty without a score."""
    texts = [text for result in results if (text := scored_text("people", result, result.last)) is not None]
    return tuple(
        Final(name, {measure: row.stats[measure] for measure in SCORED}, row.n_summaries, row.n_insights)
        for name, average in AVERAGES.items()
        for row in Leaderboard(texts, average=average).rows()
    )


# Levels


OF_ALL_DOCUMENTS = frozenset(ORDERS.values())


@dataclass(frozen=True, slots=True)
class Level:
    """A system on the subtopics of sessions, a subtopic counting as often as sessions have it; None: undefined."""

    system: str
    retriever: str
    values: Mapping[str, float | None]

    def reached_at(self, curve: Curve) -> float | None:
        """The active minute at which a mean curve, from 0 at the start, first has the system's score."""
        target, before = self.values[curve.measure], (0.0, 0.0)
        for point in curve.points:
            at, value = point.mark_ms / 60_000, point.mean.value
            if target is None or value is None:
                continue
            if value >= target:
                share = 1.0 if value == before[1] else (target - before[1]) / (value - before[1])
                return before[0] + max(0.0, share) * (at - before[0])
            before = at, value
        return None


def levels(sessions: Sequence[SessionResult], judge: Judge | None) -> tuple[Level, ...]:
    """The best system that was shown a retriever's documents, and the best with all of them, by joint score.

    Only systems with a score on every subtopic of the sessions. Five queries.
    """
    subtopics = [result.session.assignment.subtopic_id for result in sessions]
    haystacks = {result.session.assignment.subtopic.haystack_id for result in sessions}
    if judge is None or not subtopics:
        return ()
    scored, entries = scored_summaries(haystacks=Haystack.objects.filter(pk__in=haystacks), judge=judge)
    by_entry: dict[str, dict[int, SummaryScore]] = {}
    for scored_text in scored:
        by_entry.setdefault(scored_text.entry, {})[scored_text.subtopic] = scored_text.score
    complete = []
    for key, scores in by_entry.items():
        if set(subtopics) <= set(scores):
            values: dict[str, float | None] = {}
            for name in MEASURES:
                every = (scores[subtopic].scores.measure(name).value for subtopic in subtopics)
                known = [value for value in every if value is not None]
                values[name] = fmean(known) if known else None
            complete.append(Level(entries[key].system, entries[key].retriever, values))
    complete.sort(key=lambda level: (-(level.values["joint"] or 0.0), level.system, level.retriever))
    best = {level.retriever in OF_ALL_DOCUMENTS: level for level in reversed(complete)}
    return tuple(best[of_all] for of_all in (False, True) if of_all in best)
