"""Coverage, citation and joint score of a summary, two ways to average them (SummHay, §4), the oracle's documents.

All figures are shares from 0 to 1; `Stat.scaled(100)` gives the papers' unit. No interval is made here: `sums`
hands sufficient statistics to `intervals`. Standard library only: the study form chooses documents here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from benchmarks.scoring.stat import Stat, mean
from benchmarks.scoring.text import Line

Insights = Sequence[tuple[str, frozenset[int]]]
"""Key and gold document numbers of each reference insight of a subtopic."""

MEASURES = ("coverage", "citation", "precision", "recall", "joint")
OF_CITATION = {"citation": "f1", "precision": "precision", "recall": "recall"}
"""Measures that are figures of an insight's `CitationScore`."""


HALF = 0.5
"""Value of partial coverage."""


class Coverage(StrEnum):
    """How much of an insight a summary says, in ascending order."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"

    @classmethod
    def at(cls, value: float, partial_from: float, full_from: float) -> Coverage:
        """The level that a value reaches."""
        if value < partial_from:
            return cls.NONE
        return cls.FULL if value >= full_from else cls.PARTIAL


COVERAGES = tuple(level.value for level in Coverage)
COVERED = (Coverage.PARTIAL.value, Coverage.FULL.value)
"""The levels that name a line of the summary."""


def worth() -> dict[str, float]:
    return {Coverage.NONE.value: 0.0, Coverage.PARTIAL.value: HALF, Coverage.FULL.value: 1.0}


class Score(StrEnum):
    """Value of a judge's coverage: that of its label, or what it expects by its probabilities."""

    LABEL = "label"
    EXPECTED = "expected"


class Probabilities(NamedTuple):
    """How likely a judge holds each level of coverage to be; they add up to 1."""

    none: float
    partial: float
    full: float

    @classmethod
    def of(cls, partial: float | None, full: float | None) -> Probabilities | None:
        """From two of them as they are stored; None where they are not known."""
        return None if partial is None or full is None else cls(max(0.0, 1 - partial - full), partial, full)

    def expected(self) -> float:
        """The mean value of the insight's coverage."""
        return HALF * self.partial + self.full


class Average(StrEnum):
    """Items that a figure is the mean of."""

    SUMMARY = "one_summary"
    OVER_SUMMARIES = "mean_over_summaries"
    OVER_INSIGHTS = "pooled_over_insights"


class Repeats(StrEnum):
    """Weight of a document cited twice in a linked bullet for precision.

    `ONCE` is the rule of the published code and the default; `EACH_TIME` counts every mention, which is what
    the paper's Figure 4 needs (its second example).
    """

    ONCE = "once"
    EACH_TIME = "each_time"


class UnknownMeasure(ValueError):
    """Not one of the five measures."""


