"""The results of a writing study laid out: final texts, curves, means at each mark, sessions; the small chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst, slugify

from annotation.models import Snapshot, Study
from annotation.results.planning import Plannable, Published, mean_of
from annotation.results.spending import Answers
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import in_figures
from annotation.writing import curves, files, scoring, settling
from annotation.writing.curves import (
    PROGRESS,
    SUBMITTED,
    TYPED,
    ProgressLook,
    SessionRow,
    StudyReport,
    as_json,
    study_report,
)
from annotation.writing.results import LATE, MEASURES, Level, session_results, sessions_of
from annotation.writing.scoring import judge_of
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import DraftText, Judge, Verdict
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Drawing,
    Mark,
    Measure,
    Name,
    Note,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    few_clusters,
    first_look,
    stat_row,
)
from benchmarks.results.writing import spoken
from benchmarks.scoring.components import Cell as WriterCell
from benchmarks.scoring.planning import Variances
from benchmarks.scoring.sessions import Curve, measures_of
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import MUTED, Chart, Kind, Lines, Point, Words, colour_of

PERCENT = (0.0, 100.0)
MANY_MINUTES, EVERY, EVERY_OF_MANY = 60, 10, 30
"""Ticks stand every ten minutes, above an hour every thirty."""
MOST_LINES = 60
"""Above this many sessions single ones are not drawn: nobody tells them apart, and 250 make a page of 5 MB."""


def progress_chart(report: StudyReport) -> Chart:
    """Figure 3: a panel for each measure, all with the same axes; each session, and their mean with its band."""
    systems = _systems(report)
    joint = report.curves[MEASURES.index("joint")]
    said = []
    for name, level in systems.items():
        at = level.reached_at(joint)
        said.append(f"{name}: joint score {'not reached' if at is None else f'reached at {at:.0f} min'}")
    words = Words(
        name="curves",
        title="How far do people get, and when?",
        subtitle=" ".join(
            [
                report.rule_text,
                _caption(report),
                *([f"Dashed, systems on the same subtopics: {'; '.join(said)}."] if said else []),
            ]
        ),
        value="score (%)",
        x="active minutes",
        text=in_words(report.curves),
        columns={"panel": "Measure", "series": "Session", "group": "Kind of line"},
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
        (*(_lines(curve, urls) if singly else ()), *_means(curve, _panel(curve)), *_across(systems, curve))
        for curve in report.curves
    )
    return Chart(words, [*points], layout)


def small_chart(study: Study) -> Chart | None:
    """The mean joint score over active time, in a card; None before a session is scored."""
    report = study_report(study=study, judge=judge_of(study=study.pk, now=timezone.now()))
    curve = report.curves[MEASURES.index("joint")]
    if not any(point.mean.is_defined for point in curve.points):
        return None
    words = Words(
        name="latest",
        title="Joint score over active time",
        subtitle=f"n = {report.n_counted} sessions of {report.n_annotators} writers",
        value="joint score (%)",
        x="active minutes",
        text=in_words([curve]),
        is_small=True,
    )
    minutes = report.limit_ms / 60_000
    layout = Lines(x_domain=(0.0, minutes), domain=PERCENT, size=(330, 150), ends="figure")
    return Chart(words, list(_means(curve)), layout)


def facts(study: Study) -> object:
    judge = judge_of(study=study.pk, now=timezone.now())
    return curves.facts(curves.ProgressLook(study.pk, judge.pk))


def _panel(curve: Curve) -> str:
    return curve.measure.capitalize()


def _means(curve: Curve, panel: str = "") -> Iterator[Point]:
    for point in curve.points:
        yield Point.of(point.mean, factor=100, series="mean", x=point.mark_ms / 60_000, panel=panel)


def _lines(curve: Curve, urls: Mapping[str, str]) -> Iterator[Point]:
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


def _caption(report: StudyReport) -> str:
    of = f"n = {report.n_counted} sessions of {report.n_annotators} writers"
    how = "; thin lines are single sessions." if report.n_counted <= MOST_LINES else ", too many to draw each."
    parts = [of + how]
    if report.n_running and report.with_running:
        parts.append(
            in_figures(
                report.n_running,
                "of them is still running and counts up to its last mark.",
                "of them are still running and count up to their last marks.",
            )
        )
    elif report.n_running:
        parts.append(
            in_figures(report.n_running, "running session is excluded.", "running sessions are excluded.")
        )
    if report.with_late:
        parts.append(f"{in_figures(report.n_late, 'session ends', 'sessions end')} with an accepted late text.")
    if report.as_typed:
        parts.append(f"{in_figures(report.n_typed, 'text counts', 'texts count')} as typed by the mark.")
    return " ".join(parts)


def in_words(curves: Sequence[Curve]) -> str:
    """The plot in words: where each mean begins and ends."""
    parts = []
    for curve in curves:
        known = [(p.mark_ms / 60_000, p.mean.value) for p in curve.points if p.mean.value is not None]
        if known:
            (first, low), (last, high) = known[0], known[-1]
            parts.append(
                f"{curve.measure} goes from {100 * low:.0f} at {first:g} minutes to {100 * high:.0f} at {last:g}"
            )
    return "; ".join(parts) or "No scores yet"


FEW_WRITERS = 5
SCORES = tuple(Measure(name, capfirst(name), Unit.POINTS, has_badge=False) for name in MEASURES)
AVERAGES = {
    "pooled": ("pooled over insights", "as on the leaderboard"),
    "summary": ("mean over sessions", "as at the end of the curves"),
}
"""What the figures of final texts are called, by the name of the leaderboard's average."""


