"""Key point recall, precision and F of responses (Long²RAG §4), and how far people confirm their judge (§6.2).

Counts come in, figures go out; who judged what is the caller's business. Entailed or not is what recall counts, so
neutral is not entailed; the three answers are kept beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from benchmarks.scoring.agreement import cohen_kappa, percent_agreement, randolph_kappa
from benchmarks.scoring.formulas import SHARE, Figure
from benchmarks.scoring.intervals import bootstrap_mean, bootstrap_ratio, figure_of, rate
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat, mean_of_stats
from benchmarks.scoring.sums import DEFAULT, Bools, Floats, Ints, Resampling, divide, mean_of_ratios, shared_draws


class Entailment(StrEnum):
    """Whether the one text says what the other says; neutral counts as not entailed."""

    YES = "yes"
    NEUTRAL = "neutral"
    NO = "no"


ENTAILMENTS = tuple(answer.value for answer in Entailment)
NO_KEY_POINTS = "no question has judged key points"
NO_POINTS = "no points were extracted from these responses"


class SupportedBy(StrEnum):
    """Sources that must say a point of the response for it to be precise: two figures, each by its name."""

    DOCUMENTS = "documents"
    KEY_POINTS = "key_points"


class BadCounts(ValueError):
    """More key points entailed, or points supported, than there are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The counts of one response.

    `n_key_points` are those with a usable verdict, `n_unjudged` the others. `n_points` were extracted from the
    response, None if nobody did so; `supported` has how many of them each kind of support says, if known, and
    `checked` on how many of them its verdict is usable (all of them where it is None).
    """

    question: Hashable
    n_key_points: int
    n_entailed: int
    n_unjudged: int = 0
    n_points: int | None = None
    supported: Mapping[SupportedBy, int] | None = None
    checked: Mapping[SupportedBy, int] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.n_entailed <= self.n_key_points or self.n_unjudged < 0:
            raise BadCounts(f"{self.n_entailed} of {self.n_key_points} key points entailed")
        for by, count in (self.supported or {}).items():
            if self.n_points is None or not 0 <= count <= self.n_checked(by) <= self.n_points:
                raise BadCounts(f"{count} of {self.n_points} points supported by {by}")

    def n_checked(self, by: SupportedBy) -> int:
        """Points with a usable verdict on whether this supports them."""
        return (self.n_points or 0) if self.checked is None else self.checked.get(by, 0)

    @property
    def recall(self) -> float | None:
        """Share of key points entailed; None without key points."""
        return self.n_entailed / self.n_key_points if self.n_key_points else None

    def precision(self, by: SupportedBy) -> float | None:
        """Share of the response's points that are supported; None where there is no point or no verdict."""
        if not self.n_checked(by) or self.supported is None or by not in self.supported:
            return None
        return self.supported[by] / self.n_checked(by)

    def f_score(self, by: SupportedBy) -> float | None:
        """Harmonic mean of recall and precision, 0 if both are 0.

        A response from which no point could be extracted and which entails nothing has 0 too: leaving it out
        would reward silence.
        """
        recall, precision = self.recall, self.precision(by)
        if recall is None or self.n_points is None:
            return None
        if precision is None:
            return 0.0 if recall == 0 and self.n_points == 0 else None
        return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


@dataclass(frozen=True, slots=True)
class KeyPointScores:
    """The figures of a set of responses; `kpp` and `kpf` by what supports a point.

    `n_without_key_points` answers are in no recall. In no precision are `n_not_extracted` answers, whose points
    nobody extracted, `n_without_points` answers, in which none was found, and `n_points_unjudged` points, whose
    verdict is missing or unusable.
    """

    n_answers: int
    n_questions: int
    n_key_points: int
    n_unjudged: int
    n_without_key_points: int
    n_not_extracted: int
    n_without_points: int
    n_points_unjudged: Mapping[SupportedBy, int]
    kpr_macro: Stat
    kpr_micro: Stat
    kpp: Mapping[SupportedBy, Stat]
    kpf: Mapping[SupportedBy, Stat]


