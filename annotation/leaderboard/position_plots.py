"""Curves of the position of content: a small plot for each system and for people, all with the same axes."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from annotation.leaderboard.positions import Row
from benchmarks.scoring.position.curves import Curve
from benchmarks.web.plots import Plot, Series, ticks

OURS, REFERENCE, UNIFORM = 0, 1, 4
"""Colours of a system's own curve, of the reference's and of the even spread."""


def pair_plot(rows: Sequence[Row], people: Row | None) -> Plot:
    """Positions of the bigrams of the texts, beside those of reference and people, and an even spread.

    People are drawn beside systems that wrote on the same subtopics.
    """
    return _plot(
        rows,
        people,
        part="pairs",
        title=_("Bigram positions"),
        x_label=_("place in the documents shown (%)"),
        y_label=_("share of matches (%)"),
    )


def sentence_plot(rows: Sequence[Row], people: Row | None) -> Plot:
    """Positions of the source sentences that the texts follow, likewise."""
    return _plot(
        rows,
        people,
        part="sentences",
        title=_("Source sentence positions"),
        x_label=_("place in the documents shown (%)"),
        y_label=_("share of sentences (%)"),
    )


def _plot(rows: Sequence[Row], people: Row | None, *, part: str, title: str, x_label: str, y_label: str) -> Plot:
    series: list[Series] = []
    names = []
    for panel, row in enumerate(rows):
        if row.positions is None:
            raise ValueError(f"{row.entry} has nothing to draw")
        name = _("people") if row.is_people else row.entry.system
        names.append(f"{name} · n = {row.positions.n_texts}")
        own: Curve = getattr(row.positions, part)
        reference: Curve = getattr(row.positions, f"reference_{part}")
        n_bins = len(own.bins or reference.bins or (0.0,))
        even = Curve((1 / n_bins,) * n_bins, n_bins)
        series.append(_line(_("even spread"), even, panel, colour=UNIFORM, faint=True))
        series.append(_line(_("reference"), reference, panel, colour=REFERENCE, is_marked=True))
        if people is not None and people.positions is not None and row.positions.ks_people is not None:
            theirs: Curve = getattr(people.positions, part)
            series.append(_line(_("people"), theirs, panel, is_human=True, is_dashed=True))
        series.append(_line(name, own, panel, colour=OURS, is_human=row.is_people))
    most = max((y for one in series for y in one.ys if y is not None), default=1.0)
    return Plot(
        title=title,
        x_label=x_label,
        y_label=y_label,
        series=series,
        x_range=(0.0, 100.0),
        y_range=(0.0, 1.05 * most),
        x_ticks=(0, 25, 50, 75, 100),
        y_ticks=ticks(0.0, 1.05 * most, about=4),
        panels=names,
        caption=_(
            "Solid: the texts. Dots: the reference in the same documents. Dashed: people. Thin: an even spread."
        ),
        alt=title,
    )


def _line(
    label: str,
    curve: Curve,
    panel: int,
    *,
    colour: int = 0,
    faint: bool = False,
    is_marked: bool = False,
    is_human: bool = False,
    is_dashed: bool = False,
) -> Series:
    bins = curve.bins or ()
    return Series(
        label=label,
        xs=[100 * (at + 0.5) / len(bins) for at in range(len(bins))],
        ys=[100 * share for share in bins],
        colour=colour,
        faint=faint,
        is_marked=is_marked,
        is_human=is_human,
        is_dashed=is_dashed,
        panel=panel,
    )
