"""How often the intervals that the product shows hold the truth: worlds are simulated, and every figure measured.

A world has clusters (subtopics, questions) whose items share chance: some are harder than others, for people and
judges alike. The truth of a figure is its value in a world of very many clusters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import permutations
from statistics import NormalDist, fmean, stdev

import numpy as np

from benchmarks.scoring.agreement import (
    Level,
    Measure,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.comparison import Judged, correct
from benchmarks.scoring.components import Minutes, minutes_worth
from benchmarks.scoring.formulas import SHARE
from benchmarks.scoring.intervals import Batch, bootstrap_mean, bootstrap_ratio
from benchmarks.scoring.keypoints import Answer, SupportedBy
from benchmarks.scoring.keypoints import scores as key_point_scores
from benchmarks.scoring.leaderboard import Scored, sensitivity
from benchmarks.scoring.pairs import Column, Items, add_pair, estimates_of, pair_figures, stats_of
from benchmarks.scoring.ranking import rank_agreement
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import COVERAGES, Average, Coverage, InsightScore, SummaryScore
from benchmarks.scoring.sums import Bools, Floats, Ints, Resampling

Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Held:
    """How one figure's intervals did in simulated worlds; `shown` is the share of worlds with one.

    `clusters` are subtopics, questions or sessions, `people` writers or annotators. `known_width` is the width of
    intervals where the variances are known: 2 · 1.96 times the standard deviation of the error in these worlds.
    """

    figure: str
    clusters: int
    coverage: float | None
    mean_width: float | None
    shown: float
    repetitions: int
    world: str = "ordinary"
    people: int | None = None
    known_width: float | None = None


@dataclass(slots=True)
class Count:
    """Intervals so far: how many, how many held the truth, and how wide those are that have two ends."""

    n: int = 0
    held: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, stat: Stat | Minutes, truth: float | None) -> None:
        if stat.low is None or stat.high is None or truth is None:
            return
        self.mark(stat.low <= truth <= stat.high)
        if math.isfinite(stat.high - stat.low):
            self.widths.append(stat.high - stat.low)
        if stat.value is not None:
            self.errors.append(stat.value - truth)

    def mark(self, held: bool) -> None:
        """Count something that was right or wrong and has no width."""
        self.n += 1
        self.held += held

    def row(
        self,
        figure: str,
        clusters: int,
        repetitions: int,
        *,
        people: int | None = None,
        width: float | None = None,
    ) -> Held:
        """The counts as a row; `width` where there is one to tell that no interval has."""
        return Held(
            figure=figure,
            clusters=clusters,
            coverage=self.held / self.n if self.n else None,
            mean_width=width if width is not None or not self.widths else fmean(self.widths),
            shown=self.n / repetitions,
            repetitions=repetitions,
            people=people,
            known_width=2 * Z * stdev(self.errors) if len(self.errors) > 1 else None,
        )


def counted(truth: Mapping[str, float | None], worlds: Iterable[Mapping[str, Stat]]) -> dict[str, Count]:
    """How the intervals of figures by name do in some worlds."""
    counts = {name: Count() for name in truth}
    for figures in worlds:
        for name, stat in figures.items():
            counts[name].add(stat, truth[name])
    return counts


WORTH = (0.0, 0.5, 1.0)
ITEMS = 12
"""Items of a cluster, on average."""
OF_PEOPLE: Mapping[str, Measure] = {
    "percent agreement": percent_agreement,
    "Randolph's kappa": randolph_kappa,
    "Fleiss' kappa": fleiss_kappa,
    "AC1": gwet_ac1,
    "Krippendorff's alpha, ordinal": partial(krippendorff_alpha, level=Level.ORDINAL),
}
MANY = 4_000
"""Clusters of the world that gives the truth."""
PAIRED = (
    "pearson",
    "exact_agreement",
    "cohen_kappa",
    "quadratic_kappa",
    "covered.kappa",
    "covered.tpr",
    "linking",
)


@dataclass(frozen=True, slots=True)
class World:
    """Items of clusters with the codes and links of three people and two judges, each of shape (items, 5).

    `labelled` are the items of which people's labels are used where only some have any: a random third.
    """

    clusters: Ints
    codes: Ints
    links: Ints
    labelled: Bools

    @property
    def n_clusters(self) -> int:
        return int(self.clusters[-1]) + 1

    def ratings(self, *raters: int) -> Ratings:
        return Ratings(self.codes[:, raters], COVERAGES, tuple(map(str, raters)), tuple(self.clusters.tolist()))


def make_world(rng: np.random.Generator, n_clusters: int) -> World:
    """Draw items in clusters of uneven size, some harder than others."""
    sizes = rng.integers(ITEMS // 2, ITEMS * 3 // 2 + 1, n_clusters)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    n = len(clusters)
    hard = rng.normal(0, 0.7, n_clusters)[clusters]
    lean = rng.normal(0, 0.6, n_clusters)[clusters]
    truth = np.digitize(lean + rng.logistic(0, 1, n), [-0.4, 0.8])
    codes = np.empty((n, 5), dtype=np.int64)
    links = np.empty((n, 5), dtype=np.int64)
    for rater, skill in enumerate((1.6, 1.4, 1.2, 1.0, 0.4)):
        knows = rng.random(n) < 1 / (1 + np.exp(-(skill + hard + rng.normal(0, 0.4, n))))
        codes[:, rater] = np.where(knows, truth, rng.integers(0, 3, n))
        links[:, rater] = np.where(rng.random(n) < 0.9 - 0.1 * (hard < -0.5), 1, rng.integers(1, 6, n))
    return World(clusters, codes, np.where(codes > 0, links, 0), rng.spawn(1)[0].random(n) < 1 / 3)


def figures_of(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    """Every kind of figure that the product shows with an interval over clusters."""
    people = world.ratings(0, 1, 2)
    figures = {name: measure(people, resampling=resampling) for name, measure in OF_PEOPLE.items()}
    figures["Cohen's kappa of two"] = cohen_kappa(world.ratings(0, 1), resampling=resampling)
    for more in (_of_judges, _of_scores, _of_orders, _of_key_points, _of_ranks):
        figures |= more(world, resampling)
    return figures


def _of_judges(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    batch = Batch(world.n_clusters, resampling)
    items = Items(world.clusters, world.n_clusters, WORTH, has_covered=True)
    figures = pair_figures(WORTH, has_covered=True)

    def column(rater: int) -> Column:
        masks = np.array([0 if line == 0 else 1 << int(line) for line in world.links[:, rater]], dtype=object)
        return Column(world.codes[:, rater], masks, masks.astype(bool))

    sides = []
    for judge in (3, 4):
        blocks = [add_pair(batch, items, column(person), column(judge), rules=("linking",)) for person in range(3)]
        sides.append((blocks, estimates_of(batch, blocks, figures, names=PAIRED)))
    pairs = [add_pair(batch, items, column(first), column(second)) for first, second in permutations(range(3), 2)]
    people = estimates_of(batch, pairs, figures, names=PAIRED)
    stats = stats_of(batch, *sides[0])
    n = len(world.clusters)
    differences = {
        f"{words}: {name}": sides[0][1][name].minus(others[name]).stat(n_items=n)
        for words, others in (("difference of judges", sides[1][1]), ("judge minus people", people))
        for name in ("pearson", "exact_agreement")
    }
    return {f"judge: {name}": stat for name, stat in stats.items()} | differences


def _of_scores(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    """Scores of a system over subtopics: both averages, the difference of two, and a judge's bias."""
    worth = np.array(WORTH)
    first, second, human = worth[world.codes[:, 3]], worth[world.codes[:, 4]], worth[world.codes[:, 0]]
    keys: Sequence[int] = world.clusters.tolist()
    ones = np.ones(len(keys))
    sums = [np.bincount(world.clusters, weights=values) for values in (first, ones)]
    covered = first > 0

    def pooled(values: Floats, weights: Floats) -> Stat:
        return bootstrap_ratio(values * weights, weights, clusters=keys, resampling=resampling)

    return {
        "leaderboard, pooled over insights": pooled(first, ones),
        "leaderboard, mean of covered insights only": pooled(
            (world.links[:, 3] == 1).astype(np.float64), covered.astype(np.float64)
        ),
        "leaderboard, mean over summaries": bootstrap_mean(sums[0] / sums[1], resampling=resampling, bounds=SHARE),
        "leaderboard, difference of two": pooled(first - second, ones),
        "bias of a judge": pooled(first - human, ones),
        "corrected score of a judge": _corrected(world, first, human, resampling),
    }


