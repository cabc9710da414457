"""Contents of the pages of corpora, each read in a fixed number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Substr

from benchmarks.corpora.searching import pattern_of
from benchmarks.leaderboard.board import scored_summaries, scores_of
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Document, Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.results.computation import Computation, contents, register, totals
from benchmarks.scoring import summhay
from benchmarks.scoring.leaderboard import Leaderboard
from benchmarks.scoring.text import Line, lines_from_list, words_per_bullet
from benchmarks.system_names import setting_name
from benchmarks.web.lists import Column, MemoryTable

PREVIEW = 160


def document_rows(haystack: Haystack, *, find: str = "") -> list[dict[str, Any]]:
    """All documents, or those whose title or text holds `find`. Two queries, no full text."""
    insights = Insight.objects.filter(subtopic__haystack=haystack).values_list("gold_documents", flat=True)
    n_insights = Counter(number for numbers in insights for number in numbers)
    rows = haystack.documents.annotate(preview=Substr("text", 1, PREVIEW)).order_by("number")
    if find:
        pattern = pattern_of(find)
        rows = rows.filter(Q(text__regex=pattern) | Q(title__regex=pattern))
    return [
        {**row, "source": str(row["metadata"].get("article_source", "")), "n_insights": n_insights[row["number"]]}
        for row in rows.values("number", "title", "metadata", "preview", "n_words")
    ]


@dataclass(frozen=True, slots=True)
class SystemCell:
    """How many summaries a system has with one setting, and their joint score if they are judged."""

    n: int
    joint: float | None


@dataclass(frozen=True, slots=True)
class SystemTable:
    """A row for each summarizer, a column for each way documents came to it."""

    settings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[SystemCell | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class SystemLook:
    """Options of the stored table: a haystack, and a judge whose scores it shows, if any, by primary keys."""

    haystack: int
    judge: int | None


def system_look(haystack: Haystack) -> tuple[SystemLook, Judge | None]:
    """The table of a haystack by the judge whose verdicts were imported, else by another one."""
    judge = next(iter(judges_of(Summary.objects.filter(haystack=haystack).counted())), None)
    return SystemLook(haystack.pk, judge.pk if judge else None), judge


def _system_facts(look: SystemLook) -> object:
    summaries = Summary.objects.filter(haystack=look.haystack).counted()
    rows = totals(summaries, Verdict.objects.filter(summary__haystack=look.haystack, judge=look.judge))
    return rows, contents(Haystack.objects.filter(pk=look.haystack))


def system_table(look: SystemLook) -> SystemTable:
    """The summaries of systems with their joint scores, pooled over insights."""
    haystack, judge = look.haystack, None if look.judge is None else Judge.objects.filter(pk=look.judge).first()
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = (
        Summary.objects.filter(haystack=haystack)
        .counted()
        .order_by()
        .values_list("system__summarizer", "system__retriever", "system__document_order")
        .annotate(n=Count("pk"))
    )
    for summarizer, retriever, order, n in rows:
        counts[summarizer][setting_name(retriever, order)] += n
    joint = {}
    if judge is not None:
        scored, entries = scored_summaries(haystacks=Haystack.objects.filter(pk=haystack), judge=judge)
        board = Leaderboard(scored, average=summhay.Average.OVER_INSIGHTS, resampling=None)
        joint = {tuple(entries[row.entry]): row.stats["joint"].value for row in board.rows()}
    settings = sorted({setting for row in counts.values() for setting in row}, key=_setting_order)

    def cell(name: str, setting: str) -> SystemCell | None:
        n = counts[name].get(setting)
        return SystemCell(n, joint.get((name, setting))) if n else None

    return SystemTable(
        settings=tuple(settings),
        rows=tuple((name, tuple(cell(name, setting) for setting in settings)) for name in sorted(counts)),
    )


SYSTEMS = register(
    Computation(
        "systems-of-haystack",
        options=SystemLook,
        figures=SystemTable,
        compute=system_table,
        facts=_system_facts,
    )
)


def _setting_order(setting: str) -> tuple[int, str]:
    known = ("random", "keywords", "vector", "longembed", "rerank3", "oracle", "full-ctxt")
    return (known.index(setting) if setting in known else len(known) + setting.startswith("fl-ctxt"), setting)


def insights_in(document: Document) -> list[Insight]:
    """The insights that a document holds, with their subtopics. One query."""
    rows = Insight.objects.filter(subtopic__haystack=document.haystack_id).select_related("subtopic")
    return [row for row in rows.order_by("subtopic__number", "number") if document.number in row.gold_documents]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A line of the table of summaries; `score` is None where the judge has not judged all of it."""

    summary: Summary
    summarizer: str
    setting: str
    n_lines: int
    n_bullets: int
    words_per_bullet: float | None
    score: summhay.SummaryScore | None

    def stat(self, name: str) -> float | None:
        """One of the judge's measures, if it has a value."""
        measure = self.score.scores.measure(name) if self.score else None
        return measure.value if measure else None


SCORES = ("coverage", "citation", "joint")


def _score(name: str, title: Any) -> Column:
    return Column(title, lambda row: row.stat(name), css="num", high_first=True)


class SummaryTable(MemoryTable):
    system = Column("System", "summarizer")
    setting = Column("Source of documents", lambda row: _setting_order(row.setting))
    coverage, citation, joint = map(_score, SCORES, ("Coverage", "Citation", "Joint"))
    lines = Column("Lines", "n_lines", css="num", high_first=True)
    bullets = Column("Bullets", "n_bullets", css="num", high_first=True)
    words = Column("Words per bullet", "words_per_bullet", css="num", high_first=True)

    class Meta:
        order_by = "system"


