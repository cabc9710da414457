"""Charts of systems beside people: the leaderboard, the position of content, experiments of position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from annotation.leaderboard.board import Block, Board, Line
from annotation.leaderboard.experiments import Experiment
from annotation.leaderboard.forms import score_title
from annotation.leaderboard.positions import Row
from annotation.leaderboard.ratings import is_detail, is_rating
from benchmarks.scoring.position.curves import Curve
from benchmarks.scoring.position.rouge import NAMES
from benchmarks.summarizers.arrangements import STEP, TRUNCATION, USUAL_MEASURE
from benchmarks.web.chart_points import Kind, Point, Words
from benchmarks.web.charts import HUMAN, MUTED, Chart, Dots, Lines, colour_of

UrlOf = Callable[[Row], str]
"""Where the row of a system stands insight by insight, empty where it does not."""


def pair_chart(rows: Sequence[Row], people: Row | None, *, url_of: UrlOf) -> Chart:
    """Positions of the bigrams of the texts, beside those of reference and people, and an even spread.

    People are drawn beside systems that wrote on the same subtopics.
    """
    title = "Where in the documents do bigrams come from?"
    return _chart(rows, people, url_of, part="pairs", title=title, value="share of matches (%)")


def sentence_chart(rows: Sequence[Row], people: Row | None, *, url_of: UrlOf) -> Chart:
    """Positions of the source sentences that the texts follow, likewise."""
    title = "Where in the documents are the sentences that texts follow?"
    return _chart(rows, people, url_of, part="sentences", title=title, value="share of sentences (%)")


def _chart(rows: Sequence[Row], people: Row | None, url_of: UrlOf, *, part: str, title: str, value: str) -> Chart:
    points = [point for row in rows for point in _panel(row, people, part, url_of(row))]
    most = max((point.value for point in points if point.value is not None), default=1.0)
    words = Words(
        name=part,
        title=title,
        subtitle="Solid: texts. Dashed: people, and the reference in the same documents. Thin: an even spread.",
        value=value,
        x="place in the documents shown (%)",
        text=title,
        columns={"panel": _("System"), "series": "Whose content"},
    )
    colours = [
        ("texts", colour_of(0)),
        ("people", HUMAN),
        ("reference", colour_of(1)),
        ("even spread", MUTED),
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
    name = f"{'people' if row.is_people else row.entry.system} · n = {row.positions.n_texts}"
    curve: Curve = getattr(row.positions, part)
    reference: Curve = getattr(row.positions, f"reference_{part}")
    n_bins = len(curve.bins or reference.bins or (0.0,))
    yield from _line("even spread", Curve((1 / n_bins,) * n_bins, n_bins), name, Kind.THIN)
    yield from _line("reference", reference, name, Kind.DASHED)
    if people is not None and people.positions is not None and row.positions.ks_people is not None:
        yield from _line("people", getattr(people.positions, part), name, Kind.DASHED)
    for point in _line("people" if row.is_people else "texts", curve, name, Kind.MAIN):
        yield replace(point, url=url)


def _line(series: str, curve: Curve, panel: str, kind: Kind) -> Iterator[Point]:
    bins = curve.bins or ()
    for at, share in enumerate(bins):
        yield Point(series=series, x=100 * (at + 0.5) / len(bins), value=100 * share, panel=panel, kind=kind)


def place_chart(rows: Sequence[Experiment], size: int, *, are_ratings: bool = False) -> Chart:
    """Mean ROUGE scores, or ratings, of each system by the place of the relevant document, beside chance."""
    points = []
    for experiment in rows:
        for name in [name for name in experiment.names if is_rating(name)] if are_ratings else NAMES:
            by = "" if experiment.by == USUAL_MEASURE else f" ({experiment.by})"
            panel = f"{experiment.system}{by} · {score_title(name)}"
            for arm in experiment.arms:
                x = arm.arrangement.place
                points.append(Point.of(arm.means[name], series="scores", x=x, panel=panel))
                if name in experiment.by_chance:
                    level = Point.of(experiment.by_chance[name], series="by chance", x=x, panel=panel)
                    points.append(replace(level, low=None, high=None, kind=Kind.DASHED))
    most = 1.1 * max((point.value for point in points if point.value is not None), default=1.0) or 1.0
    words = Words(
        name=f"ratings-by-place-{size}" if are_ratings else f"places-{size}",
        title=(
            "Do ratings depend on the place of the relevant document, of %(n)d?"
            if are_ratings
            else "Does the place of the relevant document matter, of %(n)d?"
        )
        % {"n": size},
        subtitle="Bands: 95 % intervals."
        if are_ratings
        else "Dashed: the same summaries with references of other sources. Bands: 95 % intervals.",
        value="mean rating, 1 to 5" if are_ratings else "mean F1",
        x="place of the relevant document",
        digits=2 if are_ratings else 3,
        columns={"panel": _("System"), "series": "Whose scores"},
    )
    layout = Lines(
        x_domain=(0.8, size + 0.2),
        domain=(1.0, 5.0) if are_ratings else (0.0, most),
        x_values=tuple(range(1, size + 1)),
        panels_beside=3,
        size=(250, 170),
        colours=[("scores", colour_of(0)), ("by chance", colour_of(1))],
    )
    return Chart(words, points, layout)


def series_charts(rows: Sequence[Experiment], name: str) -> Iterator[Chart]:
    """Mean scores by how much was shown: the first documents, or so many tokens; a line for each system.

    ROUGE has a chart, so have ratings, and every other score, since each has a scale of its own.
    """
    known = list(dict.fromkeys(score for experiment in rows for score in experiment.names if not is_detail(score)))
    ratings = [score for score in known if is_rating(score)]
    others = [[score] for score in known if score not in {*NAMES, *ratings}]
    for at, scores in enumerate([list(NAMES), *([ratings] if ratings else []), *others]):
        yield _series_chart(rows, name, scores, f"{name}-{at + 1}" if at else name)


def _series_chart(rows: Sequence[Experiment], name: str, measures: Sequence[str], key: str) -> Chart:
    of_tokens = name == TRUNCATION
    points = [
        Point.of(
            arm.means[score],
            factor=100 if score in NAMES else 1,
            series=f"{experiment.system}, {experiment.size}"
            if experiment.size and len({other.size for other in rows}) > 1
            else experiment.system,
            x=arm.arrangement.size / STEP if of_tokens else arm.arrangement.place,
            place=f"{arm.arrangement.size:,}" if of_tokens else str(arm.arrangement.place),
            panel=score_title(score),
        )
        for score in measures
        for experiment in rows
        if score in experiment.names
        for arm in experiment.arms
    ]
    ends = sorted({point.x for point in points if point.x is not None})
    most = max((point.high or point.value for point in points if point.value is not None), default=1.0)
    words = Words(
        name=key,
        title="Do longer inputs help?" if of_tokens else "Do more documents help?",
        subtitle="Mean scores on the same sources; ROUGE is in percent. Bands: 95 % intervals over sources.",
        value="mean score",
        x="tokens shown" if of_tokens else "documents shown, from the first",
        digits=2,
        columns={"panel": "Score", "series": _("System")},
    )
    names = {point.x: point.place for point in points}
    layout = Lines(
        x_domain=(ends[0] - 0.3, ends[-1] + 0.3) if ends else (0.0, 1.0),
        domain=(0.0, 1.05 * most or 1.0),
        x_values=tuple(ends),
        x_names=tuple(names[x] for x in ends),
        panels_beside=3,
        size=(250, 170),
    )
    return Chart(words, points, layout)


def board_chart(
    board: Board, names: Mapping[str, str], judge: str, *, url_of: Callable[[Line], str]
) -> Chart | None:
    """The joint score of each system by its documents, the best on top, people as a band; None without a system.

    Only of the block that the answer is about: rows of other subtopics stand in the table. `names` are those of
    retrievers, `url_of` says where the click on a dot leads. Only the best row of a system shows its interval:
    more would hide each other.
    """
    block = board.leading
    by_system: dict[str, list[Line]] = {}
    for line in sorted(block.lines, key=lambda line: -(line.row.stats["joint"].value or 0.0)):
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
    has = {line.entry.retriever for line in block.systems}
    colours = [(names[setting], colour_of(at)) for at, setting in enumerate(board.settings) if setting in has]
    people = None if block.people is None else Point.of(block.people, factor=100, series="people")
    words = Words(
        name="board-chart",
        title="Which system leads?" if people is None else "Do people beat the models?",
        subtitle=(f"Joint score by the documents shown, on {block.n_subtopics} subtopics; lines are 95 % "
    "intervals of the best of a system, grey ones run from its lowest score to its best. Ringed: "
    f"level with the best system. {_band(board.people, block, names)}Judge: {judge}."),
        value="joint score, 0 to 100",
        columns={"series": _("System"), "group": _("Documents")},
    )  # fmt: skip
    return Chart(words, points, Dots(domain=(0.0, 100.0), colours=colours, band=people))


def _band(line: Line | None, block: Block, names: Mapping[str, str]) -> str:
    """Who the people of the band are."""
    if line is None or line.writers is None or block.people is None:
        return ""
    documents = {"documents": names[line.entry.retriever]}
    if not line.row.subtopics <= block.lines[0].row.subtopics:
        return "Band: people (%(documents)s) on these subtopics. " % documents
    numbers = {"n": line.writers.n_sessions, "writers": line.writers.n_writers}
    return "Band: people (%(documents)s), sessions: %(n)d, writers: %(writers)d. " % (documents | numbers)
