"""May a judge stand in for people: for absolute scores, and for ranking systems, on what both saw.

A judge is safe for absolute scores if it is neither kinder nor stricter than people by more than a few points, on
average and for single systems. It is safe for ranking if it orders pairs of systems as people do, where a pair
counts by how far people see it apart. Where even a good judge could not have shown that it is one, the answer is
that there is not enough data. Whether it is kinder in some domains is a figure without a threshold, since few
studies have more than two or three.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from benchmarks.scoring.formulas import COEFFICIENT, MIN_CLUSTERS, SAME, few, with_student
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    Bools,
    Floats,
    Ints,
    Resampling,
    chi_square,
    chi_square_quantile,
    divide,
    draws,
    student,
    t_quantile,
)

MIN_SYSTEMS, MIN_SUBTOPICS = 3, 5
MOST_SUBTOPICS = 1_000
"""How many subtopics are looked at for what would be enough."""
TOO_FEW = f"under {MIN_SYSTEMS} systems, or under {MIN_SUBTOPICS} subtopics, with scores by both"
APART = "some systems share no subtopic with others, directly or by way of others"
BARE = "scores are just enough to compare systems, with none left to see chance by"
NO_GAPS = "people see no system above another"
SINGULAR = 1e-9
"""Below which an eigenvalue is 0: of systems that are connected the least is far above."""
ONE_SIDED = 0.95
"""The level of each one-sided bound."""
BIAS = "judge minus people, mean over subtopics, Student's t"
SPREAD = "standard deviation of the bias between systems, without what chance adds"
CONCORDANCE = "share of people's gaps between systems that the judge orders alike"


class Verdict(StrEnum):
    """Whether a use of a judge is safe."""

    SAFE = "safe"
    NOT_SAFE = "not safe"
    NOT_ENOUGH = "not enough data"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How far a judge may be off, as shares of 1, and how sure a good judge must be of its approval.

    `bias` bounds the mean difference from people, `spread` the standard deviation of that difference between
    systems, `concordance` is the least share of gaps ordered alike. There is enough data where a judge without any
    bias would get the approval in a share of at least `power` of cases.
    """

    bias: float = 0.05
    spread: float = 0.05
    concordance: float = 0.9
    power: float = 0.8


STANDARD = Thresholds()


@dataclass(frozen=True, slots=True)
class Compared:
    """The score of a system on a subtopic by a judge and by people, 0 to 1."""

    system: str
    subtopic: Hashable
    judge: float
    people: float


@dataclass(frozen=True, slots=True)
class Use:
    """The approval for one use. `needed` is how many subtopics like these would be enough, None beyond a thousand.

    It is set where there is not enough data only.
    """

    verdict: Verdict
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """A judge's approval, on `n_systems` systems and `n_subtopics` subtopics, with the figures that it stands on.

    Intervals are of 90 %, so that each end is a one-sided bound of 95 %. `bias_p` is the larger p of two one-sided
    tests. Where there is too little to compare, figures are undefined. `by_system` has each system with its bias.
    """

    n_systems: int
    n_subtopics: int
    absolute: Use
    ranking: Use
    bias: Stat
    bias_p: float | None
    spread: Stat
    concordance: Stat
    by_system: tuple[tuple[str, float], ...]
    thresholds: Thresholds


