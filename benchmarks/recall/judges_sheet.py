"""How judges rank systems laid out: recall and rank by each judge, and how alike two of them are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.recall.charts import caption_of
from benchmarks.recall.figures import Group
from benchmarks.recall.measures import MACRO, QUESTIONS
from benchmarks.recall.systems import Systems
from benchmarks.results.sheet import Cell, Measure, Name, Note, Part, Row, Section, Table, Unit
from benchmarks.scoring.keypoints import best_and_second
from benchmarks.scoring.stat import Stat


def placed(column: Mapping[str, Stat]) -> dict[str, Cell]:
    """The best and the second of a column, where there are two to compare."""
    best, second = best_and_second(column) if len(column) > 1 else (frozenset(), frozenset())
    return {
        name: Cell(stat, place=1 if name in best else 2 if name in second else 0) for name, stat in column.items()
    }


def crossed(groups: Iterable[Group], column_of: Any) -> dict[str, dict[str, Cell]]:
    """{system: {column: its recall, best and second marked}}; all groups are by one judge or in its column."""
    columns: dict[str, dict[str, Stat]] = {}
    for group in groups:
        columns.setdefault(column_of(group), {})[group.system] = group.scores.kpr_macro
    cells: dict[str, dict[str, Cell]] = {}
    for name, column in columns.items():
        for system, cell in placed(column).items():
            cells.setdefault(system, {})[name] = cell
    return dict(sorted(cells.items()))


def _ranks(column: Mapping[str, Cell]) -> dict[str, int]:
    """1 for the highest recall of a column; equals share a rank, and the next one is as many further."""
    known = {
        system: cell.value.value
        for system, cell in column.items()
        if isinstance(cell.value, Stat) and cell.value.value is not None
    }
    return {system: 1 + sum(other > value for other in known.values()) for system, value in known.items()}


def judges_section(systems: Systems) -> Iterator[Section]:
    """Systems by judge with their ranks, and rank correlations of judges with the systems that they swap."""
    parts: list[Part] = []
    if systems.shared:
        cells = crossed(systems.shared, lambda group: group.judge)
        judges = sorted({group.judge for group in systems.shared})
        measures = [
            *(replace(MACRO, key=judge, title=judge) for judge in judges),
            *(Measure(f"rank_{judge}", f"Rank, {judge}", Unit.COUNT) for judge in judges),
        ]
        for judge in judges:
            column = {system: by_judge[judge] for system, by_judge in cells.items() if judge in by_judge}
            for system, rank in _ranks(column).items():
                cells[system][f"rank_{judge}"] = Cell(rank)
        parts = [
            Note(f"{caption_of(systems.shared_counted)}."),
            Table(
                "systems-by-judge", "Systems by judge", (Name("system", _("System")),), tuple(measures),
                tuple(Row((system,), values) for system, values in cells.items()), default=judges[0],
            ),
        ]  # fmt: skip
    else:
        parts = [Note("No question was answered by all systems and judged by all judges.", warns=True)]
    rows = [
        Row(
            (pair.first, pair.second),
            {
                "n_systems": len(pair.found.means),
                "n_questions": pair.n_questions,
                "kendall": pair.found.kendall,
                "spearman": pair.found.spearman,
                "swapped": "; ".join(f"{better} and {worse}" for better, worse in pair.found.swapped) or _("none"),
            },
        )
        for pair in systems.ranking
    ]
    ranking = (
        Measure("n_systems", "Systems", Unit.COUNT),
        QUESTIONS,
        Measure("kendall", "Kendall τ", has_badge=False),
        Measure("spearman", "Spearman ρ", has_badge=False),
        Measure("swapped", "Swapped", Unit.TEXT),
    )
    about = (
        "Rank correlation of two judges over the systems that both judged, by mean recall. 1 is the same order, "
        "−1 the reverse. Intervals resample questions; there is none under 4 systems."
    )
    names = (Name("first", "Judge"), Name("second", "and"))
    parts.append(Table("ranking", "How alike judges rank systems", names, ranking, tuple(rows), about=about))
    yield Section("judges", _("Judges"), tuple(parts))
