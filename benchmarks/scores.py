"""From verdicts in the database to scores: a fixed number of queries, then the pure functions of `scoring`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from benchmarks.models import Insight, Judge, Summary, Verdict
from benchmarks.scoring import summhay, text


def scores_of(
    *,
    summaries: Iterable[int],
    judge: Judge,
    half: float = summhay.HALF,
    shown: Mapping[int, Collection[int]] | None = None,
) -> dict[int, summhay.SummaryScore]:
    """Score summaries by one judge's verdicts; {summary pk: score}. Three queries.

    Summaries without a valid verdict on every insight of their subtopic are left out: they are not judged yet, or
    the judge gave an answer that cannot be used.

    Args:
        summaries: primary keys.
        judge: whose verdicts count.
        half: what a partial coverage is worth.
        shown: {summary pk: document numbers}; then only insights present in those documents are scored.
    """
    wanted = set(summaries)
    texts = list(Summary.objects.filter(pk__in=wanted).values_list("pk", "subtopic", "text"))
    golds = gold_documents(subtopics={subtopic for _, subtopic, _ in texts})
    verdicts = coverage_verdicts(summaries=wanted, judge=judge)
    scored: dict[int, summhay.SummaryScore] = {}
    for pk, subtopic, body in texts:
        insights = golds[subtopic]
        given = verdicts.get(pk, {})
        if any(key not in given for key, _ in insights):
            continue
        if shown is not None:
            insights = summhay.present_insights(insights, shown[pk])
        lines = text.lines_from_list(body.split("\n") if body else [])
        scored[pk] = summhay.score_summary(insights, given, lines, half=half)
    return scored


def gold_documents(*, subtopics: Collection[int]) -> dict[int, list[tuple[str, frozenset[int]]]]:
    """Reference insights in order: {subtopic pk: [(insight pk as text, gold numbers)]}. One query."""
    golds: dict[int, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    rows = Insight.objects.filter(subtopic__in=subtopics).order_by("subtopic", "number")
    for pk, subtopic, numbers in rows.values_list("pk", "subtopic", "gold_documents"):
        golds[subtopic].append((str(pk), frozenset(numbers)))
    return golds


def coverage_verdicts(*, summaries: Collection[int], judge: Judge) -> dict[int, dict[str, summhay.Verdict]]:
    """A judge's valid first answers: {summary pk: {insight pk as text: verdict}}. One query."""
    found: dict[int, dict[str, summhay.Verdict]] = defaultdict(dict)
    rows = Verdict.objects.valid().filter(summary__in=summaries, judge=judge, repeat=0)
    for summary, insight, coverage, lines in rows.values_list("summary", "insight", "coverage", "lines"):
        found[summary][str(insight)] = summhay.Verdict(summhay.Coverage(coverage), tuple(lines))
    return found
