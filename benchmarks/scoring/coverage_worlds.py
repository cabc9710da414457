"""Worlds in which intervals are hard to get right: no effect, few writers, rare labels, systems that are equal.

Each yields how often intervals hold the truth, with their widths; `coverage_check` has the ordinary world.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from statistics import NormalDist

import numpy as np

from benchmarks.scoring.agreement import fleiss_kappa
from benchmarks.scoring.components import MIN_WRITERS, Cell, about_these, mean_over_writers, minutes_worth
from benchmarks.scoring.coverage_check import OF_PEOPLE, Count, Held, counted
from benchmarks.scoring.formulas import SHARE, Figure, Shares
from benchmarks.scoring.intervals import Batch, bootstrap_mean, rate
from benchmarks.scoring.leaderboard import order_difference, permutation_p
from benchmarks.scoring.pairs import Column, Items, add_pair, pair_figures
from benchmarks.scoring.ranking import rank_intervals
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.sessions import restricted_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Floats, Ints, Resampling, people_of, ratio

Rng = np.random.Generator
World = Callable[[Rng, int], Iterator[Held]]
SD_WRITER, SD_SUBTOPIC, SD_REST, SD_SYSTEM = 0.08, 0.10, 0.12, 0.08
"""How people's scores scatter, and a system's on each subtopic."""
SD_PILED = 0.13
"""How much writers, subtopics and the rest scatter where scores pile up at 0."""
SD_SKILL, SD_HARD = 0.8, 0.7
"""How annotators differ in how often they are right, and clusters in how hard they are, as log odds."""


def position(rng: Rng, repetitions: int) -> Iterator[Held]:
    """The order of documents has no effect, or one of 2 points."""
    for n in (9, 20, 50):
        for effect in (0.0, 0.02):
            differences, tests = Count(), Count()
            for _world in range(repetitions):
                sizes = rng.integers(4, 11, n).astype(float)
                hard = rng.normal(0, 0.12, n)
                cells = {
                    order: np.column_stack([(0.4 + hard + more + rng.normal(0, 0.1, n)) * sizes, sizes])
                    for order, more in (("random", 0.0), ("top", effect), ("bottom", 0.0))
                }
                differences.add(order_difference(cells, "top"), effect)
                if not effect:
                    tests.mark(permutation_p(cells, seed=int(rng.integers(1 << 30))) > 0.05)
            yield differences.row(f"top − random, true effect {100 * effect:g} points", n, repetitions)
            if not effect:
                yield tests.row("p of the larger distance over .05, no effect", n, repetitions)


def writers(rng: Rng, repetitions: int) -> Iterator[Held]:
    """Every writer writes on every subtopic, or on half of them; systems have chance of their own on each."""
    for n_writers, n in product((2, 3, 5, 6, 10), (9, 10, 45)):
        yield from _of_writers(rng, repetitions, n_writers, n, share=1.0)
    for n_writers, n in product((6, 10), (10, 45)):
        yield from _of_writers(rng, repetitions, n_writers, n, share=0.5)


def piled(rng: Rng, repetitions: int) -> Iterator[Held]:
    """A third, half or four fifths of people's scores are 0, what would be below it among them."""
    for n_writers, n in ((5, 10), (10, 20)):
        for level in (0.1, 0.0, -0.2):
            count, n_zero = Count(), 0
            truth = float(np.maximum(0, level + SD_PILED * rng.normal(0, math.sqrt(3), 400_000)).mean())
            for _world in range(repetitions):
                parts = (rng.normal(0, SD_PILED, shape) for shape in ((n_writers, 1), (1, n), (n_writers, n)))
                grid = np.maximum(0, level + sum(parts))
                n_zero += int((grid == 0).sum())
                count.add(mean_over_writers(_cells(grid, np.ones_like(grid, dtype=bool))), truth)
            share = n_zero / (repetitions * n_writers * n)
            yield count.row(f"people's mean, {share:.1f} of the scores 0", n, repetitions, people=n_writers)


