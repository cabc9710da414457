"""Rows of the leaderboard insight by insight: one alone, or two on the subtopics that both have, with totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from annotation.leaderboard import views
from annotation.leaderboard.board import LEADERBOARD, Board, Look, View, texts_of
from annotation.leaderboard.forms import TITLES
from annotation.leaderboard.people import section
from annotation.leaderboard.sheet import judged_in
from annotation.leaderboard.views import shown_board, studies_of
from annotation.models import Study
from annotation.studies.amounts import in_figures
from annotation.writing.results import AVERAGES
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Insight
from benchmarks.results.computation import Computation, register
from benchmarks.results.pages import FigurePage
from benchmarks.results.sheet import (
    Card,
    Cards,
    Measure,
    Name,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    first_look,
)
from benchmarks.results.stored import Shown, look_up
from benchmarks.results.writing import Origin, is_significant, said_of_test, spoken
from benchmarks.scoring.leaderboard import Leaderboard
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import MEASURES, SummaryScore
from benchmarks.web.charts import Chart, Dots, Point, Words

SCORES = ("coverage", "citation", "joint")
Rows = Sequence[tuple[Insight, "InsightRow"]]


@dataclass(frozen=True, slots=True)
class InsightRow:
    """Scores of two entries on an insight, by its primary key (means over their texts, None where undefined)."""

    insight: int
    first: dict[str, float | None]
    second: dict[str, float | None]

    @property
    def difference(self) -> float | None:
        """Joint of the first minus that of the second."""
        joint, other = self.first["joint"], self.second["joint"]
        return None if joint is None or other is None else joint - other


@dataclass(frozen=True, slots=True)
class PairLook:
    """Options of the stored comparison of two entries, by their keys; without a second the first alone."""

    board: Look
    first: str
    second: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two entries insight by insight, the largest difference first, and in total on the subtopics that both have.

    `alone` are the figures of each entry with all its texts, as the leaderboard has them. Of one entry alone
    `second` and `difference` are empty, and the worst insights come first.
    """

    rows: tuple[InsightRow, ...]
    n_subtopics: int
    first: dict[str, Stat]
    second: dict[str, Stat]
    difference: dict[str, Stat]
    alone: dict[str, dict[str, Stat]]


def by_insight(view: View, first: str, second: str, *, studies: QuerySet[Study]) -> Compared:
    """Compare two entries on the insights that both have scores on, or list those of one."""
    names = [first, *([second] if second else [])]
    scored = [text for text in texts_of(view, studies).scored if text.entry in names]
    on = [{text.subtopic for text in scored if text.entry == name} for name in names]
    common = set.intersection(*on)
    values = [
        _by_insight([text.score for text in scored if text.entry == name and text.subtopic in common])
        for name in names
    ]
    shared = sorted(set.intersection(*map(set, values)), key=int)
    empty: dict[str, float | None] = dict.fromkeys(MEASURES)
    rows = [InsightRow(int(key), values[0][key], values[-1][key] if second else empty) for key in shared]
    computed = Leaderboard(scored, average=AVERAGES[view.average])
    alone = {row.entry: {name: row.stats[name] for name in MEASURES} for row in computed.rows()}
    if second:
        rows.sort(key=lambda row: (-abs(row.difference or 0.0), row.insight))
        [sides] = computed.compared([(first, second)]) if all(on) else [{}]
        stats = [{name: getattr(side, part) for name, side in sides.items()} for part in PARTS]
    else:
        rows.sort(key=lambda row: (row.first["joint"] or 0.0, row.insight))
        stats = [alone[first], {}, {}]
    ours, theirs, difference = stats
    return Compared(tuple(rows), len(common), ours, theirs, difference, alone)


PARTS = ("first", "second", "difference")


def _by_insight(scores: Sequence[SummaryScore]) -> dict[str, dict[str, float | None]]:
    sums: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        for insight in score.insights:
            row = sums.setdefault(insight.key, {name: [] for name in MEASURES})
            for name in MEASURES:
                if (value := insight.measure(name)) is not None:
                    row[name].append(value)
    return {
        key: {name: sum(values) / len(values) if values else None for name, values in row.items()}
        for key, row in sums.items()
    }


def _compared(look: PairLook) -> Compared:
    studies = Study.objects.filter(pk__in=look.board.studies)
    return by_insight(look.board.view, look.first, look.second, studies=studies)


COMPARED = register(
    Computation(
        "compared-entries",
        options=PairLook,
        figures=Compared,
        compute=_compared,
        facts=lambda look: LEADERBOARD.version(look.board),  # which pages have looked up already
        revision=3,
    )
)