def approval(
    rows: Sequence[Compared], *, thresholds: Thresholds = STANDARD, resampling: Resampling = DEFAULT
) -> Approval:
    """Test a judge on systems' scores of the same subtopics by judge and people.

    Several scores of a system on a subtopic count as their mean. Where systems lack subtopics, their means are
    those of an additive model of systems and subtopics.
    """
    table = Table.of(rows)
    n_systems, n = table.known.shape
    if why := why_too_little(table):
        none = [Stat.undefined(why, n_clusters=n, method=method) for method in (BIAS, SPREAD, CONCORDANCE)]
        unknown = Use(Verdict.NOT_ENOUGH)
        return Approval(n_systems, n, unknown, unknown, none[0], None, none[1], none[2], (), thresholds)
    difference = table.judge - table.people
    means, chance = table.subtopic_means(difference), table.residual_variance(difference) / table.n_each
    bias, p = _bias(means, n_systems, thresholds)
    effects = table.effects(difference)
    spread = _spread(effects, chance)
    concordance = _concordance(table, table.judge, resampling)
    return Approval(
        n_systems,
        n,
        _use(
            p < 1 - ONE_SIDED and _high(spread) <= thresholds.spread,
            max(_low(bias), -_high(bias)) > thresholds.bias or _low(spread) > thresholds.spread,
            lambda: _needed_for_scores(n_systems, n, float(means.var(ddof=1)), chance * n, thresholds),
            n,
        ),
        _use(
            _low(concordance) >= thresholds.concordance,
            _high(concordance) < thresholds.concordance,
            lambda: _needed_for_ranks(table, effects, thresholds, resampling),
            n,
        ),
        bias,
        p,
        spread,
        concordance,
        tuple(zip(table.systems, (effects + means.mean()).tolist(), strict=True)),
        thresholds,
    )


def _use(is_safe: bool, is_off: bool, needed: Callable[[], int | None], n: int) -> Use:
    """The verdict of figures; where they show nothing and a good judge would have passed, this one is not safe."""
    if is_safe:
        return Use(Verdict.SAFE)
    enough = None if is_off else needed()
    if is_off or (enough is not None and enough <= n):
        return Use(Verdict.NOT_SAFE)
    return Use(Verdict.NOT_ENOUGH, enough)


def why_too_little(table: Table) -> str:
    """Why nothing can be said of a table; empty if something can."""
    n_systems, n = table.known.shape
    if n_systems < MIN_SYSTEMS or n < MIN_SUBTOPICS:
        return TOO_FEW
    if not table.is_connected:
        return APART
    return BARE if table.n_left < 1 else ""


def _low(stat: Stat) -> float:
    return -math.inf if stat.low is None else stat.low


def _high(stat: Stat) -> float:
    return math.inf if stat.high is None else stat.high


def _bias(means: Floats, n_systems: int, thresholds: Thresholds) -> tuple[Stat, float]:
    """The mean over subtopics with its 90 % interval, and p: how likely so small a bias is if it is too large."""
    n, mean = len(means), float(means.mean())
    se = float(means.std(ddof=1)) / math.sqrt(n)
    half = t_quantile(n - 1, 2 * ONE_SIDED - 1) * se
    stat = Stat(mean, n_items=n * n_systems, n_clusters=n, low=mean - half, high=mean + half, method=BIAS)
    room = thresholds.bias - abs(mean)
    if se < SAME:
        return stat, 0.0 if room > 0 else 1.0
    return stat, 1 - student(room / se, n - 1)


def _spread(effects: Floats, chance: float) -> Stat:
    """The standard deviation of systems' biases, less what chance adds to their variance."""
    k = len(effects)
    variance = float(effects.var(ddof=1))
    low, high = (variance * (k - 1) / chi_square_quantile(share, k - 1) for share in (ONE_SIDED, 1 - ONE_SIDED))
    value, low, high = (math.sqrt(max(0.0, squared - chance)) for squared in (variance, low, high))
    return Stat(value, n_items=k, low=low, high=high, method=SPREAD)


def _needed_for_scores(
    n_systems: int, n: int, between: float, within: float, thresholds: Thresholds
) -> int | None:
    """How many subtopics would do for a judge without any bias, with the chance of this one.

    `between` is the variance of subtopics' means, `within` that of the rest, both of a single subtopic.
    """
    quantile = chi_square_quantile(1 - ONE_SIDED, n_systems - 1)

    def power(many: int) -> float:
        se = math.sqrt(between / many)
        room = thresholds.bias / se - t_quantile(many - 1, 2 * ONE_SIDED - 1) if se > SAME else math.inf
        is_centred = max(0.0, 2 * student(room, many - 1) - 1) if math.isfinite(room) else 1.0
        chance = within / many
        ratio = 1 + thresholds.spread**2 / chance if chance > SAME**2 else math.inf
        is_narrow = chi_square(quantile * ratio, n_systems - 1) if math.isfinite(ratio) else 1.0
        return is_centred * is_narrow

    return first_enough(lambda many: power(many) >= thresholds.power, at=n)


