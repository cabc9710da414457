"""The position of content laid out: where texts take it from, sensitivity to order, late content, experiments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.leaderboard.charts import pair_chart, place_chart, sentence_chart, series_charts
from annotation.leaderboard.experiments import Arm, Experiment
from annotation.leaderboard.forms import score_title
from annotation.leaderboard.orders import OrderRow
from annotation.leaderboard.positions import Row
from annotation.leaderboard.ratings import is_detail, is_rating
from benchmarks.leaderboard.board import ORDERS
from benchmarks.results.sheet import (
    Cell,
    Drawing,
    Fragment,
    Measure,
    Name,
    Note,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    few_clusters,
)
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.results.writing import number
from benchmarks.scoring.position.curves import Comparison, Distance
from benchmarks.scoring.position.late import Late
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.arrangements import (
    ALL,
    AT,
    DOCUMENTS,
    ENDS,
    FILLED,
    FIRST,
    INFILLING,
    POSITION,
    TRUNCATION,
    USUAL_MEASURE,
    Arrangement,
)
from benchmarks.web.charts import Chart

RANDOM_MEANS = "mean; between the ends lie 95 of 100 means of as many random texts"
NAMES = (Name("system", gettext_lazy("System")), Name("retriever", gettext_lazy("Documents"), is_filter=True))
TEXTS = Measure("n", "Texts", Unit.COUNT)


@dataclass(frozen=True, slots=True)
class Content:
    """Where texts take their content from; what retrievers are called, and which of their settings is drawn.

    `kept` is what addresses of rows keep of that of the page, None where texts have no page insight by insight.
    """

    rows: Sequence[Row]
    judge: str = ""
    orders: Sequence[OrderRow] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    setting: str = ""
    kept: str | None = None

    @property
    def known(self) -> list[Row]:
        """Rows with a text whose order is known."""
        return [row for row in self.rows if row.positions is not None]

    @property
    def settings(self) -> list[str]:
        """The retrievers that can be drawn, gold documents first."""
        return sorted({row.entry.retriever for row in self.known}, key=lambda name: (name != "oracle", name))

    def url(self, row: Row) -> str:
        """Where a system stands insight by insight; empty where the judge scored none of it, and of people.

        Here all texts of people are one row, on the leaderboard one for each choice of documents.
        """
        joint = row.positions.by_position.get("joint") if row.positions else None
        if self.kept is None or row.is_people or joint is None or not joint.n:
            return ""
        pair = f"{reverse('annotation:leaderboard-compared')}?a={quote(str(row.entry))}"
        return f"{pair}&{self.kept}" if self.kept else pair

    def row(self, row: Row, values: Mapping[str, Value | Cell]) -> SheetRow:
        """A row of a table."""
        entry = row.entry
        names = ("people" if row.is_people else entry.system, self.names.get(entry.retriever, entry.retriever))
        return SheetRow(names, values, url=self.url(row), is_people=row.is_people)


def position_sheet(content: Content) -> Sheet:
    """Curves of one setting, all rows, sensitivity to position, and scores where the content lies late."""
    if not content.rows:
        text = "There is no summary of a system and no finished text of a person here."
        return Sheet((Note(text, is_empty=True),))
    drawings = tuple(_drawings(content))
    return Sheet(
        (
            *([Section("curves", "Curves", drawings)] if drawings else ()),
            Section("rows", "All rows", (_all_rows(content), _about_rows(content.judge))),
            *(orders_sheet(content.orders, content.judge).parts if content.orders else ()),
            Section("late", "Where the content lies late", (_late(content),)),
        )
    )


def _drawings(content: Content) -> Iterator[Drawing]:
    """The charts of the chosen setting: people first, then its systems."""
    people = next((row for row in content.known if row.is_people), None)
    shown = [row for row in content.known if row.entry.retriever == content.setting and not row.is_people]
    if panels := [*([people] if people else []), *shown]:
        yield from (Drawing(make(panels, people, url_of=content.url)) for make in (pair_chart, sentence_chart))


def _about_rows(judge: str) -> Note:
    text = (
        "Shares are of the matches of pairs of words in the first and the last fifth of the documents, and of the "
        "sentences that texts follow in the first and the last tenth, with 95 % intervals over "
        "subtopics. KS is the Kolmogorov–Smirnov distance of the pairs of words from those of the reference, "
        "and from people's on the same subtopics. ρ is Spearman's correlation of the position of the reference's "
        "content with a score, in brackets where p is over .05."
    )
    by = f"Coverage, citation and joint are by judge {judge}."
    return Note(f"{text} {by}" if judge else text)


def _all_rows(content: Content) -> Table:
    scores = next((list(row.positions.by_position) for row in content.known if row.positions), [])
    share, figure = Unit.SHARE, Unit.FIGURE
    measures = (
        Measure("first", "First fifth", share),
        Measure("last", "Last fifth", share),
        Measure("ks", "KS: reference", figure, has_badge=False),
        Measure("ks_people", "KS: people", figure, has_badge=False),
        Measure("first_tenth", "First tenth", share),
        Measure("last_tenth", "Last tenth", share),
        Measure("mean_word", "Reference at word", Unit.COUNT),
        *(
            Measure(f"rho_{name}", f"ρ {score_title(name)}", has_badge=False, is_extra=is_detail(name))
            for name in scores
        ),
        TEXTS,
        Measure("unknown", "Order unknown", Unit.COUNT),
        *(Measure(f"p_{name}", f"p, {score_title(name)}", is_extra=True) for name in scores),
    )
    rows = tuple(content.row(row, _values(row)) for row in content.rows)
    return Table("all-rows", "All rows", NAMES, measures, rows, default="system")


def _values(row: Row) -> dict[str, Value | Cell]:
    values: dict[str, Value | Cell] = {"n": 0, "unknown": row.n_unknown_order}
    positions = row.positions
    if positions is None:
        return values
    return values | {
        "n": positions.n_texts,
        **positions.shares,
        "ks": _distance(positions.ks),
        "ks_people": _distance(positions.ks_people),
        "mean_word": positions.mean_word,
        **{f"rho_{name}": _rank(comparison) for name, comparison in positions.by_position.items()},
        **{f"p_{name}": comparison.p for name, comparison in positions.by_position.items()},
    }


def _distance(distance: Distance | None) -> Stat | None:
    if distance is None:
        return None
    if distance.value is None:
        return Stat.undefined(distance.reason, n_items=distance.n)
    return Stat(distance.value, n_items=distance.n, method="Kolmogorov–Smirnov distance")


def _rank(comparison: Comparison) -> Cell:
    if comparison.value is None:
        return Cell(Stat.undefined(comparison.reason, n_items=comparison.n))
    stat = Stat(comparison.value, n_items=comparison.n, method="Spearman's ρ")
    return Cell(stat, text="" if comparison.is_significant else f"({number(comparison.value)})")


def _late(content: Content) -> Table | Note:
    rows, names = [], dict[str, Any]()
    for row in content.rows:
        counted = next((late for late in reversed(list(row.late.values())) if late.value is not None), None)
        if counted is not None:
            names |= dict.fromkeys(row.late)
            values = {name: _late_stat(late) for name, late in row.late.items()}
            rows.append(content.row(row, {**values, "n": counted.n, "n_all": counted.n_all}))
    if not rows:
        return Note("No system has 5 such texts and 5 others.")
    measures = (
        TEXTS,
        Measure("n_all", "Of all", Unit.COUNT),
        *(Measure(name, score_title(name), has_badge=False, is_extra=is_detail(name)) for name in names),
    )
    about = (
        "Mean scores on texts whose reference follows no sentence before word 1,200. Below them where 95 of 100 "
        "means of as many random texts lie."
    )
    title = "Where the content lies late"
    return Table("late-scores", title, NAMES, measures, tuple(rows), about=about)


def _late_stat(late: Late) -> Stat:
    if late.value is None:
        return Stat.undefined(late.reason, n_items=late.n)
    return Stat(late.value, n_items=late.n, low=late.low, high=late.high, method=str(RANDOM_MEANS))


def orders_sheet(rows: Iterable[OrderRow], judge: str) -> Sheet:
    """Joint scores by the order of the documents, and how sensitive systems are to it."""
    points = Unit.POINTS
    measures = (
        Measure("random", "Random", points, has_badge=False),
        Measure("top", "Top", points, has_badge=False),
        Measure("bottom", "Bottom", points, has_badge=False),
        Measure("top_minus_random", "Top − Random", points, is_signed=True, has_badge=False),
        Measure("bottom_minus_random", "Bottom − Random", points, is_signed=True, has_badge=False),
        Measure("sensitivity", "Sensitivity", points, has_badge=False),
        Measure("p", "p"),
        Measure("n_summaries", "Summaries", Unit.COUNT),
    )
    about = (
        "The joint score, from 0 to 100 by judge %(judge)s, of systems that read the full context in more than "
        "one order, on the subtopics that all orders of a system have. Top is the published order %(top)s, with "
        "the documents of the subtopic first; Bottom is %(bottom)s, with them last; Random is %(random)s. Beside "
        "figures: 95 %% intervals over subtopics, of differences on the same ones. Sensitivity is the larger "
        "distance of Top and Bottom from Random: above 0 by chance alone, so it has no interval; p is how often "
        "it is as large when the orders are permuted within subtopics."
    ) % {"judge": judge, **ORDERS}
    shown = tuple(
        SheetRow((row.system,), {**row.stats, **row.differences, "p": row.p, "n_summaries": row.n_summaries})
        for row in rows
    )
    title = "Sensitivity to position"
    names = (Name("system", _("System")),)
    table = Table("sensitivity", title, names, measures, shown)
    return Sheet((Section("orders", title, (Note(about), table, *few_clusters(table))),))


# Experiments


def experiments_sheet(experiments: Sequence[Experiment]) -> Sheet:
    """Scores by place with their curves, and by what stands between."""
    if not experiments:
        text = "No summarizer has been through an experiment here."
        return Sheet((Note(text, is_empty=True), Fragment("annotation/_experiments_start.html")))
    of_places = [experiment for experiment in experiments if experiment.name == POSITION]
    sizes = sorted({experiment.size for experiment in of_places if experiment.n})
    charts = [chart for size in sizes for chart in _place_charts(of_places, size)]
    about = (
        "Means over the sources that a system summarized under all arrangements, with 95 % intervals over "
        "sources. By chance: the same summaries with the references of other sources. Relative to all documents: "
        "each score in percent of that with all documents, averaged over the scores."
    )
    return Sheet(
        (
            Note(about),
            *_scores(
                "position", "Position", of_places, [Drawing(chart, table="position-scores") for chart in charts]
            ),
            *_scores(
                "infilling",
                "Infilling",
                [experiment for experiment in experiments if experiment.name == INFILLING],
                [],
            ),
            *_series(experiments, DOCUMENTS, "First documents"),
            *_series(experiments, TRUNCATION, "Truncation"),
        )
    )


def _series(experiments: Sequence[Experiment], name: str, title: str) -> Iterator[Section]:
    """How scores go with how much is shown, as curves and a table."""
    chosen = [experiment for experiment in experiments if experiment.name == name]
    charts = series_charts(chosen, name) if chosen else ()
    yield from _scores(name, title, chosen, [Drawing(chart, table=f"{name}-scores") for chart in charts])


def _place_charts(experiments: Sequence[Experiment], size: int) -> Iterator[Chart]:
    """ROUGE by place, and ratings where there are any."""
    shown = [experiment for experiment in experiments if experiment.n and experiment.size == size]
    yield place_chart(shown, size)
    if any(is_rating(name) for experiment in shown for name in experiment.names):
        yield place_chart(shown, size, are_ratings=True)


def _scores(
    key: str, title: str, experiments: Sequence[Experiment], drawings: Sequence[Drawing]
) -> Iterator[Section]:
    if not experiments:
        return
    names = list(dict.fromkeys(name for experiment in experiments for name in experiment.names))
    measures = (
        Measure("size", _("Documents"), Unit.COUNT),
        *(Measure(name, score_title(name), has_badge=False, is_extra=is_detail(name)) for name in names),
        *([Measure("relative", "Relative to all documents", Unit.SHARE)] if key == INFILLING else ()),
        Measure("n", "Sources", Unit.COUNT),
        Measure("n_left_out", "Not under all arrangements yet", Unit.COUNT),
    )
    rows = [row for experiment in experiments for row in _arms(experiment)]
    columns = (Name("system", _("System"), is_filter=True), Name("arrangement", "Documents shown"))
    table = Table(f"{key}-scores", title, columns, measures, tuple(rows))
    yield Section(key, title, (*drawings, table))


def _arms(experiment: Experiment) -> Iterator[SheetRow]:
    by_chance = [Arm(experiment.arms[0].arrangement, experiment.by_chance)] if experiment.by_chance else []
    for arm in (*experiment.arms, *by_chance):
        name = "by chance" if arm in by_chance else arm_name(arm.arrangement)
        counts = {"size": experiment.size or None, "n": experiment.n, "n_left_out": experiment.n_left_out}
        yield SheetRow((experiment.system, name), {**arm.means, **counts, "relative": arm.share})


def arm_name(arrangement: Arrangement) -> str:
    """An arrangement in words."""
    if arrangement.tokens is not None:
        return "until %(n)s tokens" % {"n": f"{arrangement.tokens:,}"}
    between = {
        FIRST: f"first {arrangement.place}",
        ALL: f"all {arrangement.size}",
        ENDS: "first and last",
        FILLED: f"first, {arrangement.n_others} of other sources, last",
    }
    at = f"relevant at {arrangement.place}"
    if arrangement.kind == AT and arrangement.by != USUAL_MEASURE:
        at = f"{at} ({arrangement.by})"
    return between.get(arrangement.kind) or at
