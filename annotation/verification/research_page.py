"""What the page of agreement on key points shows, and its figures as a worker computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.figures import present
from annotation.figures.charts import small_dots
from annotation.figures.files import STAT_COLUMNS, stat_cells
from annotation.figures.judges import JudgeReport, JudgeRow
from annotation.figures.people import Agreement
from annotation.figures.tables import WITHOUT, figure_column, named_figure
from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.study import study_or_gone
from annotation.verification.agreement import GroupRow, PersonRow, TaskAgreement, task_agreement, task_json
from annotation.verification.labels import collect, data_version
from annotation.verification.machines import FIGURES as MACHINE_FIGURES
from annotation.verification.machines import machines, machines_version, stats_of, threshold_of
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.retention import Task
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart
from benchmarks.web.tables import Column, Table

N_CARDS = 6
CONTROL, ALL = "control", "all"


@dataclass(frozen=True, slots=True)
class Look:
    """Which items and people of a study count: the options of the stored figures.

    `scope` is the control group or all items, empty for the control group where there is one; `threshold` is where
    AutoDS scores begin to keep. With `is_public` people appear under their pseudonyms.
    """

    study: int
    threshold: float
    scope: str = ""
    people: tuple[str, ...] = ()
    is_public: bool = False

    @classmethod
    def at(cls, study: Study) -> Look:
        """A study as its page shows it first."""
        return cls(study.pk, threshold_of(study))


@dataclass(frozen=True, slots=True)
class KeyPointFigures:
    """All tasks under one look: which items, which people."""

    scope: str
    has_control: bool
    n_items: int
    n_control: int
    n_questions: int
    people: tuple[tuple[str, str], ...]
    threshold: float
    tasks: tuple[TaskAgreement, ...]


def headline(study: Study) -> Headline:
    """How many key points were judged, and how far people agree on which are kept."""
    figures = _figures(Look.at(study))
    keep = next((one.people for one in figures.tasks if one.task == Task.KEEP), None)
    if keep is None:
        return Headline(figures.n_items, len(figures.people), None)
    return Headline(figures.n_items, len(figures.people), None, keep.cards["percent"], keep.cards["randolph"])


def headline_facts(study: Study) -> object:
    """All that the headline and the small plot of a study depend on."""
    return threshold_of(study), _facts(Look.at(study))


def _facts(look: Look) -> object:
    study = study_or_gone(look.study)
    return data_version(study), machines_version(study)


def _figures(look: Look) -> KeyPointFigures:
    study = study_or_gone(look.study)
    table = collect(study)
    everybody = tuple((person.key, person.name) for person in table.people)
    has_control = bool(table.is_control.any())
    scope = look.scope if look.scope in {CONTROL, ALL} else CONTROL if has_control else ALL
    chosen = table.control() if scope == CONTROL else table
    if look.people:
        chosen = chosen.with_people(look.people)
    beside = machines(study, chosen, threshold=look.threshold) if everybody else ()
    return KeyPointFigures(
        scope=scope,
        has_control=has_control,
        n_items=chosen.n_items,
        n_control=int(table.is_control.sum()),
        n_questions=chosen.n_questions,
        people=everybody,
        threshold=look.threshold,
        tasks=tuple(task_agreement(chosen, task, machines=beside, public=look.is_public) for task in Task)
        if everybody
        else (),
    )


KEY_POINTS = register(
    Computation("key-points", options=Look, figures=KeyPointFigures, compute=_figures, facts=_facts)
)


def titles() -> dict[Task, str]:
    """The tasks in words."""
    return {
        Task.GROUNDED: _("Can it be found in the text?"),
        Task.KEY_POINT: _("Is it a key point?"),
        Task.KEEP: _("Keep"),
    }


def explanations() -> dict[Task, str]:
    """How each task is answered, or derived from the answers to the others."""
    return {
        Task.GROUNDED: _("Task 1, yes or no."),
        Task.KEY_POINT: _("Task 2, agree, neutral or disagree; missing for whoever said no in task 1."),
        Task.KEEP: _("Derived: keep is yes and agree, everything else is drop."),
    }


def sections(found: KeyPointFigures, query: QueryDict) -> list[dict[str, Any]]:
    """Each task with its cards, its matrix, and its tables as an address sorts them."""
    return [
        {
            "figures": one,
            "title": titles()[one.task],
            "how": explanations()[one.task],
            "cards": present.cards(one.people)[:N_CARDS],
            "matrix": matrix(one.people),
            "ceiling": one.machines and one.machines.ceiling and _with_stats(one.machines.ceiling),
            "machines": MACHINES.within(one.task).shown(machine_rows(one.machines), query),
            "without": WITHOUT.within(one.task).shown(tuple(one.people.without.items()), query),
            "persons": _persons_table(one).within(one.task).shown(one.persons, query),
            "groups": [
                (title, GROUPS.within(f"{one.task}-{part}").shown(rows, query))
                for part, title, rows in (
                    ("category", _("Category"), one.by_category),
                    ("domain", _("Domain"), one.by_domain),
                )
                if rows
            ],
        }
        for one in found.tasks
    ]


def matrix(found: Agreement) -> list[tuple[str, list[Stat | None]]]:
    """Randolph's kappa of every two people, None where nothing is shared."""
    known = {(pair.a, pair.b): pair.randolph for pair in found.pairs}
    known |= {(b, a): stat for (a, b), stat in known.items()}
    return [(a, [known.get((a, b)) for b in found.people]) for a in found.people]