def scores(answers: Sequence[Answer], *, resampling: Resampling = DEFAULT) -> KeyPointScores:
    """All figures of some answers; intervals resample questions.

    `kpr_macro` is the paper's (equation 2): each question's share of key points entailed, averaged over
    questions; `kpr_micro` pools the key points. KPF is averaged over questions as well, so it is not the
    harmonic mean of the averages.
    """
    with_points = [answer for answer in answers if answer.n_key_points]
    kpp, kpf = {}, {}
    for by in SupportedBy:
        words = by.replace("_", " ")
        reason = f"what the {words} support was not judged, or not for these key points"
        if not any(answer.n_points for answer in answers):
            reason = NO_POINTS
        method = f"key point precision, points supported by {words}"
        kpp[by] = _mean(answers, lambda answer, by=by: answer.precision(by), method, reason, resampling)
        method, reason = f"key point F, points supported by {words}", reason if with_points else NO_KEY_POINTS
        kpf[by] = _mean(answers, lambda answer, by=by: answer.f_score(by), method, reason, resampling)
    return KeyPointScores(
        n_answers=len(answers),
        n_questions=len({answer.question for answer in answers}),
        n_key_points=sum(answer.n_key_points for answer in answers),
        n_unjudged=sum(answer.n_unjudged for answer in answers),
        n_without_key_points=len(answers) - len(with_points),
        n_not_extracted=sum(answer.n_points is None for answer in answers),
        n_without_points=sum(answer.n_points == 0 for answer in answers),
        n_points_unjudged={
            by: sum((answer.n_points or 0) - answer.n_checked(by) for answer in answers) for by in SupportedBy
        },
        kpr_macro=_mean(
            answers, lambda answer: answer.recall, "key point recall, macro", NO_KEY_POINTS, resampling
        ),
        kpr_micro=bootstrap_ratio(
            [answer.n_entailed for answer in with_points],
            [answer.n_key_points for answer in with_points],
            clusters=[answer.question for answer in with_points],
            resampling=resampling,
            method="key point recall, micro",
            reason=NO_KEY_POINTS,
            bounds=SHARE,
        ),
        kpp=kpp,
        kpf=kpf,
    )


def extraction_recall(recalled: Sequence[tuple[Hashable, bool]]) -> dict[str, Stat]:
    """Share of the points that people named which are among the extracted ones (Long²RAG §3.3).

    `found` has (question, whether the point is among them) for each named point. `micro` pools points, `macro`
    averages questions; intervals resample questions.
    """
    method = "extraction recall"
    if not recalled:
        none = Stat.undefined("no named point was looked for", method=method)
        return {"micro": none, "macro": none}
    hits: dict[Hashable, list[bool]] = defaultdict(list)
    for question, is_found in recalled:
        hits[question].append(is_found)
    questions, pooled = zip(*recalled, strict=True)
    return {
        "micro": rate(pooled, clusters=questions, method=method),
        "macro": bootstrap_mean(
            [sum(hits_of_question) / len(hits_of_question) for hits_of_question in hits.values()],
            clusters=list(hits),
            method=f"{method}, mean of questions",
            bounds=SHARE,
        ),
    }


def band(number: float, edges: Sequence[int]) -> str:
    """The name of the band that a length falls in: `edges` ascend, each band has its lower edge in it."""
    at = bisect_right(edges, number)
    if at == 0:
        return f"under {edges[0]:,}"
    if at == len(edges):
        return f"{edges[-1]:,} and more"
    return f"{edges[at - 1]:,}–{edges[at] - 1:,}"


def best_and_second(figures: Mapping[str, Stat]) -> tuple[frozenset[str], frozenset[str]]:
    """Who has the highest and the second highest value of a column; equals share a rank."""
    values = {name: stat.value for name, stat in figures.items() if stat.value is not None}
    ranked = sorted(set(values.values()), reverse=True)[:2]
    ranks = [frozenset(name for name, value in values.items() if value == highest) for highest in ranked]
    return (ranks[0] if ranks else frozenset(), ranks[1] if len(ranks) > 1 else frozenset())


