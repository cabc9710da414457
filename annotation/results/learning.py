"""How fast people become, and how right, task by task: figures, then how they are laid out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any

from django.http import QueryDict

from annotation.kinds import Tab, kind_named
from annotation.models import Study, Trial
from annotation.results.study import OfStudy, study_or_gone
from annotation.results.study_results import StudyResults
from annotation.studies.members import names_of
from benchmarks.results.computation import Computation, register
from benchmarks.results.sheet import (
    Cell,
    Drawing,
    Measure,
    Name,
    Note,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    values_of,
)
from benchmarks.scoring.formulas import wilson_ends
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, colour_of

PARTS = 5
"""The course is cut into so many parts of about as many checks each, fewer where there are fewer checks."""


@dataclass(frozen=True, slots=True)
class Right:
    """How many answers were right; `low` and `high` are a Wilson interval of the share."""

    n_right: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.n_right / self.n


@dataclass(frozen=True, slots=True)
class Learner:
    """One person: the tries of the trial that are over, and the parts of the course."""

    name: str
    tries: tuple[Right, ...]
    course: tuple[Right, ...]


@dataclass(frozen=True, slots=True)
class Learning:
    """Everybody with either, in the order of the study, and all of them together."""

    people: tuple[Learner, ...]
    everyone: Learner


def right_of(n_right: int, n: int) -> Right:
    low, high = wilson_ends(n_right / n, n)
    return Right(n_right, n, low, high)


def course_of(answers: Sequence[bool]) -> tuple[Right, ...]:
    """The answers in order, cut into parts; the sizes differ by one at most."""
    n, k = len(answers), min(PARTS, len(answers))
    cuts = [at * n // k for at in range(k + 1)] if k else [0]
    parts = [answers[start:end] for start, end in pairwise(cuts)]
    return tuple(right_of(sum(part), len(part)) for part in parts)


def _compute(options: OfStudy) -> Learning:
    study = study_or_gone(options.study)
    tries: dict[int, list[tuple[int, int]]] = {}
    for person, n_right, n_asked in _tries(study):
        tries.setdefault(person, []).append((n_right, n_asked))
    checks = kind_named(study.kind).checks_in_order(study)
    learners = [
        Learner(
            name,
            tuple(right_of(*each) for each in tries.get(person, ())),
            course_of(checks.get(person, ())),
        )
        for person, name in names_of(study, public=options.is_public).items()
        if tries.get(person) or checks.get(person)
    ]
    return Learning(tuple(learners), _together(learners))


def _together(learners: Sequence[Learner]) -> Learner:
    """All people: by try, and by part of the course, whatever its length."""

    def sums(rows: Sequence[Sequence[Right]]) -> Iterator[Right]:
        for at in range(max(map(len, rows), default=0)):
            there = [row[at] for row in rows if len(row) > at]
            yield right_of(sum(each.n_right for each in there), sum(each.n for each in there))

    whole = [learner.course for learner in learners if len(learner.course) == PARTS]
    return Learner("", tuple(sums([learner.tries for learner in learners])), tuple(sums(whole)))


def _tries(study: Study) -> list[tuple[int, int, int]]:
    rows = Trial.objects.filter(study=study, n_asked__gt=0).exclude(ended_at=None).order_by("annotator", "number")
    values = rows.values_list("annotator", "n_right", "n_asked")
    return [(person, n_right or 0, n_asked) for person, n_right, n_asked in values]


def _facts(options: OfStudy) -> object:
    """Tries, checks and names are few, so they are the facts themselves."""
    study = study_or_gone(options.study)
    checks = kind_named(study.kind).checks_in_order(study)
    return _tries(study), sorted(checks.items()), list(names_of(study, public=options.is_public).items())


LEARNING = register(Computation("learning", options=OfStudy, figures=Learning, compute=_compute, facts=_facts))


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
    measures = (
        Measure("share", "Right", Unit.SHARE, "with a 95 % Wilson interval", of=_with_ends),
        Measure("right", "Right answers", Unit.COUNT, of=attrgetter("n_right")),
        Measure("n", "Answers", Unit.COUNT),
        Measure("low", "Right, from", Unit.SHARE, is_extra=True),
        Measure("high", "Right, to", Unit.SHARE, is_extra=True),
    )
    rows = tuple(
        Row((name, panel, str(place)), values_of(measures, right), is_pinned=learner is figures.everyone)
        for learner, name, panel, points in _lines(figures)
        for place, right in enumerate(points, 1)
    )
    return Table(
        KEY,
        "Right answers",
        (Name("annotator", "Annotator", is_filter=True), Name("of", "Of"), Name("place", "Try or part")),
        measures,
        rows,
    )


def _with_ends(right: Right) -> Cell:
    return Cell(right.share, aside=f"{100 * right.low:.0f} – {100 * right.high:.0f} %")


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