def _of_orders(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    """One system in three orders, whose joint scores are ever lower."""
    worth = np.array(WORTH)
    ends = np.cumsum(np.bincount(world.clusters))[:-1]  # items are in the order of their clusters
    orders = {}
    for rater, (order, share) in enumerate({"random": 1.0, "top": 0.9, "bottom": 0.7}.items()):
        values = np.split(share * worth[world.codes[:, rater]], ends)
        orders[order] = [Scored(order, at, _summary(joint.tolist()), None) for at, joint in enumerate(values)]
    sensitive = sensitivity(orders, average=Average.OVER_INSIGHTS, resampling=resampling)
    return {"joint at the top minus random": sensitive.top_minus_random}


def _summary(joint: Sequence[float]) -> SummaryScore:
    insights = (
        InsightScore("", Coverage.FULL, score, (1,), (), None, score, is_unlinked=False) for score in joint
    )
    return SummaryScore(tuple(insights), n_missing=0)


def _corrected(world: World, judge: Floats, human: Floats, resampling: Resampling | None) -> Stat:
    """Every item is a summary, by turns of one system and another."""
    rows = [
        Judged(str(at % 2), int(cluster), float(score), float(score - truth) if is_labelled else None)
        for at, (cluster, score, truth, is_labelled) in enumerate(
            zip(world.clusters, judge, human, world.labelled, strict=True)
        )
    ]
    return correct(rows, is_random=True, resampling=resampling)[0].corrected


def _of_key_points(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    entailed = np.bincount(world.clusters, weights=world.codes[:, 3] > 0)
    supported = np.bincount(world.clusters, weights=world.codes[:, 4] > 0)
    sizes = np.bincount(world.clusters)
    answers = [
        Answer(at, int(n), int(hits), n_points=int(n), supported={SupportedBy.DOCUMENTS: int(right)})
        for at, (n, hits, right) in enumerate(zip(sizes, entailed, supported, strict=True))
    ]
    scores = key_point_scores(answers, resampling=resampling or Resampling(n_resamples=1))
    return {
        "key point recall, macro": scores.kpr_macro,
        "key point recall, micro": scores.kpr_micro,
        "key point F": scores.kpf[SupportedBy.DOCUMENTS],
    }


def _of_ranks(world: World, resampling: Resampling | None) -> dict[str, Stat]:
    """Five systems ranked by two judges: how often each says what one person says, and what another one does."""
    sizes = np.bincount(world.clusters)
    said = world.codes[:, None, :] == world.codes[:, :2, None]  # items, judges, systems
    sides = [
        np.stack([np.bincount(world.clusters, weights=system) / sizes for system in judge.T], axis=1)
        for judge in said.swapaxes(0, 1)
    ]
    agreement = rank_agreement(*sides, systems=[str(at) for at in range(5)], resampling=resampling)
    return {"rank correlation, Kendall": agreement.kendall, "rank correlation, Spearman": agreement.spearman}


@cache
def _truth() -> dict[str, float | None]:
    """Every figure in a world of very many clusters."""
    return {
        name: stat.value for name, stat in figures_of(make_world(np.random.default_rng(0), MANY), None).items()
    }


def check(
    *, clusters: Sequence[int], repetitions: int, seed: int = 1, resampling: Resampling | None = None
) -> Iterator[Held]:
    """Simulate worlds of each number of clusters, and count how often every figure's interval holds the truth."""
    used = resampling or Resampling()
    truth = _truth()
    for n_clusters in clusters:
        rng = np.random.default_rng([seed, n_clusters])
        drawn = [replace(used, seed=seed + number) for number in range(repetitions)]
        counts = counted(truth, (figures_of(make_world(rng, n_clusters), each) for each in drawn))
        yield from (count.row(name, n_clusters, repetitions) for name, count in counts.items())
        minutes = Count()
        for each in drawn:
            minutes.add(*simulated_minutes(rng, n_clusters, n_subtopics=max(1, n_clusters // 2), resampling=each))
        yield minutes.row("human minutes, by sessions", n_clusters, repetitions)


def simulated_minutes(
    rng: np.random.Generator, n_sessions: int, *, n_subtopics: int, resampling: Resampling
) -> tuple[Minutes, float]:
    """Minutes of people that a system is worth whom they reach after 25, and the true crossing between the marks.

    Each session rises at its own pace around a common mean.
    """
    marks = np.arange(10.0, 130.0, 10.0)
    true, target = (0.8 * (1 - np.exp(-at / 40)) for at in (marks, 25.0))
    of = [at % n_subtopics for at in range(n_sessions)]
    level = 1 + 0.3 * rng.standard_normal((len(of), 1))
    noise = 0.05 * rng.standard_normal((len(of), len(marks)))
    worth = minutes_worth(
        level * true + noise,
        marks=marks.tolist(),
        subtopics=of,
        targets=dict.fromkeys(of, float(target)),
        resampling=resampling,
    )
    assert worth is not None  # noqa: S101  each subtopic has a target
    return worth, float(np.interp(target, [0, *true], [0, *marks]))
