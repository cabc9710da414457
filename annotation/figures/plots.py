"""The plots of the agreement page, each described once for the page and for files."""

from __future__ import annotations

import math
from collections.abc import Sequence

from django.utils.translation import gettext as _

from annotation.figures.biases import human_worth, summary_pairs
from annotation.figures.judges import JudgeReport
from annotation.figures.people import Agreement
from annotation.figures.table import LabelTable
from benchmarks.scoring.bias import SummaryPair
from benchmarks.scoring.stat import Stat
from benchmarks.web.plots import Plot, Series, ticks

MEASURES = {
    "pearson": "Pearson",
    "exact_agreement": "Exact agreement",
    "quadratic_kappa": "Quadratic weighted kappa",
    "randolph_kappa": "Randolph's kappa",
    "alpha_ordinal": "Alpha, ordinal",
    "covered.kappa": "Kappa of covered or not",
    "linking": "Linking",
}

SMALL_ROWS = 5
"""At most this many judges, the best, are drawn in a card."""


def forest(report: JudgeReport, measure: str) -> Plot | None:
    """One figure of every judge with its interval, the highest on top, and the people's as a band."""
    known = sorted(
        ((row, stat) for row in report.rows if (stat := row.stats.get(measure)) is not None and stat.is_defined),
        key=lambda pair: -(pair[1].value or 0.0),
    )
    if not known:
        return None
    ends = [0.5, len(known) + 0.5]
    series: list[Series] = []
    ceiling = report.ceiling.stats.get(measure) if report.ceiling else None
    if ceiling is not None and ceiling.value is not None:
        if ceiling.low is not None:
            lows, highs = [ceiling.low] * 2, [ceiling.high] * 2
            band = Series("", ends, ends, kind="band", is_human=True, is_across=True, lows=lows, highs=highs)
            series.append(band)
        series.append(
            Series(_("people among themselves"), [ceiling.value] * 2, ends, is_human=True, is_across=True)
        )
    for place, (row, stat) in enumerate(known, 1):
        series.append(_point(row.name, stat, place, colour=row.colour))
    values = [number for _, stat in known for number in (stat.value, stat.low) if number is not None]
    return Plot(
        title=_("%(figure)s with people") % {"figure": MEASURES[measure]},
        x_label=MEASURES[measure],
        y_label="",
        series=series,
        x_range=(min(0.0, math.floor(min(values) * 10) / 10), 1.0),
        rows=[row.name for row, _ in known],
        caption=_("Points with 95 %% intervals over %(n)d %(unit)s.")
        % {"n": report.n_clusters, "unit": report.cluster_unit},
        alt="; ".join(f"{row.name} {stat.value:.3f}" for row, stat in known),
    )


def _point(name: str, stat: Stat, place: int, *, colour: int, is_human: bool = False) -> Series:
    """A figure with its interval, in a row of its own."""
    lows, highs = ([stat.low], [stat.high]) if stat.low is not None else ((), ())
    return Series(
        name,
        [stat.value or 0.0],
        [place],
        kind="points",
        lows=lows,
        highs=highs,
        colour=colour,
        is_human=is_human,
        is_across=True,
    )


def small_dots(
    title: str, rows: Sequence[tuple[str, Stat]], *, x_label: str, caption: str, n_human: int = 0
) -> Plot | None:
    """Named figures up to 1 with their intervals, for a card; the first `n_human` are of people.

    None where no figure is defined.
    """
    known = [(at, name, stat) for at, (name, stat) in enumerate(rows) if stat.value is not None]
    if not known:
        return None
    lowest = min(number for _at, _name, stat in known for number in (stat.value, stat.low) if number is not None)
    return Plot(
        title=title,
        x_label=x_label,
        y_label="",
        series=[
            _point(name, stat, place, colour=at, is_human=at < n_human)
            for place, (at, name, stat) in enumerate(known, 1)
        ],
        x_range=(min(0.0, math.floor(lowest * 10) / 10), 1.0),
        rows=[name for _at, name, _stat in known],
        caption=caption,
        alt="; ".join(f"{name} {stat.value:.2f}" for _at, name, stat in known),
        is_small=True,
    )


def small_agreement(found: Agreement, judges: JudgeReport | None) -> Plot | None:
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


def scatter(table: LabelTable, judge: int, reference: str) -> tuple[Plot, Plot]:
    """Coverage of each summary by people and by one judge, and their difference against their mean."""
    pairs, _infos = summary_pairs(table, human_worth(table, reference), table.worth_of_judge(judge))
    name = table.judges[judge].name
    caption = _("%(n)d summaries") % {"n": len(pairs)}
    human, own = [100 * pair.human for pair in pairs], [100 * pair.judge for pair in pairs]
    plain = Plot(
        title=_("Coverage of each summary"),
        x_label=_("people, coverage in %"),
        y_label=_("%(judge)s, coverage in %%") % {"judge": name},
        series=[
            Series(_("equal"), [0, 100], [0, 100], is_human=True),
            Series(name, human, own, kind="points", colour=judge),
        ],
        x_range=(-2, 102),
        y_range=(-2, 102),
        x_ticks=[0, 20, 40, 60, 80, 100],
        y_ticks=[0, 20, 40, 60, 80, 100],
        caption=caption,
        alt=_("Coverage by people and by %(judge)s, %(n)d summaries") % {"judge": name, "n": len(pairs)},
    )
    return plain, _bland_altman(pairs, name, judge, caption)


def _bland_altman(pairs: Sequence[SummaryPair], name: str, colour: int, caption: str) -> Plot:
    means = [50 * (pair.human + pair.judge) for pair in pairs]
    apart = [100 * (pair.judge - pair.human) for pair in pairs]
    n = len(apart)
    middle = sum(apart) / n if n else 0.0
    spread = 1.96 * math.sqrt(sum((one - middle) ** 2 for one in apart) / (n - 1)) if n > 1 else 0.0
    edge = 1.4 * max([10.0, abs(middle) + spread, *map(abs, apart)])
    ends = [-2.0, 102.0]
    lines = [
        Series(_("mean difference"), ends, [middle] * 2, is_human=True),
        Series(_("± 1.96 standard deviations"), ends, [middle + spread] * 2, colour=3),
        Series("", ends, [middle - spread] * 2, colour=3),
    ]
    return Plot(
        title=_("Bland–Altman: judge − people"),
        x_label=_("mean of both, coverage in %"),
        y_label=_("judge minus people"),
        series=[*lines, Series(name, means, apart, kind="points", colour=colour)],
        x_range=(-2, 102),
        y_range=(-edge, edge),
        x_ticks=[0, 20, 40, 60, 80, 100],
        y_ticks=ticks(-edge, edge),
        caption=caption,
        alt=_("%(judge)s minus people: mean %(mean).1f, limits %(low).1f to %(high).1f")
        % {"judge": name, "mean": middle, "low": middle - spread, "high": middle + spread},
    )