class ComparedPage(FigurePage[Compared]):
    """One entry, or two beside each other, insight by insight and in total."""

    url, prefix, part = "leaderboard-compared", "compared", ""
    heading, computation = "Leaderboard", COMPARED
    form_template = "annotation/_compare.html"
    view: View
    board: Board

    def look_up(self) -> Shown[Any]:
        """The comparison; before there is a leaderboard, how that stands. 404 where an entry is not on it."""
        self.form, view, result = shown_board(self.request, wait_s=self.wait_s)
        if result is not None and result.figures is None:
            return result
        first, second = self.pair = self.request.GET.get("a", ""), self.request.GET.get("b", "")
        known = {line.key for line in result.figures.lines} if result and result.figures else set()
        if view is None or result is None or not (first in known and second in known | {""}):
            raise Http404
        self.view, self.board = view, cast("Board", result.figures)
        look = PairLook(Look.at(view, studies_of(self.request)), first, second)
        return look_up(COMPARED, look, now=timezone.now(), wait_s=self.wait_s, facts=result.wanted)

    def origin(self) -> Origin:
        return views.origin_of(self.view, version=self.shown.version, computed_at=self.shown.result.computed_at)

    def context(self, figures: Compared) -> dict[str, Any]:
        heading = " – ".join(self.names[key] for key in self.pair if key)
        first, second = self.pair
        query = self.request.GET.copy()
        for name in ("a", "b"):
            query.pop(name, None)
        crumbs = [("Leaderboard", f"{reverse('annotation:leaderboard')}?{query.urlencode()}")]
        pair = {"names": self.names, "first": first, "second": second}
        return {**pair, "heading": heading, "crumbs": crumbs}

    def as_json(self, figures: Compared) -> Any:
        return as_json(self._as_on_board(figures), self.rows)

    def sheet(self, figures: Compared) -> Sheet:
        """Totals, how long people take to the other's score, then a row for each insight.

        The page calls documents by their names.
        """
        settings = self.board.settings
        documents = dict(zip(settings, settings, strict=True)) if self.file else names_of(settings)
        self.names = {
            line.key: f"{line.entry.system} · {documents[line.entry.retriever]}" for line in self.board.lines
        }
        insights = Insight.objects.select_related("subtopic__haystack").in_bulk(
            [row.insight for row in figures.rows]
        )
        self.rows = [(insights[row.insight], row) for row in figures.rows if row.insight in insights]
        return Sheet(self._parts(self._as_on_board(figures)), judged_in(self.view, self.board))

    def _as_on_board(self, figures: Compared) -> Compared:
        """With the differences to people of the leaderboard, over writers too."""
        first, second = ({line.key: line for line in self.board.lines}[key] if key else None for key in self.pair)
        people = self.board.people
        if people is None or first is None or second is None:
            return figures
        if second.key == people.key and first.to_people:
            return replace(figures, difference=first.to_people)
        if first.key == people.key and second.to_people:
            return replace(figures, difference={name: stat.scaled(-1) for name, stat in second.to_people.items()})
        return figures

    def _parts(self, figures: Compared) -> tuple[Part, ...]:
        n_subtopics = in_figures(figures.n_subtopics, "subtopic", "subtopics")
        about = f"Mean scores from 0 to 100 by judge {self.view.judge}."
        first, second = self.pair
        if not self.rows:
            none = "They share no subtopic." if second else "It has no scored insight."
            return first_look(none, reading=[about])
        table = self._totals(figures)
        rows = Section("by-insight", "Insight by insight", (self._insights(),), is_folded=True)
        cards = Cards("scores", tuple(self._cards(figures)))
        if not second:
            joint = figures.first["joint"].scaled(100)
            said = f"{self.names[first]}: joint score {spoken(joint, Unit.POINTS)} on {n_subtopics}."
            reading = [f"{about} Insights stand by their joint score, the lowest first."]
            chart = self._chart(figures, "Which scores are high?")
            return (*first_look(said, cards=cards, chart=chart, table=table, reading=reading), rows)
        reading = [f"{about} Both have {n_subtopics}. Intervals are over subtopics, of people over writers too."]
        said = self._which_is_better(figures, n_subtopics)
        more: list[Part] = [self._alone(figures), *self._timed()]
        chart = self._chart(figures, "On which scores do they differ?")
        return (*first_look(said, cards=cards, chart=chart, table=table, more=more, reading=reading), rows)

    def _chart(self, figures: Compared, title: str) -> Chart:
        sides = [
            (self.names[key], getattr(figures, side)) for side, key in zip(PARTS, self.pair, strict=False) if key
        ]
        words = Words(
            name="scores",
            title=title,
            subtitle=f"Scores from 0 to 100 by judge {self.view.judge}; lines are 95 % intervals over subtopics.",
            value="score, 0 to 100",
            columns={"series": "Score", "group": "System"},
        )
        points = [
            Point.of(stats[name], factor=100, series=TITLES[name], group=whose if len(sides) > 1 else "")
            for name in figures.first
            for whose, stats in sides
        ]
        return Chart(words, points, Dots(domain=(0.0, 100.0), is_dodged=len(sides) > 1))

    def _cards(self, figures: Compared) -> Iterator[Card]:
        """Joint scores, and their difference first."""
        if self.pair[1]:
            difference = figures.difference["joint"].scaled(100)
            yield Card("difference", "Difference, joint", difference, Unit.POINTS, "first minus second, paired")
        for side, key in zip(PARTS, self.pair, strict=False):
            if key:
                joint = getattr(figures, side)["joint"].scaled(100)
                yield Card(side, self.names[key], joint, Unit.POINTS, "joint")

    def _which_is_better(self, figures: Compared, n_subtopics: str) -> str:
        """Whether the first is better than the second, and whether that is significant."""
        names = [self.names[key] for key in self.pair]
        joint = figures.difference["joint"].scaled(100)
        if joint.value is None:
            return f"Which is better is unknown: {joint.undefined_reason}."
        better, other = names if joint.value >= 0 else reversed(names)
        ahead = spoken(joint if joint.value >= 0 else joint.scaled(-1), Unit.POINTS)
        apart = is_significant(joint)
        if apart:
            return f"{better} is significantly better than {other}: by {ahead}, on {n_subtopics}."
        return f"{better} is {ahead} ahead of {other} on {n_subtopics}; {said_of_test(apart, 'subtopics')}."

    def _timed(self) -> Iterator[Section]:
        """How long people take to the score of the other row, where one of both is the leaderboard's people."""
        if self.board.people is not None and self.board.people.key in self.pair:
            url = "" if self.file else self._sessions_url()
            for line in self.board.lines:
                if line.key in self.pair and line.times:
                    yield section([(line.entry, line.times, url)], name=self.names[line.key])

    def _sessions_url(self) -> str:
        """Where the sessions of the people stand, if all are of one study; else the rows of the same page."""
        writers = self.board.people.writers if self.board.people else None
        studies = list(studies_of(self.request).filter(pk__in=writers.studies)[:2]) if writers else []
        if len(studies) != 1:
            return "#insights"
        page = reverse("annotation:study-results", args=[studies[0].uid])
        return f"{page}?judge={self.view.judge.uid}#sessions"

    def _totals(self, figures: Compared) -> Table:
        stats = {part: of_part for part in PARTS if (of_part := getattr(figures, part))}
        about = "Each common subtopic counts as one summary on either side." if self.pair[1] else ""
        return self._scores("totals", "In total", stats, about)

    def _alone(self, figures: Compared) -> Table:
        """The figures that both rows have on the leaderboard, which are of all their texts."""
        stats = {side: figures.alone[key] for side, key in zip(PARTS, self.pair, strict=False)}
        about = (
            "With all texts of each row, as on the leaderboard: other subtopics too, and one that several people "
            "wrote on counts once for each."
        )
        return self._scores("alone", "Each by itself", stats, about)

    def _scores(self, key: str, title: str, stats: Mapping[str, Mapping[str, Stat]], about: str) -> Table:
        """A row for each score, a column for each side and, if given, their difference."""
        titles = dict(zip(PARTS, (*(self.names.get(entry, "") for entry in self.pair), "Difference"), strict=True))
        measures = tuple(
            Measure(part, titles[part], Unit.POINTS, is_signed=part == "difference") for part in stats
        )
        rows = tuple(
            Row((TITLES[name],), {part: of_part[name].scaled(100) for part, of_part in stats.items()})
            for name in stats["first"]
        )
        return Table(key, title, (Name("figure", "Score"),), measures, rows, about=about)

    def _insights(self) -> Table:
        first, second = self.pair
        measures = []
        for name in SCORES:
            measures.append(Measure(f"{name}_first", f"{TITLES[name]}: {self.names[first]}", Unit.POINTS))
            if second:
                measures.append(Measure(f"{name}_second", self.names[second], Unit.POINTS))
        if second:
            measures.append(Measure("difference", "Difference", Unit.POINTS, is_signed=True))
        return Table(
            "insights",
            "Insight by insight",
            (Name("insight", "Insight"), Name("subtopic", "Subtopic", is_filter=True)),
            tuple(measures),
            tuple(_row(insight, row) for insight, row in self.rows),
            find="insight",
            is_listing=True,
        )


