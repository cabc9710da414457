"""The AutoDS filter beside human labels: how scores are spread, and what each threshold keeps and gets wrong.

Figures first, then how they are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404

from annotation.models import Study
from annotation.results.study import study_or_gone
from annotation.results.study_results import StudyResults
from annotation.results.table import Rater
from annotation.studies.scope import uid_in
from annotation.verification.labels import PointTable, collect, facts_of, threshold_in
from annotation.verification.results import judge_scores
from benchmarks.models import Judge
from benchmarks.results.computation import Computation, register
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import Drawing, Measure, Name, Note, Row, Sheet, Table, Unit
from benchmarks.scoring.retention import (
    DROP,
    KEEP,
    RATES,
    Task,
    ThresholdFigures,
    at_threshold,
    cumulative,
    histogram,
    mean_of,
    rate_parts,
)
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import Floats, Ints
from benchmarks.web.charts import HUMAN, Bars, Chart, Colours, Kind, Lines, Point, Words, colour_of

STEPS = tuple(step / 20 for step in range(21))
GRID = tuple(step / 50 for step in range(51))
UNIT = (0.0, 1.0)
MEAN = ""
NO_SCORES = "no key point of this study has an AutoDS score"
TITLES = {
    "retention": "Retention",
    "false_positive_rate": "False positive rate",
    "false_discovery_rate": "False discovery rate",
    "false_omission_rate": "False omission rate",
}


@dataclass(frozen=True, slots=True)
class PersonFigures:
    """One person's labels as the truth, at the threshold looked at."""

    person: Rater
    figures: ThresholdFigures


@dataclass(frozen=True, slots=True)
class AutoDS:
    """Everything about the scores; `curves` has each rate at `STEPS`, by person and, under "", their mean."""

    n_scored: int
    n_points: int
    threshold: float
    people: tuple[PersonFigures, ...]
    mean: dict[str, Stat]
    curves: dict[str, dict[str, list[float | None]]]
    scores: tuple[float, ...]


def autods(table: PointTable, *, threshold: float) -> AutoDS | None:
    """All figures; None where no key point has a score. Curves are without intervals, the threshold is with."""
    has_score = np.isfinite(table.autods)
    if not has_score.any():
        return None
    scored = table.only(has_score)
    scores = tuple(float(value) for value in scored.autods)
    keep = scored.codes(Task.KEEP)
    truths = [[None if code < 0 else code == KEEP for code in column] for column in keep.T.tolist()]
    clusters = scored.questions.tolist()
    people = tuple(
        PersonFigures(person, at_threshold(scores, truth, threshold=threshold, clusters=clusters))
        for person, truth in zip(scored.people, truths, strict=True)
    )
    curves = {person.pseudonym: curve(scored.autods, keep[:, at]) for at, person in enumerate(scored.people)}
    return AutoDS(
        n_scored=len(scores),
        n_points=table.n_items,
        threshold=threshold,
        people=people,
        mean=mean_of([rates_of.figures for rates_of in people]),
        curves={**curves, MEAN: _mean(list(curves.values()))},
        scores=scores,
    )


def curve(scores: Floats, keep: Ints) -> dict[str, list[float | None]]:
    """Each rate at `STEPS` with one person's answers as the truth, -1 for none; None where undefined."""
    rates: dict[str, list[float | None]] = {name: [] for name in RATES}
    for step in STEPS:
        for name, (hits, among) in rate_parts(scores >= step, keep == KEEP, keep == DROP).items():
            rates[name].append(float(hits.sum() / among.sum()) if among.any() else None)
    return rates


def _mean(curves: Sequence[dict[str, list[float | None]]]) -> dict[str, list[float | None]]:
    """Each rate averaged over the people who have it."""
    means: dict[str, list[float | None]] = {}
    for name in RATES:
        known = [[value for rates in curves if (value := rates[name][at]) is not None] for at in range(len(STEPS))]
        means[name] = [fsum(values) / len(values) if values else None for values in known]
    return means


