"""The charts of agreement: judges beside people, pairs of people, and the small ones of the home page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from annotation.results.judges import JudgeReport
from annotation.results.people import Agreement
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import HUMAN, Chart, Dots, Point, Words, colour_of

MEASURES = {
    "pearson": "Pearson",
    "exact_agreement": "Exact agreement",
    "quadratic_kappa": "Quadratic weighted kappa",
    "randolph_kappa": "Randolph's kappa",
    "alpha_ordinal": "Alpha, ordinal",
    "covered.kappa": "Kappa of covered or not",
    "linking": "Linking",
}
MAX_PAIRS_DRAWN = 15
"""At most this many pairs of people, those that agree least, are drawn."""
SMALL_ROWS = 5
"""At most this many judges, the best, are drawn in a card."""


def forest(report: JudgeReport, measure: str, *, url_of: Callable[[str], str] | None = None) -> Chart | None:
    """One figure of every judge with its interval, the highest on top, and the people's as a band.

    `url_of` gives the rows behind a judge's dot by its key.
    """
    defined_rows = [(row, stat) for row in report.rows if (stat := row.stats.get(measure)) is not None]
    defined_rows.sort(key=lambda pair: -(-math.inf if pair[1].value is None else pair[1].value))
    if not any(stat.is_defined for _row, stat in defined_rows):
        return None
    ceiling = report.ceiling.stats.get(measure) if report.ceiling else None
    numbers = {"n": report.n_clusters, "unit": report.cluster_unit}
    return Chart(
        Words(
            name="forest",
            title="Do judges agree with people as well as people with each other?",
            subtitle="%(figure)s with people; lines are 95 %% intervals over %(n)d %(unit)s. "
            % {"figure": MEASURES[measure], **numbers}
            + ("The band is people among themselves." if ceiling is not None else ""),
            value=MEASURES[measure],
            digits=2,
            columns={"series": "Judge"},
        ),
        [Point.of(stat, series=row.name, url=url_of(row.key) if url_of else "") for row, stat in defined_rows],
        Dots(
            domain=_up_to_one([stat for _row, stat in defined_rows]),
            colours=[(row.name, colour_of(row.colour)) for row, _stat in defined_rows],
            band=None if ceiling is None else Point.of(ceiling, series="people"),
        ),
    )


def of_pairs(people: Agreement) -> Chart | None:
    """How far every two people agree above chance, the least on top; None for less than two pairs."""
    pairs = [pair for pair in people.pairs if pair.randolph.value is not None]
    if len(pairs) < 2:
        return None
    pairs = sorted(pairs, key=lambda pair: pair.randolph.value or 0.0)[:MAX_PAIRS_DRAWN]
    return Chart(
        Words(
            name="each-pair",
            title="Do some annotators agree less with the others?",
            subtitle=(
                f"Randolph's κ of every two annotators; lines are 95 % intervals over {people.n_clusters} "
                f"{people.cluster_unit}."
            ),
            value=MEASURES["randolph_kappa"],
            digits=2,
            columns={"series": "Annotators"},
        ),
        [Point.of(pair.randolph, series=f"{pair.a}, {pair.b}") for pair in pairs],
        Dots(domain=_up_to_one([pair.randolph for pair in pairs])),
    )


def _up_to_one(stats: Sequence[Stat]) -> tuple[float, float]:
    ends = [number for stat in stats for number in (stat.value, stat.low) if number is not None]
    return min(0.0, math.floor(min(ends, default=0.0) * 10) / 10), 1.0


def small_dots(
    title: str, rows: Sequence[tuple[str, Stat]], *, x_label: str, caption: str, n_human: int = 0
) -> Chart | None:
    """Named figures up to 1 with their intervals, if any, for a card; the first `n_human` are of people.

    None where no figure is defined.
    """
    if not any(stat.is_defined for _name, stat in rows):
        return None
    caption += ", 95 % intervals" if any(stat.low is not None for _name, stat in rows) else ""
    words = Words(name="latest", title=title, subtitle=caption, value=x_label, digits=2, is_small=True)
    colours = [
        (name, HUMAN if place < n_human else colour_of(place - n_human))
        for place, (name, _stat) in enumerate(rows)
    ]
    layout = Dots(domain=_up_to_one([stat for _name, stat in rows]), colours=colours)
    return Chart(words, [Point.of(stat, series=name) for name, stat in rows], layout)


def small_agreement(agreement: Agreement, judges: JudgeReport | None, title: str) -> Chart | None:
    """Judges beside people by correlation, under this title; without judges how far people agree."""
    n = f"{agreement.n_items} items"
    stats = [(row.name, row.stats["pearson"]) for row in judges.rows if "pearson" in row.stats] if judges else []
    known = [(name, stat) for name, stat in stats if stat.value is not None]
    if judges is not None and known:
        best = sorted(known, key=lambda row: -(row[1].value or 0.0))[:SMALL_ROWS]
        people = [("people", judges.ceiling.stats["pearson"])] if judges.ceiling else []
        return small_dots(title, [*people, *best], x_label=MEASURES["pearson"], caption=n, n_human=len(people))
    cards = {"agreement": "percent", "Randolph's κ": "randolph", "α, ordinal": "alpha_ordinal"}
    rows = [(name, agreement.cards[card]) for name, card in cards.items()]
    return small_dots("Agreement of annotators", rows, x_label="", caption=n, n_human=len(rows))
