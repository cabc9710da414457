"""The page of scores on sources: a measure over datasets, all measures, differences, samples and chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from django import forms
from django.urls import reverse

from annotation.leaderboard.forms import score_title
from annotation.leaderboard.ratings import beside_systems, is_detail, models_of
from annotation.leaderboard.sources import (
    ALL_DATASETS,
    ALL_SOURCES,
    LENGTHS,
    N_SENTENCES,
    N_WORDS,
    SOURCE_SCORES,
    SourceFigures,
    SourceLook,
    Visible,
    Who,
    as_json,
)
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack, SourceSample
from benchmarks.results.judged import Judged
from benchmarks.results.pages import FigurePage
from benchmarks.results.sheet import (
    COUNTED,
    Cell,
    Drawing,
    Fragment,
    Measure,
    Name,
    Note,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    values_of,
)
from benchmarks.scoring.position import WINDOWS, Late
from benchmarks.scoring.spread import NAMES
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart, Dots, Lines, Point, Words

USUAL = "rouge2"
"""The measure that is shown unless another is chosen."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """The figures, and which measure is compared over datasets."""

    figures: SourceFigures
    measure: str = USUAL

    @property
    def chosen(self) -> str:
        """The measure, the first there is where the one that was asked for is not."""
        scores = self.scores
        return self.measure if self.measure in scores else next(iter(scores), "")

    @property
    def scores(self) -> list[str]:
        return [name for name in self.figures.measures if name not in LENGTHS]


def unit_of(name: str) -> Unit:
    """How a measure is written: ROUGE in percent, lengths and imported scores as they are."""
    if name in NAMES:
        return Unit.SHARE
    return Unit.POINTS if name in LENGTHS else Unit.FIGURE


def dataset_title(name: str) -> str:
    return {ALL_SOURCES: "all sources", ALL_DATASETS: "mean of datasets"}.get(name, name)


def source_sheet(view: SourceView) -> Sheet:
    """All that a page, a file or a console shows of scores on sources."""
    figures = view.figures
    visible = Section("visible", "How much of a source fits", tuple(_visible(figures.visible)))
    if not figures.rows:
        text = "No text on documents with reference summaries yet: import some, or let a summarizer write them."
        if figures.visible:
            text = "No system or person has summarized these sources yet."
        start = (Note(text, is_empty=True), Fragment("annotation/_sources_start.html"))
        return Sheet((*start, visible) if figures.visible else start)
    words = names_of({row.who.documents for row in figures.rows} - {""})
    return Sheet(
        (
            Section("datasets", "Over datasets", tuple(_over_datasets(view, words))),
            *(
                [Section("sample", "The sample beside chance", tuple(_beside(view, words)))]
                if figures.beside
                else []
            ),
            Section("differences", "Differences on the same sources", tuple(_differences(view, words))),
            Section("all", "All measures", (_all_rows(figures, words), Note(ABOUT_MEASURES))),
            visible,
        )
    )


ABOUT_MEASURES = (
    "ROUGE is F1 with the reference in percent, counted by this program: words in lower case, no stemming. "
    "Ratings run from 1 to 5; those of people are the mean over people. Other scores came with the texts or "
    "were imported. Intervals are over sources."
)


def _names(who: Who, words: dict[str, str], *more: str) -> tuple[str, ...]:
    system = "people" if who.is_people else who.system
    return (system, who.method, words.get(who.documents, who.documents), *more)


def _columns(*more: Name) -> tuple[Name, ...]:
    return (
        Name("system", "System", is_filter=True),
        Name("method", "Method", is_filter=True),
        Name("documents", "Documents", is_filter=True),
        *more,
    )


def _over_datasets(view: SourceView, words: dict[str, str]) -> Iterator[Table | Drawing]:
    """One measure: a row for each system and method, a column for each dataset and for all together."""
    figures, name = view.figures, view.chosen
    means: dict[str, dict[Who, Stat]] = {column: {} for column in (*figures.datasets, ALL_SOURCES, ALL_DATASETS)}
    for row in figures.rows:
        means[row.dataset][row.who] = row.means[name]
    columns = [column for column, of_column in means.items() if of_column]
    best = {column: _best(means[column].values()) for column in columns}
    everybody = list(dict.fromkeys(row.who for row in figures.rows))
    table_rows = tuple(
        Row(
            _names(who, words),
            {
                column: Cell(stat, place=int(stat.value == best[column]))
                for column in columns
                if (stat := means[column].get(who)) is not None
            },
            is_people=who.is_people,
        )
        for who in everybody
    )
    measures = tuple(Measure(column, dataset_title(column), unit_of(name), has_badge=False) for column in columns)
    about = "Means over sources with 95 % intervals. Bold: the highest of a column."
    yield Drawing(_chart(name, means[columns[-1]], columns[-1], everybody), table="scores-by-dataset")
    yield Table("scores-by-dataset", score_title(name), _columns(), measures, table_rows, about=about)


def _best(stats: Iterable[Stat]) -> float | None:
    known = [stat.value for stat in stats if stat.value is not None]
    return max(known) if len(known) > 1 else None


def _chart(name: str, means: Mapping[Who, Stat], dataset: str, everybody: Sequence[Who]) -> Chart:
    """A row of dots for each system, of the last column: what stands for all."""
    factor = 100 if unit_of(name) is Unit.SHARE else 1
    points = [
        Point.of(means[who], factor=factor, series=_series(who, everybody)) for who in everybody if who in means
    ]
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    words = Words(
        name="source-scores",
        title="Which system and method scores highest?",
        subtitle=f"{score_title(name)}, {dataset_title(dataset)}. Lines are 95 % intervals over sources.",
        value=score_title(name),
        digits=1 if factor == 100 else 2,
        columns={"series": "System"},
    )
    least, most = min([0.0, *ends]), max([0.0, *ends]) or 1.0
    return Chart(words, points, Dots(domain=(least, 1.1 * most)))


def _series(who: Who, everybody: Sequence[Who]) -> str:
    label = "people" if who.is_people else who.label
    alike = [other for other in everybody if other.label == who.label]
    return f"{label} · {who.documents}" if len(alike) > 1 else label


def _all_rows(figures: SourceFigures, words: dict[str, str]) -> Table:
    lengths = {N_SENTENCES: "Sentences", N_WORDS: "Words"}
    measures = (
        *(
            Measure(
                name,
                lengths.get(name) or score_title(name),
                unit_of(name),
                has_badge=False,
                is_extra=is_detail(name) or name == N_WORDS,
            )
            for name in figures.measures
        ),
        Measure("n", "Texts", Unit.COUNT),
    )
    rows = tuple(
        Row(
            _names(row.who, words, dataset_title(row.dataset)),
            {**row.means, "n": row.n},
            is_people=row.who.is_people,
        )
        for row in figures.rows
    )
    columns = _columns(Name("dataset", "Dataset", is_filter=True))
    return Table("all-scores", "All measures", columns, measures, rows)


def _differences(view: SourceView, words: dict[str, str]) -> Iterator[Table | Note]:
    name = view.chosen
    known = [apart for apart in view.figures.apart if apart.stats[name].value is not None]
    if not known:
        yield Note(f"No two systems have {score_title(name)} on a source in common.")
        return
    difference = Measure("difference", score_title(name), unit_of(name), is_signed=True, has_badge=False)
    columns = (
        Name("first", "System", is_filter=True),
        Name("second", "minus", is_filter=True),
        Name("dataset", "Dataset", is_filter=True),
    )
    rows = tuple(
        Row(
            (
                *(" · ".join(filter(None, _names(who, words))) for who in (apart.first, apart.second)),
                dataset_title(apart.dataset),
            ),
            {"difference": apart.stats[name], "n": apart.stats[name].n_items},
        )
        for apart in known
    )
    about = "One less the other, paired by source, with 95 % intervals over sources."
    yield Table("source-differences", "Differences", columns, (difference, COUNTED), rows, about=about)


def _beside(view: SourceView, words: dict[str, str]) -> Iterator[Table | Note]:
    name = view.chosen
    unit = unit_of(name)
    how = "random subsets whose mean is lower"
    measures = (
        Measure("score", "On the sample", unit, has_badge=False, of=_score),
        Measure("expected", "Random subsets", unit, has_badge=False, of=_expected),
        Measure("below", "Subsets below", Unit.SHARE, how, has_badge=False, of=attrgetter("share_below")),
        Measure("n", "Texts", Unit.COUNT),
        Measure("n_all", "Of all", Unit.COUNT),
    )
    rows = tuple(
        Row(_names(beside.who, words), values_of(measures, beside.found), is_people=beside.who.is_people)
        for beside in view.figures.beside
        if beside.measure == name
    )
    about = (
        f"{score_title(name)} on the sources of the sample, beside 2,000 random subsets of all that the system "
        "summarized, each with as many of every dataset. Below the means of subsets where 95 of 100 of them lie."
    )
    yield Table("sample-beside-chance", "The sample beside chance", _columns(), measures, rows, about=about)


def _score(late: Late) -> Stat:
    if late.value is None:
        return Stat.undefined(late.reason, n_items=late.n)
    return Stat(late.value, n_items=late.n)


def _expected(late: Late) -> Stat | None:
    if late.expected is None:
        return None
    method = "mean of random subsets, 95 of 100 between the ends"
    return Stat(late.expected, n_items=late.n, low=late.low, high=late.high, method=method)


def _visible(rows: Sequence[Visible]) -> Iterator[Table | Drawing]:
    """Shares of sources by window, as a chart and a table (Figure 8)."""
    measures = (
        *(
            Measure(str(window), f"{window:,}", Unit.SHARE, of=partial(_share, at))
            for at, window in enumerate(WINDOWS)
        ),
        Measure("mean_words", "Words, mean", Unit.COUNT),
        Measure("n", "Sources", Unit.COUNT),
    )
    table_rows = tuple(Row((row.dataset,), values_of(measures, row)) for row in rows)
    points = [
        Point(series=row.dataset, x=at, place=f"{window:,}", value=100 * share, n=row.n)
        for row in rows
        for at, (window, share) in enumerate(zip(WINDOWS, row.shares, strict=True))
    ]
    words = Words(
        name="visible",
        title="How much of a source does a context window hold?",
        subtitle="Mean share of the words of a source, by dataset; 1.25 tokens for a word.",
        value="share of the source in %",
        x="tokens of the window",
        columns={"series": "Dataset"},
    )
    layout = Lines(
        x_domain=(-0.2, len(WINDOWS) - 0.8),
        domain=(0.0, 100.0),
        x_values=tuple(range(len(WINDOWS))),
        x_names=tuple(f"{window:,}" for window in WINDOWS),
    )
    yield Drawing(Chart(words, points, layout), table="visible-shares")
    yield Table(
        "visible-shares",
        "How much of a source fits",
        (Name("dataset", "Dataset"),),
        measures,
        table_rows,
        about="Mean share of a source that fits into a window of so many tokens, 1.25 tokens for a word.",
    )


def _share(at: int, row: Visible) -> float:
    return row.shares[at]


class SourceForm(forms.Form):
    """Which sources, and which measure is compared over datasets; what is not known stands for the usual."""

    corpus = forms.CharField(label="Sources", required=False, widget=forms.Select)
    measure = forms.CharField(label="Measure", required=False, widget=forms.Select)

    def __init__(self, data: Any) -> None:
        """Datasets and samples by name; a sample never has the name of a dataset."""
        rows = Haystack.objects.current().sources().order_by("dataset")
        self.datasets = list(rows.values_list("dataset", flat=True).distinct())
        self.samples = {sample.name: sample for sample in SourceSample.objects.exclude(members=None).distinct()}
        corpus = data.get("corpus", "")
        self.chosen = corpus if corpus in {*self.datasets, *self.samples} else ""
        super().__init__({"corpus": self.chosen, "measure": data.get("measure", "")})
        self.fields["corpus"].widget.choices = [
            ("", "all datasets"),
            *((name, name) for name in self.datasets),
            *((name, f"sample {name}") for name in self.samples),
        ]

    def look(self, studies: tuple[int, ...]) -> SourceLook:
        """The options of the figures, with texts and ratings of people of these studies."""
        sample = self.samples.get(self.chosen)
        return SourceLook(
            datasets=(self.chosen,) if self.chosen and sample is None else (),
            sample=None if sample is None else sample.pk,
            studies=studies,
        )

    def view(self, figures: SourceFigures) -> SourceView:
        """The figures in the measure that is chosen, which the form offers with the others."""
        view = SourceView(figures, str(self.data.get("measure") or USUAL))
        self.fields["measure"].widget.choices = [(name, score_title(name)) for name in view.scores]
        self.data = {**self.data, "measure": view.chosen}
        return view


class SourcesPage(FigurePage[SourceFigures]):
    url, prefix, indent = "source-scores", "sources", 2
    heading, computation, form_class = "Scores on sources", SOURCE_SCORES, SourceForm
    about = (
        "What texts on documents with reference summaries score, by system, method and dataset: ROUGE, "
        "imported scores, and ratings of people and models."
    )
    form: SourceForm

    def options(self) -> SourceLook:
        studies = beside_systems().for_user(self.request.user).order_by("pk")
        return self.form.look(tuple(studies.values_list("pk", flat=True)))

    def context(self, figures: SourceFigures) -> dict[str, Any]:
        position = reverse("annotation:content-positions")
        corpus = self.form.chosen
        links = [
            ("Samples of sources", reverse("benchmarks:samples")),
            ("Position of content", f"{position}?dataset={corpus}" if corpus else position),
        ]
        return {"crumbs": [("Leaderboard", reverse("annotation:leaderboard"))], "links": links}

    def sheet(self, figures: SourceFigures) -> Sheet:
        return replace(source_sheet(self.form.view(figures)), judged=Judged(others=models_of(figures.measures)))

    def as_json(self, figures: SourceFigures) -> Any:
        return as_json(figures)
