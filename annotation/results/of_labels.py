"""Results of any kind of study with labels: people, judges beside them, how each person worked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from django.db.models import Count, Max, Q, Sum
from django.http import QueryDict
from django.utils.text import capfirst

from annotation.kinds import Headline, Text, kind_named
from annotation.models import LabelTask, Study
from annotation.results import judges as judging
from annotation.results import people as among
from annotation.results.charts import forest, small_agreement
from annotation.results.frames import CLUSTER, ITEM, Categories, Verdicts, frame_of
from annotation.results.judge_sections import judge_cards, judge_parts, judge_table, judges_answer
from annotation.results.judges import JudgeReport, judge_report
from annotation.results.people import Agreement, agreement
from annotation.results.planning import Plannable, agreement_of
from annotation.results.sections import notable, people_look, people_parts, questions_look
from annotation.results.study import OfStudy, study_or_gone
from annotation.results.study_results import StudyResults
from annotation.results.table import LabelTable
from annotation.studies.amounts import in_figures
from annotation.studies.members import names_of
from annotation.studies.overview import Speed, people_of
from benchmarks.models import Judge, ModelPrice
from benchmarks.results.computation import CannotCompute, Computation, register, totals
from benchmarks.results.sheet import (
    Cell,
    Measure,
    Name,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    first_look,
)
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import shared_draws
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
    answered = [(question, question.people) for question in figures.questions if question.people is not None]
    each = _people(figures, titles)
    if not answered:
        return Sheet(first_look("There are no answers yet. Figures appear with the first one.", more=each))
    people: tuple[Part, ...]
    reports = [(question, question.judges) for question, _people_ in answered if question.judges is not None]
    if len(figures.questions) == 1:
        people = people_look(answered[0][1], more=each, reading=[_counted(answered[0][1])])
        judges = tuple(_beside("", report) for _question, report in reports)
    else:
        of_each = (
            Section(f"{question.key}-people", _title(question, titles),
                    people_parts(agreement, prefix=f"{question.key}-"), about=_counted(agreement))
            for question, agreement in answered
        )  # fmt: skip
        rows = [(question.key, _title(question, titles), agreement) for question, agreement in answered]
        people = questions_look(rows, more=(*of_each, *each))
        judges = tuple(
            (Section(f"{question.key}-beside", _title(question, titles), _beside(f"{question.key}-", report)),)
            for question, report in reports
        )
    pages = [Section("people", "People", people, is_page=True)]
    if judges:
        pages.append(Section("judges", "Judges", tuple(chain.from_iterable(judges)), is_page=True))
    return Sheet(tuple(pages))


def _title(question: QuestionFigures, titles: Mapping[str, Text]) -> str:
    return str(titles.get(question.key) or capfirst(question.key.replace("_", " ")))


def _counted(people: Agreement) -> str:
    return (
        f"{people.n_items} items labelled by {in_figures(len(people.people), 'person', 'people')}, "
        f"{people.n_pairable} of them by two or more. Intervals (95 %) resample {people.cluster_unit}."
    )


def _beside(prefix: str, report: JudgeReport) -> tuple[Part, ...]:
    chart = forest(report, "pearson")
    return first_look(
        judges_answer(report),
        cards=judge_cards(report, f"{prefix}judge-cards"),
        chart=chart and chart.renamed(f"{prefix}{chart.name}"),
        table=judge_table(report, key=f"{prefix}judges", only=_of_labels(report)),
        more=judge_parts(report, prefix=prefix),
        prefix=f"{prefix}judges-",
    )


def _of_labels(report: JudgeReport) -> list[str]:
    """The figures of judges, without those of links where nothing was linked."""
    stats = [(name, stat) for row in report.rows for name, stat in row.stats.items()]
    return list(dict.fromkeys(name for name, stat in stats if stat.is_defined or not name.startswith("linking")))


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
        values: dict[str, Value] = {"done": worker.n_done}
        if speed := worker.speed:
            values |= {"median": speed.median_seconds, "per_hour": speed.per_hour, "fast": speed.fast}
        return Row((worker.name,), values)

    return Table(
        "speed",
        "Speed",
        (Name("annotator", "Annotator"),),
        (
            Measure("done", "Tasks done", Unit.COUNT),
            Measure("median", "Median, s", Unit.SECONDS, "active time of a task; half of them took less"),
            Measure("per_hour", "Tasks an hour", Unit.COUNT, "of active time"),
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


def _speed_json(speed: Speed | None) -> dict[str, Any]:
    return {
        "median_seconds": speed and speed.median_seconds,
        "per_hour": speed and speed.per_hour,
        **stat_json({"fast": speed.fast if speed else Stat.undefined("no time is known")}),
    }


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a kind: the field of an answer with the label, and the rest as `frame_of` takes it.

    `model` is that of the answers of the kind, if no other is named.
    """

    value: str
    categories: Categories
    model: Any = None
    item: Sequence[str] = ()
    cluster: Sequence[str] = CLUSTER
    unit: str = "blocks"
    verdicts: Callable[[], Verdicts] | None = None


