"""The page of the position of content: where texts take it from, and scores where it lies late.

With it the joint score of systems by the order of the documents in the full context (Table 3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import quote

from django.urls import reverse
from django.utils import timezone

from annotation.leaderboard.board import Look, View, behind_scores
from annotation.leaderboard.experiments import HEADING as EXPERIMENTS_HEADING
from annotation.leaderboard.forms import PositionForm, score_title
from annotation.leaderboard.positions import HEADING, POSITIONS, PositionRows, Row, ScopePage, as_json
from annotation.leaderboard.ratings import is_detail, models_of
from annotation.leaderboard.views import with_reason
from annotation.models import Study
from annotation.writing.results import AVERAGES
from benchmarks.leaderboard.board import ORDERS, scored_summaries
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack
from benchmarks.results.computation import Computation, contents, register, totals
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Card,
    Cards,
    Cell,
    Drawing,
    Measure,
    Name,
    Note,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    choice,
    few_clusters,
    first_look,
    nothing,
)
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.results.stored import look_up
from benchmarks.results.writing import number
from benchmarks.scoring.leaderboard import Scored, sensitivity
from benchmarks.scoring.position import Comparison, Curve
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import HUMAN, MUTED, Chart, Kind, Lines, Point, Words, colour_of

FIGURES = ("random", "top", "bottom", "sensitivity")
DIFFERENCES = ("top_minus_random", "bottom_minus_random")


class OrderRow(NamedTuple):
    """A system, its `FIGURES` from 0 to 100, and on how many summaries they are.

    `differences` are the two signed ones, from −100 to 100; `p` is that of the sensitivity.
    """

    system: str
    stats: dict[str, Stat]
    n_summaries: int
    differences: dict[str, Stat]
    p: float | None


@dataclass(frozen=True, slots=True)
class OrderRows:
    """Every system that read the full context in a known order other than the random one."""

    rows: tuple[OrderRow, ...]


def rows_by_order(view: View) -> list[OrderRow]:
    """Of the view count haystacks, judge, score and average."""
    scored, entries = scored_summaries(haystacks=view.haystacks, judge=view.judge, score=view.score)
    order_of = {published: name for name, published in ORDERS.items()}
    systems: dict[str, dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    for text in scored:
        entry = entries[text.entry]
        if entry.retriever in order_of:
            systems[entry.system][order_of[entry.retriever]].append(text)
    rows = []
    for name, orders in sorted(systems.items()):
        if set(orders) - {"random"}:
            orders_row = sensitivity(orders, average=AVERAGES[view.average])
            stats, differences = (
                {figure: getattr(orders_row, figure).scaled(100) for figure in names}
                for names in (FIGURES, DIFFERENCES)
            )
            rows.append(OrderRow(name, stats, orders_row.n_summaries, differences, orders_row.p))
    return rows


def _facts(look: Look) -> object:
    haystacks = Haystack.objects.filter(pk__in=look.haystacks)
    return totals(*behind_scores(look.haystacks, look.judge)), contents(haystacks)


ORDER_FIGURES = register(
    Computation(
        "orders",
        options=Look,
        figures=OrderRows,
        compute=lambda look: OrderRows(tuple(rows_by_order(look.view))),
        facts=_facts,
        revision=2,
    )
)


def orders_as_json(rows: Iterable[OrderRow], judge: str) -> list[dict[str, Any]]:
    """The rows as plain values: the two differences with their intervals, the other figures by value."""
    return [
        {
            "system": row.system,
            "judge": judge,
            **{figure: stat.value for figure, stat in row.stats.items()},
            **{name: {"value": stat.value} | with_reason(stat) for name, stat in row.differences.items()},
            "p": row.p,
            "n_summaries": row.n_summaries,
            "intervals": {figure: with_reason(stat) for figure, stat in row.stats.items()},
        }
        for row in rows
    ]


def most_sensitive(rows: Sequence[OrderRow]) -> str:
    """Which system's score depends most on where the relevant documents stand, and whether that is significant."""
    known = [row for row in rows if row.stats["sensitivity"].value is not None]
    if not known:
        return "How far scores depend on the order of the documents is unknown."
    most = max(known, key=lambda row: row.stats["sensitivity"].value or 0.0)
    points, p = most.stats["sensitivity"].value or 0.0, most.p
    verdict = "" if p is None else f", {'significant' if p < SIGNIFICANT else 'not significant'} (p = {p:.3f})"
    return f"The order of the documents matters most to {most.system}: {points:.1f} points{verdict}."


SIGNIFICANT = 0.05