class WritingResults(StudyResults[ProgressLook, StudyReport]):
    """Scores of final texts and over active time, by one judge."""

    computation = PROGRESS
    as_json = staticmethod(as_json)
    form_template = "results/_form.html"
    downloads_template = "annotation/_progress_files.html"
    published = Published(
        "People's joint, mean over sessions",
        "as ten published systems score with oracle documents on a news haystack",
        lambda _size: Variances(people=0.0158, items=0.0127, rest=0.0147, n_people=10, n_items=9),
        is_points=True,
    )

    def options(self, study: Study, query: QueryDict) -> ProgressLook:
        form = look_form(study, query)
        return ProgressLook(study.pk, form.chosen.pk, **form.shown)

    def sheet(self, study: Study, figures: StudyReport, query: QueryDict) -> Sheet:
        return sheet(figures, query)

    def judged(self, study: Study, options: ProgressLook, figures: StudyReport) -> Judged:
        domains = study.assignments.order_by().values_list("subtopic__haystack__domain", flat=True)
        return Judged((options.judge,), frozenset(domains))

    def plannable(self, study: Study) -> Sequence[Plannable]:
        form = look_form(study, QueryDict())
        scored = [
            (result, result.last.score.scores)
            for result in session_results(sessions=sessions_of(study), judge=form.chosen)
            if result.counts and result.last is not None and result.last.score is not None
        ]
        plannables = []
        for name in ("joint", "coverage", "citation"):
            cells = [
                WriterCell(result.session.annotator_id, result.session.assignment.subtopic_id, value)
                for result, scores in scored
                if (value := measures_of(scores)[name]) is not None
            ]
            title = f"People's {name}, mean over sessions"
            plannables.append(mean_of(name, title, "subtopics", cells))
        return plannables

    def model_answers(self, study: Study) -> Sequence[Answers]:
        subtopics = study.assignments.order_by().values("subtopic")
        rows = DraftText.objects.filter(draft__subtopic__in=subtopics, is_valid=True)
        return [Answers(rows, ("draft",))]

    def settle(self, study: Study, now: datetime) -> None:
        settling.settle_study(study=study, now=now)

    def beside(
        self, request: HttpRequest, study: Study, options: ProgressLook, figures: StudyReport
    ) -> dict[str, Any]:
        form = look_form(study, request.GET)
        return {"form": form, "files": files.files(study, form.chosen, timezone.now()).values()}

    def public(self, options: ProgressLook) -> ProgressLook:
        """The same: nobody appears here under another name."""
        return options

    def judged_by(self, figures: StudyReport) -> str:
        return figures.judge or ""

    def called(self, figures: StudyReport) -> str:
        return slugify(figures.study, allow_unicode=True)


RESULTS = WritingResults()


def look_form(study: Study | None, query: QueryDict) -> ViewForm:
    """How to look; a wrong choice, or a judge without verdicts here, falls back to its own. Two queries."""
    texts = Snapshot.objects.filter(session__assignment__study=study).values("summary")
    with_verdicts = Exists(Verdict.objects.filter(judge=OuterRef("pk"), summary__in=texts))
    default = scoring.judge_of(study=study.pk if study else None, now=timezone.now())
    judges = list(Judge.objects.counted().filter(Q(pk=default.pk) | with_verdicts))
    return ViewForm.read(query, judges=judges, default=default)


