"""The AutoDS filter beside human labels: how scores are spread, and what each threshold keeps and gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np

from annotation.figures.table import Rater
from annotation.results.study import study_or_gone
from annotation.verification.labels import PointTable, collect, data_version
from annotation.verification.machines import judge_scores, machines_version
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.autods import (
    RATES,
    ThresholdFigures,
    at_threshold,
    cumulative,
    histogram,
    mean_of,
    rate_parts,
)
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.retention import DROP, KEEP, Task
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import Floats, Ints
from benchmarks.web.plots import Plot, Series

STEPS = tuple(step / 20 for step in range(21))
GRID = tuple(step / 50 for step in range(51))
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


def autods(table: PointTable, *, threshold: float, resampling: Resampling = DEFAULT) -> AutoDS | None:
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
        PersonFigures(
            person,
            at_threshold(scores, truth, threshold=threshold, clusters=clusters, resampling=resampling),
        )
        for person, truth in zip(scored.people, truths, strict=True)
    )
    curves = {person.pseudonym: curve(scored.autods, keep[:, at]) for at, person in enumerate(scored.people)}
    return AutoDS(
        n_scored=len(scores),
        n_points=table.n_items,
        threshold=threshold,
        people=people,
        mean=mean_of([one.figures for one in people]),
        curves={**curves, MEAN: _mean(list(curves.values()))},
        scores=scores,
    )


def curve(scores: Floats, keep: Ints) -> dict[str, list[float | None]]:
    """Each rate at `STEPS` with one person's answers as the truth, -1 for none; None where undefined."""
    found: dict[str, list[float | None]] = {name: [] for name in RATES}
    for step in STEPS:
        for name, (hits, among) in rate_parts(scores >= step, keep == KEEP, keep == DROP).items():
            found[name].append(float(hits.sum() / among.sum()) if among.any() else None)
    return found


def _mean(curves: Sequence[dict[str, list[float | None]]]) -> dict[str, list[float | None]]:
    """Each rate averaged over the people who have it."""
    found: dict[str, list[float | None]] = {}
    for name in RATES:
        known = [[value for one in curves if (value := one[name][at]) is not None] for at in range(len(STEPS))]
        found[name] = [fsum(values) / len(values) if values else None for values in known]
    return found


@dataclass(frozen=True, slots=True)
class AutoDSLook:
    """Options of the stored figures: the scores of a judge, None for those of the key points themselves."""

    study: int
    threshold: float
    judge: int | None = None


@dataclass(frozen=True, slots=True)
class AutoDSFigures:
    """The figures, None where no key point has a score."""

    autods: AutoDS | None


def _figures(look: AutoDSLook) -> AutoDSFigures:
    study = study_or_gone(look.study)
    table = collect(study)
    if look.judge is not None:
        nothing = np.full(table.n_items, np.nan)
        table = replace(table, autods=judge_scores(study, table).get(look.judge, nothing))
    return AutoDSFigures(autods(table, threshold=look.threshold))


def _facts(look: AutoDSLook) -> object:
    study = study_or_gone(look.study)
    return data_version(study), machines_version(study)


AUTODS = register(Computation("autods", options=AutoDSLook, figures=AutoDSFigures, compute=_figures, facts=_facts))


def as_json(found: AutoDS) -> dict[str, Any]:
    """Plain values under pseudonyms."""
    return {
        "n_scored": found.n_scored,
        "n_key_points": found.n_points,
        "threshold": found.threshold,
        "mean": stat_json(found.mean),
        "per_annotator": [
            {
                "annotator": one.person.pseudonym,
                "n_unlabelled": one.figures.n_unlabelled,
                **stat_json({name: getattr(one.figures, name) for name in RATES}),
            }
            for one in found.people
        ],
        "thresholds": list(STEPS),
        "curves": {name or "mean": rates for name, rates in found.curves.items()},
        "histogram": [{"low": one.low, "high": one.high, "count": one.count} for one in histogram(found.scores)],
        "cdf": [{"score": value, "share": share} for value, share in cumulative(found.scores)],
    }


def plots(found: AutoDS) -> dict[str, Plot]:
    """The histogram, the distribution function, and the curve of rates by threshold."""
    bars = histogram(found.scores)
    xs = [edge for one in bars for edge in (one.low, one.high)]
    counts = [float(one.count) for one in bars for _ in (0, 1)]
    caption = f"{found.n_scored:,} of {found.n_points:,} key points have a score"
    most = max(one.count for one in bars)
    ordered = np.sort(np.array(found.scores))
    shares = [float(np.searchsorted(ordered, x, side="right") / len(ordered)) for x in GRID]
    n_under = sum(score < found.threshold for score in found.scores)
    marked = Series("threshold", [found.threshold] * 2, [0.0, 1.0], is_human=True)
    return {
        "histogram": Plot(
            title="AutoDS scores",
            x_label="AutoDS score",
            y_label="key points",
            series=[
                Series("key points", xs, counts),
                Series("threshold", [found.threshold] * 2, [0.0, float(most)], is_human=True),
            ],
            x_range=(0.0, 1.0),
            y_range=(0.0, float(most) * 1.05),
            caption=f"{caption}; bins of {bars[0].high - bars[0].low:g}",
            alt="; ".join(f"{one.low:.2f} to {one.high:.2f}: {one.count}" for one in bars if one.count),
        ),
        "cdf": Plot(
            title="Share of key points up to a score",
            x_label="AutoDS score",
            y_label="share of key points",
            series=[Series("up to this score", list(GRID), shares), marked],
            x_range=(0.0, 1.0),
            y_range=(0.0, 1.0),
            caption=caption,
            alt=f"{n_under} of {found.n_scored} scores are under the threshold of {found.threshold:g}",
        ),
        "rates": Plot(
            title="What a threshold keeps and gets wrong",
            x_label="threshold",
            y_label="share, mean over annotators",
            series=[
                *(
                    Series(TITLES[name], list(STEPS), rates[name], colour=at, faint=bool(who))
                    for who, rates in found.curves.items()
                    for at, name in enumerate(RATES)
                ),
                marked,
            ],
            x_range=(0.0, 1.0),
            y_range=(0.0, 1.0),
            caption=f"{caption}; mean over {len(found.people)} annotators, each one faint",
            alt="; ".join(
                f"{TITLES[name]} at {found.threshold:g}: {stat.value:.3f}"
                for name, stat in found.mean.items()
                if stat.value is not None
            ),
        ),
    }
