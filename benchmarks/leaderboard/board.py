"""Systems by the setting that chose their documents, and their scores from stored verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from benchmarks.models import Haystack, Insight, Judge, ModelFamily, Summary, Verdict
from benchmarks.scoring import summhay, text
from benchmarks.scoring.leaderboard import Scored
from benchmarks.scoring.summhay import Score
from benchmarks.scoring.text import words_per_bullet
from benchmarks.system_names import family_of, is_people, setting_name

TOP, BOTTOM, RANDOM = "fl-ctxt-sort", "fl-ctxt-rev-sort", "full-ctxt"
"""The published orders of the full context: documents of the subtopic first, last, and at random."""
IMPORTED_PEOPLE = "people (imported)"
"""Writers of another site, whose texts came with a haystack file."""
ORDERS = {"random": RANDOM, "top": TOP, "bottom": BOTTOM}


class Entry(NamedTuple):
    """A system with the setting that chose its documents, named as published leaderboards name them."""

    system: str
    retriever: str

    @classmethod
    def of(cls, summarizer: str, retriever: str, order: str) -> Entry:
        """That of a system by its columns."""
        name = IMPORTED_PEOPLE if is_people(summarizer) else summarizer
        return cls(name, setting_name(retriever, order))

    def __str__(self) -> str:
        return f"{self.system} · {self.retriever}"


COLUMNS = (
    "pk",
    "subtopic",
    "haystack__key",
    "subtopic__key",
    "system__summarizer",
    "system__retriever",
    "system__document_order",
)


def scored_summaries(
    *, haystacks: QuerySet[Haystack], judge: Judge, score: Score = Score.LABEL
) -> tuple[list[Scored], dict[str, Entry]]:
    """The summaries of systems that the judge has judged, one of each on each subtopic.

    With them come the systems by their key in the leaderboard. Five queries.
    """
    summaries = Summary.objects.filter(haystack__in=haystacks).counted().order_by()
    texts = list(summaries.values_list("pk", "subtopic", "text"))
    of = {
        pk: (subtopic, place_of(haystack, key), Entry.of(*names))
        for pk, subtopic, haystack, key, *names in summaries.values_list(*COLUMNS)
    }
    verdicts = coverage_verdicts(summaries=summaries.values("pk"), judge=judge, score=score)
    board_texts = []
    for pk, lines, scored in scored_texts(texts, verdicts):
        subtopic, place, entry = of[pk]
        board_texts.append(Scored(str(entry), subtopic, scored, words_per_bullet(lines).value, place))
    return board_texts, {str(entry): entry for _subtopic, _place, entry in of.values()}


def place_of(haystack: str, subtopic: str) -> str:
    """A subtopic's name on any site: the keys of its haystack and its own."""
    return f"{haystack} {subtopic}"


def of_the_makers(systems: Iterable[str], haystacks: QuerySet[Haystack]) -> frozenset[str]:
    """Those of these systems whose family made a haystack, as far as haystacks say so. At most two queries."""
    stated = haystacks.order_by().values_list("metadata__models", flat=True)
    named = {str(name) for values in stated if isinstance(values, dict) for name in values.values() if name}
    families = ModelFamily.by_model() if named else {}
    makers = {family_of(name, families) for name in named}
    return frozenset(system for system in systems if family_of(system, families) in makers)


def scores_of(
    *,
    summaries: Iterable[int],
    judge: Judge,
    shown: Mapping[int, Collection[int]] | None = None,
    score: summhay.Score = summhay.Score.LABEL,
) -> dict[int, summhay.SummaryScore]:
    """Score summaries by one judge's verdicts; {summary pk: score}. Three queries.

    Summaries without a verdict on every insight of their subtopic are left out: they are not judged yet. An
    answer that cannot be used costs its insight, which is counted as missing; so do all of a summary's.

    Args:
        summaries: primary keys.
        judge: whose verdicts count.
        shown: {summary pk: document numbers}; then only insights present in those documents are scored.
        score: whether coverage takes labels, or what the judge expects where it says.
    """
    wanted = set(summaries)
    texts = list(Summary.objects.filter(pk__in=wanted).values_list("pk", "subtopic", "text"))
    verdicts = coverage_verdicts(summaries=wanted, judge=judge, score=score)
    return {pk: scored for pk, _lines, scored in scored_texts(texts, verdicts, shown=shown)}


Verdicts = Mapping[int, Mapping[str, summhay.Verdict | None]]
"""{summary pk: {insight pk as text: verdict, None for an invalid one}}."""


def scored_texts(
    texts: Collection[tuple[int, int, str]],
    verdicts: Verdicts,
    *,
    shown: Mapping[int, Collection[int]] | None = None,
) -> Iterator[tuple[int, Sequence[text.Line], summhay.SummaryScore]]:
    """Score texts, given as (summary pk, subtopic pk, text), with their lines. One query; see `scores_of`."""
    golds = gold_documents(subtopics={subtopic for _, subtopic, _ in texts})
    for pk, subtopic, body in texts:
        insights = golds[subtopic]
        of_text = verdicts.get(pk, {})
        if not of_text or any(key not in of_text for key, _ in insights):
            continue
        if shown is not None:
            insights = summhay.present_insights(insights, shown[pk])
        lines = text.lines_from_list(body.split("\n") if body else [])
        usable = {key: verdict for key, verdict in of_text.items() if verdict is not None}
        yield pk, lines, summhay.score_summary(insights, usable, lines)


def gold_documents(*, subtopics: Collection[int]) -> dict[int, list[tuple[str, frozenset[int]]]]:
    """Reference insights in order: {subtopic pk: [(insight pk as text, gold numbers)]}. One query."""
    golds: dict[int, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    rows = Insight.objects.filter(subtopic__in=subtopics).order_by("subtopic", "number")
    for pk, subtopic, numbers in rows.values_list("pk", "subtopic", "gold_documents"):
        golds[subtopic].append((str(pk), frozenset(numbers)))
    return golds


def coverage_verdicts(
    *,
    summaries: Collection[int] | QuerySet[Any, Any],
    judge: Judge,
    score: summhay.Score = summhay.Score.LABEL,
) -> dict[int, dict[str, summhay.Verdict | None]]:
    """A judge's first answers: {summary pk: {insight pk as text: verdict, None for an invalid one}}. One query.

    Only by expected score do verdicts have their probabilities.
    """
    verdicts: dict[int, dict[str, summhay.Verdict | None]] = defaultdict(dict)
    rows = Verdict.objects.filter(summary__in=summaries, judge=judge, repeat=0).order_by()
    as_text = Cast("lines", TextField())  # decoded here: there are few different ones
    columns = ("summary", "insight", "coverage", as_text, "is_valid", "p_partial", "p_full")
    is_expected = score is summhay.Score.EXPECTED
    for summary, insight, coverage, lines, is_valid, partial, full in rows.values_list(*columns):
        verdict = _verdict(coverage, lines) if is_valid and coverage else None
        if verdict is not None and is_expected:
            verdict = replace(verdict, probabilities=summhay.Probabilities.of(partial, full))
        verdicts[summary][str(insight)] = verdict
    return verdicts


@lru_cache(maxsize=10_000)
def _verdict(coverage: str, lines: str) -> summhay.Verdict:
    return summhay.Verdict(summhay.Coverage(coverage), tuple(orjson.loads(lines)))
