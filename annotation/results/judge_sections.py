"""Judges beside people, laid out for the sheet of whatever was labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from annotation.results.charts import MEASURES
from annotation.results.judges import COMPARED, Consistency, JudgeReport, JudgeRow
from annotation.results.sections import RowLinks
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Mark,
    Measure,
    Name,
    Part,
    Row,
    Section,
    Table,
    Unit,
    Value,
    stat_row,
    values_of,
)
from benchmarks.results.writing import is_significant, spoken
from benchmarks.scoring.pairs import CHANCE, METHODS
from benchmarks.scoring.stat import Stat


def judges_answer(report: JudgeReport, measure: str = "pearson") -> str:
    """Which judge agrees best with people, whether more than the next one, and how people among themselves do."""
    title = MEASURES[measure]
    ranked = sorted(
        (row for row in report.rows if row.stats.get(measure) and row.stats[measure].is_defined),
        key=lambda row: -(row.stats[measure].value or 0.0),
    )
    if not ranked:
        reason = next((row.stats[measure].reason for row in report.rows if measure in row.stats), "no verdicts")
        return f"No judge can be compared with people yet: {reason}."
    best, is_one = ranked[0], len(ranked) == 1
    said = [f"{best.name} agrees {'' if is_one else 'best '}with people: {title} {spoken(best.stats[measure])}."]
    if not is_one:
        said.append(_beats(report, best.name, ranked[1].name, measure))
    people = report.ceiling.stats.get(measure) if report.ceiling else None
    if people is not None and people.is_defined:
        gap = next((gap for gap in report.against_people if gap.first == best.name), None)
        apart = is_significant(gap.stats.get(measure)) if gap else None
        said.append(f"People among themselves: {spoken(people)}{_IN_WORDS[apart]}.")
    return " ".join(said)


_IN_WORDS = {True: "; the difference is significant", False: "; the difference is not significant", None: ""}


def _beats(report: JudgeReport, best: str, other: str, measure: str) -> str:
    pair = next((pair for pair in report.differences if {pair.first, pair.second} == {best, other}), None)
    apart = is_significant(pair.stats.get(measure)) if pair else None
    if apart is None:
        return f"Next is {other}."
    return f"Next is {other}, significantly less." if apart else f"{other} is statistically tied with it."


def judge_cards(report: JudgeReport, key: str) -> Cards | None:
    """The correlation of the best judges and of people among themselves."""
    rows = [row for row in report.rows if "pearson" in row.stats and row.stats["pearson"].is_defined]
    rows = sorted(rows, key=lambda row: -(row.stats["pearson"].value or 0.0))[:3]
    cards = [
        Card(f"judge-{at}", row.name, row.stats["pearson"], about="Pearson with people")
        for at, row in enumerate(rows, 1)
    ]
    if report.ceiling is not None and "pearson" in report.ceiling.stats:
        people = report.ceiling.stats["pearson"]
        cards.append(Card("people", "People among themselves", people, about="Pearson, by the same formula"))
    return Cards(key, tuple(cards)) if cards else None


def judge_parts(
    report: JudgeReport,
    *,
    prefix: str = "",
    links: RowLinks | None = None,
    consistency: Sequence[Consistency] = (),
) -> tuple[Part, ...]:
    """Parts beside the judge table: differences, labels of people by those of judges, consistency."""
    return (
        *_differences(report, prefix),
        Section(
            f"{prefix}confusion",
            "Labels of people and of judges",
            tuple(_confusion(row, f"{prefix}confusion-{at}", links) for at, row in enumerate(report.rows, 1)),
            is_side_by_side=True,
        ),
        *([_consistency(consistency, prefix)] if consistency else ()),
    )


TITLES = {
    "pearson": "Pearson",
    "linking": "Linking",
    "exact_agreement": "Exact",
    "quadratic_kappa": "Quadratic κ",
    "linking_authors": "Linking, authors' rule",
    "linking_strict": "Linking, strict",
    CHANCE: "Linking by chance",
    "spearman": "Spearman",
    "tau_b": "τ-b",
    "cohen_kappa": "Cohen κ",
    "linear_kappa": "linear κ",
    "randolph_kappa": "Randolph κ",
    "alpha_ordinal": "α ordinal",
    "covered.accuracy": "Covered: accuracy",
    "covered.kappa": "Covered: κ",
    "covered.tpr": "Covered: TPR",
    "covered.tnr": "Covered: TNR",
}


def _judge_measures(report: JudgeReport, only: Sequence[str], main: Sequence[str]) -> list[Measure]:
    shares = {"exact_agreement", "covered.accuracy", "covered.tpr", "covered.tnr"}
    has = set().union(*(row.stats for row in report.rows)) if report.rows else set()
    return [
        Measure(
            name,
            title,
            Unit.SHARE if name in shares or name.startswith("linking") else Unit.FIGURE,
            METHODS[name],
            is_extra=bool(main) and name not in main,
        )
        for name, title in TITLES.items()
        if name in has and (not only or name in only)
    ]


def judge_table(
    report: JudgeReport,
    *,
    key: str = "judges",
    links: RowLinks | None = None,
    only: Sequence[str] = (),
    main: Sequence[str] = (),
) -> Table:
    """Each judge against people, under people among themselves and what a judge could reach."""
    measures = _judge_measures(report, only, main)
    cost = Measure(
        "cost",
        "Cost, USD",
        Unit.MONEY,
        (
            "a judge: tokens of all its calls, times the price of their day, or as published; people: active time "
            "on the labelled summaries, times the hourly rate"
        ),
    )
    invalid = Measure("invalid", "Invalid", Unit.COUNT)
    return Table(
        key,
        "Judges",
        (Name("judge", "Judge"),),
        (*measures, COUNTED, invalid, cost),
        (*_people_rows(report), *(_judge_row(row, links) for row in report.rows)),
    )


def _people_rows(report: JudgeReport) -> list[Row]:
    if report.ceiling is None:
        return []
    name = (
        "Each person against the majority of the others" if report.is_against_rest else "People among themselves"
    )
    rows = [Row((name,), _judge_values(report.ceiling), is_people=True, is_pinned=True)]
    if report.highest is not None:
        how = ("the square root of their correlation: what a judge that knew the truth would reach against one "
                "annotator, if annotators are equally reliable")  # fmt: skip
        note = Mark("√", how)
        name = "Ceiling"
        rows.append(Row((name,), {"pearson": report.highest}, marks=(note,), is_people=True, is_pinned=True))
    return rows


def _judge_row(row: JudgeRow, links: RowLinks | None) -> Row:
    marks = []
    if name := {"imported": "imported", "lexical": "offline", "jury": "jury"}.get(row.kind):
        marks.append(Mark(name))
    if row.is_fitted_here:
        why = "fitted on labels of these haystacks, so its figures here are too high"
        marks.append(Mark("fitted on these items", why, warns=True))
    url = links.to(between=row.key) if links else ""
    return Row((row.name,), _judge_values(row), url=url, marks=tuple(marks))


def _judge_values(row: JudgeRow) -> dict[str, Value | Cell]:
    values: dict[str, Value | Cell] = {}
    for name, stat in row.stats.items():
        hits = row.hits.get(name) if name.startswith("linking") else None
        values[name] = Cell(stat, aside=_hits(stat, *hits)) if hits else stat
    is_published = row.kind == "imported" and row.cost.is_defined
    cost = Cell(row.cost, aside="published" if is_published else "")
    return {**values, "n": row.n_insights, "invalid": row.n_invalid or None, "cost": cost}


def _hits(stat: Stat, n_hits: int, n: int) -> str:
    """The counts of a rate, or of all pairs of people together where it is their mean, which is another share."""
    counts = f"{n_hits} / {n}"
    is_its_own = not n or stat.value is None or math.isclose(stat.value, n_hits / n)
    return counts if is_its_own else f"in all {counts}"


def _confusion(row: JudgeRow, key: str, links: RowLinks | None) -> Table:
    labels = list(row.confusion)

    def cell(human: str, judge: str, count: int) -> Cell | int:
        if not links or not count:
            return count
        return Cell(count, url=links.to(between=row.key, human=human, verdict=judge))

    return Table(
        key,
        row.name,
        (Name("label", "People"),),
        (*(Measure(label, label, Unit.COUNT) for label in labels), Measure("all", "all", Unit.COUNT)),
        tuple(
            Row(
                (human,),
                {judge: cell(human, judge, count) for judge, count in counts.items()}
                | {"all": sum(counts.values())},
            )
            for human, counts in row.confusion.items()
        ),
        about="rows: people, columns: judge",
        is_square=True,
    )


def _differences(report: JudgeReport, prefix: str) -> list[Part]:
    names = [name for name in COMPARED if any(name in difference.stats for difference in report.all_differences)]
    if not report.all_differences or not names:
        return []
    return [
        Table(
            f"{prefix}differences",
            "Differences between judges and people, on the same items",
            (Name("first", "First"), Name("second", "minus")),
            tuple(Measure(name, TITLES[name], is_signed=True) for name in names),
            tuple(stat_row(gap.first, gap.second, stats=gap.stats) for gap in report.all_differences),
            about=(
                "First minus second, with paired intervals (resampled together). An interval that excludes 0 is "
                "a difference. People are those of the row above all judges, here on the insights that the judge "
                "and at least two people have labelled."
            ),
            is_folded=True,
        )
    ]


def _consistency(rows: Sequence[Consistency], prefix: str) -> Table:
    measures = (
        Measure("repeats", "Times asked", Unit.COUNT, of=attrgetter("n_repeats")),
        replace(COUNTED, of=attrgetter("percent.n_items")),
        Measure("percent", "Agreement", Unit.SHARE),
        Measure("randolph", "Randolph κ"),
    )
    return Table(
        f"{prefix}consistency",
        "Consistency",
        (Name("judge", "Judge"),),
        measures,
        tuple(Row((row.judge,), values_of(measures, row)) for row in rows),
        about="How often a judge repeats its verdict when asked again, over all pairs of repeats.",
    )