@dataclass(frozen=True, slots=True)
class AutoDSLook:
    """Options of the stored figures: the scores of a judge, None for those of the key points themselves."""

    study: int
    threshold: float
    judge: int | None = None
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class AutoDSFigures:
    """The figures, None where no key point has a score."""

    autods: AutoDS | None


def _figures(look: AutoDSLook) -> AutoDSFigures:
    study = study_or_gone(look.study)
    table = collect(study).anonymous() if look.is_public else collect(study)
    if look.judge is not None:
        nothing = np.full(table.n_items, np.nan)
        table = replace(table, autods=judge_scores(study, table).get(look.judge, nothing))
    return AutoDSFigures(autods(table, threshold=look.threshold))


AUTODS = register(
    Computation("autods", options=AutoDSLook, figures=AutoDSFigures, compute=_figures, facts=facts_of)
)


def as_json(result: AutoDS) -> dict[str, Any]:
    """Plain values under pseudonyms."""
    return {
        "n_scored": result.n_scored,
        "n_key_points": result.n_points,
        "threshold": result.threshold,
        "mean": stat_json(result.mean),
        "per_annotator": [
            {
                "annotator": row.person.pseudonym,
                "n_unlabelled": row.figures.n_unlabelled,
                **stat_json({name: getattr(row.figures, name) for name in RATES}),
            }
            for row in result.people
        ],
        "thresholds": list(STEPS),
        "curves": {name or "mean": rates for name, rates in result.curves.items()},
        "histogram": histogram(result.scores),
        "cdf": [{"score": value, "share": share} for value, share in cumulative(result.scores)],
    }


class AutoDSResults(StudyResults[AutoDSLook, AutoDSFigures]):
    """The scores of the key points, and what a threshold keeps and gets wrong."""

    computation = AUTODS
    heading = "AutoDS filter"
    here = "autods"
    form_template = "annotation/_autods_form.html"
    downloads_template = ""

    def options(self, study: Study, query: QueryDict) -> AutoDSLook:
        judge = None
        if uid := query.get("scores", ""):
            judge = get_object_or_404(Judge.objects.counted(), uid=uid_in(uid)).pk
        return AutoDSLook(study.pk, threshold_in(query, study), judge)

    def sheet(self, study: Study, figures: AutoDSFigures, query: QueryDict) -> Sheet:
        return sheet(figures.autods)

    def judged(self, study: Study, options: AutoDSLook, figures: AutoDSFigures) -> Judged:
        return Judged(others=() if options.judge is None else (options.judge,))

    def as_json(self, figures: AutoDSFigures) -> Any:
        if figures.autods is None:
            raise Http404
        return as_json(figures.autods)

    def beside(
        self, request: HttpRequest, study: Study, options: AutoDSLook, figures: AutoDSFigures
    ) -> dict[str, Any]:
        scored = Judge.objects.counted().filter(autods_scores__key_point__label_items__study=study)
        return {"sources": scored.distinct()}


RESULTS = AutoDSResults()


def sheet(result: AutoDS | None) -> Sheet:
    if result is None:
        nothing = (
            f"No scores: {NO_SCORES}, so there is nothing to filter by. Import them with the questions (autods of "
            "a key point, from 0 to 1), or get them from a model: manage.py score_key_points JUDGE"
        )
        return Sheet((Note(nothing, is_empty=True),))
    about = (
        "The score is how strongly a model prefers yes to no when asked whether a key point is key. A "
        f"threshold excludes key points below it; those without a score stay. {result.n_scored} of "
        f"{result.n_points} key points have a score. Human labels are the reference: a point is key after "
        "yes in task 1 and agree in task 2."
    )
    return Sheet((Note(about), _rates_table(result), *(Drawing(chart) for chart in charts(result))))