def orders_table(rows: Iterable[OrderRow]) -> Table:
    """Joint scores by the order of the documents, and how sensitive systems are to it."""
    points = Unit.POINTS
    measures = (
        Measure("sensitivity", "Sensitivity", points, has_badge=False),
        Measure("p", "p"),
        Measure("random", "Random", points, has_badge=False),
        Measure("top", "Top", points, has_badge=False),
        Measure("bottom", "Bottom", points, has_badge=False),
        Measure("top_minus_random", "Top − Random", points, is_signed=True, has_badge=False),
        Measure("bottom_minus_random", "Bottom − Random", points, is_signed=True, has_badge=False),
        Measure("n_summaries", "Summaries", Unit.COUNT),
    )
    shown = tuple(
        SheetRow((row.system,), {**row.stats, **row.differences, "p": row.p, "n_summaries": row.n_summaries})
        for row in rows
    )
    return Table("sensitivity", "Sensitivity to position", (Name("system", "System"),), measures, shown)


def about_orders(table: Table, judge: str) -> tuple[Note, ...]:
    about = (
        f"The joint score, from 0 to 100 by judge {judge}, of systems that read the full context in more than one "
        "order, on the subtopics that all orders of a system have. Top is the published order "
        f"{ORDERS['top']}, with the documents of the subtopic first; Bottom is {ORDERS['bottom']}, with them "
        f"last; Random is {ORDERS['random']}. Beside figures: 95 % intervals over subtopics, of differences on "
        "the same ones. Sensitivity is the larger "
        "distance of Top and Bottom from Random: above 0 by chance alone, so it has no interval; p is how often "
        "it is as large when the orders are permuted within subtopics."
    )
    return (Note(about), *few_clusters(table))


def orders_sheet(rows: Iterable[OrderRow], judge: str) -> Sheet:
    """The table by itself, for a console."""
    table = orders_table(rows)
    about, *few = about_orders(table, judge)
    return Sheet((Section("orders", "Sensitivity to position", (about, table, *few)),))


RANDOM_MEANS = "mean; 95 % range for the same number of random texts"
NAMES = (Name("system", "System"), Name("retriever", "Documents", is_filter=True))
TEXTS = Measure("n", "Texts", Unit.COUNT)


@dataclass(frozen=True, slots=True)
class Content:
    """Where texts take their content from; what retrievers are called, and which of their settings is drawn.

    `elsewhere` is what has texts, where there are no rows;
    `kept` is what addresses of rows keep of that of the page, None where texts have no page insight by insight.
    """

    rows: Sequence[Row]
    judge: str = ""
    orders: Sequence[OrderRow] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    setting: str = ""
    kept: str | None = None
    elsewhere: Sequence[tuple[str, str]] = ()

    @property
    def known(self) -> list[Row]:
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
        entry = row.entry
        names = ("people" if row.is_people else entry.system, self.names.get(entry.retriever, entry.retriever))
        return SheetRow(names, values, url=self.url(row), is_people=row.is_people)


def position_sheet(content: Content) -> Sheet:
    """Curves of one setting, all rows, sensitivity to position, and scores where the content lies late."""
    if not content.rows:
        none = "There is no summary of a system and no finished text of a person here."
        return Sheet(nothing(none, content.elsewhere))
    drawings, rows = tuple(_drawings(content)), _all_rows(content)
    settings = [(name, content.names.get(name, name)) for name in content.settings]
    whose = choice("setting", "Documents from", settings, content.setting)
    curves = (Section("curves", "Curves", (whose, *drawings)),) if drawings else ()
    late = Section("late", "Where the content lies late", (_late(content),))
    orders = orders_table(content.orders) if content.orders else None
    return Sheet(
        first_look(
            _answer(content),
            cards=Cards("position-cards", cards) if (cards := tuple(_cards(content))) else None,
            table=orders or rows,
            more=(*([rows] if orders else ()), *curves, late),
            reading=(*(about_orders(orders, content.judge) if orders else ()), _about_rows(content.judge)),
        )
    )


def _answer(content: Content) -> str:
    """Which system depends most on the order of the documents, and where texts take their content from."""
    said = [most_sensitive(content.orders)] if content.orders else []
    people = next((row for row in content.known if row.is_people), None)
    systems = [row for row in content.known if not row.is_people]
    shares = [value for row in systems if (value := _first_fifth(row)) is not None]
    if shares:
        between = " to ".join(dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares)))) + " %"
        said.append(f"Systems take {between} of their words from the first fifth of the documents")
        of_people = None if people is None else _first_fifth(people)
        said[-1] += (
            "." if of_people is None else f", people {100 * of_people:.0f} %; spread evenly it would be 20 %."
        )
    return " ".join(said) or "No text here has documents in a known order."