def _row(insight: Insight, row: InsightRow) -> Row:
    values = {
        f"{name}_{side}": _scaled(getattr(row, side)[name]) for name in SCORES for side in ("first", "second")
    }
    return Row(
        (insight.text, insight.subtopic.name),
        values | {"difference": _scaled(row.difference)},
        url=reverse("benchmarks:insight-detail", args=[insight.uid]),
    )


def _scaled(value: float | None) -> float | None:
    return None if value is None else 100 * value


def as_json(figures: Compared, rows: Rows) -> dict[str, Any]:
    """Totals with intervals and a row for each insight, scores from 0 to 100."""
    return {
        "n_subtopics": figures.n_subtopics,
        **{
            part: stat_json({name: stat.scaled(100) for name, stat in stats.items()})
            for part in PARTS
            if (stats := getattr(figures, part))
        },
        "alone": {
            entry: stat_json({name: stat.scaled(100) for name, stat in stats.items()})
            for entry, stats in figures.alone.items()
        },
        "insights": [
            {
                "insight": insight.text,
                "subtopic": insight.subtopic.name,
                "first": {name: _scaled(value) for name, value in row.first.items()},
                "second": {name: _scaled(value) for name, value in row.second.items()},
                "difference": _scaled(row.difference),
            }
            for insight, row in rows
        ],
    }