class LabelResults(StudyResults[OfStudy, LabelFigures]):
    """The results of a kind whose answers are labels.

    `questions` say in which fields the labels are, by name; `titles` are the names of questions on pages.
    """

    def __init__(self, *, questions: Mapping[str, Question], titles: Mapping[str, Text] | None = None) -> None:
        self.questions, self.titles = questions, titles or {}

    @property
    def computation(self) -> Computation[OfStudy, LabelFigures]:  # type: ignore[override]
        """One for all kinds, which asks the kind of the study."""
        return LABELS

    def labels(self, study: Study) -> Mapping[str, LabelTable]:
        return {
            key: frame_of(
                study,
                model=_model(study, question),
                value=question.value,
                categories=question.categories,
                item=question.item or _item(study),
                cluster=question.cluster,
                unit=question.unit,
                verdicts=question.verdicts() if question.verdicts else None,
            )
            for key, question in self.questions.items()
        }

    def facts_of(self, study: Study) -> object:
        of_people = [
            _model(study, question).objects.filter(study=study).for_figures() for question in self._apart(study)
        ]
        judged = [question.verdicts().counted for question in self.questions.values() if question.verdicts]
        return totals(*of_people, *judged), _judge_facts() if judged else ()

    def _apart(self, study: Study) -> list[Question]:
        """A question for each model of answers."""
        return list({_model(study, question): question for question in self.questions.values()}.values())

    def sheet(self, study: Study, figures: LabelFigures, query: QueryDict) -> Sheet:
        return sheet(figures, self.titles)

    def as_json(self, figures: LabelFigures) -> dict[str, Any]:
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

    def plannable(self, study: Study) -> Sequence[Plannable]:
        return [
            agreement_of(key, str(self.titles.get(key, key)), table.cluster_unit, table.ratings())
            for key, table in self.labels(study).items()
        ]

    def headline(self, figures: LabelFigures) -> Headline:
        question = _first(figures)
        if question is None or question.people is None:
            return Headline(0, 0, None)
        people, n_judges = question.people, len(question.judges.rows) if question.judges else 0
        return Headline(
            people.n_items,
            len(people.people),
            n_judges,
            people.cards["percent"],
            people.cards["randolph"],
            notable=notable(people),
        )

    def card(self, figures: LabelFigures) -> Chart | None:
        question = _first(figures)
        if question is None or question.people is None:
            return None
        return small_agreement(question.people, question.judges, "Correlation with people")


def _first(figures: LabelFigures) -> QuestionFigures | None:
    return next((question for question in figures.questions if question.people is not None), None)


def _model(study: Study, question: Question) -> Any:
    kind: Any = kind_named(study.kind)
    return question.model or kind.answers.model


def _item(study: Study) -> Sequence[str]:
    """The fields that tell what was labelled, where the answers of a kind are about questions of an item, too."""
    kind: Any = kind_named(study.kind)
    return (*ITEM, "insight") if kind.answers.by_insight else ITEM


def _judge_facts() -> object:
    """Names and costs of judges, up to their last finished run. Two queries."""
    known = Judge.objects.counted().order_by("pk").annotate(Max("runs__finished_at"))
    prices = tuple(ModelPrice.objects.order_by("pk").values_list())
    return tuple(known.values_list("pk", "name", "version", "published_cost", "runs__finished_at__max")), prices


# Computed by workers


def _results(study: Study) -> LabelResults:
    results = getattr(kind_named(study.kind), "results", None)
    if not isinstance(results, LabelResults):
        raise CannotCompute("Studies of this kind have other results.")
    return results


def _compute(options: OfStudy) -> LabelFigures:
    study = study_or_gone(options.study)
    names = names_of(study, public=options.is_public)
    questions = []
    with shared_draws():
        for key, table in _results(study).labels(study).items():
            questions.append(_question_figures(key, table.anonymous() if options.is_public else table))
    workers = (
        Worker(names[row["member"].annotator_id], row["tasks"].get(LabelTask.State.DONE, 0), row["speed"])
        for row in people_of(study)
    )
    return LabelFigures(tuple(questions), tuple(worker for worker in workers if worker.n_done))


def _question_figures(key: str, table: LabelTable) -> QuestionFigures:
    if not len(table.codes):
        return QuestionFigures(key, None, None, {})
    choices = {
        person.name: {
            label: int(np.count_nonzero(table.codes[:, column] == code))
            for code, label in enumerate(table.categories)
        }
        for column, person in enumerate(table.people)
        if (table.codes[:, column] != MISSING).any()
    }
    return QuestionFigures(key, agreement(table), judge_report(table) if table.judges else None, choices)


def _all_facts(options: OfStudy) -> object:
    """Labels, names, and how far and how fast people are."""
    study = study_or_gone(options.study)
    done = Count("pk", filter=Q(state=LabelTask.State.DONE))
    work = study.label_tasks.order_by().aggregate(n_done=done, active_ms=Sum("active_ms"))
    return _results(study).facts_of(study), names_of(study, public=False), sorted(work.items())


LABELS = register(Computation("labels", options=OfStudy, figures=LabelFigures, compute=_compute, facts=_all_facts))
