"""People's part of the board: labels of a random sample beside the judge's, and their active time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import QuerySet

from annotation.coverage.collect import coverage_table
from annotation.coverage.systems import differences_of, human_worth, mean_worth
from annotation.models import CoverageLabel
from annotation.results.judges import MEAN
from annotation.studies.amounts import in_figures
from annotation.writing.results import SessionResult
from benchmarks.models import Haystack, Judge, Subtopic, Verdict
from benchmarks.results.sheet import Drawing, Measure, Name, Row, Section, Table, Unit
from benchmarks.scoring.comparison import NOT_LABELLED, POWERED, Text, powered_mean
from benchmarks.scoring.components import Minutes, drawn_through, minutes_worth
from benchmarks.scoring.sessions import SHARES, TimeToScore, marks, time_to_score
from benchmarks.scoring.sessions import Session as Marks
from benchmarks.scoring.stat import Stat, interval_json
from benchmarks.scoring.summhay import Score
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, colour_of


@dataclass(frozen=True, slots=True)
class Sample:
    """Labels of people on the texts of a leaderboard, and in which studies, as far as it is a random draw.

    `is_random` is False where there are labels in other studies only: then nothing is computed of them.
    """

    n_labelled: int
    n_texts: int
    n_subtopics: int
    n_people: int
    studies: tuple[str, ...]
    is_random: bool = True


def labels_on(haystacks: Any, studies: Collection[int]) -> QuerySet[CoverageLabel]:
    rows = CoverageLabel.objects.filter(study__in=studies, summary__haystack__in=haystacks)
    labels: QuerySet[CoverageLabel] = rows.for_figures()
    return labels


def drawn_at_random(labels: QuerySet[CoverageLabel]) -> QuerySet[CoverageLabel]:
    """Those of studies whose labelled summaries were declared a random draw."""
    return labels.filter(study__labels_are_random=True)


def labelled_means(
    texts: Iterable[tuple[str, int, int]],
    *,
    haystacks: QuerySet[Haystack],
    judge: Judge,
    score: Score,
    studies: Collection[int],
) -> tuple[Mapping[str, Stat], Sample | None]:
    """By row of a leaderboard its mean coverage over texts as people would label them, and what was labelled.

    `texts` are (key of the row, subtopic, summary); haystacks are strata. Without any label there is no sample.
    """
    every = labels_on(haystacks, studies)
    labels = drawn_at_random(every)
    if not labels.exists():
        return {}, Sample(0, 0, 0, 0, (), is_random=False) if every.exists() else None
    table = coverage_table(labels).scored(score)
    at = next((at for at, rater in enumerate(table.judges) if rater.key == str(judge.uid)), None)
    differences = {} if at is None else differences_of(table, human_worth(table, MEAN), table.worth_of_judge(at))
    judged = _judged(haystacks, judge, score)
    haystack_of = dict(Subtopic.objects.filter(haystack__in=haystacks).values_list("pk", "haystack"))
    by_row: dict[str, list[Text]] = defaultdict(list)
    labelled_in, n_texts = dict[int, int](), 0
    for row, subtopic, summary in texts:
        if (judged_score := judged.get(summary)) is None:
            continue
        n_texts += 1
        difference = differences.get(summary)
        if difference is not None:
            labelled_in[summary] = subtopic
        human = None if difference is None else judged_score - difference
        by_row[row].append(Text(haystack_of[subtopic], subtopic, judged_score, human))
    sample = Sample(
        n_labelled=len(labelled_in),
        n_texts=n_texts,
        n_subtopics=len(set(labelled_in.values())),
        n_people=table.n_people,
        studies=tuple(labels.order_by("study__name").values_list("study__name", flat=True).distinct()),
    )
    return {row: _mean(means) for row, means in by_row.items()}, sample


def _judged(haystacks: QuerySet[Haystack], judge: Judge, score: Score) -> Mapping[int, float]:
    """The mean coverage of each summary as the judge sees it. One query."""
    rows = Verdict.objects.filter(summary__haystack__in=haystacks, judge=judge, repeat=0, is_valid=True).order_by()
    return dict(rows.values("summary").annotate(mean=mean_worth(score)).values_list("summary", "mean"))


def _mean(texts: list[Text]) -> Stat:
    if all(text.human is None for text in texts):
        return Stat.undefined(NOT_LABELLED, method=POWERED)
    stat = powered_mean(texts).mean
    if stat.low is None or stat.high is None:
        return stat
    return replace(stat, low=max(0.0, stat.low), high=min(1.0, stat.high))


@dataclass(frozen=True, slots=True)
class ActiveTime:
    """Joint scores of sessions at the marks of any of them, shape (sessions, marks), with whose they are.

    `at_marks` are minutes, `limit` the longest time that a session had; `own` are the marks of each session with
    its scores there.
    """

    at_marks: tuple[float, ...]
    values: Any
    subtopics: tuple[int, ...]
    writers: tuple[int, ...]
    limit: float
    own: tuple[Mapping[float, float | None], ...]

    def worth(self, targets: Mapping[int, float]) -> Minutes | None:
        """The active minutes that a system's scores by subtopic are worth, on those that both have."""
        return minutes_worth(
            self.values,
            marks=self.at_marks,
            subtopics=self.subtopics,
            targets=targets,
            writers=self.writers,
        )

    def to_shares(self, targets: Mapping[int, float]) -> tuple[TimeToScore, ...]:
        """How long sessions take to shares of a system's score on their subtopic; empty without a common one."""
        sessions = [
            Marks(writer, tuple(curve), tuple(curve.values()), targets[subtopic])
            for writer, subtopic, curve in zip(self.writers, self.subtopics, self.own, strict=True)
            if subtopic in targets
        ]
        if not sessions:
            return ()
        return tuple(time_to_score(sessions, share=share, limit=self.limit) for share in SHARES)


