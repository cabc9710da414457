"""The sentences of a methods section on figures: agreement, results, judges, and how all was computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.exports.figures import Made, judges_in
from annotation.exports.prose import counted, listed
from annotation.kinds import Headline
from benchmarks.results.computation import program
from benchmarks.results.sheet import Table, Unit
from benchmarks.results.writing import number
from benchmarks.scoring.stat import Stat

MOST_JUDGES = 3


def results(made: Made | None) -> Iterator[str]:
    """How far people agree, what was reached, how judges compare: a sentence each."""
    if made is None:
        return
    if made.headline is not None and made.headline.n_items:
        yield from _agreement(made.headline)
    elif made.sheet.table("final") is None:
        yield "No label yet enters a figure."
    if (final := made.sheet.table("final")) is not None:
        yield from _final(final)
    for key in ("judges", "keep-machines"):
        if (table := made.sheet.table(key)) is not None:
            yield from _judges(table)


def _agreement(headline: Headline) -> Iterator[str]:
    items, people = (
        counted(headline.n_items, "item", "items"),
        counted(headline.n_people, "annotator", "annotators"),
    )
    yield f"{people[:1].upper()}{people[1:]} labelled {items} in all."
    known = [
        *([f"percent agreement was {_figure(headline.percent, Unit.SHARE)}"] if _has(headline.percent) else []),
        *(
            [
                f"{headline.coefficient or 'Randolph’s free-marginal κ'} was "
                f"{_figure(headline.corrected, Unit.FIGURE)}"
            ]
            if _has(headline.corrected)
            else []
        ),
    ]
    if known:
        sentence = " and ".join(known)
        yield f"Among annotators {sentence}."
    else:
        yield "Too few items have two labels to say how far annotators agree."
    if headline.n_people < 5:
        yield "With fewer than five annotators these figures describe these people; intervals are over items only."


def _final(table: Table) -> Iterator[str]:
    for row in table.rows[:1]:
        scores = [
            f"{str(measure.title).lower()} {_figure(value, measure.unit)}"
            for measure in table.measures
            if isinstance(value := row.value(measure.key), Stat) and value.value is not None
        ][:3]
        if scores:
            yield f"Final texts reached, {row.names[0].lower()}, {listed(scores)}, on a scale up to 100."


def _judges(table: Table) -> Iterator[str]:
    measure = next(
        (
            measure
            for measure in table.measures
            if any(isinstance(row.value(measure.key), Stat) for row in table.rows)
        ),
        None,
    )
    if measure is None:
        return
    judged = [
        f"{row.names[0]} {_figure(value, measure.unit)}"
        for row in table.rows
        if not row.is_people and isinstance(value := row.value(measure.key), Stat) and value.value is not None
    ]
    if judged:
        yield f"Judges against these labels ({measure.title}): {'; '.join(judged[:MOST_JUDGES])}."


def _has(stat: Stat | None) -> bool:
    return stat is not None and stat.value is not None


def _figure(stat: Stat | None, unit: Unit) -> str:
    """A figure with its interval, as a sentence has it."""
    if stat is None or stat.value is None:
        return "not defined"
    sign = " %" if unit is Unit.SHARE else ""
    shown = number(stat.value, unit) + sign
    if stat.low is None or stat.high is None:
        return shown
    return f"{shown} (95 % CI {number(stat.low, unit)} to {number(stat.high, unit)})"


def analysis(made: Made | None) -> Iterator[str]:
    """Which judges, on which data version, by which program."""
    judges = judges_in(made) if made is not None else []
    yield from map(judge_sentence, judges[:MOST_JUDGES])
    if made is not None and not made.reason:
        chosen = f" (of {made.origin.chosen})" if made.origin.chosen else ""
        yield (
            f"All figures{chosen} are those of figures.json (data version {made.origin.data_version}), with 95 "
            "% intervals "
            "over the clusters named beside each."
        )
    version = program()
    yield f"Data were collected and analysed with summhay{f' {version}' if version else ''}."


def judge_sentence(judge: Mapping[str, Any]) -> str:
    """What a judge is, and whether it may stand in for people, as `judges_in` gives it."""
    kind = KINDS.get(judge["kind"], judge["kind"])
    settings = f"settings in judges.json, SHA-256 {judge['settings_sha256'][:12]}"
    licence = f" {judge['licence']['text']}" if judge["licence"] else ""
    return f"The judge {judge['name']} is {kind} (version {judge['version']}, {settings}).{licence}"


KINDS = {
    "lexical": "an offline lexical method",
    "openai": "a language model",
    "imported": "predictions that were imported",
    "jury": "a jury of other judges",
}
