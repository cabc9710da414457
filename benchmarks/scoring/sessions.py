"""Figures of writing sessions: progress (Figure 3), time to a system's score, parallel forms, practice.

Progress has two rules for sessions that ended before a mark, both named, since they answer different questions.

A session that gives up, or runs out of time, below a share of a system's score is censored at its last mark: it
would have taken longer, nobody knows how much. Kaplan and Meier's curve takes it along as long as it was at work.

Parallel forms are a crossover with two periods (Hills and Armitage, 1979): d is a person's score on form B minus
that on form A. With m_A, m_B the means of d of those who began with A and with B, the forms differ by (m_A + m_B)
/ 2, and the second text differs from the first by (m_A - m_B) / 2: neither holds the other, also where the orders
are not equally frequent. Both have the standard error s / 2 * sqrt(1 / n_A + 1 / n_B), with s pooled within orders
and n_A + n_B - 2 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean

import numpy as np

from benchmarks.scoring.components import Cell, over_writers
from benchmarks.scoring.formulas import MIN_CLUSTERS, SAME, SHARE, few, jackknife_error, with_student
from benchmarks.scoring.intervals import bootstrap_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import COVERED, MEASURES, Coverage, Probabilities, Scores, UnknownMeasure
from benchmarks.scoring.sums import DEFAULT, BadShape, Bools, Floats, Resampling
from benchmarks.scoring.text import Line

Measures = Mapping[str, float | None]
"""The five measures of one snapshot; a measure is None where it is undefined."""


class CurveRule(StrEnum):
    """Value of a session that has ended at later marks: its last one, or nothing."""

    CARRIED_FORWARD = "carried_forward"
    STILL_AT_WORK = "still_at_work"


class BadCurve(ValueError):
    """Marks that are not in order, or a session scored after its end."""


@dataclass(frozen=True, slots=True)
class SessionCurve:
    """The scored snapshots of one session.

    `points` map active milliseconds to the measures of the snapshot there, None where it has no score yet; the
    final snapshot stands at `end_ms`, the active time when the session ended (or so far, where it `is_running`:
    then nothing is carried forward). `writer` wrote on `subtopic`; None is nobody in particular.
    """

    key: str
    end_ms: int
    points: Mapping[int, Measures | None]
    is_running: bool = False
    writer: Hashable = None
    subtopic: Hashable = None

    def __post_init__(self) -> None:
        if late := [mark for mark in self.points if mark > self.end_ms]:
            raise BadCurve(f"session {self.key} ended at {self.end_ms} ms and has a score at {max(late)} ms")

    def at(self, mark_ms: int, rule: CurveRule) -> Measures | None:
        """Measures at a mark: of the snapshot there, or the final one where the rule carries it forward."""
        if mark_ms <= self.end_ms:
            return self.points.get(mark_ms)
        return self.points.get(self.end_ms) if self.counts_at(mark_ms, rule) else None

    def counts_at(self, mark_ms: int, rule: CurveRule) -> bool:
        """Whether the session belongs to the mean at a mark, scored or not."""
        return mark_ms <= self.end_ms or (rule is CurveRule.CARRIED_FORWARD and not self.is_running)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean over sessions at one mark.

    `n_sessions` belong there under the rule, `n_unscored` of them have no score yet; `mean.n_items` are those
    with a value (a citation figure is undefined while nothing is covered).
    """

    mark_ms: int
    mean: Stat
    n_sessions: int
    n_unscored: int


@dataclass(frozen=True, slots=True)
class SessionPoint:
    """One session at one mark; `is_carried` says that it had ended before."""

    key: str
    mark_ms: int
    value: float | None
    is_carried: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """One measure over active time under one rule."""

    measure: str
    rule: CurveRule
    points: tuple[CurvePoint, ...]
    sessions: tuple[SessionPoint, ...]


def measures_of(scores: Scores) -> dict[str, float | None]:
    """The five measures of a scored summary, as a curve takes them."""
    return {name: scores.measure(name).value for name in MEASURES}


def marks(*, limit_ms: int, mark_every_ms: int) -> tuple[int, ...]:
    """The marks of a full session, the limit as the last one."""
    return (*range(mark_every_ms, limit_ms, mark_every_ms), limit_ms)


