"""Figures of the labels of any kind of study, by question and by person, and how they are laid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.kinds import Text
from annotation.results import judges as judging
from annotation.results import people as among
from annotation.results.charts import forest, of_pairs
from annotation.results.judge_sections import judge_parts
from annotation.results.judges import JudgeReport
from annotation.results.people import Agreement
from annotation.results.sections import people_parts
from annotation.studies.overview import Speed
from benchmarks.results.sheet import (
    Cell,
    Drawing,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
)
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.web.charts import Chart


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """The figures of one question; `people` is None before the first label. `given` counts labels by person."""

    key: str
    people: Agreement | None
    judges: JudgeReport | None
    given: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Worker:
    """One person: how many tasks are done, and how fast items were, if any took time."""

    name: str
    n_done: int
    speed: Speed | None


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """All figures of the labels of a study, by question, and how its people worked."""

    questions: tuple[QuestionFigures, ...]
    workers: tuple[Worker, ...]


def sheet(figures: LabelFigures, titles: Mapping[str, Text]) -> Sheet:
    """All that a page, a file or the console shows of labels."""
    with_people = [question for question in figures.questions if question.people is not None]
    if not with_people:
        waiting = Note("There are no answers yet. Figures appear with the first one.", is_empty=True)
        return Sheet((waiting, *_people(figures, titles)))
    parts: list[Part] = []
    for figures_of_question in with_people:
        prefix = f"{figures_of_question.key}-" if len(figures.questions) > 1 else ""
        parts += _question(figures_of_question, prefix, _title(figures_of_question, titles) if prefix else "")
    return Sheet((*parts, *_people(figures, titles)))


def _title(question: QuestionFigures, titles: Mapping[str, Text]) -> str:
    return str(titles.get(question.key) or capfirst(question.key.replace("_", " ")))


def _question(question: QuestionFigures, prefix: str, title: str) -> Iterable[Part]:
    people, report = question.people, question.judges
    if people is None:
        return
    n = len(people.people)
    note = ngettext(
        "%(items)d items labelled by %(n)d person, %(shared)d of them by two or more. Intervals (95 %%) resample "
        "%(unit)s.",
        "%(items)d items labelled by %(n)d people, %(shared)d of them by two or more. Intervals (95 %%) resample "
        "%(unit)s.",
        n,
    ) % {"items": people.n_items, "n": n, "shared": people.n_pairable, "unit": people.cluster_unit}
    chart = of_pairs(people)
    yield Section(
        f"{prefix}people",
        _headed(title, "People among themselves"),
        (Note(note), *people_parts(people, prefix=prefix, is_one_of_many=bool(prefix)), *_drawn(chart, prefix)),
    )
    if report is not None:
        drawn = _drawn(forest(report, "pearson"), prefix)
        parts = (*drawn, *judge_parts(report, prefix=prefix, only=_of_labels(report)))
        yield Section(f"{prefix}beside", _headed(title, "Judges beside people"), parts)


def _of_labels(report: JudgeReport) -> list[str]:
    """The figures of judges, without those of links where nothing was linked."""
    stats = [(name, stat) for row in report.rows for name, stat in row.stats.items()]
    return list(dict.fromkeys(name for name, stat in stats if stat.is_defined or not name.startswith("linking")))


def _headed(title: str, heading: str) -> str:
    return f"{title}: {heading[:1].lower()}{heading[1:]}" if title else heading


def _drawn(chart: Chart | None, prefix: str) -> Iterable[Drawing]:
    return () if chart is None else (Drawing(chart.renamed(f"{prefix}{chart.name}")),)


def _people(figures: LabelFigures, titles: Mapping[str, Text]) -> Iterable[Section]:
    is_one = len(figures.questions) == 1
    choices = tuple(
        _choices(
            question,
            "given" if is_one else f"{question.key}-given",
            "Labels given" if is_one else _title(question, titles),
        )
        for question in figures.questions
        if question.given
    )
    workers = (_workers(figures),) if figures.workers else ()
    if choices or workers:
        yield Section("each", "Each person", (*workers, *choices))


def _workers(figures: LabelFigures) -> Table:
    def row(worker: Worker) -> Row:
        if worker.speed is None:
            return Row((worker.name,), {"done": worker.n_done})
        speed: dict[str, Value] = {
            "median": worker.speed.median_seconds,
            "per_hour": worker.speed.per_hour,
            "fast": worker.speed.fast,
        }
        return Row((worker.name,), {"done": worker.n_done, **speed})

    return Table(
        "speed",
        "Speed",
        (Name("annotator", "Annotator"),),
        (
            Measure("done", "Tasks done", Unit.COUNT),
            Measure("median", "Median, s", Unit.SECONDS, "active time of a task; half of them took less"),
            Measure("per_hour", "Tasks an hour", Unit.COUNT, _("of active time")),
            Measure("fast", "Under 5 s", Unit.SHARE, "share of tasks that took less active time"),
        ),
        tuple(row(worker) for worker in figures.workers),
        about="Active time, without training and hidden questions.",
    )


def _choices(question: QuestionFigures, key: str, title: str) -> Table:
    labels = list(next(iter(question.given.values())))

    def row(name: str, counts: Mapping[str, int]) -> Row:
        n = sum(counts.values())
        shares = {label: Cell(count, aside=f"{100 * count / n:.0f} %") for label, count in counts.items()}
        return Row((name,), {"n": n, **shares})

    return Table(
        key,
        title,
        (Name("annotator", "Annotator"),),
        (Measure("n", "Labels", Unit.COUNT), *(Measure(label, label, Unit.COUNT) for label in labels)),
        tuple(row(name, counts) for name, counts in question.given.items()),
        about="How often each person gave each label.",
    )


def as_json(figures: LabelFigures) -> dict[str, Any]:
    """Plain values by question, and how each person worked."""
    return {
        "questions": {
            question.key: {
                "people": question.people and among.as_json(question.people),
                "judges": [] if question.judges is None else judging.as_json(question.judges),
                "given": {name: dict(counts) for name, counts in question.given.items()},
            }
            for question in figures.questions
        },
        "annotators": [
            {"annotator": worker.name, "n_done": worker.n_done, **_speed_json(worker.speed)}
            for worker in figures.workers
        ],
    }


def _speed_json(speed: Speed | None) -> dict[str, Any]:
    if speed is None:
        return {
            "median_seconds": None,
            "per_hour": None,
            **stat_json({"fast": Stat.undefined("no time is known")}),
        }
    return {
        "median_seconds": speed.median_seconds,
        "per_hour": speed.per_hour,
        **stat_json({"fast": speed.fast}),
    }