def _mean(
    answers: Sequence[Answer],
    figure: Callable[..., float | None],
    method: str,
    reason: str,
    resampling: Resampling,
) -> Stat:
    return bootstrap_mean(
        [figure(answer) for answer in answers],
        clusters=[answer.question for answer in answers],
        resampling=resampling,
        method=method,
        reason=reason,
        bounds=SHARE,
    )


JUDGE = "judge"
ENTAILED = {
    Entailment.YES.value: "entailed",
    Entailment.NEUTRAL.value: "not entailed",
    Entailment.NO.value: "not entailed",
}
MEAN_OVER_ANNOTATORS = "mean over annotators"
OF_TWO = (("percent", percent_agreement), ("cohen", cohen_kappa), ("randolph", randolph_kappa))
NO_FIGURE = "no annotator has this figure"


@dataclass(frozen=True, slots=True)
class AgainstPerson:
    """The judge against one annotator. `confusion[person][judge]` counts the three answers."""

    name: str
    stats: Mapping[str, Stat]
    confusion: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two annotators on what both answered, entailed or not."""

    first: str
    second: str
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judge against each annotator and their mean, people among themselves as the ceiling, and parts.

    `weighted` is the accuracy of all verdicts of the judge, where the sample took its answers in other shares.
    """

    people: tuple[AgainstPerson, ...]
    mean: Mapping[str, Stat]
    weighted: Stat
    ceiling: Mapping[str, Stat]
    pairs: tuple[Pair, ...]
    by_answer: Mapping[str, Stat]
    n_items: int


@shared_draws()
def evaluate(ratings: Ratings, *, verdicts: Mapping[str, int]) -> Evaluation:
    """Compare the column `judge` with all others.

    `ratings` are in `ENTAILMENTS`, an item a pair of response and key point, clustered by response; `verdicts`
    says how often the judge gave each answer anywhere, the sample included.
    """
    names = tuple(name for name in ratings.raters if name != JUDGE)
    merged = ratings.merged(ENTAILED)
    against = tuple(_against(ratings, merged, name) for name in names)
    only_people = merged.only(names)
    return Evaluation(
        people=against,
        mean=_means_over_annotators(merged, against, names),
        weighted=_weighted(ratings, merged, names, verdicts),
        ceiling={
            "percent": percent_agreement(only_people, resampling=DEFAULT),
            "randolph": randolph_kappa(only_people, resampling=DEFAULT),
            "randolph_three": randolph_kappa(ratings.only(names), resampling=DEFAULT),
            "cohen": _mean_over_annotators([cohen_kappa(only_people.only(pair)) for pair in only_people.pairs()]),
        },
        pairs=tuple(
            Pair(*pair, {name: measure(only_people.only(pair), resampling=DEFAULT) for name, measure in OF_TWO})
            for pair in only_people.pairs()
        ),
        by_answer={
            answer: accuracy_where(ratings, _judge(ratings) == code) for code, answer in enumerate(ENTAILMENTS)
        },
        n_items=int((ratings.only(names).codes != MISSING).any(axis=1).sum()) if names else 0,
    )


def accuracy_where(ratings: Ratings, mask: object) -> Stat:
    """Accuracy, entailed or not, over all answers of people to the items of `mask`, shape (items,)."""
    part = ratings.items(np.asarray(mask, dtype=bool)).merged(ENTAILED)
    hits, counted = _hits(part, [name for name in part.raters if name != JUDGE])
    column, item = np.nonzero(counted.T)
    keys = item.tolist() if part.clusters is None else [part.clusters[at] for at in item.tolist()]
    return rate(hits[item, column], clusters=keys, method="accuracy")