MACHINES: Table[tuple[JudgeRow, Mapping[str, Stat]]] = Table(
    "machines",
    {
        "name": Column(lambda row: row[0].name),
        "n": Column(lambda row: row[0].n_insights, high_first=True),
        **{name: named_figure(name) for name in MACHINE_FIGURES},
    },
)
GROUPS: Table[GroupRow] = Table(
    "groups",
    {
        "name": Column(lambda row: row.name),
        "n": Column(lambda row: row.percent.n_items, high_first=True),
        "percent": figure_column(lambda row: row.percent),
        "randolph": figure_column(lambda row: row.randolph),
    },
)


def _persons_table(found: TaskAgreement) -> Table[PersonRow]:
    """Answers and speed of each annotator; a column for each answer of the task."""
    labels = [label for label, _n, _share in found.persons[0].shares] if found.persons else []
    return Table(
        "persons",
        {
            "name": Column(lambda row: row.name),
            "n": Column(lambda row: row.n, high_first=True),
            **{label: _share_column(at) for at, label in enumerate(labels)},
            "median": Column(lambda row: row.median_s, high_first=True),
            "fast": Column(lambda row: row.n_fast / row.n_timed if row.n_timed else None, high_first=True),
        },
    )


def _share_column(at: int) -> Column:
    return Column(lambda row: row.shares[at][2], high_first=True)


def machine_rows(report: JudgeReport | None) -> list[tuple[JudgeRow, Mapping[str, Stat]]]:
    """Each machine with its figures."""
    return [_with_stats(row) for row in report.rows] if report is not None else []


def _with_stats(row: JudgeRow) -> tuple[JudgeRow, Mapping[str, Stat]]:
    return row, stats_of(row)


def everything(found: KeyPointFigures) -> dict[str, Any]:
    """All figures as plain values."""
    return {
        "scope": found.scope,
        "autods_threshold": found.threshold,
        "n_key_points": found.n_items,
        "tasks": {one.task.value: task_json(one) for one in found.tasks},
    }


def small_chart(study: Study) -> Chart | None:
    """How far people agree on each task, in a card; None before two have answered the same."""
    found = _figures(Look.at(study))
    names = titles()
    return small_dots(
        _("Randolph's κ of annotators"),
        [(names[one.task], one.people.cards["randolph"]) for one in found.tasks],
        x_label=_("Randolph's κ"),
        caption=_("%(n)d key points, 95 %% intervals") % {"n": found.n_items},
        n_human=len(found.tasks),
    )


AGREEMENT_COLUMNS = ("task", "part", "a", "b", "figure", *STAT_COLUMNS)
PEOPLE_COLUMNS = ("task", "annotator", "n", "label", "count", "share", "median_seconds", "n_timed", "n_fast")


def agreement_rows(found: KeyPointFigures) -> Iterator[tuple[Any, ...]]:
    """Every figure of every task as a row."""
    for one in found.tasks:
        task, people = one.task.value, one.people
        for name, stat in people.cards.items():
            yield (task, "all", "", "", name, *stat_cells(stat))
        for pair in people.pairs:
            for name in ("percent", "randolph", "cohen"):
                yield (task, "pair", pair.a, pair.b, name, *stat_cells(getattr(pair, name)))
        for person, cards in people.without.items():
            for name, stat in cards.items():
                yield (task, "without", person, "", name, *stat_cells(stat))
        for part, rows in (("category", one.by_category), ("domain", one.by_domain)):
            for row in rows:
                yield (task, part, row.name, "", "percent", *stat_cells(row.percent))
                yield (task, part, row.name, "", "randolph", *stat_cells(row.randolph))
        for machine in one.machines.rows if one.machines else ():
            for name, stat in stats_of(machine).items():
                yield (task, "machine", machine.name, "people", name, *stat_cells(stat))


def people_rows(found: KeyPointFigures) -> Iterator[tuple[Any, ...]]:
    """The answers of each annotator and their speed."""
    for one in found.tasks:
        for row in one.persons:
            for label, count, share in row.shares:
                counted = (row.n, label, count, share, row.median_s, row.n_timed, row.n_fast)
                yield (one.task.value, row.pseudonym, *counted)