def sheet(report: StudyReport, query: QueryDict | None = None) -> Sheet:
    """All that a page, a file or the console shows; with a `query` rows lead to their pages."""
    if not report.sessions:
        return Sheet(first_look("No session has begun yet. Curves appear with the first snapshot."))
    about = (
        "Final texts. The ceiling is the best citation F1 that the documents shown allow. “Review” names what to "
        "look at: text shared with the documents, pasted text, blocked copying, or a language model that the "
        "writer reported. None of it excludes a session."
    )
    sessions = Section("sessions-part", "Sessions", (_sessions(report, query),), about=about)
    chart = progress_chart(report)
    if not report.n_counted:
        none = "No session has ended yet, or all of them are excluded."
        if report.n_running:
            none = "No session has ended yet. To see scores of running sessions, choose “running ones too” above."
        return Sheet((Note(none), Drawing(chart, table="sessions"), sessions))
    measures = (*SCORES, Measure("n_insights", "Insights", Unit.COUNT), COUNTED)
    rows = tuple(
        Row(
            tuple(map(str, AVERAGES[mean.average])),
            {**_in_percent(mean.stats), "n_insights": mean.n_insights, "n": mean.n_sessions},
            url=_on_leaderboard(report, mean.average),
            is_people=True,
        )
        for mean in report.final
    )
    averages = (
        "Two averages of the same texts. Pooled: every insight counts once. Mean over sessions: every "
        "session counts once."
    )
    is_as_there = report.of_all_insights and report.final_text == SUBMITTED
    others = "" if is_as_there else " Other texts or insights than the leaderboard's are chosen here."
    names = (Name("average", "Average"), Name("where", "The same figure"))
    final = Table("final", "Final texts", names, measures, rows)
    return Sheet(
        (
            *first_look(
                _answer(report),
                cards=Cards("scores", tuple(_cards(report))),
                chart=chart,
                table=final,
                more=(
                    *_parallel_forms(report),
                    Section("marks-part", "Mean at each mark", (_marks(report),), about=report.rule_text),
                ),
                reading=(*_notes(report), f"{averages}{others}", *few_clusters(final)),
            ),
            replace(sessions, is_folded=True),
        )
    )


def _answer(report: StudyReport) -> str:
    """Sentence on what people reach, and when they match the best system that was shown the same documents."""
    joint = _of_sessions(report)["joint"]
    said = [f"People reach a joint score of {spoken(joint.scaled(100), Unit.POINTS)}."]
    if joint.value is None:
        said = [f"People's joint score is unknown: {joint.undefined_reason}."]
    curve = next((curve for curve in report.curves if curve.measure == "joint"), None)
    for level in report.levels[:1]:
        at = level.reached_at(curve) if curve else None
        when = "not within the time they have" if at is None else f"after {at:.0f} min of active time"
        said.append(f"They match the best system, {level.system} ({level.retriever}), {when}.")
    return " ".join(said)


def _of_sessions(report: StudyReport) -> Mapping[str, Stat]:
    """The scores of final texts that stand first: those of the leaderboard's average."""
    return report.final[0].stats if report.final else dict.fromkeys(MEASURES, Stat.undefined("no text is scored"))


def _cards(report: StudyReport) -> Iterator[Card]:
    n, about = (
        in_figures(report.n_counted, "session", "sessions"),
        in_figures(report.n_annotators, "writer", "writers"),
    )
    for name, stat in _of_sessions(report).items():
        if name in {"joint", "coverage", "citation"}:
            yield Card(name, capfirst(name), stat.scaled(100), Unit.POINTS, about, of=n)


def _notes(report: StudyReport) -> Iterator[Note]:
    yield Note(f"Scores from 0 to 100 by judge {report.judge}.")
    if report.judge_note:
        yield Note(report.judge_note)
    if report.n_annotators < FEW_WRITERS:
        only = "this person only" if report.n_annotators == 1 else "these writers, not people in general"
        yield Note(
            f"{in_figures(report.n_annotators, 'writer', 'writers')}: the figures describe {only}.", warns=True
        )


def _parallel_forms(report: StudyReport) -> Iterator[Section]:
    """Both forms by themselves and against each other, in a study that has them."""
    figures = report.forms
    if figures is None:
        return
    n_people = sum(figures.n_first)
    by_form = (
        stat_row(f"Form {letter}: {form.title}", "sessions", stats=_in_percent(form.stats), n=form.n_sessions)
        for letter, form in zip("AB", figures.forms, strict=True)
    )
    compared = (("Form B minus form A", figures.difference), ("Second text minus first", figures.order))
    by_person = (
        stat_row(title, "people with both", stats=_in_percent(stats), n=n_people) for title, stats in compared
    )
    names = (Name("figure", "Form"), Name("of", "Over"))
    table = Table("forms", "Parallel forms", names, (*SCORES, COUNTED), (*by_form, *by_person))
    n_a, n_b = figures.n_first
    about = (
        "Final texts, means over sessions. The differences are paired by person, both orders weighted equally, "
        f"with a 95 % interval by Student's t. Of the people with both texts {n_a} began with form A and {n_b} "
        "with form B."
    )
    yield Section("forms-part", "Parallel forms", (table,), about=about)