def _rates_table(result: AutoDS) -> Table:
    about = (
        f"At a threshold of {result.threshold:g}. Retention: scored points that pass. False positive rate: points "
        "not key that pass. False discovery rate: points that pass and are not key. False omission rate: points "
        "filtered out that are key. Intervals resample questions."
    )
    rows = [
        Row(
            (row.person.name,),
            {name: getattr(row.figures, name) for name in RATES} | {"unlabelled": row.figures.n_unlabelled},
        )
        for row in result.people
    ]
    return Table(
        "rates-at-threshold",
        "Rates at the threshold",
        (Name("truth", "Truth"),),
        (
            *(Measure(name, TITLES[name], Unit.SHARE) for name in RATES),
            Measure("unlabelled", "Scored, not labelled", Unit.COUNT),
        ),
        (Row(("mean of annotators",), result.mean, is_people=True, is_pinned=True), *rows),
        about=about,
    )


def charts(result: AutoDS) -> list[Chart]:
    """The histogram, the distribution function, and the curve of rates by threshold."""
    subtitle = f"{result.n_scored:,} of {result.n_points:,} key points have a score"
    n_under = sum(score < result.threshold for score in result.scores)
    under = f"{n_under} of {result.n_scored} scores are under the threshold of {result.threshold:g}"
    threshold = Point(
        series=f"threshold {result.threshold:g}",
        x=result.threshold,
        value=None,
        group="threshold",
        kind=Kind.UPRIGHT,
    )
    ordered = np.sort(np.array(result.scores))
    shares = [float(np.searchsorted(ordered, x, side="right") / len(ordered)) for x in GRID]
    of_all = [Point(series="up to this score", x=x, value=share) for x, share in zip(GRID, shares, strict=True)]
    words = Words(
        name="cdf",
        title="What share of key points has at most a score?",
        subtitle=f"{subtitle}.",
        value="share of key points",
        x="AutoDS score",
        text=under,
        digits=2,
    )
    return [
        _histogram(result, threshold, subtitle),
        Chart(words, [*of_all, threshold], _curves([("threshold", HUMAN)])),
        _rates(result, threshold, subtitle),
    ]


def _histogram(result: AutoDS, threshold: Point, subtitle: str) -> Chart:
    bins = histogram(result.scores)
    width = bins[0]["high"] - bins[0]["low"]
    named = [(f"{bar['low']:.2f} to {bar['high']:.2f}", bar) for bar in bins]
    words = Words(
        name="histogram",
        title="How are AutoDS scores spread?",
        subtitle=f"{subtitle}; bins of {width:g}.",
        value="key points",
        x="AutoDS score",
        text="; ".join(f"{name}: {bar['count']}" for name, bar in named if bar["count"]),
        digits=0,
    )
    points = [Point(series=name, x=bar["low"], value=bar["count"]) for name, bar in named]
    return Chart(words, points, Bars(width_of_bar=width, domain=UNIT, marks=[threshold]))


def _rates(result: AutoDS, threshold: Point, subtitle: str) -> Chart:
    words = Words(
        name="rates",
        title="What does a threshold keep, and what does it get wrong?",
        subtitle=f"{subtitle}; mean over {len(result.people)} annotators, each of them a thin line.",
        value="share, mean over annotators",
        x="threshold",
        text="; ".join(
            f"{TITLES[name]} at {result.threshold:g}: {stat.value:.3f}"
            for name, stat in result.mean.items()
            if stat.value is not None
        ),
        digits=2,
        columns={"group": "rate"},
    )
    points = [
        Point(
            series=f"{who}: {TITLES[name]}" if who else TITLES[name],
            group=TITLES[name],
            x=step,
            value=value,
            kind=Kind.THIN if who else Kind.MAIN,
        )
        for who, rates in result.curves.items()
        for name in RATES
        for step, value in zip(STEPS, rates[name], strict=True)
    ]
    colours = [(TITLES[name], colour_of(at)) for at, name in enumerate(RATES)]
    return Chart(words, [*points, threshold], _curves([*colours, ("threshold", HUMAN)]))


def _curves(colours: Colours) -> Lines:
    return Lines(x_domain=UNIT, domain=UNIT, has_dots=False, colours=colours)
