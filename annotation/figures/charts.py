"""The charts of agreement: judges beside people, summaries by both, and the small ones of the home page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from django.utils.translation import gettext as _

from annotation.figures.biases import JudgedPairs
from annotation.figures.judges import JudgeReport
from annotation.figures.people import Agreement
from benchmarks.scoring.stat import Stat
from benchmarks.web.chart_points import Kind, Point, Words
from benchmarks.web.charts import HUMAN, Chart, Dots, Lines, bland_altman, colour_of

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
PERCENT = (-2.0, 102.0)
"""An axis of percentages, with room for dots at its ends."""
PAIRED = (420, 320)
"""The size of charts that stand beside each other."""


def forest(report: JudgeReport, measure: str, *, url_of: Callable[[str], str] | None = None) -> Chart | None:
    """One figure of every judge with its interval, the highest on top, and the people's as a band.

    `url_of` gives the rows behind a judge's dot by its key.
    """
    found = [(row, stat) for row in report.rows if (stat := row.stats.get(measure)) is not None]
    found.sort(key=lambda pair: -(-math.inf if pair[1].value is None else pair[1].value))
    if not any(stat.is_defined for _row, stat in found):
        return None
    ceiling = report.ceiling.stats.get(measure) if report.ceiling else None
    numbers = {"n": report.n_clusters, "unit": report.cluster_unit}
    return Chart(
        Words(
            name="forest",
            title=_("Do judges agree with people as well as people with each other?"),
            subtitle=_("%(figure)s with people; lines are 95 %% intervals over %(n)d %(unit)s. ")
            % {"figure": MEASURES[measure], **numbers}
            + (_("The band is people among themselves.") if ceiling is not None else ""),
            value=MEASURES[measure],
            digits=2,
            columns={"series": _("Judge")},
        ),
        [Point.of(stat, series=row.name, url=url_of(row.key) if url_of else "") for row, stat in found],
        Dots(
            domain=_up_to_one([stat for _row, stat in found]),
            colours=[(row.name, colour_of(row.colour)) for row, _stat in found],
            band=None if ceiling is None else Point.of(ceiling, series=_("people")),
        ),
    )


def of_pairs(people: Agreement) -> Chart | None:
    """How far every two people agree above chance, the least on top; None for less than two pairs."""
    found = [pair for pair in people.pairs if pair.randolph.value is not None]
    if len(found) < 2:
        return None
    found = sorted(found, key=lambda pair: pair.randolph.value or 0.0)[:MAX_PAIRS_DRAWN]
    return Chart(
        Words(
            name="each-pair",
            title=_("Do some annotators agree less with the others?"),
            subtitle=_("Randolph's κ of every two annotators; lines are 95 %% intervals over %(n)d %(unit)s.")
            % {"n": people.n_clusters, "unit": people.cluster_unit},
            value=MEASURES["randolph_kappa"],
            digits=2,
            columns={"series": _("Annotators")},
        ),
        [Point.of(pair.randolph, series=f"{pair.a}, {pair.b}") for pair in found],
        Dots(domain=_up_to_one([pair.randolph for pair in found])),
    )


def _up_to_one(stats: Sequence[Stat]) -> tuple[float, float]:
    ends = [number for stat in stats for number in (stat.value, stat.low) if number is not None]
    return min(0.0, math.floor(min(ends, default=0.0) * 10) / 10), 1.0


def small_dots(
    title: str, rows: Sequence[tuple[str, Stat]], *, x_label: str, caption: str, n_human: int = 0
) -> Chart | None:
    """Named figures up to 1 with their intervals, for a card; the first `n_human` are of people.

    None where no figure is defined.
    """
    if not any(stat.is_defined for _name, stat in rows):
        return None
    words = Words(name="latest", title=title, subtitle=caption, value=x_label, digits=2, is_small=True)
    colours = [
        (name, HUMAN if place < n_human else colour_of(place - n_human))
        for place, (name, _stat) in enumerate(rows)
    ]
    layout = Dots(domain=_up_to_one([stat for _name, stat in rows]), colours=colours)
    return Chart(words, [Point.of(stat, series=name) for name, stat in rows], layout)


def small_agreement(found: Agreement, judges: JudgeReport | None) -> Chart | None:
    """Judges beside people by correlation; without judges how far people agree."""
    n = _("%(n)d items, 95 %% intervals") % {"n": found.n_items}
    stats = [] if judges is None else [row for row in judges.rows if _has_value(row.stats.get("pearson"))]
    if judges is not None and stats:
        best = sorted(stats, key=lambda row: -(row.stats["pearson"].value or 0.0))[:SMALL_ROWS]
        people = [(_("people"), judges.ceiling.stats["pearson"])] if judges.ceiling else []
        return small_dots(
            _("Correlation of coverage with people"),
            [*people, *((row.name, row.stats["pearson"]) for row in best)],
            x_label=MEASURES["pearson"],
            caption=n,
            n_human=len(people),
        )
    cards = {
        _("agreement"): "percent",
        _("Randolph's κ"): "randolph",
        _("α, ordinal"): "alpha_ordinal",
    }
    rows = [(name, found.cards[card]) for name, card in cards.items()]
    return small_dots(_("Agreement of annotators"), rows, x_label="", caption=n, n_human=len(rows))


def _has_value(stat: Stat | None) -> bool:
    return stat is not None and stat.value is not None


def summary_charts(found: JudgedPairs, *, url_of: Callable[[str], str] | None = None) -> tuple[Chart, Chart]:
    """Coverage of each summary by people and by one judge, and their difference against their mean.

    `url_of` gives the rows behind a dot by its summarizer.
    """
    judge, n = found.judge, len(found.pairs)
    colours = [(judge, colour_of(found.colour)), (_("equal"), HUMAN)]
    columns = {"series": _("Summarizer"), "group": _("Judge"), "n": _("insights")}
    dot = partial(Point, group=judge, kind=Kind.DOT)
    plain = Words(
        name="scatter",
        title=_("Do people and the judge see the same coverage?"),
        subtitle=_("Coverage of each of %(n)d summaries; on the thin line both are equal.") % {"n": n},
        x=_("people, coverage in %"),
        value=_("%(judge)s, coverage in %%") % {"judge": judge},
        columns=columns,
    )
    urls = {one.summarizer: url_of(one.summarizer) if url_of else "" for one in found.pairs}
    points = [
        dot(
            series=one.summarizer,
            x=100 * one.human,
            value=100 * one.judge,
            n=one.n_insights,
            url=urls[one.summarizer],
        )
        for one in found.pairs
    ]
    equal = [Point(series=_("equal"), x=end, value=end, kind=Kind.THIN) for end in (0.0, 100.0)]
    apart = Words(
        name="difference",
        title=_("Is the judge stricter or milder than people?"),
        subtitle=_("Bland–Altman: judge minus people against their mean, %(n)d summaries; lines at the mean "
                   "difference and 1.96 standard deviations.") % {"n": n},
        x=_("mean of both, coverage in %"),
        value=_("judge minus people"),
        columns=columns,
    )  # fmt: skip
    differences = [
        dot(
            series=one.summarizer,
            x=50 * (one.human + one.judge),
            value=100 * (one.judge - one.human),
            n=one.n_insights,
            url=urls[one.summarizer],
        )
        for one in found.pairs
    ]
    layout = Lines(x_domain=PERCENT, domain=PERCENT, colours=colours, size=PAIRED, ends="")
    return (
        Chart(plain, [*equal, *points], layout),
        bland_altman(apart, differences, x_domain=PERCENT, colours=colours, size=PAIRED),
    )