def _concordance(table: Table, judge: Floats, resampling: Resampling, *, n: int | None = None) -> Stat:
    """The share of people's gaps that the judge orders alike, with its interval from resampled subtopics.

    With `n` as many subtopics are drawn. A resample in which not all systems can be compared says nothing: it
    counts as the worst for the lower end and as the best for the upper one.
    """
    means = [table.effects(side) for side in (judge, table.people)]
    value = float(_alike(means[0][None], means[1][None])[0])
    n_systems, n_known = table.known.shape
    if not math.isfinite(value):
        return Stat.undefined(NO_GAPS, n_items=n_systems, n_clusters=n_known, method=CONCORDANCE)
    pieces = table.drawn((judge, table.people), resampling, n or n_known)
    drawn = np.concatenate([_alike(*both) for both in pieces])
    worst, best = (np.where(np.isfinite(drawn), drawn, unknown) for unknown in (0.0, 1.0))
    low, high = float(np.quantile(worst, 1 - ONE_SIDED)), float(np.quantile(best, ONE_SIDED))
    low, high = min(low, value), max(high, value)
    return Stat(value, n_items=n_systems, n_clusters=n_known, method=CONCORDANCE, low=low, high=high)


def _alike(judge: Floats, people: Floats) -> Floats:
    """Of means of shape (resamples, systems): the concordance of each resample, NaN where people see no gap."""
    first, second = np.triu_indices(judge.shape[1], 1)
    gaps, theirs = people[:, first] - people[:, second], judge[:, first] - judge[:, second]
    sizes = np.where(np.abs(gaps) > SAME, np.abs(gaps), 0.0)
    return divide((sizes * (gaps * theirs > 0)).sum(axis=1), sizes.sum(axis=1))


