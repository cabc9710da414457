"""Figures of a synthesis, what checks and people say of it, and its data card in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
from extensions.synthesis.checks import NothingToCompare, check, mean
from extensions.synthesis.models import (
    GONE,
    PRESENT,
    PartKind,
    PartState,
    ReviewAction,
    StepRefused,
    Synthesis,
    SynthesisDecision,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
)
from extensions.synthesis.programs.lists import CLOSED_BOOK
from extensions.synthesis.settings import Settings

CHECKS = {
    "auc": "Planted against not, by words: AUC",
    "threshold": "Fitted threshold",
    "recall": "Recall at it",
    "precision": "Precision at it",
    "mutation_recall": "Changed documents that this check notices",
    "verbatim": "Insights word for word in their documents (runs of eight)",
    "repeated": "Runs of eight words that another document has too",
    "number_precision": "Sentences with a digit that are evidence",
}
SHARES = {
    "clear_wrong": "Clear parts that people did not accept as they were",
    "flagged_wrong": "Flagged parts that people did not accept as they were",
    "agreed_hidden": "Decided as the checks, which were hidden",
    "agreed_shown": "Decided as the checks, which were shown",
    "said_right": "Insights that checks find in a document, and people too",
    "said_seen": "Insights that people find in a document, and checks too",
}
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
    words call absent were asked about by lot, leaked, and were not asked about, `minutes` the time that people
    took for each part that they accepted. `probes` is how many documents without the evidence of an insight checks
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
        return lot_words(self.lots)


def _checked(synthesis: Synthesis) -> list[dict[str, Any]]:
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT).exclude(state__in=GONE)
    return [part.data for part in documents]


def probes_of(synthesis: Synthesis) -> dict[str, int]:
    """How many documents without the evidence of an insight were checked, and how many of these were noticed.

    The same of documents where it was put in again at another place, as evidence that is not planned.
    """
    rows = _checked(synthesis)
    names = {"n": "probes", "n_caught": "probes_caught"}
    names |= {"n_insertions": "insertions", "n_insertions_caught": "insertions_caught"}
    return {name: sum(int(row.get(key, 0)) for row in rows) for name, key in names.items()}


def lots_of(synthesis: Synthesis) -> dict[str, int]:
    """Pairs that words call absent: leaks among those drawn by lot, these, and others; empty if not counted."""
    rows = [row for row in _checked(synthesis) if "unasked" in row]
    return {name: sum(row[name] for row in rows) for name in LOTS} if rows else {}


def lot_words(lots: Mapping[str, int]) -> str:
    """A sentence on the pairs asked about by lot and the others; empty if they were not counted."""
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
    return _figures(FiguresLook(synthesis.pk))


def _figures(look: FiguresLook) -> SynthesisFigures:
    synthesis = Synthesis.objects.get(pk=look.synthesis)
    rows = SynthesisDecision.objects.filter(part__synthesis=synthesis, undone_by=None)
    decisions = list(rows.exclude(action=ReviewAction.UNDO).select_related("part").order_by("pk"))
    verdicts = [row for row in decisions if row.action == ReviewAction.VERDICT]
    pairs = {(row.part_id, row.insight_id): row for row in verdicts if row.before["said"] is not None}.values()
    whole = [row for row in decisions if row.is_read and row.action != ReviewAction.VERDICT]
    first = [
        (row.is_blind, bool(row.part.data.get("flags")), row.action != ReviewAction.ACCEPT)
        for row in {row.part_id: row for row in reversed(whole)}.values()
    ]
    edits = [row for row in decisions if row.action == ReviewAction.EDIT]
    documents = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT).exclude(text="")
    lots, probes = lots_of(synthesis), probes_of(synthesis)
    return SynthesisFigures(
        decisions=dict(Counter(row.action for row in decisions if row.is_read)),
        n_unread=sum(not row.is_read for row in decisions),
        clear_wrong=_share([is_changed for _is_blind, was_flagged, is_changed in first if not was_flagged]),
        flagged_wrong=_share([is_changed for _is_blind, was_flagged, is_changed in first if was_flagged]),
        agreed_hidden=_share(
            [is_changed == was_flagged for is_blind, was_flagged, is_changed in first if is_blind]
        ),
        agreed_shown=_share(
            [is_changed == was_flagged for is_blind, was_flagged, is_changed in first if not is_blind]
        ),
        edited=mean([Levenshtein.normalized_distance(row.before["text"], row.part.text) for row in edits]),
        leaks=mean([_n_leaks(part) for part in documents.exclude(state__in=GONE)]),
        lots=lots,
        minutes=_minutes(decisions),
        closed_book=_closed_book(synthesis),
        probes=wilson(probes["n_caught"], probes["n"], method="share"),
        insertions=wilson(probes["n_insertions_caught"], probes["n_insertions"], method="share"),
        said_right=_share([row.reason == PRESENT for row in pairs if row.before["said"] == "yes"]),
        said_seen=_share([row.before["said"] == "yes" for row in pairs if row.reason == PRESENT]),
        **_checks(synthesis),
    )


def _checks(synthesis: Synthesis) -> dict[str, Any]:
    try:
        if synthesis.kind == SynthesisKind.QUESTIONS:
            raise NothingToCompare("The documents of questions have no plan to be compared with.")
        report = check(handing_over.topic_file(synthesis))
    except (StepRefused, NothingToCompare) as error:
        none = {"n_near_duplicates": 0, "n_overlapping": 0, "n_overlapping_within": 0}
        return {"checks": {}, **none, "why_no_checks": str(error)}
    return {
        "checks": {name: report[name] for name in CHECKS},
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
    return mean(values)


def _share(hits: Sequence[bool]) -> Stat:
    return wilson(sum(hits), len(hits), method="share")


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
        "synthesis", options=FiguresLook, figures=SynthesisFigures, compute=_figures, facts=_facts, revision=8
    )
)


def card(synthesis: Synthesis, figures: SynthesisFigures) -> str:
    """The card as a page of Markdown; figures are those of its page."""
    return "\n".join(_lines(synthesis, figures)) + "\n"


def _lines(synthesis: Synthesis, figures: SynthesisFigures) -> Iterator[str]:
    steps = list(synthesis.steps.select_related("judge").order_by("number"))
    yield f"# {_plain(synthesis.topic)}"
    yield ""
    is_of_documents = synthesis.kind == SynthesisKind.DOCUMENTS
    kind = synthesis.get_kind_display().capitalize()
    of_models = "insights, subtopics and queries" if is_of_documents else "all texts"
    yield f"{kind}; {of_models} by models, checked by people."
    yield from ("", "## How it was made", "")
    yield from _table(
        ("step", "model", "state", "what came of it"),
        [
            (s.name, str(s.judge.config.get("model") or s.judge), s.state, s.counts.get("sentence", ""))
            for s in steps
        ],
    )
    spent = synthesis.cost()
    price = "no price is known" if spent.dollars is None else f"${spent.dollars:.4f}"
    yield from ("", f"Seed {synthesis.seed}. {spent.n_calls:,} paid requests, {price}.", "")
    settings = asdict(Settings.from_mapping(synthesis.settings)) | {
        "prompts": sorted(synthesis.settings["prompts"])
    }
    if n_ideas := synthesis.parts.filter(kind=PartKind.UPLOAD).count():
        settings["uploaded documents"] = n_ideas
    of_questions = settings.pop("questions")
    if synthesis.kind == SynthesisKind.QUESTIONS:
        settings |= {f"{name} (questions)": value for name, value in of_questions.items()}
    yield from _table(("setting", "value"), [(name, _setting(value)) for name, value in settings.items()])
    yield from ("", "Wordings, by their SHA-256:", "")
    rows = SynthesisReply.objects.filter(part__synthesis=synthesis).order_by("prompt", "prompt_sha256")
    hashes = rows.values_list("prompt", "prompt_sha256").distinct()
    yield from _table(("prompt", "sha256"), [(name, digest) for name, digest in hashes])
    yield from ("", "## What the checks say", "")
    if figures.why_no_checks:
        yield figures.why_no_checks
    else:
        yield from _table(("figure", "value"), list(_check_rows(figures)))
    yield from ("", "## What people say", "")
    yield from _table(("figure", "share", "95 % interval", "of"), [_share_row(figures, name) for name in SHARES])
    decided = ", ".join(f"{action} {n}" for action, n in figures.decisions.items()) or "none"
    yield from ("", f"Decisions: {decided}; accepted unread: {figures.n_unread}.")
    minutes, edited = _number(figures.minutes), _number(figures.edited)
    yield f"Minutes for each part accepted: {minutes}. Share of letters that edits changed: {edited}."
    yield from ("", "## What is left", "")
    yield from _left(synthesis, figures)


def _setting(value: Any) -> str:
    """A value in words: “3, 8” for two numbers, “yes” for True, “–” for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return str(value) if value not in ("", None) else "–"


