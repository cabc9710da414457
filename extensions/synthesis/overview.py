"""What the pages of syntheses show: steps with progress, counts and costs, and parts with their lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from benchmarks.engine import costs, runs
from benchmarks.engine.runs import RunProgress
from benchmarks.models import JudgeCall
from benchmarks.web.pages import Mark, Segment, segments
from extensions.synthesis import making
from extensions.synthesis.deciding import Edits
from extensions.synthesis.models import (
    PartKind,
    PartState,
    ReviewAction,
    StepState,
    Synthesis,
    SynthesisDecision,
    SynthesisPart,
    SynthesisStep,
)
from extensions.synthesis.part_states import GONE, READ
from extensions.synthesis.question_overview import Fact, facts_of
from extensions.synthesis.replies import located
from extensions.synthesis.reviewing import Place, Queue, is_blind, queue, shared_words
from extensions.synthesis.steps import KINDS, is_under_way, tally_of


@dataclass(frozen=True)
class StepRow:
    """A step as its row shows it."""

    step: SynthesisStep
    progress: RunProgress | None
    n_repaired: int
    n_written: int
    under_repair: tuple[int, int] | None
    states: dict[str, int]
    is_next: bool
    following: SynthesisStep | None = None

    @property
    def has_gate(self) -> bool:
        """Whether people look at what it made."""
        return KINDS[self.step.name].has_gate

    @property
    def is_at_gate(self) -> bool:
        """Whether somebody decides whether it goes on."""
        return self.is_next and self.step.state == StepState.REVIEW

    @property
    def is_working(self) -> bool:
        """Whether it is worth looking again."""
        return (
            self.step.state == StepState.RUNNING
            and self.step.run is not None
            and self.step.run.state in runs.GOING
        )

    @property
    def n_stale(self) -> int:
        """Parts that no longer fit what they were made from."""
        return self.states.get(PartState.STALE, 0)

    @property
    def n_unread(self) -> int:
        """Clear parts that nobody has looked at."""
        return self.states.get(PartState.CLEAR, 0)

    @property
    def n_flagged(self) -> int:
        """Parts that checks flag and nobody has decided on."""
        return self.states.get(PartState.FLAGGED, 0)

    @property
    def n_read(self) -> int:
        """Parts that people have decided on; what was made again counts once, as what it is now."""
        return sum(n for state, n in self.states.items() if state in READ and state != PartState.REGENERATED)

    @property
    def can_start(self) -> bool:
        """Whether it is its turn."""
        waits = self.step.state in {StepState.PLANNED, StepState.ESTIMATED, StepState.STALE}
        return self.is_next and (waits or self.was_stopped or self.has_failed)

    @property
    def was_stopped(self) -> bool:
        """Whether its run was cancelled before its end."""
        return self.step.state == StepState.RUNNING and not is_under_way(self.step)

    @property
    def n_missing(self) -> int:
        """What its lists lack and can be asked for once more."""
        waits = self.is_next and self.step.state == StepState.REVIEW and not self.has_failed
        if not waits or self.step.name not in making.LISTS:
            return 0
        tally = tally_of(self.step, [])
        return max(0, tally.n_asked - tally.n_got)

    @property
    def has_failed(self) -> bool:
        """Whether something of it got no answer and can be asked again."""
        return self.step.state == StepState.REVIEW and bool(self.step.counts.get("failed"))


def step_rows(synthesis: Synthesis) -> list[StepRow]:
    """All steps in their order; four queries, and one for each that runs."""
    steps = list(synthesis.steps.select_related("run", "judge", "closed_by").order_by("number"))
    counts: dict[str, dict[str, int]] = {}
    rows = SynthesisPart.objects.filter(synthesis=synthesis).order_by().values("kind", "state")
    for row in rows.annotate(n=Count("pk")):
        counts.setdefault(row["kind"], {})[row["state"]] = row["n"]
    repaired = SynthesisPart.objects.filter(synthesis=synthesis, data__n_repairs__gt=0).order_by()
    repaired = repaired.exclude(state=PartState.REGENERATED)
    by_kind = dict(repaired.values_list("kind").annotate(n=Count("pk")))
    written = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT).exclude(text="")
    n_written = written.exclude(state=PartState.REGENERATED).count()
    is_writing = any(step.name == "documents" and step.state == StepState.RUNNING for step in steps)
    under_repair = making.under_repair(synthesis) if is_writing else None
    first = next((step.number for step in steps if step.state != StepState.CLOSED), 0)
    return [
        StepRow(
            step=step,
            progress=runs.run_progress(step.run) if step.run and step.state == StepState.RUNNING else None,
            n_repaired=by_kind.get(KINDS[step.name].makes, 0),
            n_written=n_written if step.name == "documents" else 0,
            under_repair=under_repair if step.name == "documents" else None,
            states=counts.get(KINDS[step.name].makes, {}) if KINDS[step.name].has_gate else {},
            is_next=step.number == first and not synthesis.is_handed_over,
            following=following,
        )
        for step, following in zip(steps, [*steps[1:], None], strict=True)
    ]


MOST_NAMED = 20
"""Parts with unusable replies that the page of a synthesis leads to."""


@dataclass(frozen=True)
class Unusable:
    """Replies that could not be used: how many there are, and the parts that have most of them."""

    n: int
    parts: Sequence[SynthesisPart]


def unusable(synthesis: Synthesis) -> Unusable:
    """What of a synthesis could not be used; two queries."""
    replies = Q(replies__value__isnull=True, replies__isnull=False)
    parts = SynthesisPart.objects.filter(synthesis=synthesis).annotate(n_unusable=Count("replies", filter=replies))
    rows = list(parts.filter(n_unusable__gt=0).select_related("step").order_by("-n_unusable", "pk"))
    return Unusable(sum(row.n_unusable for row in rows), rows[:MOST_NAMED])


def cost_of(synthesis: Synthesis) -> costs.Cost:
    """What its calls cost so far."""
    return costs.cost_of(JudgeCall.objects.filter(run__in=synthesis.runs()))


@dataclass(frozen=True)
class Row:
    """A synthesis in the list."""

    synthesis: Synthesis
    step: SynthesisStep | None
    n_documents: int


def list_rows() -> list[Row]:
    """All syntheses, the newest first; two queries."""
    documents = Q(parts__kind="document") & ~Q(parts__text="")
    rows = Synthesis.objects.select_related("created_by", "haystack").annotate(
        n=Count("parts", filter=documents & ~Q(parts__state=PartState.REGENERATED))
    )
    steps: dict[int, SynthesisStep] = {}
    for step in SynthesisStep.objects.exclude(state=StepState.CLOSED).order_by("-number"):
        steps[step.synthesis_id] = step
    return [Row(row, steps.get(row.pk), row.n) for row in rows]


# Review


def queue_of(step: SynthesisStep) -> Queue:
    """The parts of a step in the order in which people look at them."""
    return queue([place_of(part) for part in making.parts_of(step)], seed=step.synthesis.seed)


def place_of(part: SynthesisPart) -> Place:
    """A part as it is queued."""
    flags = part.data.get("flags", ())
    return Place(str(part.uid), part.kind, part.number, part.generation, part.state, bool(flags))


@dataclass(frozen=True)
class PairRow:
    """An insight that a document is to say or leaks: what its check says, and the newest verdict of a person."""

    insight: SynthesisPart
    pair: dict[str, Any] | None
    verdict: SynthesisDecision | None
    mark: int


@dataclass(frozen=True)
class Shown:
    """A part as a reviewer sees it; on a blind one nothing of what checks say."""

    part: SynthesisPart
    is_blind: bool
    flags: Sequence[str]
    text: Sequence[Segment]
    holds: Sequence[PairRow]
    leaks: Sequence[PairRow]
    cursor: PairRow | None
    following: PairRow | None
    others: Sequence[SynthesisPart]
    neighbour: SynthesisPart | None
    compared: Sequence[tuple[str, bool]]
    decisions: Sequence[SynthesisDecision]
    mergeable: Sequence[SynthesisPart]
    facts: Sequence[Fact]


def is_hidden(part: SynthesisPart, seed: int) -> bool:
    """Whether a reviewer does not see what the checks say of a part."""
    return is_blind(seed, place_of(part)) and part.state not in READ


def shown(part: SynthesisPart, seed: int, *, cursor: str = "") -> Shown:
    """All that a reviewer needs of a part; a fixed number of queries.

    `cursor` is the key of the insight that a verdict is on, by default the first without one.
    """
    blind = is_hidden(part, seed)
    pairs = {} if blind else {pair["insight"]: pair for pair in part.data.get("pairs", ())}
    insights = SynthesisPart.objects.filter(synthesis=part.synthesis_id, kind="insight")
    holds, leaks, others = _pair_rows(part, pairs)
    rows = [*holds, *leaks] if part.kind == PartKind.DOCUMENT else []
    at = next((n for n, row in enumerate(rows) if str(row.insight.uid) == cursor), -1)
    if at < 0:
        at = next((n for n, row in enumerate(rows) if row.verdict is None), -1)
    nearest = None if blind else part.data.get("nearest")
    neighbour = insights.filter(number=nearest["insight"]).order_by("-generation").first() if nearest else None
    alike = SynthesisPart.objects.filter(synthesis=part.synthesis_id, kind=part.kind, parent=part.parent_id)
    siblings = alike.exclude(pk=part.pk).exclude(state__in=GONE).order_by("number")
    return Shown(
        part=part,
        is_blind=blind,
        flags=[] if blind else list(dict.fromkeys(part.data.get("flags", ()))),
        text=_marked(part, [row.pair for row in [*holds, *leaks] if row.pair]),
        holds=holds,
        leaks=leaks,
        cursor=rows[at] if at >= 0 else None,
        following=rows[(at + 1) % len(rows)] if rows else None,
        others=others,
        neighbour=neighbour,
        compared=list(shared_words(part.text, neighbour.text)) if neighbour else [],
        decisions=list(part.decisions.select_related("by", "insight").order_by("pk")),
        mergeable=list(siblings) if part.kind in {PartKind.INSIGHT, PartKind.POINT} else [],
        facts=facts_of(part, is_blind=blind),
    )


def _pair_rows(
    part: SynthesisPart, pairs: Mapping[int, dict[str, Any]]
) -> tuple[list[PairRow], list[PairRow], list[SynthesisPart]]:
    """(what a part is to say, what it leaks as checks or people say, further insights that it might leak)."""
    judged = part.decisions.filter(action=ReviewAction.VERDICT, undone_by=None).select_related("insight", "by")
    edits = Edits(part)
    verdicts = {row.insight_id: row for row in judged.order_by("pk") if edits.are_judged(row)}

    def pair_of(insight: SynthesisPart) -> dict[str, Any] | None:
        return pairs.get(insight.number) if edits.are_checked(insight) else None

    planned = list(part.uses.filter(kind=PartKind.INSIGHT).order_by("number"))
    holds = [PairRow(row, pair_of(row), verdicts.get(row.pk), row.number) for row in planned]
    if part.kind != PartKind.DOCUMENT:
        return holds, [], []
    leaks, others = list[PairRow](), list[SynthesisPart]()
    numbers = {row.number for row in planned}
    rows = SynthesisPart.objects.filter(synthesis=part.synthesis_id, kind=PartKind.INSIGHT).order_by(
        "number", "pk"
    )
    for row in rows.exclude(state__in=GONE).exclude(number__in=numbers):
        pair, verdict = pair_of(row), verdicts.get(row.pk)
        if verdict is not None or (pair is not None and pair["present"] != "no"):
            leaks.append(PairRow(row, pair, verdict, -row.number))
        else:
            others.append(row)
    return holds, leaks, others


def _marked(part: SynthesisPart, pairs: Sequence[dict[str, Any]]) -> list[Segment]:
    """The text with the words that say its insights marked; `points` are numbers of insights, leaks negative."""
    marks = []
    for pair in pairs:
        place = located(part.text, pair["quote"]) if pair["quote"] and pair["present"] != "no" else None
        if place is not None:
            number = pair["insight"] if pair["is_planned"] else -pair["insight"]
            marks.append(Mark(*place, number, f"i{pair['insight']}"))
    return segments(part.text, marks)