COUNTED = (Summary.Origin.IMPORTED, Summary.Origin.GENERATED)


def judges_of(summaries: QuerySet[Summary]) -> list[Judge]:
    """Judges with verdicts on any of these summaries: first who judged most that count, then imported judges.

    Two queries: with the rows of judges in the first, PostgreSQL would read all verdicts there are.
    """
    verdicts = Verdict._base_manager.order_by().filter(summary__in=summaries, repeat=0).values("judge")
    counts = verdicts.annotate(n=Count("pk", filter=Q(summary__origin__in=COUNTED)))
    n_judged = dict(counts.values_list("judge", "n"))
    known = Judge.objects.counted().filter(pk__in=n_judged).order_by("name", "-version")
    return sorted(known, key=lambda judge: (-n_judged[judge.pk], judge.kind != Judge.Kind.IMPORTED))


def summary_rows(subtopic: Subtopic, *, judge: Judge | None) -> list[SummaryRow]:
    """The summaries of systems by name, with one judge's scores. Four queries with a judge, else one."""
    summaries = list(subtopic.summaries.of_systems().select_related("system"))
    scores = scores_of(summaries=[row.pk for row in summaries], judge=judge) if judge else {}
    rows = []
    for summary in summaries:
        lines = lines_from_list(summary.lines)
        rows.append(
            SummaryRow(
                summary=summary,
                summarizer=summary.system.summarizer,
                setting=setting_name(summary.system.retriever, summary.system.document_order),
                n_lines=len(lines),
                n_bullets=sum(line.is_bullet for line in lines),
                words_per_bullet=words_per_bullet(lines).value,
                score=scores.get(summary.pk),
            )
        )
    return sorted(rows, key=lambda row: (row.summarizer, _setting_order(row.setting)))


def summary_page(summary: Summary) -> dict[str, Any]:
    """A summary line by line, with its citations, and the first answers of every judge of each insight.

    Of citations it says whether such a document exists. Three queries.
    """
    lines = lines_from_list(summary.lines)
    known = set(summary.haystack.documents.values_list("number", flat=True))
    insights = list(summary.subtopic.insights.order_by("number"))
    verdicts = list(summary.verdicts.filter(repeat=0).select_related("judge"))
    judges = sorted(
        {row.judge for row in verdicts}, key=lambda judge: (judge.kind != Judge.Kind.IMPORTED, judge.name)
    )
    by_place = {(row.insight_id, row.judge_id): row for row in verdicts}
    rows: list[dict[str, Any]] = [
        {"line": line, "citations": [(number, number in known) for number in line.citations]} for line in lines
    ]
    return {
        "lines": rows,
        "n_invalid": sum(not is_known for row in rows for _number, is_known in row["citations"]),
        "judges": judges,
        "totals": [
            _total(insights, [row for row in verdicts if row.judge_id == judge.pk], lines) for judge in judges
        ],
        "insights": [
            {
                "insight": insight,
                "cells": [_cell(by_place.get((insight.pk, judge.pk)), insight, lines) for judge in judges],
            }
            for insight in insights
        ],
    }


def _total(
    insights: Sequence[Insight], verdicts: Sequence[Verdict], lines: Sequence[Line]
) -> summhay.SummaryScore | None:
    """The scores of a summary by one judge, None until it has judged every insight."""
    if len(verdicts) < len(insights):
        return None
    judged = {
        str(row.insight_id): summhay.Verdict(summhay.Coverage(row.coverage), tuple(row.lines))
        for row in verdicts
        if row.is_valid and row.coverage
    }
    golds = [(str(insight.pk), frozenset(insight.gold_documents)) for insight in insights]
    return summhay.score_summary(golds, judged, lines) if judged else None


def _cell(verdict: Verdict | None, insight: Insight, lines: Sequence[Line]) -> dict[str, Any] | None:
    """One judge's verdict on one insight: the cited documents, whether each is gold, and the gold ones missed."""
    if verdict is None:
        return None
    linked = {number for number in verdict.lines if 1 <= number <= len(lines)}
    cited = sorted({number for at in linked for number in lines[at - 1].citations})
    gold = set(insight.gold_documents)
    return {
        "verdict": verdict,
        "cited": cited,
        "right": [number for number in cited if number in gold],
        "marked": [(number, number in gold) for number in cited],
        "missed": sorted(gold - set(cited)),
    }


def coverage_counts(insight: Insight) -> list[dict[str, Any]]:
    """How often each judge found an insight covered, over the summaries of its subtopic. Two queries."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    rows = Verdict.objects.counted().filter(insight=insight, repeat=0, is_valid=True)
    rows = rows.exclude(summary__origin=Summary.Origin.SESSION)
    for judge, coverage, n in rows.order_by().values_list("judge", "coverage").annotate(n=Count("pk")):
        counts[judge][coverage] = n
    judges = Judge.objects.filter(pk__in=counts).order_by("name", "version")
    return [{"judge": judge, **{name: counts[judge.pk][name] for name in summhay.COVERAGES}} for judge in judges]


def full_name(system: System) -> str:
    """A system as pages call it."""
    setting = setting_name(system.retriever, system.document_order)
    return f"{system.summarizer} · {names_of([setting])[setting]}"