def _of_writers(rng: Rng, repetitions: int, n_writers: int, n: int, *, share: float) -> Iterator[Held]:
    """People's mean, and their difference from a system, where each writer has a share of the n subtopics."""
    mean, minus = Count(), Count()
    for at in range(repetitions):
        writer_effects = rng.normal(0, SD_WRITER, (n_writers, 1))
        grid = 0.4 + writer_effects + rng.normal(0, SD_SUBTOPIC, (1, n)) + rng.normal(0, SD_REST, (n_writers, n))
        gap = writer_effects + rng.normal(0, SD_REST, (n_writers, n)) - rng.normal(0, SD_SYSTEM, (1, n))
        has = np.argsort(rng.random((n_writers, n)), axis=1) < share * n
        for count, cells, truth in ((mean, grid, 0.4), (minus, gap, 0.0)):
            if n_writers < MIN_WRITERS:
                shown = about_these(bootstrap_mean(cells.mean(axis=0), resampling=_drawn(at)), n_writers)
                count.add(shown, truth + float(writer_effects.mean()))
            else:
                count.add(mean_over_writers(_cells(cells, has)), truth)
    words = (
        ", of these writers"
        if n_writers < MIN_WRITERS
        else ""
        if share == 1
        else ", on half of the subtopics each"
    )
    yield mean.row(f"people's mean{words}", n, repetitions, people=n_writers)
    yield minus.row(f"people minus a noisy system{words}", n, repetitions, people=n_writers)


def _cells(grid: Floats, has: Bools) -> list[Cell]:
    return [
        Cell(writer, subtopic, value)
        for (writer, subtopic), value in np.ndenumerate(grid)
        if has[writer, subtopic]
    ]


def minutes(rng: Rng, repetitions: int) -> Iterator[Held]:
    """People reach the system's mean after 25 minutes; each writer has a session on every subtopic."""
    marks = np.arange(10.0, 130.0, 10.0)
    true, target = (0.8 * (1 - np.exp(-at / 40)) for at in (marks, 25.0))
    truth = float(np.interp(target, [0, *true], [0, *marks]))
    for n_writers, n in ((5, 10), (6, 9), (10, 20)):
        for noise in (0.0, SD_SYSTEM):
            count = Count()
            for _world in range(repetitions):
                writer_effects = rng.normal(0, 0.15, n_writers)
                who, of = (side.ravel() for side in np.indices((n_writers, n)))
                level = 1 + writer_effects[who] + rng.normal(0, 0.15, n)[of] + rng.normal(0, 0.2, len(who))
                values = level[:, None] * true + rng.normal(0, 0.05, (len(who), len(marks)))
                system = target + rng.normal(0, noise, n)
                worth = minutes_worth(
                    values,
                    marks=marks.tolist(),
                    subtopics=of.tolist(),
                    targets=dict(enumerate(system.tolist())),
                    writers=who.tolist(),
                )
                if worth is not None:
                    count.add(worth, truth)
            words = "human minutes, a noisy system" if noise else "human minutes"
            yield count.row(words, n, repetitions, people=n_writers)


def annotators(rng: Rng, repetitions: int) -> Iterator[Held]:
    """Annotators of different skill are a sample, as 20 uneven clusters are."""
    many = _labels(np.random.default_rng(0), SD_SKILL * _quantiles(60), SD_HARD * _quantiles(1500))
    truth = {name: stat.value for name, stat in _agreement(many, None).items()}
    for n in (5, 8, 12):
        tables = (
            _labels(rng, rng.normal(0, SD_SKILL, n), rng.normal(0, SD_HARD, 20)) for _world in range(repetitions)
        )
        counts = counted(truth, (_agreement(table, Resampling(over_people=True)) for table in tables))
        for name, count in counts.items():
            yield count.row(f"{name}, over annotators", 20, repetitions, people=n)


def _labels(rng: Rng, skills: Floats, hard: Floats) -> Ratings:
    """Labels of people of these skills on clusters that are hard to see through by so much."""
    n_people, n_clusters = len(skills), len(hard)
    clusters = np.repeat(np.arange(n_clusters), rng.integers(3, 16, n_clusters))
    n = len(clusters)
    truth = np.digitize(rng.normal(0, 0.6, n_clusters)[clusters] + rng.logistic(0, 1, n), [-0.4, 0.8])
    skill = 1.2 + skills + hard[clusters][:, None]
    knows = rng.random((n, n_people)) < 1 / (1 + np.exp(-skill))
    codes: Ints = np.where(knows, truth[:, None], rng.integers(0, 3, (n, n_people)))
    return Ratings(codes, ("none", "partial", "full"), tuple(map(str, range(n_people))), tuple(clusters.tolist()))


