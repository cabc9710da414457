"""How people get better, laid out: a chart of everybody, and its figures in a table below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.http import QueryDict

from annotation.kinds import Tab
from annotation.models import Study
from annotation.results.learning import LEARNING, PARTS, Learner, Learning, Right
from annotation.results.study import OfStudy
from annotation.results.study_results import StudyResults
from benchmarks.results.sheet import Cell, Drawing, Measure, Name, Note, Row, Section, Sheet, Table, Unit
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, colour_of

TAB = Tab(
    "learning",
    "Learning",
    "annotation:study-learning",
    "people",
    "annotation.view_session",
    needs_plan=True,
)
KEY = "learning"


class LearningResults(StudyResults[OfStudy, Learning]):
    """How people get better in a study of label work."""

    computation = LEARNING
    heading = "Learning"
    here = TAB.here
    downloads_template = ""

    def sheet(self, study: Study, figures: Learning, query: QueryDict) -> Sheet:
        return sheet(figures)

    def as_json(self, figures: Learning) -> Any:
        return {"people": [asdict(learner) for learner in figures.people], "everyone": asdict(figures.everyone)}


RESULTS = LearningResults()


def sheet(figures: Learning) -> Sheet:
    """One section, or that there is nothing yet."""
    if not figures.people:
        none = "Nobody has finished a trial or answered a hidden check yet."
        return Sheet((Note(none, is_empty=True),))
    about = (
        "Right answers in each try of the trial, which is training and in no other figure, and to hidden "
        f"checks over the course of the work: {PARTS} parts of about as many checks each, as they were "
        "answered. Few answers say little: look at the intervals in the table."
    )
    return Sheet(
        (
            Section(
                KEY,
                "Share of right answers",
                (Drawing(_chart(figures), table=KEY), _table(figures)),
                about=about,
            ),
        )
    )


def _lines(figures: Learning) -> Iterator[tuple[Learner, str, str, tuple[Right, ...]]]:
    """Whose line, what it is called, what it is of, and its points."""
    everyone = [(figures.everyone, "everybody")] if len(figures.people) > 1 else []
    for learner, name in [*((each, each.name) for each in figures.people), *everyone]:
        for panel, points in (
            ("Trial, by try", learner.tries),
            ("Hidden checks, over the course", learner.course),
        ):
            if points:
                yield learner, name, panel, points


def _table(figures: Learning) -> Table:
    rows = tuple(
        Row(
            (name, panel, str(place)),
            {
                "share": Cell(right.share, aside=f"{100 * right.low:.0f} – {100 * right.high:.0f} %"),
                "right": right.n_right,
                "n": right.n,
                "low": right.low,
                "high": right.high,
            },
            is_pinned=learner is figures.everyone,
        )
        for learner, name, panel, points in _lines(figures)
        for place, right in enumerate(points, 1)
    )
    return Table(
        KEY,
        "Right answers",
        (Name("annotator", "Annotator", is_filter=True), Name("of", "Of"), Name("place", "Try or part")),
        (
            Measure("share", "Right", Unit.SHARE, "with a 95 % Wilson interval"),
            Measure("right", "Right answers", Unit.COUNT),
            Measure("n", "Answers", Unit.COUNT),
            Measure("low", "Right, from", Unit.SHARE, is_extra=True),
            Measure("high", "Right, to", Unit.SHARE, is_extra=True),
        ),
        rows,
    )


def _chart(figures: Learning) -> Chart:
    words = Words(
        name=KEY,
        title="Do people get better?",
        subtitle="Share of right answers in the trial and to hidden checks.",
        value="right, percent",
        x="try or part",
        digits=0,
    )
    lines = list(_lines(figures))
    points = [
        Point(
            series=name,
            panel=panel,
            x=float(place),
            value=100 * right.share,
            n=right.n,
            kind=Kind.MAIN if learner is figures.everyone or len(figures.people) == 1 else Kind.THIN,
        )
        for learner, name, panel, rights in lines
        for place, right in enumerate(rights, 1)
    ]
    names = list(dict.fromkeys(name for _learner, name, _panel, _points in lines))
    last = max(len(rights) for _learner, _name, _panel, rights in lines)
    places = tuple(float(place) for place in range(1, last + 1))
    layout = Lines(
        x_domain=(0.5, last + 0.5),
        domain=(0.0, 100.0),
        colours=[(name, colour_of(at)) for at, name in enumerate(names)],
        x_values=places,
        x_names=tuple(f"{place:.0f}" for place in places),
        panels_beside=2 if len({panel for _learner, _name, panel, _rights in lines}) > 1 else 0,
    )
    return Chart(words, points, layout)