def _needed_for_ranks(table: Table, biases: Floats, thresholds: Thresholds, resampling: Resampling) -> int | None:
    """How many subtopics would do for a judge with the chance of this one but without its biases of systems."""
    fair = table.judge - biases[:, None]

    def is_enough(many: int) -> bool:
        # Half as many, since chance comes in twice: in what such a judge would show, and in resamples of that.
        return _low(_concordance(table, fair, resampling, n=max(1, many // 2))) >= thresholds.concordance

    return first_enough(is_enough, at=table.known.shape[1])


def first_enough(is_enough: Callable[[int], bool], *, at: int) -> int | None:
    """The least number of subtopics from `at` on that is enough, within a few; None beyond a thousand."""
    if is_enough(at):
        return at
    low, high = at, at
    while not is_enough(high := min(2 * high, MOST_SUBTOPICS)):
        if high == MOST_SUBTOPICS:
            return None
        low = high
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


# Systems and subtopics


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Scores of shape (systems, subtopics), 0 where `known` says that not both have one."""

    systems: tuple[str, ...]
    subtopics: tuple[Hashable, ...]
    judge: Floats
    people: Floats
    known: Bools

    @classmethod
    def of(cls, rows: Sequence[Compared]) -> Table:
        systems = sorted({row.system for row in rows})
        place = {system: at for at, system in enumerate(systems)}
        column: dict[Hashable, int] = {}
        for row in rows:
            column.setdefault(row.subtopic, len(column))
        sums = np.zeros((3, len(systems), len(column)))
        for row in rows:
            sums[:, place[row.system], column[row.subtopic]] += (row.judge, row.people, 1.0)
        known = sums[2] > 0
        judge, people = (np.divide(side, sums[2], out=np.zeros(known.shape), where=known) for side in sums[:2])
        # In the order of what subtopics hold, so that the same scores have the same draws.
        order = np.lexsort(np.concatenate([judge, people])) if rows else np.arange(0)
        subtopics = list(column)
        return cls(
            tuple(systems),
            tuple(subtopics[at] for at in order),
            judge[:, order],
            people[:, order],
            known[:, order],
        )

    @property
    def is_connected(self) -> bool:
        """Whether any two systems can be compared, directly or by way of others."""
        reached = np.arange(len(self.known)) == 0
        for _step in self.known:
            reached = reached | self.known[:, self.known[reached].any(axis=0)].any(axis=1)
        return bool(reached.all())

    @property
    def n_each(self) -> float:
        """On how many subtopics a system's mean stands, by the harmonic mean."""
        return float(1 / (1 / self.known.sum(axis=1)).mean())

    @property
    def n_left(self) -> int:
        """Degrees of freedom that systems and subtopics leave."""
        return int(self.known.sum()) - sum(self.known.shape) + 1

    def matrices(self) -> Floats:
        """Each subtopic's share in the normal equations of systems: shape (subtopics, systems, systems)."""
        known = self.known.astype(np.float64).T
        share = known / known.sum(axis=1, keepdims=True)
        return known[:, :, None] * (np.eye(known.shape[1]) - share[:, None, :])

    def sides(self, values: Floats) -> Floats:
        """Each subtopic's share in their right-hand side, shape (subtopics, systems)."""
        centred: Floats = np.where(self.known, values - self._mean_of_subtopics(values), 0.0)
        return centred.T

    def effects(self, values: Floats) -> Floats:
        """How far each system is above the others on the same subtopics; they add up to 0."""
        return _solved(self.matrices().sum(axis=0)[None], self.sides(values).sum(axis=0)[None])[0]

    def subtopic_means(self, values: Floats) -> Floats:
        """The mean of each subtopic over all systems, as the additive model has it."""
        return self._mean_of_subtopics(values - self.effects(values)[:, None])

    def residual_variance(self, values: Floats) -> float:
        """The mean square of the interaction of systems and subtopics."""
        fitted = self.effects(values)[:, None] + self.subtopic_means(values)
        return float((np.where(self.known, values - fitted, 0.0) ** 2).sum()) / self.n_left

    def drawn(self, scores: Sequence[Floats], resampling: Resampling, n: int) -> Iterator[tuple[Floats, ...]]:
        """Systems' effects by each of some scores in resamples of `n` subtopics, of shape (resamples, systems)."""
        matrices, sides = self.matrices(), [self.sides(side) for side in scores]
        is_complete = bool(self.known.all())
        for piece in draws(len(matrices), resampling, n_drawn=n):
            totals = [piece @ side for side in sides]
            if is_complete:
                yield tuple(total / n for total in totals)
                continue
            drawn = np.tensordot(piece, matrices, axes=1)
            yield tuple(_solved(drawn, total) for total in totals)

    def _mean_of_subtopics(self, values: Floats) -> Floats:
        return np.where(self.known, values, 0.0).sum(axis=0) / self.known.sum(axis=0)


def _solved(matrices: Floats, sides: Floats) -> Floats:
    """Effects that add up to 0; normal equations of shape (resamples, systems, systems), (resamples, systems).

    NaN where some systems cannot be compared with others.
    """
    values, vectors = np.linalg.eigh(matrices + 1 / matrices.shape[-1])
    inverse = np.divide(1.0, values, out=np.full(values.shape, np.nan), where=values > SINGULAR)
    return np.einsum("rij,rj->ri", vectors, inverse * np.einsum("rji,rj->ri", vectors, sides))


DOMAIN_BIAS = "judge minus people, mean over the domain's subtopics, Student's t"
TO_OTHERS = "bias in the domain minus bias in the others, Welch's t over subtopics"
ONE_DOMAIN = "all subtopics are of one domain"
LEAST_OF_A_SIDE = 2
"""Subtopics of a domain, and of the others, that a difference needs for an interval."""
N_PERMUTATIONS = 9_999


@dataclass(frozen=True, slots=True)
class DomainBias:
    """A judge's bias in a domain, and that minus its bias in the others, −1 to 1."""

    domain: str
    bias: Stat
    to_others: Stat


@dataclass(frozen=True, slots=True)
class Interaction:
    """Biases by domain. `p` is how often domains would differ as much by chance; None with a reason."""

    by_domain: tuple[DomainBias, ...]
    p: float | None
    reason: str = ""


def interaction(
    rows: Sequence[Compared], domains: Mapping[Hashable, str], *, seed: int = DEFAULT.seed
) -> Interaction:
    """Compare a judge's bias between domains; each subtopic is of one of them.

    The bias of a subtopic is its mean over systems, by an additive model where systems lack subtopics. The test
    deals the subtopics out to the domains by lot, and counts how often their biases spread as much.
    """
    table = Table.of(rows)
    if why := why_too_little(table):
        return Interaction((), None, why)
    values = table.subtopic_means(table.judge - table.people)
    names = sorted({domains[subtopic] for subtopic in table.subtopics})
    of = np.array([names.index(domains[subtopic]) for subtopic in table.subtopics])
    by_domain = tuple(
        DomainBias(name, _domain_mean(values[of == at]), _difference(values[of == at], values[of != at]))
        for at, name in enumerate(names)
    )
    if len(names) < 2:
        return Interaction(by_domain, None, ONE_DOMAIN)
    return Interaction(by_domain, _p(values, of, seed))


def _domain_mean(values: Floats) -> Stat:
    n = len(values)
    stat = Stat(float(values.mean()), n_items=n, n_clusters=n, method=DOMAIN_BIAS)
    if reason := few(n):
        return replace(stat, interval_reason=reason)
    se = float(values.std(ddof=1)) / math.sqrt(n)
    return with_student(stat, se, n - 1, bounds=COEFFICIENT)


def _difference(ours: Floats, others: Floats) -> Stat:
    """By Welch: the two sides may vary differently, and have as many subtopics as there are."""
    n = len(ours) + len(others)
    if not len(others):
        return Stat.undefined(ONE_DOMAIN, method=TO_OTHERS)
    value = float(ours.mean() - others.mean())
    stat = Stat(value, n_items=n, n_clusters=n, method=TO_OTHERS)
    sizes = [len(ours), len(others)]
    if min(sizes) < LEAST_OF_A_SIDE or n < MIN_CLUSTERS:
        return replace(stat, interval_reason=f"no interval under {LEAST_OF_A_SIDE} subtopics of a side")
    parts = [float(side.var(ddof=1)) / len(side) for side in (ours, others)]
    total = sum(parts)
    if total < SAME**2:
        return replace(stat, interval_reason="the same in every subtopic of a side")
    df = total**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    return with_student(stat, math.sqrt(total), df, bounds=(-2.0, 2.0))


def _p(values: Floats, of: Ints, seed: int) -> float:
    """How often domains spread as much when subtopics are dealt out to them by lot: (1 + hits) / (1 + draws)."""
    order = np.lexsort((values, of))  # the same figures have the same draws
    values, of = values[order] - values.mean(), of[order]
    member = (of[:, None] == np.arange(of.max() + 1)).astype(np.float64)
    sizes = member.sum(axis=0)
    rng = np.random.default_rng(seed)
    dealt = rng.permuted(np.tile(values, (N_PERMUTATIONS, 1)), axis=1)
    spread, observed = (((rows @ member) ** 2 / sizes).sum(axis=-1) for rows in (dealt, values))
    return float((1 + (spread >= observed - SAME).sum()) / (1 + N_PERMUTATIONS))