def active_time(sessions: Sequence[SessionResult]) -> ActiveTime | None:
    """That of sessions whose final text is scored; None without any."""
    known = [result for result in sessions if result.last is not None and result.last.score is not None]
    if not known:
        return None
    limit = max(result.session.limit_ms for result in known)
    every = {result.session.mark_every_ms for result in known}
    at_marks = sorted({mark / 60_000 for step in every for mark in marks(limit_ms=limit, mark_every_ms=step)})
    curves = tuple(
        {mark / 60_000: at["joint"] if at else None for mark, at in sorted(result.curve.points.items())}
        for result in known
    )
    return ActiveTime(
        at_marks=tuple(at_marks),
        values=np.array([drawn_through(scores, at_marks) for scores in curves]),
        subtopics=tuple(result.session.assignment.subtopic_id for result in known),
        writers=tuple(result.session.annotator_id for result in known),
        limit=limit / 60_000,
        own=curves,
    )


Times = Sequence[TimeToScore]
"""The time to each share of a system's score."""
PERCENTS = {share: round(100 * share) for share in SHARES}
KEY = "time-to-score"
MOST_UNFOLDED = 12
"""Systems whose table is open from the beginning."""


def key_of(share: float) -> str:
    """The name of a restricted mean in files."""
    return f"minutes_to_{PERCENTS[share]}"


def section(rows: Sequence[tuple[tuple[str, str], Times, str]], *, name: str) -> Section:
    """The curves of the first system, called `name`, and a row for each: its names, times and address."""
    _names, first, first_url = rows[0]
    about = (
        "When people's texts first have a share of the system's joint score on the same subtopic, at the "
        "marks of their sessions. A session that ends below it is counted as long as it ran."
    )
    if len(rows) > 1:
        about += " In the table a name leads to its curves."
    measures: list[Measure] = []
    for share, percent in PERCENTS.items():
        measures.append(Measure(key_of(share), f"Minutes to {percent} %", Unit.MINUTES, has_badge=False))
        measures.append(Measure(f"reached_{percent}", f"Reached {percent} %", Unit.COUNT, "sessions"))
    table = Table(
        KEY,
        "Time to the score of each system",
        (Name("system", "System"), Name("documents", "Documents", is_filter=True)),
        (*measures, Measure("n", "Sessions", Unit.COUNT), Measure("n_writers", "Writers", Unit.COUNT)),
        tuple(Row(names, _values(times), url=url) for names, times, url in rows),
        about=f"Mean active minutes below the level, of at most {first[0].limit:g} (the area under the curve), "
        "with 95 % intervals over writers; and how many sessions reached it.",
        find="system",
        is_folded=len(rows) > MOST_UNFOLDED,
    )
    chart = survival_chart(first, name=name, url=first_url)
    return Section("time", "Time to score", (Drawing(chart), table), about=about)


def _values(times: Times) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for time in times:
        values |= {key_of(time.share): time.mean, f"reached_{PERCENTS[time.share]}": time.n_reached}
    return values | {"n": times[0].mean.n_items, "n_writers": times[0].n_writers}


def survival_chart(times: Times, *, name: str, url: str = "") -> Chart:
    """Kaplan and Meier's curves of one system, a dot where a session ended below; a click leads to `url`."""
    limit, n = times[0].limit, times[0].mean.n_items
    sessions = in_figures(n, "session", "sessions")
    words = Words(
        name="survival",
        title=f"How long do people take to the score of {name}?",
        subtitle=(f"Share of {sessions} that are still below 50, 70 and 90 % of its joint score on their "
    "subtopic. Dots: sessions that ended below."),
        value="sessions still below, %",
        x="active minutes",
        columns={"series": "Level"},
    )  # fmt: skip
    series = {time.share: f"{PERCENTS[time.share]} % of its score" for time in times}
    layout = Lines(
        x_domain=(0.0, limit),
        domain=(0.0, 100.0),
        colours=[(title, colour_of(at)) for at, title in enumerate(series.values())],
        has_dots=False,
        is_stepped=True,
    )
    return Chart(words, [point for time in times for point in _points(time, series[time.share], url)], layout)


def _points(time_to_score: TimeToScore, series: str, url: str) -> Iterator[Point]:
    """The start, every step, the end of a curve; then the sessions that ended below."""
    corners = [
        0.0,
        *(step.minute for step in time_to_score.steps if 0 < step.minute < time_to_score.limit),
        time_to_score.limit,
    ]
    for minute in corners:
        yield Point(
            series=series, x=minute, value=100 * time_to_score.below(minute), n=time_to_score.mean.n_items, url=url
        )
    for minute in sorted(set(time_to_score.censored)):
        n = time_to_score.censored.count(minute)
        yield Point(series=series, x=minute, value=100 * time_to_score.below(minute), n=n, kind=Kind.DOT, url=url)


def times_json(times: Times) -> dict[str, Any] | None:
    """Time that a row's sessions take, by the share in percent; None of people, and without a common subtopic."""
    return {
        str(PERCENTS[time.share]): {
            "value": time.mean.value,
            **interval_json(time.mean),
            "reason": time.mean.reason,
            "limit": time.limit,
            "n_reached": time.n_reached,
            "n_censored": time.n_censored,
            "n_writers": time.n_writers,
            "steps": [[step.minute, step.survival] for step in time.steps],
        }
        for time in times
    } or None
