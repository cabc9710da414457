"""What people score with their final texts, as the leaderboard has it and as a mean over sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.writing.results import ScoredSnapshot, SessionResult
from benchmarks.leaderboard.board import place_of
from benchmarks.scoring.leaderboard import Leaderboard, Scored
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, Average
from benchmarks.scoring.text import lines_from_text, words_per_bullet

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
        Final(name, {measure: row.stats[measure] for measure in MEASURES}, row.n_summaries, row.n_insights)
        for name, average in AVERAGES.items()
        for row in Leaderboard(texts, average=average).rows()
    )
