"""The plots of key point recall, each described once for the page and for files."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmarks.recall.figures import lengths
from benchmarks.recall.systems import Compared, CrossTable
from benchmarks.scoring.keypoints import recall
from benchmarks.scoring.stat import Stat
from benchmarks.web.plots import Plot, Series, ticks

LEAST_SPOKES = 3
"""A radar of fewer domains has no area."""
DODGE, MOST_DODGE = 0.06, 0.6
"""How far systems stand apart at one length, each and in all, so that their intervals do not cover each other."""


def part_plot(table: CrossTable, found: Compared) -> Plot | None:
    """Domains as a radar, lengths as lines, a system each; None for other parts and where there is too little."""
    if table.part == "domain" and len(table.groups) >= LEAST_SPOKES:
        return _radar(table, found)
    if table.part in {"document_length", "response_length"} and len(table.groups) > 1:
        return _lines(table, found)
    return None


def caption_of(found: Compared) -> str:
    """Which questions count, in words."""
    numbers = {"n": found.n_questions, "all": found.n_judged}
    if found.only_common and found.n_questions == found.n_judged:
        return _("All %(n)d questions, each answered by all systems shown") % numbers
    if found.only_common:
        return _("Only the %(n)d of %(all)d questions that all systems shown answered") % numbers
    return _("All %(all)d questions; systems may have answered different ones") % numbers


def _radar(table: CrossTable, found: Compared) -> Plot:
    spokes = len(table.groups)
    series = [
        Series(system, list(range(spokes)), _percents([cell.stat for cell in cells[:-1]]), colour=at)
        for at, (system, cells) in enumerate(table.rows)
    ]
    return Plot(
        title=_("Recall by domain"),
        x_label="",
        y_label=_("key point recall in %"),
        series=series,
        x_range=(0, spokes),
        x_names=table.groups,
        is_radar=True,
        caption=caption_of(found) + ".",
        is_legend_beside=True,
        alt=_in_words(table),
    )


def _lines(table: CrossTable, found: Compared) -> Plot:
    titles = {
        "document_length": (_("Recall by length of the documents"), _("words of the documents of a question")),
        "response_length": (_("Recall by length of the response"), _("words of the response")),
    }
    title, x_label = titles[table.part]
    width, middle = len(table.groups), (len(table.rows) - 1) / 2
    dodge = min(DODGE, MOST_DODGE / len(table.rows))
    series = []
    for at, (system, cells) in enumerate(table.rows):
        stats = [cell.stat for cell in cells[:-1]]
        series.append(
            Series(
                system,
                [place + dodge * (at - middle) for place in range(width)],
                _percents(stats),
                is_marked=True,
                lows=[None if stat is None or stat.low is None else 100 * stat.low for stat in stats],
                highs=[None if stat is None or stat.high is None else 100 * stat.high for stat in stats],
                colour=at,
            )
        )
    return Plot(
        title=title,
        x_label=x_label,
        y_label=_("key point recall in %"),
        series=series,
        x_range=(-0.5, width - 0.5),
        x_ticks=list(range(width)),
        x_names=table.groups,
        caption=_with_intervals(found),
        is_legend_beside=True,
        alt=_in_words(table),
    )


def _with_intervals(found: Compared) -> str:
    return _("%(questions)s; 95 %% intervals resample questions.") % {"questions": caption_of(found)}


def _percents(stats: Sequence[Stat | None]) -> list[float | None]:
    return [None if stat is None or stat.value is None else 100 * stat.value for stat in stats]


def _in_words(table: CrossTable) -> str:
    """Every value of a plot, for those who do not see it."""
    rows = []
    for system, cells in table.rows:
        values = zip(table.groups, _percents([cell.stat for cell in cells[:-1]]), strict=True)
        rows.append(
            f"{system}: " + ", ".join(f"{name} {value:.1f}" for name, value in values if value is not None)
        )
    return "; ".join(rows)


def length_plot(found: Compared) -> Plot | None:
    """Mean words of each system's responses against its recall, with intervals."""
    rows = found.table.rows
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
        caption=_with_intervals(found),
        is_legend_beside=True,
        alt="; ".join(described),
    )
