"""What the page of key point recall shows, one judge at a time: tables, the paper's table, the plot of lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.recall.figures import Group, Judged, Table, by_dimension, cross, lengths, overall
from benchmarks.recall.plain import stats
from benchmarks.scoring.intervals import shared_draws
from benchmarks.scoring.keypoints import KeyPointScores, best_and_second, recall
from benchmarks.scoring.stat import Stat
from benchmarks.web.plots import Plot, Series, ticks

OVERALL = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of the table of categories; `rank` is 1 for the best of its column, 2 for the second, else 0."""

    stat: Stat | None
    rank: int


@dataclass(frozen=True, slots=True)
class CategoryTable:
    """Systems by category, recall only; `columns` are the categories, then all of them together."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A table of groups."""

    key: str
    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything of one judge."""

    judge: str
    overall: KeyPointScores
    systems: tuple[tuple[Group, float], ...]
    categories: CategoryTable
    splits: tuple[Split, ...]
    plot: Plot | None


def chosen_judge(table: Table, name: str) -> str:
    """The judge named, else the one that judged most responses, the first of equals."""
    if name in table.judges:
        return name
    counted = [(-sum(row.judge == judge for row in table.rows), judge) for judge in table.judges]
    return min(counted)[1] if counted else ""


def page_of(table: Table, judge: str) -> Page:
    """The figures of one judge."""
    rows = table.of_judge(judge).rows
    titles = {
        "category": _("By category"),
        "domain": _("By domain"),
        "document_length": _("By words of the documents"),
        "response_length": _("By words of the response"),
    }
    with shared_draws():
        words = lengths(rows)
        return Page(
            judge=judge,
            overall=overall(rows),
            systems=tuple((group, words[group.name][0]) for group in by_dimension(rows, "system")),
            categories=category_table(rows),
            splits=tuple(Split(key, title, by_dimension(rows, key)) for key, title in titles.items()),
            plot=length_plot(rows),
        )


def category_table(rows: tuple[Judged, ...]) -> CategoryTable:
    """The table of the paper: recall of each system in each category, best and second marked in every column."""
    found = cross(rows, "category")
    columns = sorted({name for groups in found.values() for name in groups})
    cells: dict[str, dict[str, Stat]] = {
        name: {system: groups[name] for system, groups in found.items() if name in groups} for name in columns
    }
    systems = sorted(found)
    cells[OVERALL] = {system: recall([row.answer for row in rows if row.system == system]) for system in systems}
    marks = {name: best_and_second(column) for name, column in cells.items()}

    def cell(system: str, name: str) -> Cell:
        best, second = marks[name]
        rank = 1 if system in best else 2 if system in second else 0
        return Cell(cells[name].get(system), rank if len(cells[name]) > 1 else 0)

    names = (*columns, OVERALL)
    return CategoryTable(names, tuple((system, tuple(cell(system, name) for name in names)) for system in systems))


def length_plot(rows: tuple[Judged, ...]) -> Plot | None:
    """Mean words of each system's responses against its recall, with intervals."""
    words = lengths(rows)
    series, described = [], []
    for number, (system, (length, _mean)) in enumerate(words.items()):
        stat = recall([row.answer for row in rows if row.system == system])
        if stat.value is None:
            continue
        low, high = (
            ([100 * stat.low], [100 * stat.high]) if stat.low is not None and stat.high is not None else ([], [])
        )
        series.append(
            Series(system, [length], [100 * stat.value], kind="points", lows=low, highs=high, colour=number)
        )
        described.append(
            _("%(system)s: %(words)d words, %(recall).1f") % {
                "system": system, "words": round(length), "recall": 100 * stat.value,
            }
        )  # fmt: skip
    if not series:
        return None
    right = max(series[at].xs[0] for at in range(len(series))) * 1.1 + 1
    return Plot(
        title=_("Recall and length of responses"),
        x_label=_("mean words of a response"),
        y_label=_("key point recall in %"),
        series=series,
        x_range=(0, right),
        x_ticks=ticks(0, right),
        caption=_("%(n)d responses; 95 %% intervals resample questions.") % {"n": len(rows)},
        alt="; ".join(described),
    )


FILE_COLUMNS = (
    "dimension", "name", "judge", "n_questions", "n_key_points", "n_responses", "figure", "value", "low", "high",
    "n", "clusters", "method", "reason",
)  # fmt: skip


def figure_rows(report: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """All figures of a report as rows of a file; what is undefined is empty, with its reason."""
    overall = [{"name": "", **report["overall"]}]
    for dimension, rows in {"overall": overall, **report["by"]}.items():
        for row in rows:
            for figure in ("kpr_macro", "kpr_micro", "kpp", "kpf", "kpp_key_points", "kpf_key_points"):
                interval = row["intervals"].get(figure, {})
                bounds = (interval.get(name) for name in ("low", "high", "n", "clusters", "method"))
                head = (dimension, row["name"], row["judge"], row["n_questions"], row["n_key_points"])
                reason = row["reasons"].get(figure, "")
                yield (*head, row["n_responses"], figure, row[figure], *bounds, reason)


RESPONSE_COLUMNS = (
    "judge", "system", "question", "category", "domain", "document_words", "response_words", "n_key_points",
    "n_entailed", "n_unjudged", "n_points", "n_supported_by_documents", "n_supported_by_key_points",
)  # fmt: skip


def response_rows(table: Table, keys: dict[int, str]) -> Iterator[tuple[Any, ...]]:
    """The counts behind the figures, a row for each response and judge; `keys` name the questions."""
    for row in table.rows:
        answer = row.answer
        supported = answer.supported or {}
        yield (
            row.judge, row.system, keys[answer.question], row.category, row.domain, row.document_words,  # type: ignore[index]
            row.response_words, answer.n_key_points, answer.n_entailed, answer.n_unjudged, answer.n_points,
            supported.get("documents"), supported.get("key_points"),  # type: ignore[call-overload]
        )  # fmt: skip


def figure_cells(found: KeyPointScores) -> list[Stat]:
    """The figures of a row in the order of the columns."""
    return list(stats(found).values())
