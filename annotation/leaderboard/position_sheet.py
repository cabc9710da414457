"""The position of content laid out: where texts take it from, sensitivity to order, late content, experiments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.leaderboard.charts import pair_chart, place_chart, sentence_chart
from annotation.leaderboard.experiments import Arm, Experiment
from annotation.leaderboard.forms import SCORE_TITLES
from annotation.leaderboard.orders import OrderRow
from annotation.leaderboard.positions import Row
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
)
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.results.writing import number
from benchmarks.scoring.position.curves import Comparison, Curve, Distance
from benchmarks.scoring.position.late import Late
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.arrangements import ALL, ENDS, FILLED, POSITION, Arrangement

FIFTH = 4
"""Of 20 bins."""
RANDOM_MEANS = gettext_lazy("mean; between the ends lie 95 of 100 means of as many random texts")
NAMES = (Name("system", gettext_lazy("System")), Name("retriever", gettext_lazy("Documents"), is_filter=True))
TEXTS = Measure("n", gettext_lazy("Texts"), Unit.COUNT)


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
        names = (_("people") if row.is_people else entry.system, self.names.get(entry.retriever, entry.retriever))
        return SheetRow(names, values, url=self.url(row), is_people=row.is_people)


def position_sheet(found: Content) -> Sheet:
    """Curves of one setting, all rows, sensitivity to position, and scores where the content lies late."""
    if not found.rows:
        text = _("There is no summary of a system and no finished text of a person here.")
        return Sheet((Note(text, is_empty=True),))
    drawings = tuple(_drawings(found))
    return Sheet(
        (
            *([Section("curves", _("Curves"), drawings)] if drawings else ()),
            Section("rows", _("All rows"), (_all_rows(found), _about_rows(found.judge))),
            *(orders_sheet(found.orders, found.judge).parts if found.orders else ()),
            Section("late", _("Where the content lies late"), (_late(found),)),
        )
    )


def _drawings(found: Content) -> Iterator[Drawing]:
    """The charts of the chosen setting: people first, then its systems."""
    people = next((row for row in found.known if row.is_people), None)
    shown = [row for row in found.known if row.entry.retriever == found.setting and not row.is_people]
    if panels := [*([people] if people else []), *shown]:
        yield from (Drawing(make(panels, people, url_of=found.url)) for make in (pair_chart, sentence_chart))


def _about_rows(judge: str) -> Note:
    text = _(
        "Shares are of the matches of pairs of words in the first and the last fifth of the documents, and of the "
        "sentences that texts follow in the first and the last tenth. KS is the Kolmogorov–Smirnov distance of "
        "the pairs of words from those of the reference, and from people's on the same subtopics. ρ is Spearman's "
        "correlation of the position of the reference's content with a score, in brackets where p is over .05."
    )
    by = _("Coverage, citation and joint are by judge %(judge)s.") % {"judge": judge}
    return Note(f"{text} {by}" if judge else text)


def _all_rows(found: Content) -> Table:
    scores = next((list(row.positions.by_position) for row in found.known if row.positions), [])
    share, figure = Unit.SHARE, Unit.FIGURE
    measures = (
        Measure("first", _("First fifth"), share),
        Measure("last", _("Last fifth"), share),
        Measure("ks", _("KS: reference"), figure, has_badge=False),
        Measure("ks_people", _("KS: people"), figure, has_badge=False),
        Measure("first_tenth", _("First tenth"), share),
        Measure("last_tenth", _("Last tenth"), share),
        Measure("mean_word", _("Reference at word"), Unit.COUNT),
        *(Measure(f"rho_{name}", f"ρ {SCORE_TITLES.get(name, name)}", has_badge=False) for name in scores),
        TEXTS,
        Measure("unknown", _("Order unknown"), Unit.COUNT),
        *(Measure(f"p_{name}", f"p, {SCORE_TITLES.get(name, name)}", is_extra=True) for name in scores),
    )
    rows = tuple(found.row(row, _values(row)) for row in found.rows)
    return Table("all-rows", _("All rows"), NAMES, measures, rows, default="system")


def _values(row: Row) -> dict[str, Value | Cell]:
    values: dict[str, Value | Cell] = {"n": 0, "unknown": row.n_unknown_order}
    found = row.positions
    if found is None:
        return values
    return values | {
        "n": found.n_texts,
        "first": _share(found.pairs, slice(0, FIFTH)),
        "last": _share(found.pairs, slice(-FIFTH, None)),
        "ks": _distance(found.ks),
        "ks_people": _distance(found.ks_people),
        "first_tenth": _share(found.sentences, slice(0, 1)),
        "last_tenth": _share(found.sentences, slice(-1, None)),
        "mean_word": found.mean_word,
        **{f"rho_{name}": _rank(one) for name, one in found.by_position.items()},
        **{f"p_{name}": one.p for name, one in found.by_position.items()},
    }


def _share(curve: Curve, bins: slice) -> float | None:
    return sum(curve.bins[bins]) if curve.bins else None


def _distance(one: Distance | None) -> Stat | None:
    if one is None:
        return None
    if one.value is None:
        return Stat.undefined(one.reason, n_items=one.n)
    return Stat(one.value, n_items=one.n, method="Kolmogorov–Smirnov distance")


def _rank(one: Comparison) -> Cell:
    if one.value is None:
        return Cell(Stat.undefined(one.reason, n_items=one.n))
    stat = Stat(one.value, n_items=one.n, method="Spearman's ρ")
    return Cell(stat, text="" if one.is_significant else f"({number(one.value)})")


def _late(found: Content) -> Table | Note:
    rows, names = [], dict[str, Any]()
    for row in found.rows:
        counted = next((one for one in reversed(list(row.late.values())) if one.value is not None), None)
        if counted is not None:
            names |= dict.fromkeys(row.late)
            values = {name: _late_stat(one) for name, one in row.late.items()}
            rows.append(found.row(row, {**values, "n": counted.n, "n_all": counted.n_all}))
    if not rows:
        return Note(_("No system has 5 such texts and 5 others."))
    measures = (
        TEXTS,
        Measure("n_all", _("Of all"), Unit.COUNT),
        *(Measure(name, SCORE_TITLES.get(name, name), has_badge=False) for name in names),
    )
    about = _(
        "Mean scores on texts whose reference follows no sentence before word 1,200. Below them where 95 of 100 "
        "means of as many random texts lie."
    )
    title = _("Where the content lies late")
    return Table("late-scores", title, NAMES, measures, tuple(rows), about=about)


def _late_stat(one: Late) -> Stat:
    if one.value is None:
        return Stat.undefined(one.reason, n_items=one.n)
    return Stat(one.value, n_items=one.n, low=one.low, high=one.high, method=str(RANDOM_MEANS))


def orders_sheet(rows: Iterable[OrderRow], judge: str) -> Sheet:
    """Joint scores by the order of the documents, and how sensitive systems are to it."""
    points = Unit.POINTS
    measures = (
        Measure("random", _("Random"), points, has_badge=False),
        Measure("top", _("Top"), points, has_badge=False),
        Measure("bottom", _("Bottom"), points, has_badge=False),
        Measure("top_minus_random", _("Top − Random"), points, is_signed=True, has_badge=False),
        Measure("bottom_minus_random", _("Bottom − Random"), points, is_signed=True, has_badge=False),
        Measure("sensitivity", _("Sensitivity"), points, has_badge=False),
        Measure("p", "p"),
        Measure("n_summaries", _("Summaries"), Unit.COUNT),
    )
    about = _(
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
    title = _("Sensitivity to position")
    table = Table("sensitivity", title, (Name("system", _("System")),), measures, shown)
    return Sheet((Section("orders", title, (Note(about), table)),))


# Experiments


def experiments_sheet(experiments: Sequence[Experiment]) -> Sheet:
    """Scores by place with their curves, and by what stands between."""
    if not experiments:
        text = _("No summarizer has been through an experiment here.")
        return Sheet((Note(text, is_empty=True), Fragment("annotation/_experiments_start.html")))
    of_places = [one for one in experiments if one.name == POSITION]
    sizes = sorted({one.size for one in of_places if one.n})
    charts = [place_chart([one for one in of_places if one.n and one.size == size], size) for size in sizes]
    about = _(
        "Means over the sources that a system summarized under all arrangements, with 95 % intervals over "
        "sources. By chance: the same summaries with the references of other sources. Relative to all documents: "
        "each score in percent of that with all documents, averaged over the scores."
    )
    return Sheet(
        (
            Note(about),
            *_scores(
                "position", _("Position"), of_places, [Drawing(chart, table="position-scores") for chart in charts]
            ),
            *_scores("infilling", _("Infilling"), [one for one in experiments if one.name != POSITION], []),
        )
    )


def _scores(
    key: str, title: str, experiments: Sequence[Experiment], drawings: Sequence[Drawing]
) -> Iterator[Section]:
    if not experiments:
        return
    names = list(dict.fromkeys(name for one in experiments for name in one.names))
    measures = (
        Measure("size", _("Documents"), Unit.COUNT),
        *(Measure(name, SCORE_TITLES.get(name, name), has_badge=False) for name in names),
        *([Measure("relative", _("Relative to all documents"), Unit.SHARE)] if key != POSITION else ()),
        Measure("n", _("Sources"), Unit.COUNT),
        Measure("n_left_out", _("Not under all arrangements yet"), Unit.COUNT),
    )
    rows = [row for one in experiments for row in _arms(one)]
    columns = (Name("system", _("System"), is_filter=True), Name("arrangement", _("Documents shown")))
    table = Table(f"{key}-scores", title, columns, measures, tuple(rows))
    yield Section(key, title, (*drawings, table))


def _arms(one: Experiment) -> Iterator[SheetRow]:
    by_chance = [Arm(one.arms[0].arrangement, one.by_chance)] if one.by_chance else []
    for arm in (*one.arms, *by_chance):
        name = _("by chance") if arm in by_chance else arm_name(arm.arrangement)
        counts = {"size": one.size, "n": one.n, "n_left_out": one.n_left_out}
        yield SheetRow((one.system, name), {**arm.means, **counts, "relative": arm.share})


def arm_name(arrangement: Arrangement) -> str:
    """An arrangement in words."""
    between = {
        ALL: _("all %(n)d") % {"n": arrangement.size},
        ENDS: _("first and last"),
        FILLED: _("first, %(n)d of other sources, last") % {"n": arrangement.n_others},
    }
    return between.get(arrangement.kind) or _("relevant at %(n)d") % {"n": arrangement.place}