def _in_percent(stats: Mapping[str, Stat]) -> dict[str, Stat]:
    return {name: stat.scaled(100) for name, stat in stats.items()}


def _on_leaderboard(report: StudyReport, average: str) -> str:
    """Where systems stand beside these people."""
    chosen = {"judge": report.judge_uid, "average": average}
    if len(report.haystacks) == 1:
        chosen["haystack"] = report.haystacks[0]
    return f"{reverse('annotation:leaderboard')}?{urlencode(chosen)}"


def _marks(report: StudyReport) -> Table:
    rows = []
    for points in zip(*(curve.points for curve in report.curves), strict=True):
        stats: dict[str, Value | Cell] = {
            name: point.mean.scaled(100) for name, point in zip(MEASURES, points, strict=True)
        }
        rows.append(Row((f"{points[0].mark_ms / 60_000:g}",), {"n": points[0].n_sessions, **stats}))
    names = (Name("minutes", "Active minutes"),)
    return Table("marks", "Mean at each mark", names, (COUNTED, *SCORES), tuple(rows), is_never_cut=True)


def _sessions(report: StudyReport, query: QueryDict | None) -> Table:
    names = (
        Name("annotator", "Annotator", is_filter=True),
        Name("subtopic", "Subtopic", is_filter=True),
        Name("state", "State", is_filter=True),
    )
    minutes = Measure("minutes", "Active time, min", Unit.MINUTES)
    ceiling = Measure("ceiling", "Ceiling", Unit.POINTS)
    review = Measure("review", "Review", Unit.TEXT)
    rows = tuple(_session(row, query) for row in report.sessions)
    return Table("sessions", "Sessions", names, (minutes, *SCORES, ceiling, review), rows)


def _session(row: SessionRow, query: QueryDict | None) -> Row:
    stats: dict[str, Value | Cell] = {
        name: None if stat is None else stat.scaled(100) for name, stat in zip(MEASURES, row.stats, strict=True)
    }
    ceiling = None if row.ceiling_f1 is None else 100 * row.ceiling_f1
    more = {"minutes": row.minutes, "ceiling": ceiling, "review": "; ".join(row.flags)}
    kept = f"?{query.urlencode()}" if query else ""
    return Row(
        (row.pseudonym, row.subtopic, row.state),
        {**stats, **more},
        url=reverse("annotation:session-results", args=[row.uid]) + kept,
        marks=(Mark("excluded", warns=True),) if row.is_excluded else (),
    )


def _choice(label: str, **choices: str) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[*choices.items()], required=False, label=label)


class ViewForm(forms.Form):
    """How to look at results; every choice has a default, so that a plain address works.

    One that was `read` has the judge (`chosen`), and the other choices as `study_report` takes them (`shown`).
    """

    chosen: Judge
    defaults: dict[str, Any]
    shown: dict[str, bool]

    judge = _choice("Judge")
    insights = _choice("Insights", all="all of the subtopic", present="only those in the documents shown")
    average = _choice(
        "Mean", carried="ended sessions keep their last score", working="only sessions still running"
    )
    texts = _choice(
        "Texts",
        submitted="as recorded",
        late="late text where one was accepted",
        typed="as typed by the mark, also if it arrived later",
    )
    running = forms.ChoiceField(
        choices=[("", "finished ones"), ("running", "running ones too")],
        required=False,
        label="Sessions",
    )

    def __init__(self, data: Any, *, judges: Sequence[Judge]) -> None:
        super().__init__(data)
        self.fields["judge"].choices = [(judge.uid, str(judge)) for judge in judges]  # type: ignore[attr-defined]

    @classmethod
    def read(cls, query: Any, *, judges: Sequence[Judge], default: Judge) -> ViewForm:
        """Read what an address asks for, an unknown judge being the default one."""
        form = cls(query, judges=judges)
        form.is_valid()
        data = form.cleaned_data
        judge = next((judge for judge in judges if str(judge.uid) == data.get("judge")), default)
        bound = cls({**data, "judge": judge.uid}, judges=judges)
        bound.chosen, bound.defaults = judge, {"judge": default.uid}
        bound.shown = {
            "present_only": data.get("insights") == "present",
            "carried": data.get("average") != "working",
            "with_late": data.get("texts") == LATE,
            "as_typed": data.get("texts") == TYPED,
            "with_running": data.get("running") == "running",
        }
        return bound