def progress(
    sessions: Sequence[SessionCurve],
    *,
    measure: str,
    at_marks: Sequence[int],
    rule: CurveRule,
    resampling: Resampling = DEFAULT,
) -> Curve:
    """Mean of `measure` over sessions at each mark (milliseconds of active time).

    From 5 writers on its interval is for writers and subtopics like these, else sessions are resampled.
    """
    if measure not in MEASURES:
        raise UnknownMeasure(f"{measure!r} is none of {', '.join(MEASURES)}")
    if sorted(set(at_marks)) != list(at_marks):
        raise BadCurve("marks must ascend")
    means: list[CurvePoint] = []
    points: list[SessionPoint] = []
    for mark in at_marks:
        present = [session for session in sessions if session.counts_at(mark, rule)]
        scored = [(session, session.at(mark, rule)) for session in present]
        here = [
            SessionPoint(session.key, mark, figures.get(measure), mark > session.end_ms)
            for session, figures in scored
            if figures is not None
        ]
        cells = [
            Cell(session.writer, session.subtopic, value)
            for session, figures in scored
            if session.writer is not None and figures and (value := figures.get(measure)) is not None
        ]
        reason = "no session lasted until here"
        if present:
            reason = "nothing covered yet" if here else "not scored yet"
        mean = bootstrap_mean(
            [point.value for point in here],
            resampling=resampling,
            method=f"mean over sessions, {rule.value.replace('_', ' ')}",
            reason=reason,
            bounds=SHARE,
        )
        means.append(
            CurvePoint(
                mark_ms=mark,
                mean=over_writers(mean, cells, bounds=SHARE),
                n_sessions=len(present),
                n_unscored=len(present) - len(here),
            )
        )
        points.extend(here)
    return Curve(measure=measure, rule=rule, points=tuple(means), sessions=tuple(points))


SHARES = (0.5, 0.7, 0.9)
"""Levels, as shares of the system's joint score."""
KAPLAN_MEIER = "restricted mean of Kaplan and Meier's curve"
NO_SESSION = "no session on a subtopic of the system"


@dataclass(frozen=True, slots=True)
class Session:
    """A session's scores at its marks, minutes of active time in ascending order; None where it is not scored.

    `target` is the system's score on the subtopic of the session; `writer` wrote it.
    """

    writer: Hashable
    marks: tuple[float, ...]
    scores: tuple[float | None, ...]
    target: float


@dataclass(frozen=True, slots=True)
class Step:
    """From this minute on `survival` of sessions are still below the level; `n_at_risk` were before it."""

    minute: float
    survival: float
    n_at_risk: int
    n_reached: int


@dataclass(frozen=True, slots=True)
class TimeToScore:
    """How long it takes to a share of the system's joint score.

    `mean` is the restricted mean: minutes spent below the level up to the `limit`. The sessions that ended below
    it did so at the minutes of `censored`.
    """

    share: float
    steps: tuple[Step, ...]
    mean: Stat
    n_reached: int
    censored: tuple[float, ...]
    n_writers: int
    limit: float

    @property
    def n_censored(self) -> int:
        """How many sessions ended below the level."""
        return len(self.censored)

    def below(self, minute: float) -> float:
        """The share of sessions that are still below the level after a minute."""
        return next((step.survival for step in reversed(self.steps) if step.minute <= minute), 1.0)


def time_to_score(sessions: Sequence[Session], *, share: float, limit: float) -> TimeToScore:
    """When sessions first reach a share of the system's score, up to `limit` minutes.

    The interval is over writers (over sessions where each writer has one), by jackknife and Student's t. Beyond
    the last session the curve stays where it is.
    """
    reached = [first_reaching(session, share * session.target) for session in sessions]
    minutes = np.array([minute for minute, _is_there in reached])
    is_reached = np.array([is_there for _minute, is_there in reached], dtype=bool)
    writers = [session.writer for session in sessions]
    n_reached = int(is_reached.sum())
    return TimeToScore(
        share=share,
        steps=kaplan_meier(minutes, is_reached),
        mean=restricted_mean(minutes, is_reached, writers, limit=limit),
        n_reached=n_reached,
        censored=tuple(sorted(minutes[~is_reached].tolist())),
        n_writers=len(set(writers)),
        limit=limit,
    )


def first_reaching(session: Session, level: float) -> tuple[float, bool]:
    """The first mark with a score at the level or above, else the last mark; and whether it was reached.

    At a level of 0 that is the start.
    """
    if not session.marks or len(session.marks) != len(session.scores):
        raise BadShape(f"{len(session.scores)} scores at {len(session.marks)} marks")
    if level <= 0:
        return 0.0, True
    for minute, score in zip(session.marks, session.scores, strict=True):
        if score is not None and score >= level - SAME:
            return float(minute), True
    return float(session.marks[-1]), False


def kaplan_meier(minutes: Floats, is_reached: Bools) -> tuple[Step, ...]:
    """The share of sessions that are still below, after each minute at which some are not any more.

    A session that ends at the same minute as another reaches the level was at work when that happened.
    """
    steps, survival = [], 1.0
    for minute in np.unique(minutes[is_reached]):
        n_at_risk = int((minutes >= minute).sum())
        n_reached = int((is_reached & (minutes == minute)).sum())
        survival *= 1 - n_reached / n_at_risk
        steps.append(Step(float(minute), survival, n_at_risk, n_reached))
    return tuple(steps)


