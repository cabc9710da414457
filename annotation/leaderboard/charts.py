"""Charts of systems beside people: the leaderboard, the position of content, experiments of position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from annotation.leaderboard.board import Board, Line
from annotation.leaderboard.experiments import Experiment
from annotation.leaderboard.forms import SCORE_TITLES
from annotation.leaderboard.positions import Row
from benchmarks.scoring.position.curves import Curve
from benchmarks.scoring.position.rouge import NAMES
from benchmarks.web.chart_points import Kind, Point, Words
from benchmarks.web.charts import HUMAN, MUTED, Chart, Dots, Lines, colour_of

UrlOf = Callable[[Row], str]
"""Where the row of a system stands insight by insight, empty where it does not."""


def pair_chart(rows: Sequence[Row], people: Row | None, *, url_of: UrlOf) -> Chart:
    """Positions of the bigrams of the texts, beside those of reference and people, and an even spread.

    People are drawn beside systems that wrote on the same subtopics.
    """
    title = _("Where in the documents do bigrams come from?")
    return _chart(rows, people, url_of, part="pairs", title=title, value=_("share of matches (%)"))


def sentence_chart(rows: Sequence[Row], people: Row | None, *, url_of: UrlOf) -> Chart:
    """Positions of the source sentences that the texts follow, likewise."""
    title = _("Where in the documents are the sentences that texts follow?")
    return _chart(rows, people, url_of, part="sentences", title=title, value=_("share of sentences (%)"))


def _chart(rows: Sequence[Row], people: Row | None, url_of: UrlOf, *, part: str, title: str, value: str) -> Chart:
    points = [point for row in rows for point in _panel(row, people, part, url_of(row))]
    most = max((point.value for point in points if point.value is not None), default=1.0)
    words = Words(
        name=part,
        title=title,
        subtitle=_("Solid: texts. Dashed: people, and the reference in the same documents. Thin: an even spread."),
        value=value,
        x=_("place in the documents shown (%)"),
        text=title,
        columns={"panel": _("System"), "series": _("Whose content")},
    )
    colours = [
        (_("texts"), colour_of(0)),
        (_("people"), HUMAN),
        (_("reference"), colour_of(1)),
        (_("even spread"), MUTED),
    ]
    layout = Lines(
        x_domain=(0.0, 100.0),
        domain=(0.0, 1.05 * most),
        colours=colours,
        x_values=(0, 25, 50, 75, 100),
        panels_beside=3,
        size=(250, 170),
        has_dots=False,
    )
    return Chart(words, points, layout)


def _panel(row: Row, people: Row | None, part: str, url: str) -> Iterator[Point]:
    """The lines of a system, or of people; that of the texts leads to `url`."""
    if row.positions is None:
        raise ValueError(f"{row.entry} has nothing to draw")
    name = f"{_('people') if row.is_people else row.entry.system} · n = {row.positions.n_texts}"
    own: Curve = getattr(row.positions, part)
    reference: Curve = getattr(row.positions, f"reference_{part}")
    n_bins = len(own.bins or reference.bins or (0.0,))
    yield from _line(_("even spread"), Curve((1 / n_bins,) * n_bins, n_bins), name, Kind.THIN)
    yield from _line(_("reference"), reference, name, Kind.DASHED)
    if people is not None and people.positions is not None and row.positions.ks_people is not None:
        yield from _line(_("people"), getattr(people.positions, part), name, Kind.DASHED)
    for point in _line(_("people") if row.is_people else _("texts"), own, name, Kind.MAIN):
        yield replace(point, url=url)


def _line(series: str, curve: Curve, panel: str, kind: Kind) -> Iterator[Point]:
    bins = curve.bins or ()
    for at, share in enumerate(bins):
        yield Point(series=series, x=100 * (at + 0.5) / len(bins), value=100 * share, panel=panel, kind=kind)


def place_chart(rows: Sequence[Experiment], size: int) -> Chart:
    """Mean ROUGE scores of each system by the place of the relevant document, beside those by chance."""
    points = []
    for one in rows:
        for name in NAMES:
            panel = f"{one.system} · {SCORE_TITLES[name]}"
            for arm in one.arms:
                x = arm.arrangement.place
                points.append(Point.of(arm.means[name], series=_("scores"), x=x, panel=panel))
                if one.by_chance:
                    level = Point.of(one.by_chance[name], series=_("by chance"), x=x, panel=panel)
                    points.append(replace(level, low=None, high=None, kind=Kind.DASHED))
    most = 1.1 * max((point.value for point in points if point.value is not None), default=1.0) or 1.0
    words = Words(
        name=f"places-{size}",
        title=_("Does the place of the relevant document matter, of %(n)d?") % {"n": size},
        subtitle=_("Dashed: the same summaries with references of other sources. Bands: 95 % intervals."),
        value=_("mean F1"),
        x=_("place of the relevant document"),
        digits=3,
        columns={"panel": _("System"), "series": _("Whose scores")},
    )
    layout = Lines(
        x_domain=(0.8, size + 0.2),
        domain=(0.0, most),
        x_values=tuple(range(1, size + 1)),
        panels_beside=3,
        size=(250, 170),
        colours=[(_("scores"), colour_of(0)), (_("by chance"), colour_of(1))],
    )
    return Chart(words, points, layout)


def board_chart(
    found: Board, names: Mapping[str, str], judge: str, *, url_of: Callable[[Line], str]
) -> Chart | None:
    """The joint score of each system by its documents, the best on top, people as a band; None without a system.

    `names` are those of retrievers, `url_of` says where the click on a dot leads. Only the best row of a system
    shows its interval: more would hide each other.
    """
    by_system: dict[str, list[Line]] = {}
    for line in sorted(found.lines, key=lambda line: -(line.row.stats["joint"].value or 0.0)):
        if not line.is_people:
            by_system.setdefault(line.entry.system, []).append(line)
    if not by_system:
        return None
    points = [
        Point.of(
            line.row.stats["joint"],
            factor=100,
            series=system,
            group=names[line.entry.retriever],
            kind=Kind.DOT if place else Kind.MAIN,
            url=url_of(line),
            is_marked=line.standing is not None and bool(line.standing.is_level),
        )
        for system, lines in by_system.items()
        for place, line in enumerate(lines)
    ]
    colours = [(names[setting], colour_of(at)) for at, setting in enumerate(found.settings)]
    words = Words(
        name="board-chart",
        title=_("Do people beat the models?") if found.people else _("Which system leads?"),
        subtitle=_("Joint score by the documents shown; lines are 95 %% intervals of the best of a system. "
                   "Ringed: level with the best system. %(people)sJudge: %(judge)s.")
        % {"judge": judge, "people": _band(found.people, names)},
        value=_("joint score, 0 to 100"),
        columns={"series": _("System"), "group": _("Documents")},
    )  # fmt: skip
    people = None
    if found.people is not None:
        people = Point.of(found.people.row.stats["joint"], factor=100, series=_("people"))
    return Chart(words, points, Dots(domain=(0.0, 100.0), colours=colours, band=people))


def _band(line: Line | None, names: Mapping[str, str]) -> str:
    """Who the people of the band are."""
    if line is None or line.writers is None:
        return ""
    numbers = {"n": line.writers.n_sessions, "writers": line.writers.n_writers}
    documents = {"documents": names[line.entry.retriever]}
    return _("Band: people (%(documents)s), sessions: %(n)d, writers: %(writers)d. ") % (documents | numbers)