def _quantiles(n: int) -> Floats:
    """n values that lie as those of a normal distribution do: the truth does not depend on who is drawn."""
    return np.array([NormalDist().inv_cdf((at + 0.5) / n) for at in range(n)])


def _agreement(table: Ratings, resampling: Resampling | None) -> dict[str, Stat]:
    figures = {name: measure(table, resampling=resampling) for name, measure in OF_PEOPLE.items() if name != "AC1"}
    return figures | {"Pearson of people": _pearson(table, resampling)}


def _pearson(table: Ratings, resampling: Resampling | None) -> Stat:
    clusters = np.array(table.clusters)
    n_clusters, n_people = int(clusters.max()) + 1, len(table.raters)
    batch = Batch(n_clusters, resampling)
    items = Items(clusters, n_clusters, (0.0, 0.5, 1.0), has_covered=True)
    nothing = np.zeros(len(clusters), dtype=object)
    columns = [Column(codes, nothing, nothing.astype(bool)) for codes in table.codes.T]
    who = list(combinations(range(n_people), 2))
    blocks = [add_pair(batch, items, columns[a], columns[b]).cells for a, b in who]
    figure = pair_figures(items.worth, has_covered=True)["pearson"]
    people = people_of(who, n_people, resampling)
    return batch.estimate(figure, blocks, people=people).stat(n_items=len(clusters))


def rare(rng: Rng, repetitions: int) -> Iterator[Held]:
    """3 % of the insights are covered; people rarely label them otherwise than none."""
    many = _rare(np.random.default_rng(0), 20_000)
    truth = {name: stat.value for name, stat in _rare_figures(many, None).items()}
    for n in (5, 10, 20, 50):
        counts = counted(truth, (_rare_figures(_rare(rng, n), _drawn(at)) for at in range(repetitions)))
        for name, count in counts.items():
            yield count.row(f"{name}, 3 % positives", n, repetitions)


def _rare(rng: Rng, n_clusters: int) -> tuple[Ints, Floats, Floats]:
    """Clusters of insights, labels of three people and joint scores of two systems."""
    clusters = np.repeat(np.arange(n_clusters), rng.integers(6, 19, n_clusters))
    n = len(clusters)
    odds = -4.1 + rng.normal(0, 1.0, n_clusters)[clusters]
    truth = rng.random(n) < 1 / (1 + np.exp(-odds))
    said = np.where(rng.random((n, 3)) < 0.85, truth[:, None], rng.random((n, 3)) < 0.03)
    covered = np.where(rng.random((n, 2)) < 0.8, truth[:, None], rng.random((n, 2)) < 0.03)
    joint = covered * rng.uniform(0.3, 1.0, (n, 2))
    return clusters, said.astype(np.float64), joint


def _rare_figures(world: tuple[Ints, Floats, Floats], resampling: Resampling | None) -> dict[str, Stat]:
    clusters, said, joint = world
    keys = clusters.tolist()
    people = Ratings(said.astype(np.int64), ("none", "full"), ("a", "b", "c"), tuple(keys))
    sizes = np.bincount(clusters).astype(float)
    batch, figure = Batch(len(sizes), resampling), Figure("mean", ratio, "nothing", SHARE)
    systems = []
    for of_system in joint.T:
        of_system_hits = np.bincount(clusters, of_system).astype(float)
        shares = Shares(
            of_system_hits, sizes, sizes, n_rare=float((of_system > 0).sum()), has_rare=of_system_hits > 0
        )
        systems.append(
            batch.estimate(figure, [batch.add(np.column_stack([of_system_hits, sizes]))], shares=shares)
        )
    covered = (joint[:, 0] > 0).astype(float)
    return {
        "joint": systems[0].stat(n_items=len(keys)),
        "share covered": rate(covered, clusters=keys, resampling=resampling)
        if resampling
        else Stat(float(covered.mean())),
        "difference of two systems": systems[0].minus(systems[1]).stat(n_items=len(keys)),
        "Fleiss' kappa": fleiss_kappa(people, resampling=resampling),
    }