def restricted_mean(minutes: Floats, is_reached: Bools, writers: Sequence[Hashable], *, limit: float) -> Stat:
    """The mean of minutes below the level up to `limit`, with its interval over writers."""
    if not len(minutes):
        return Stat.undefined(NO_SESSION, method=KAPLAN_MEIER)
    groups: dict[Hashable, int] = {}
    of = np.array([groups.setdefault(writer, len(groups)) for writer in writers])
    value, n = _area(minutes, is_reached, limit), len(groups)
    only_these = n if n < MIN_CLUSTERS else None
    stat = Stat(value, n_items=len(minutes), n_clusters=n, method=KAPLAN_MEIER, only_these=only_these)
    if reason := few(n, len(minutes), clusters="writers", items="sessions"):
        return replace(stat, interval_reason=reason)
    without = np.array([_area(minutes[of != at], is_reached[of != at], limit) for at in range(n)])
    return with_student(
        stat,
        jackknife_error(without),
        n - 1,
        bounds=(0.0, limit),
        same="the same without any writer",
        method=f"{KAPLAN_MEIER}, jackknife over writers",
    )


def _area(minutes: Floats, is_reached: Bools, limit: float) -> float:
    area, before, survival = 0.0, 0.0, 1.0
    for step in kaplan_meier(minutes, is_reached):
        if step.minute >= limit:
            break
        area += survival * (step.minute - before)
        before, survival = step.minute, step.survival
    return area + survival * (limit - before)


CROSSOVER = "paired by person, orders weighted equally, Student's t"
TOO_FEW = "fewer than two people with a score on both forms"
ONE_ORDER = "all people with both began with the same form"
THREE_NEEDED = "an interval needs three people with both forms"
NO_SPREAD = "the differences do not vary within an order"


@dataclass(frozen=True, slots=True)
class Both:
    """One person's scores on form A and form B, and whether they began with A."""

    a: float
    b: float
    a_first: bool


def crossover(people: Sequence[Both]) -> tuple[Stat, Stat]:
    """Form B minus form A, and the second text minus the first; in the unit of the scores, n in people."""
    n = len(people)
    orders = [[person.b - person.a for person in people if person.a_first is first] for first in (True, False)]
    if n < 2 or not all(orders):
        none = Stat.undefined(TOO_FEW if n < 2 else ONE_ORDER, n_items=n, n_pairs=n, method=CROSSOVER)
        return none, none
    means = [fmean(differences) for differences in orders]
    squares = sum((d - mean) ** 2 for group, mean in zip(orders, means, strict=True) for d in group)
    stats = [
        Stat(value, n_items=n, n_pairs=n, method=CROSSOVER)
        for value in ((means[0] + means[1]) / 2, (means[0] - means[1]) / 2)
    ]
    if n < 3 or math.isclose(squares, 0.0, abs_tol=1e-18):
        why = THREE_NEEDED if n < 3 else NO_SPREAD
        forms, texts = (replace(stat, interval_reason=why) for stat in stats)
    else:
        se = math.sqrt(squares / (n - 2)) / 2 * math.sqrt(sum(1 / len(group) for group in orders))
        forms, texts = (with_student(stat, se, n - 2, n_clusters=n) for stat in stats)
    return forms, texts


SURE_FROM = 0.8
"""From this probability of its verdict on, a judge is taken to be sure."""


@dataclass(frozen=True, slots=True)
class InsightFeedback:
    """One insight as somebody wrote of it: how far it is covered, in which line, and what that line cites.

    `wrong` are cited documents that do not have the insight, `missing` shown ones that have it and are not cited.
    """

    text: str
    coverage: str
    is_sure: bool
    line: str
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    missing: tuple[int, ...]

    @property
    def is_found(self) -> bool:
        """Whether the text has it, in whole or in part."""
        return self.coverage in COVERED


def feedback_on(
    *,
    text: str,
    gold: Collection[int],
    shown: Collection[int],
    lines: Sequence[Line],
    coverage: Coverage,
    covering: Collection[int],
    probabilities: Probabilities | None,
) -> InsightFeedback:
    """Feedback on one insight, by its gold documents, those that were shown, and a judge's verdict.

    `covering` are the numbers of the lines that the judge names.
    """
    named = [line for line in lines if line.number in covering]
    cited = {number for line in named for number in line.mentions}
    reachable = set(gold) & set(shown)
    return InsightFeedback(
        text=text,
        coverage=coverage.value,
        is_sure=probabilities is not None and getattr(probabilities, coverage.value) >= SURE_FROM,
        line=named[0].plain if named else "",
        right=tuple(sorted(cited & set(gold))),
        wrong=tuple(sorted(cited - set(gold))),
        missing=tuple(sorted(reachable - cited)),
    )
