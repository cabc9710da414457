"""Figures of a synthesis: the free checks of its documents, and what people decided against those checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rapidfuzz.distance import Levenshtein

from benchmarks.judges.base import Background, ItemRef, SummaryToJudge
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.results.computation import Computation, register, totals
from benchmarks.scoring.formulas import unseen_hits
from benchmarks.scoring.intervals import wilson
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import worth
from extensions.synthesis import handing_over
from extensions.synthesis.checks.lexical import NothingToCompare
from extensions.synthesis.checks.report import check
from extensions.synthesis.models import (
    PartKind,
    PartState,
    ReviewAction,
    Synthesis,
    SynthesisDecision,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
)
from extensions.synthesis.part_states import GONE, PRESENT
from extensions.synthesis.programs.asking import CLOSED_BOOK
from extensions.synthesis.refusals import StepRefused

CHECKED = (
    "auc",
    "threshold",
    "precision",
    "recall",
    "mutation_recall",
    "repeated",
    "verbatim",
    "number_precision",
)


LOTS = ("audited_leaks", "audited", "unasked")
LONGEST_GAP_S = 120.0
"""Of the time that counts between two decisions, as in label work."""


@dataclass(frozen=True)
class FiguresLook:
    """Which synthesis, by its key."""

    synthesis: int


@dataclass(frozen=True)
class SynthesisFigures:
    """Shares with Wilson's intervals; `checks` are those of `synthesize check`, or `why_no_checks`.

    `clear_wrong` are clear parts, and `flagged_wrong` flagged ones, that people did not accept as they were.
    `agreed_hidden` and `agreed_shown` say how often people decided as the checks did while these were hidden
    and shown. `said_right` is how many of the insights that checks find in documents people find too, `said_seen`
    how many of those that people find checks find too; the newest verdict on a pair counts. `edited` is the mean
    share of letters that edits changed, `leaks` the leaks found and left in a document, `lots` how many pairs that
    words call absent were asked about by lot, leaked, and were not asked about, `unseen` the leaks among those,
    `minutes` the time that people took
    for each part that they accepted. `probes` is how many documents without the evidence of an insight the checks
    notice, `insertions` how many with that evidence at another place, where it is not planned. `closed_book` is
    the coverage, from 0 to 1, of what the model answers to the queries without any text, by the offline judge.
    """

    decisions: Mapping[str, int]
    n_unread: int
    clear_wrong: Stat
    flagged_wrong: Stat
    agreed_hidden: Stat
    agreed_shown: Stat
    edited: float | None
    leaks: float | None
    lots: Mapping[str, int]
    unseen: Stat
    said_right: Stat
    said_seen: Stat
    checks: Mapping[str, float | None]
    n_near_duplicates: int
    n_overlapping: int
    n_overlapping_within: int
    minutes: float | None
    closed_book: float | None
    probes: Stat
    insertions: Stat
    why_no_checks: str = ""

    @property
    def lot_words(self) -> str:
        """What the pairs asked about by lot say of the others."""
        return lot_words(self.lots)


def probes_of(synthesis: Synthesis) -> dict[str, int]:
    """How many documents without the evidence of an insight were checked, and how many of these were noticed.

    The same of documents where it was put in again at another place, as evidence that is not planned.
    """
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT).exclude(state__in=GONE)
    rows = [part.data for part in documents]
    return {
        "n": sum(int(data.get("probes", 0)) for data in rows),
        "n_caught": sum(int(data.get("probes_caught", 0)) for data in rows),
        "n_insertions": sum(int(data.get("insertions", 0)) for data in rows),
        "n_insertions_caught": sum(int(data.get("insertions_caught", 0)) for data in rows),
    }


def lots_of(synthesis: Synthesis) -> dict[str, int]:
    """Pairs that words call absent: leaks among those drawn by lot, these, and others; empty if not counted."""
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT).exclude(state__in=GONE)
    rows = [part.data for part in documents if "unasked" in part.data]
    return {name: sum(row[name] for row in rows) for name in LOTS} if rows else {}


def lot_words(lots: Mapping[str, int]) -> str:
    """What the pairs asked about by lot say of the others; empty if they were not counted."""
    if not lots:
        return ""
    n_leaks, n, rest = (lots[name] for name in LOTS)
    if not rest:
        return "All pairs of a document and an insight that it is not planned to tell were looked at."
    if not n:
        return (
            f"Of {rest:,} pairs that words call absent none was asked about, so leaks in other words are unknown."
        )
    unseen = unseen_hits(n_leaks, n, rest)
    return (
        f"Of the pairs that words call absent {n:,} were asked about by lot, and {n_leaks:,} leaked: among the "
        f"{rest:,} others about {unseen.value:,.0f} leak unseen "
        f"(95 % interval {unseen.low:,.0f}–{unseen.high:,.0f})."
    )


def figures_of(synthesis: Synthesis) -> SynthesisFigures:
    """The figures as they are now, computed here."""
    return _figures(FiguresLook(synthesis.pk))


def _figures(look: FiguresLook) -> SynthesisFigures:
    synthesis = Synthesis.objects.get(pk=look.synthesis)
    rows = SynthesisDecision.objects.filter(part__synthesis=synthesis, undone_by=None)
    decisions = list(rows.exclude(action=ReviewAction.UNDO).select_related("part").order_by("pk"))
    verdicts = [row for row in decisions if row.action == ReviewAction.VERDICT]
    pairs = {(row.part_id, row.insight_id): row for row in verdicts if row.before["said"] is not None}.values()
    whole = [row for row in decisions if row.is_read and row.action != ReviewAction.VERDICT]
    first = {row.part_id: row for row in reversed(whole)}
    edits = [row for row in decisions if row.action == ReviewAction.EDIT]
    documents = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT).exclude(text="")
    left = [_n_leaks(part) for part in documents.exclude(state__in=GONE)]
    return SynthesisFigures(
        decisions=dict(Counter(row.action for row in decisions if row.is_read)),
        n_unread=sum(not row.is_read for row in decisions),
        clear_wrong=_share([_is_changed(row) for row in first.values() if not _was_flagged(row)]),
        flagged_wrong=_share([_is_changed(row) for row in first.values() if _was_flagged(row)]),
        agreed_hidden=_share([_is_changed(row) == _was_flagged(row) for row in first.values() if row.is_blind]),
        agreed_shown=_share([_is_changed(row) == _was_flagged(row) for row in first.values() if not row.is_blind]),
        edited=_mean([Levenshtein.normalized_distance(row.before["text"], row.part.text) for row in edits]),
        leaks=_mean(left),
        lots=(lots := lots_of(synthesis)),
        unseen=unseen_hits(*(lots.get(name, 0) for name in LOTS)),
        minutes=_minutes(decisions),
        closed_book=_closed_book(synthesis),
        **_of_probes(synthesis),
        said_right=_share([row.reason == PRESENT for row in pairs if row.before["said"] == "yes"]),
        said_seen=_share([row.before["said"] == "yes" for row in pairs if row.reason == PRESENT]),
        **_checks(synthesis),
    )


def _checks(synthesis: Synthesis) -> dict[str, Any]:
    try:
        if synthesis.kind == SynthesisKind.QUESTIONS:
            raise NothingToCompare("The documents of questions have no plan to be compared with.")
        report = check(handing_over.topic_file(synthesis)).as_json()
    except (StepRefused, NothingToCompare) as error:
        none = {"n_near_duplicates": 0, "n_overlapping": 0, "n_overlapping_within": 0}
        return {"checks": {}, **none, "why_no_checks": str(error)}
    return {
        "checks": {name: report[name] for name in CHECKED},
        "n_near_duplicates": len(report["near_duplicate_documents"]),
        "n_overlapping": len(report["overlapping_insights"]),
        "n_overlapping_within": report["n_overlapping_within"],
    }


def _minutes(decisions: Sequence[SynthesisDecision]) -> float | None:
    """Minutes between decisions of the same person, for each part accepted; longer gaps count as two minutes."""
    seconds, last = 0.0, dict[int | None, datetime]()
    for row in sorted(decisions, key=lambda row: row.at):
        if row.is_read and row.by_id in last:
            seconds += min((row.at - last[row.by_id]).total_seconds(), LONGEST_GAP_S)
        last[row.by_id] = row.at
    n = sum(row.is_read and row.action in {ReviewAction.ACCEPT, ReviewAction.EDIT} for row in decisions)
    return seconds / 60 / n if n else None


def _n_leaks(part: SynthesisPart) -> int:
    pairs = part.data.get("pairs", ())
    return sum(not pair["is_planned"] and pair["present"] in {"yes", "partly"} for pair in pairs)


def _was_flagged(row: SynthesisDecision) -> bool:
    return bool(row.part.data.get("flags"))


def _is_changed(row: SynthesisDecision) -> bool:
    return row.action != ReviewAction.ACCEPT


def _closed_book(synthesis: Synthesis) -> float | None:
    queries = synthesis.parts.filter(kind=PartKind.QUERY).exclude(state__in=GONE).order_by("number")
    values: list[float] = []
    for query in queries:
        points = query.data.get(CLOSED_BOOK)
        insights = tuple(ItemRef(str(row.pk), row.text) for row in query.uses.order_by("number"))
        if points is None or not insights:
            continue
        background = Background(insights=tuple(insight.text for insight in insights))
        text = SummaryToJudge(str(query.pk), tuple(f"- {point}" for point in points), insights)
        (verdicts,) = LexicalJudge().judge_coverage([text], background)
        values += [worth()[verdict.coverage] for verdict in verdicts]
    return _mean(values)


def _of_probes(synthesis: Synthesis) -> dict[str, Any]:
    counts = probes_of(synthesis)
    return {
        "probes": wilson(counts["n_caught"], counts["n"], method="share"),
        "insertions": wilson(counts["n_insertions_caught"], counts["n_insertions"], method="share"),
    }


def _share(hits: Sequence[bool]) -> Stat:
    return wilson(sum(hits), len(hits), method="share")


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _facts(look: FiguresLook) -> object:
    synthesis = {"synthesis": look.synthesis}
    parts = SynthesisPart.objects.filter(**synthesis)
    rows = totals(
        parts,
        *(parts.filter(state=state) for state in PartState.values),
        SynthesisReply.objects.filter(part__synthesis=look.synthesis),
        SynthesisDecision.objects.filter(part__synthesis=look.synthesis),
    )
    return rows, list(Synthesis.objects.filter(pk=look.synthesis).values_list("steps__name", "steps__state"))


FIGURES = register(
    Computation(
        "synthesis", options=FiguresLook, figures=SynthesisFigures, compute=_figures, facts=_facts, revision=7
    )
)