def _refuse_unknown(name: str) -> None:
    if name not in MEASURES:
        raise UnknownMeasure(f"{name!r} is none of {', '.join(MEASURES)}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A person's or a judge's verdict on one insight in one summary; `lines` are 1-based line numbers.

    With `probabilities` the coverage counts what they expect instead of what the label is worth.
    """

    coverage: Coverage
    lines: tuple[int, ...] = ()
    probabilities: Probabilities | None = None


class CitationScore(NamedTuple):
    """Precision, recall and F1 of cited against gold documents, each 0 where nothing right is cited."""

    precision: float
    recall: float
    f1: float


class InsightScore(NamedTuple):
    """One insight in one summary.

    `lines` are the linked lines that exist in the summary, `cited` the union of what they cite. `citation` is
    None for an insight that is not covered, covered without a link (`is_unlinked`), or without gold documents.
    `joint` is None only without gold documents.
    """

    key: str
    coverage: Coverage
    value: float
    lines: tuple[int, ...]
    cited: tuple[int, ...]
    citation: CitationScore | None
    joint: float | None
    is_unlinked: bool

    def measure(self, name: str) -> float | None:
        """One of the five measures, None where this insight has none."""
        if name == "coverage":
            return self.value
        if name == "joint":
            return self.joint
        _refuse_unknown(name)
        return None if self.citation is None else getattr(self.citation, OF_CITATION[name])


@dataclass(frozen=True, slots=True)
class Scores:
    """The five measures under one average, and what was counted apart.

    `n_missing` insights have no (valid) verdict and are left out of everything; `n_unlinked` are covered
    without a line: 0 for joint, no citation score; `n_without_gold` have coverage only.
    """

    average: Average
    coverage: Stat
    citation: Stat
    precision: Stat
    recall: Stat
    joint: Stat
    n_summaries: int
    n_unlinked: int
    n_missing: int
    n_without_gold: int

    def measure(self, name: str) -> Stat:
        """One of the five measures by name."""
        _refuse_unknown(name)
        return getattr(self, name)


@dataclass(frozen=True)
class SummaryScore:
    """The insights of one summary as they were scored; `n_missing` more have no (valid) verdict."""

    insights: tuple[InsightScore, ...]
    n_missing: int

    @property
    def n_without_gold(self) -> int:
        return sum(insight.joint is None for insight in self.insights)

    @property
    def n_unlinked(self) -> int:
        """Insights that are covered without a line."""
        return sum(insight.is_unlinked for insight in self.insights)

    @cached_property
    def values(self) -> Mapping[str, list[float]]:
        """Each measure of the insights that have it."""
        citations = [insight.citation for insight in self.insights if insight.citation is not None]
        return {
            "coverage": [insight.value for insight in self.insights],
            **{
                name: [getattr(citation, figure) for citation in citations] for name, figure in OF_CITATION.items()
            },
            "joint": [insight.joint for insight in self.insights if insight.joint is not None],
        }

    @cached_property
    def scores(self) -> Scores:
        """Their averages, made when somebody looks: pooled over many summaries, the values are enough."""
        return _average(Average.SUMMARY, self.values, [self])


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Best citation figures that the shown documents allow, at precision 1.

    `recall` and `f1` are means over all insights, those without a shown gold document as 0 (`n_absent`); the
    `present_` pair leaves these out. Insights without gold documents are in neither (`n_without_gold`).
    """

    recall: Stat
    f1: Stat
    present_recall: Stat
    present_f1: Stat
    n_absent: int
    n_without_gold: int


def score_citations(
    cited: Iterable[int], gold: frozenset[int], *, repeats: Repeats = Repeats.ONCE
) -> CitationScore:
    """Compare cited with gold documents (§4.1); numbers of no document count as wrong for precision."""
    mentions = list(cited)
    distinct = frozenset(mentions)
    hits = len(distinct & gold)
    if hits == 0:
        return CitationScore(0.0, 0.0, 0.0)
    precision = hits / len(distinct if repeats is Repeats.ONCE else mentions)
    recall = hits / len(gold)
    return CitationScore(precision, recall, 2 * precision * recall / (precision + recall))


def score_insight(
    *,
    key: str,
    gold: frozenset[int],
    verdict: Verdict,
    lines: Sequence[Line],
    repeats: Repeats = Repeats.ONCE,
) -> InsightScore:
    """Score one insight by its verdict; links of an uncovered insight are ignored.

    Line numbers outside the summary count as no link. The joint score
    needs a linked line, so it takes what the label is worth, whatever the probabilities.
    """
    coverage = verdict.coverage
    is_covered = coverage is not Coverage.NONE
    by_label = HALF if coverage is Coverage.PARTIAL else float(is_covered)
    value = by_label if verdict.probabilities is None else verdict.probabilities.expected()
    linked = [number for number in dict.fromkeys(verdict.lines) if 1 <= number <= len(lines)] if is_covered else []
    mentions = [number for line in linked for number in lines[line - 1].mentions]
    citation = score_citations(mentions, gold, repeats=repeats) if linked and gold else None
    joint = by_label * (citation.f1 if citation else 0.0) if gold else None
    return InsightScore(
        key=key,
        coverage=coverage,
        value=value,
        lines=tuple(linked),
        cited=tuple(dict.fromkeys(mentions)),
        citation=citation,
        joint=joint,
        is_unlinked=is_covered and not linked,
    )


def score_summary(
    insights: Insights,
    verdicts: Mapping[str, Verdict],
    lines: Sequence[Line],
    *,
    repeats: Repeats = Repeats.ONCE,
) -> SummaryScore:
    """Score a summary against the insights of its subtopic (§4.1).

    `verdicts` may lack insights: those are counted as missing and left out. `lines` are the summary's, in
    order from line 1. Coverage and joint are means over insights, the citation figures over linked ones.
    """
    scored = tuple(
        score_insight(key=key, gold=gold, verdict=verdicts[key], lines=lines, repeats=repeats)
        for key, gold in insights
        if key in verdicts
    )
    return SummaryScore(scored, n_missing=sum(key not in verdicts for key, _ in insights))


def mean_over_summaries(summaries: Sequence[SummaryScore]) -> Scores:
    """Each measure per summary, then the mean of the summaries that have it: what the paper's text says."""
    values = {
        name: [value for item in summaries if (value := item.scores.measure(name).value) is not None]
        for name in MEASURES
    }
    return _average(Average.OVER_SUMMARIES, values, summaries)


def pooled_over_insights(summaries: Sequence[SummaryScore]) -> Scores:
    """Mean over the insights of all summaries together: what the published leaderboard computes."""
    values = {name: [value for item in summaries for value in item.values[name]] for name in MEASURES}
    return _average(Average.OVER_INSIGHTS, values, summaries)


def average(summaries: Sequence[SummaryScore], rule: Average) -> Scores:
    if rule is Average.OVER_INSIGHTS:
        return pooled_over_insights(summaries)
    return mean_over_summaries(summaries)


def sums(summaries: Sequence[SummaryScore], measure: str, rule: Average) -> tuple[list[float], list[int]]:
    """Numerator and denominator of a measure for each summary, whose ratio of totals is the average.

    Pooled: sum and count over the summary's insights. Over summaries: its value and 1, or 0 and 0 where it is
    undefined. Rows for `means.bootstrap_ratio`.
    """
    _refuse_unknown(measure)
    if rule is Average.OVER_INSIGHTS:
        each = [item.values[measure] for item in summaries]
    else:
        figures = [item.scores.measure(measure).value for item in summaries]
        each = [[] if figure is None else [figure] for figure in figures]
    return [math.fsum(values) for values in each], [len(values) for values in each]


def present_insights(insights: Insights, shown: Collection[int]) -> list[tuple[str, frozenset[int]]]:
    """The insights with at least one gold document among the shown ones: what a writer could have found."""
    visible = frozenset(shown)
    return [(key, gold) for key, gold in insights if gold & visible]


def attainable_ceiling(golds: Iterable[frozenset[int]], shown: Collection[int]) -> Ceiling:
    """Best citation recall and F1 that the shown documents allow, averaged over insights."""
    visible = frozenset(shown)
    listed = list(golds)
    recalls = [len(gold & visible) / len(gold) for gold in listed if gold]
    present = [recall for recall in recalls if recall > 0]
    no_gold, none_shown = "no insight has gold documents", "no insight is present in the shown documents"
    return Ceiling(
        recall=mean(recalls, reason=no_gold),
        f1=mean([2 * recall / (1 + recall) for recall in recalls], reason=no_gold),
        present_recall=mean(present, reason=none_shown),
        present_f1=mean([2 * recall / (1 + recall) for recall in present], reason=none_shown),
        n_absent=len(recalls) - len(present),
        n_without_gold=len(listed) - len(recalls),
    )


def undefined_reason(measure: str, *, n_without_gold: int) -> str:
    """Why a measure has no value where `n_without_gold` judged insights have no gold documents."""
    if measure == "coverage":
        return "no insight was judged"
    if measure == "joint":
        return "no judged insight has gold documents"
    if n_without_gold:
        return "no covered insight has both a linked line and gold documents"
    return "no covered insight has a linked line"


def _average(rule: Average, values: Mapping[str, list[float]], summaries: Sequence[SummaryScore]) -> Scores:
    n_without_gold = sum(item.n_without_gold for item in summaries)
    figures = {
        name: mean(values[name], reason=undefined_reason(name, n_without_gold=n_without_gold), method=rule.value)
        for name in MEASURES
    }
    return Scores(
        average=rule,
        n_summaries=len(summaries),
        n_unlinked=sum(item.n_unlinked for item in summaries),
        n_missing=sum(item.n_missing for item in summaries),
        n_without_gold=n_without_gold,
        **figures,
    )


TOKEN_BUDGET = 15_000
TOKENS_PER_WORD = 1.25
WORDS_PER_MINUTE = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen document numbers in rank order, and their size; the last one may cross the budget."""

    numbers: tuple[int, ...]
    n_words: int


def select_documents(
    documents: Iterable[tuple[int, int]],
    insight_counts: Mapping[int, int],
    *,
    token_budget: float = TOKEN_BUDGET,
    include_zero: bool = False,
) -> Selection:
    """Rank documents by how many of the subtopic's insights they hold and fill the token budget.

    `documents` are (number, words); ties go to the lower number; the document that crosses the budget is
    included and is the last. Documents without an insight are shown only with `include_zero`, as the
    published systems saw them where there was room.
    """
    ranked = sorted(documents, key=lambda document: (-insight_counts.get(document[0], 0), document[0]))
    chosen: list[int] = []
    n_words = 0
    for number, words in ranked:
        if n_words * TOKENS_PER_WORD >= token_budget or not (include_zero or insight_counts.get(number, 0) > 0):
            break
        chosen.append(number)
        n_words += words
    return Selection(numbers=tuple(chosen), n_words=n_words)


def select_by_scores(
    documents: Iterable[tuple[int, int]], scores: Mapping[int, float], *, token_budget: float = TOKEN_BUDGET
) -> Selection:
    """Fill the token budget by a retriever's scores, the best first, whatever their scale and sign.

    `documents` are (number, words); those without a score are left out; ties go to the lower number; the document
    that crosses the budget is included and is the last.
    """
    known = [document for document in documents if document[0] in scores]
    best_first = ranked_by_scores(known, scores)
    ranks = {number: rank for rank, number in enumerate(reversed(best_first), 1)}
    return select_documents(known, ranks, token_budget=token_budget, include_zero=True)


def ranked_by_scores(documents: Iterable[tuple[int, int]], scores: Mapping[int, float]) -> list[int]:
    """The numbers of documents, given as (number, words), by score, the best first; ties go to the lower number.

    Those without a score are left out.
    """
    known = (number for number, _words in documents if number in scores)
    return sorted(known, key=lambda number: (-scores[number], number))


def reading_minutes(n_words: int) -> float:
    """Minutes to read `n_words` once; the paper's 12,000 words are one hour (§5.3)."""
    return n_words / WORDS_PER_MINUTE