def edge(rng: Rng, repetitions: int) -> Iterator[Held]:
    """Nearly everything is a hit: 98 of 100 items, in clusters that differ, or are alike."""
    for n, size in ((10, 4), (10, 20), (20, 12), (50, 12)):
        for spread, words in ((200.0, "clusters alike"), (15.0, "clusters differ")):
            count = Count()
            for at in range(repetitions):
                shares = rng.beta(0.98 * spread, 0.02 * spread, n)
                hits = (rng.random((n, size)) < shares[:, None]).astype(float).ravel()
                keys = np.repeat(np.arange(n), size).tolist()
                count.add(rate(hits, clusters=keys, resampling=_drawn(at)), 0.98)
            yield count.row(f"share of .98, {size} a cluster, {words}", n, repetitions)


def quitters(rng: Rng, repetitions: int) -> Iterator[Held]:
    """A third of the sessions end by chance before people are done; marks every 5 minutes, limit 60."""

    def world(n_writers: int, n_each: int, *, quits: bool) -> tuple[Floats, Floats]:
        pace = np.repeat(rng.normal(0, 0.25, n_writers), n_each)
        true = np.ceil(30 * np.exp(pace + rng.normal(0, 0.4, len(pace))) / 5) * 5
        end = np.where(rng.random(len(true)) < 1 / 3, rng.integers(1, 12, len(true)) * 5.0, 60.0)
        return true, end if quits else np.full(len(true), 60.0)

    whole, _end = world(40_000, 1, quits=False)
    truth = float(np.minimum(whole, 60.0).mean())
    for n_writers, n_each in ((5, 3), (10, 1), (12, 3), (20, 2)):
        count = Count()
        for _world in range(repetitions):
            true, end = world(n_writers, n_each, quits=True)
            who = np.repeat(np.arange(n_writers), n_each).tolist()
            count.add(restricted_mean(np.minimum(true, end), true <= end, who, limit=60), truth)
        yield count.row("time to score, a third quit", n_writers * n_each, repetitions, people=n_writers)


def ranks(rng: Rng, repetitions: int) -> Iterator[Held]:
    """78 systems that are equal; then one leads by the gap that is called detectable."""
    for n in (9, 33):
        equal, gap_found, gaps = Count(), Count(), []
        for _board in range(repetitions):
            scores = 0.4 + rng.normal(0, 0.15, n) + rng.normal(0, 0.12, (78, n))
            made = rank_intervals(scores, seed=int(rng.integers(1 << 30)))
            equal.mark(all(system.is_level for system in made.systems))
            gaps.append(made.detectable or 0.0)
        gap = float(np.mean(gaps))
        for _board in range(repetitions):
            scores = 0.4 + rng.normal(0, 0.15, n) + rng.normal(0, 0.12, (78, n))
            scores[0] += gap
            made = rank_intervals(scores, seed=int(rng.integers(1 << 30)))
            gap_found.mark(made.systems[1].is_level is False)
        yield equal.row("78 equal systems: all level with the best", n, repetitions)
        yield gap_found.row("a detectable gap above one other is found", n, repetitions, width=gap)


def _drawn(seed: int) -> Resampling:
    return Resampling(seed=seed + 1)


WORLDS: dict[str, World] = {
    "position": position,
    "writers": writers,
    "piled": piled,
    "minutes": minutes,
    "annotators": annotators,
    "rare": rare,
    "edge": edge,
    "quitters": quitters,
    "ranks": ranks,
}


def check_worlds(names: Sequence[str], *, repetitions: int, seed: int = 1) -> Iterator[Held]:
    """How often intervals hold the truth in some of `WORLDS`."""
    for name in names:
        for row in WORLDS[name](np.random.default_rng([seed, sorted(WORLDS).index(name)]), repetitions):
            yield replace(row, world=name)
