"""What systems score on the subtopics of a study's sessions, to stand across the curves of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotation.writing.results import MEASURES, SessionResult
from benchmarks.leaderboard.board import ORDERS, Entry, scored_summaries
from benchmarks.models import Haystack, Judge
from benchmarks.scoring.curves import Curve
from benchmarks.scoring.summhay import SummaryScore

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
    complete = [
        _level(entries[key], [scores[subtopic] for subtopic in subtopics])
        for key, scores in by_entry.items()
        if set(subtopics) <= set(scores)
    ]
    complete.sort(key=lambda level: (-(level.values["joint"] or 0.0), level.system, level.retriever))
    chosen = (
        next((level for level in complete if (level.retriever in OF_ALL_DOCUMENTS) is of_all), None)
        for of_all in (False, True)
    )
    return tuple(level for level in chosen if level is not None)


def _level(entry: Entry, scores: Sequence[SummaryScore]) -> Level:
    values: dict[str, float | None] = {}
    for name in MEASURES:
        known = [value for score in scores if (value := score.scores.measure(name).value) is not None]
        values[name] = fmean(known) if known else None
    return Level(entry.system, entry.retriever, values)