def _against(ratings: Ratings, merged: Ratings, name: str) -> AgainstPerson:
    three, two = ratings.both_rated(name, JUDGE), merged.both_rated(name, JUDGE)

    def accuracy(pair: Ratings, method: str) -> Stat:
        hits = pair.codes[:, 0] == pair.codes[:, 1]
        return rate(hits, clusters=pair.clusters, method=method)

    stats = {
        "accuracy": accuracy(two, "accuracy"),
        "accuracy_three": accuracy(three, "accuracy, three answers"),
        "cohen": cohen_kappa(two, resampling=DEFAULT),
        "randolph": randolph_kappa(two, resampling=DEFAULT),
        "randolph_three": randolph_kappa(three, resampling=DEFAULT),
    }
    confusion = {
        person: {
            judge: int(((three.codes[:, 0] == row) & (three.codes[:, 1] == column)).sum())
            for column, judge in enumerate(ENTAILMENTS)
        }
        for row, person in enumerate(ENTAILMENTS)
    }
    return AgainstPerson(name, stats, confusion)


def _means_over_annotators(
    merged: Ratings, against: Sequence[AgainstPerson], names: Sequence[str]
) -> dict[str, Stat]:
    """The mean over annotators of each figure; that of accuracy with an interval."""
    figures = list(against[0].stats) if against else []
    means = {name: _mean_over_annotators([comparison.stats[name] for comparison in against]) for name in figures}
    if "accuracy" not in means or means["accuracy"].value is None:
        return means
    hits, counted = _hits(merged, names)
    kept: Bools = counted.sum(axis=1) > 0
    stat = figure_of(
        Figure(MEAN_OVER_ANNOTATORS, mean_of_ratios, NO_FIGURE, SHARE),
        np.hstack([hits, counted])[kept],
        clusters=merged.clusters_of(kept),
        n_items=int(kept.sum()),
    )
    means["accuracy"] = replace(stat, n_items=means["accuracy"].n_items)
    return means


def _weighted(ratings: Ratings, merged: Ratings, names: Sequence[str], verdicts: Mapping[str, int]) -> Stat:
    """Accuracy within each answer of the judge, weighted by how often it gives that answer."""
    method = "accuracy, weighted to all verdicts"
    total = sum(verdicts.values())
    hits, counted = (side.sum(axis=1) for side in _hits(merged, names))
    said = _judge(ratings)[:, None] == np.arange(len(ENTAILMENTS))
    rows = np.hstack([hits[:, None] * said, counted[:, None] * said])
    n_items = int((counted > 0).sum())
    if not total or not n_items:
        return Stat.undefined("no verdict was answered by a person", n_items=n_items, method=method)
    shares = np.array([verdicts.get(answer, 0) / total for answer in ENTAILMENTS])
    counts = rows.sum(axis=0)[len(ENTAILMENTS) :]
    missing = [answer for answer, share, n in zip(ENTAILMENTS, shares, counts, strict=True) if share and not n]
    reason = f"no verdict “{missing[0]}” was answered by a person" if missing else ""
    q, used = len(shares), shares > 0

    def formula(totals: Floats) -> Floats:
        accuracies = divide(totals[:, :q], totals[:, q:])
        return (accuracies[:, used] * shares[used]).sum(axis=1)

    figure = Figure(method, formula, reason, SHARE)
    return figure_of(figure, rows, clusters=ratings.clusters, n_items=n_items)


def _mean_over_annotators(stats: Sequence[Stat]) -> Stat:
    return mean_of_stats(stats, method=MEAN_OVER_ANNOTATORS, reason=NO_FIGURE)


def _hits(merged: Ratings, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Whether each annotator equals the judge, and whether both answered: each of shape (items, annotators)."""
    judge = _judge(merged)[:, None]
    person = merged.only(names).codes
    both = (person != MISSING) & (judge != MISSING)
    return (both & (person == judge)).astype(np.float64), both.astype(np.float64)


def _judge(ratings: Ratings) -> Ints:
    return ratings.codes[:, ratings.raters.index(JUDGE)]