def _first_fifth(row: Row) -> float | None:
    stat = row.positions.shares.get("first") if row.positions else None
    return stat.value if stat else None


def _cards(content: Content) -> Iterator[Card]:
    people = next((row for row in content.known if row.is_people), None)
    if people is not None and people.positions is not None:
        for key, title in (("first", "First fifth"), ("last", "Last fifth")):
            share = people.positions.shares[key]
            of = f"{share.n_items:,} matches"
            yield Card(f"people_{key}", f"People: {title.lower()}", share, Unit.SHARE, of=of)
    ranked = sorted(content.orders, key=lambda row: -(row.stats["sensitivity"].value or 0.0))
    for at, row in enumerate(ranked[:2], 1):
        p = "" if row.p is None else f"p = {row.p:.3f}"
        yield Card(f"sensitivity-{at}", f"{row.system}: sensitivity", row.stats["sensitivity"], Unit.POINTS, p)


def _drawings(content: Content) -> Iterator[Drawing]:
    """The charts of the chosen setting: people first, then its systems."""
    people = next((row for row in content.known if row.is_people), None)
    shown = [row for row in content.known if row.entry.retriever == content.setting and not row.is_people]
    if panels := [*([people] if people else []), *shown]:
        yield from (Drawing(_chart(content, panels, people, *words)) for words in CHARTS)


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
        "ks": positions.ks,
        "ks_people": positions.ks_people,
        "mean_word": positions.mean_word,
        **{f"rho_{name}": _rank(comparison) for name, comparison in positions.by_position.items()},
        **{f"p_{name}": comparison.p for name, comparison in positions.by_position.items()},
    }


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
            values = {
                name: Stat.undefined(late.reason, n_items=late.n)
                if late.value is None
                else Stat(late.value, n_items=late.n, low=late.low, high=late.high, method=RANDOM_MEANS)
                for name, late in row.late.items()
            }
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


CHARTS = (
    ("pairs", "Where in the documents do bigrams come from?", "share of matches (%)"),
    ("sentences", "Where in the documents are the sentences that texts follow?", "share of sentences (%)"),
)
"""What of a text is drawn: bigrams, and the source sentences that it follows."""


def _chart(content: Content, rows: Sequence[Row], people: Row | None, part: str, title: str, value: str) -> Chart:
    """Positions of it, beside those of reference and people, and an even spread.

    People are drawn beside systems that wrote on the same subtopics.
    """
    points = [point for row in rows for point in _panel(row, people, part, content.url(row))]
    most = max((point.value for point in points if point.value is not None), default=1.0)
    words = Words(
        name=part,
        title=title,
        subtitle="Solid: texts. Dashed: people, and the reference in the same documents. Thin: an even spread.",
        value=value,
        x="place in the documents shown (%)",
        text=title,
        columns={"panel": "System", "series": "Whose content"},
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


class PositionPage(ScopePage[PositionRows]):
    url = "content-positions"
    heading, computation, form_class = HEADING, POSITIONS, PositionForm
    about = (
        "Where, in the documents they were shown, systems and people take their content from. Documents stand "
        "in the order in which they were shown; texts whose order is not known are left out."
    )

    def context(self, figures: PositionRows) -> dict[str, Any]:
        return {
            "crumbs": [("Leaderboard", reverse("annotation:leaderboard"))],
            "links": [(EXPERIMENTS_HEADING, reverse("annotation:position-experiments"))],
        }

    def sheet(self, figures: PositionRows) -> Sheet:
        view, content = self.form.view(), Content(figures.rows)
        names = names_of(
            [*content.settings, *sorted({row.entry.retriever for row in content.rows} - {*content.settings})]
        )
        content = replace(
            content,
            judge=str(view.judge) if view else "",
            orders=self._orders(view) if view and content.rows else (),
            names=names,
            setting=self.form.offer({name: names[name] for name in content.settings}),
            kept=self.form.kept(),
            elsewhere=() if content.rows else self.form.elsewhere(),
        )
        shown = (name for row in content.known if row.positions for name in row.positions.by_position)
        judged = Judged((view.judge.pk,) if view else (), others=models_of(shown))
        return replace(position_sheet(content), judged=judged)

    def _orders(self, view: View) -> tuple[OrderRow, ...]:
        """Joint scores by order of the documents; none before they are computed."""
        look = Look.at(replace(view, minute=None), Study.objects.none())
        shown = look_up(ORDER_FIGURES, look, now=timezone.now(), wait_s=self.wait_s)
        return shown.figures.rows if shown.figures else ()

    def as_json(self, figures: PositionRows) -> Any:
        return as_json(figures.rows)