def _check_rows(figures: SynthesisFigures) -> Iterator[tuple[str, str]]:
    for name, title in CHECKS.items():
        yield title, _number(figures.checks.get(name))
    yield "Insights that the model knows without any text", _number(figures.closed_book)
    probes = f"{_number(figures.probes.value)} of {figures.probes.n_items}"
    yield "Documents without the evidence of an insight that words and model notice", probes
    insertions = f"{_number(figures.insertions.value)} of {figures.insertions.n_items}"
    yield "Documents with evidence put in where it is not planned that words and model notice", insertions
    yield "Pairs of documents that are near-duplicates", str(figures.n_near_duplicates)
    within = figures.n_overlapping_within
    yield (
        "Pairs of insights that overlap, within and between subtopics",
        f"{within}, {figures.n_overlapping - within}",
    )


def _share_row(figures: SynthesisFigures, name: str) -> tuple[str, str, str, str]:
    stat: Stat = getattr(figures, name)
    return SHARES[name], _number(stat.value), f"{_number(stat.low)}–{_number(stat.high)}", str(stat.n_items)


def _left(synthesis: Synthesis, figures: SynthesisFigures) -> Iterator[str]:
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT, state=PartState.FLAGGED).order_by("number")
    leaks, n = _number(figures.leaks), len(documents)
    yield f"Leaks left in a document, mean: {leaks} found. Flagged and kept: {n} documents."
    for part in documents:
        yield f"- document {part.number}: {', '.join(dict.fromkeys(part.data.get('flags', ())))}"
    if words := figures.lot_words:
        yield from ("", words)
    yield from (
        "",
        "Words see no paraphrase and no changed value. A system of the generator's family may be favoured.",
    )


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(_plain, row))} |"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
