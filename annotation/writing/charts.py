"""The charts of a writing study: five measures against active minutes, and the small one of the home page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Study
from annotation.writing import curves
from annotation.writing.curves import StudyReport, study_report
from annotation.writing.results import MEASURES, Level
from annotation.writing.scoring import judge_of
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.scoring.sessions import Curve
from benchmarks.web.charts import MUTED, Chart, Kind, Lines, Point, Words, colour_of

PERCENT = (0.0, 100.0)
MANY_MINUTES, EVERY, EVERY_OF_MANY = 60, 10, 30
"""Ticks stand every ten minutes, above an hour every thirty."""
MOST_LINES = 60
"""Above this many sessions single ones are not drawn: nobody tells them apart, and 250 make a page of 5 MB."""


def progress_chart(report: StudyReport) -> Chart:
    """Figure 3: a panel for each measure, all with the same axes; each session, and their mean with its band."""
    systems = _systems(report)
    words = Words(
        name="curves",
        title="How far do people get, and when?",
        subtitle=" ".join([report.rule_text, _caption(report), *_reached(report, systems)]),
        value="score (%)",
        x="active minutes",
        text=in_words(report.curves),
        columns={"panel": "Measure", "series": _("Session"), "group": "Kind of line"},
    )
    minutes = report.limit_ms / 60_000
    layout = Lines(
        x_domain=(0.0, minutes),
        domain=PERCENT,
        colours=[("session", MUTED), ("mean", colour_of(0)), ("system", colour_of(1))],
        x_values=tuple(range(0, int(minutes) + 1, EVERY if minutes <= MANY_MINUTES else EVERY_OF_MANY)),
        panels_beside=len(report.curves),
        size=(205, 220),
        ends="figure",
    )
    urls = {
        f"{row.pseudonym} · {row.subtopic}": reverse("annotation:session-results", args=[row.uid])
        for row in report.sessions
    }
    singly = report.n_counted <= MOST_LINES
    points = chain.from_iterable(
        (*(_sessions(curve, urls) if singly else ()), *_means(curve, _panel(curve)), *_across(systems, curve))
        for curve in report.curves
    )
    return Chart(words, [*points], layout)


def small_chart(study: Study) -> Chart | None:
    """The mean joint score over active time, in a card; None before a session is scored."""
    report = study_report(study=study, judge=judge_of(study=study.pk, now=timezone.now()))
    curve = report.curves[MEASURES.index("joint")]
    if not any(point.mean.is_defined for point in curve.points):
        return None
    n = {"n": report.n_counted, "people": report.n_annotators}
    words = Words(
        name="latest",
        title="Joint score over active time",
        subtitle="n = %(n)d sessions of %(people)d writers" % n,
        value="joint score (%)",
        x="active minutes",
        text=in_words([curve]),
        is_small=True,
    )
    minutes = report.limit_ms / 60_000
    layout = Lines(x_domain=(0.0, minutes), domain=PERCENT, size=(330, 150), ends="figure")
    return Chart(words, list(_means(curve)), layout)


def facts(study: Study) -> object:
    """All that the small chart depends on."""
    judge = judge_of(study=study.pk, now=timezone.now())
    return curves.facts(curves.ProgressLook(study.pk, judge.pk))


def _panel(curve: Curve) -> str:
    return curve.measure.capitalize()


def _means(curve: Curve, panel: str = "") -> Iterator[Point]:
    for point in curve.points:
        yield Point.of(point.mean, factor=100, series="mean", x=point.mark_ms / 60_000, panel=panel)


def _sessions(curve: Curve, urls: Mapping[str, str]) -> Iterator[Point]:
    """A line for each session, which leads to its page."""
    for point in curve.sessions:
        if not point.is_carried:
            yield Point(
                series=point.key,
                group="session",
                x=point.mark_ms / 60_000,
                value=None if point.value is None else 100 * point.value,
                panel=_panel(curve),
                kind=Kind.THIN,
                url=urls.get(point.key, ""),
            )


def _systems(report: StudyReport) -> dict[str, Level]:
    """The systems across by what they are called; at most one query."""
    names = names_of([level.retriever for level in report.levels])
    return {f"{level.system} · {names[level.retriever]}": level for level in report.levels}


def _across(systems: Mapping[str, Level], curve: Curve) -> Iterator[Point]:
    """Systems on the same subtopics, as lines across; the subtitle says with which documents."""
    n_of = Counter(level.system for level in systems.values())
    for name, level in systems.items():
        value = level.values[curve.measure]
        if value is not None:
            short = level.system if n_of[level.system] == 1 else name
            yield Point(series=short, group="system", value=100 * value, panel=_panel(curve), kind=Kind.ACROSS)


def _reached(report: StudyReport, systems: Mapping[str, Level]) -> list[str]:
    """When people's mean joint score reaches that of each system across."""
    joint = report.curves[MEASURES.index("joint")]
    said = []
    for name, level in systems.items():
        at = level.reached_at(joint)
        words = (
            "%(name)s: joint score not reached" if at is None else "%(name)s: joint score reached at %(n).0f min"
        )
        said.append(words % {"name": name, "n": at or 0})
    return [f"Dashed, systems on the same subtopics: {'; '.join(said)}."] if said else []


def _caption(report: StudyReport) -> str:
    text = (
        "n = %(n)d sessions of %(people)d writers; thin lines are single sessions."
        if report.n_counted <= MOST_LINES
        else "n = %(n)d sessions of %(people)d writers, too many to draw each."
    )
    parts = [text % {"n": report.n_counted, "people": report.n_annotators}]
    if report.n_running and report.with_running:
        text = ngettext(
            "%(n)d of them is still running and counts up to its last mark.",
            "%(n)d of them are still running and count up to their last marks.",
            report.n_running,
        )
        parts.append(text % {"n": report.n_running})
    elif report.n_running:
        text = ngettext(
            "%(n)d running session is excluded.", "%(n)d running sessions are excluded.", report.n_running
        )
        parts.append(text % {"n": report.n_running})
    if report.with_late:
        text = ngettext(
            "%(n)d session ends with an accepted late text.",
            "%(n)d sessions end with an accepted late text.",
            report.n_late,
        )
        parts.append(text % {"n": report.n_late})
    return " ".join(parts)


def in_words(curves: Sequence[Curve]) -> str:
    """The plot in words: where each mean begins and ends."""
    parts = []
    for curve in curves:
        known = [(p.mark_ms / 60_000, p.mean.value) for p in curve.points if p.mean.value is not None]
        if known:
            (first, low), (last, high) = known[0], known[-1]
            parts.append(
                "%(measure)s goes from %(low).0f at %(first)g minutes to %(high).0f at %(last)g"
                % {
                    "measure": curve.measure,
                    "low": 100 * low,
                    "first": first,
                    "high": 100 * high,
                    "last": last,
                }
            )
    return "; ".join(parts) or "No scores yet"
