"""Decisions of people on parts: each is a row that says how it was before, and can be undone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from benchmarks.models import JudgeRun, JudgeRunItem
from extensions.synthesis import haystacks
from extensions.synthesis.models import (
    GONE,
    REASONS,
    VERDICTS,
    NotAllowed,
    PartKind,
    PartState,
    ReviewAction,
    StepState,
    Synthesis,
    SynthesisDecision,
    SynthesisKind,
    SynthesisPart,
    SynthesisStep,
    after,
    stale_after,
    take_turn,
)

_OF_TOPICS = frozenset({PartKind.INSIGHT, PartKind.DOCUMENT, PartKind.QUERY})
CAN_BE_MADE_AGAIN: dict[str, frozenset[PartKind]] = {
    SynthesisKind.NEWS: _OF_TOPICS,
    SynthesisKind.CONVERSATION: _OF_TOPICS,
    SynthesisKind.DOCUMENTS: frozenset(),
    SynthesisKind.QUESTIONS: frozenset({PartKind.QUESTION, PartKind.QUERY}),
}
"""Parts that a model can be asked for again by themselves."""
_NOT_THERE = GONE | {PartState.PROPOSED}
UNITED = ("evidence", "made_of")
"""Fields that parts which are merged have together: passages, and the points that they are made of."""


@transaction.atomic
def decide(
    *,
    part: SynthesisPart,
    action: str,
    by: Any,
    now: datetime,
    reason: str = "",
    note: str = "",
    title: str | None = None,
    text: str | None = None,
    into: SynthesisPart | None = None,
    is_blind: bool = False,
    is_read: bool = True,
) -> SynthesisDecision:
    """Decide on a part; what was made from it becomes stale where its text changes.

    `title` and `text` are those of an edit, `reason` one of `REASONS` for a rejection, `note` what to change when
    it is made again, `into` what it is merged with: that takes over its documents and passages.

    Raises:
        NotAllowed: it is still being made, gone, or handed over; or the action lacks what it needs.
    """
    part = _locked(part)
    state = after(action, part.state)
    _check(part, action, reason=reason, text=text)
    if into is not None:
        into.refresh_from_db()
    if action == ReviewAction.MERGE:
        alike = (part.synthesis_id, part.kind)
        if (
            into is None
            or (into.synthesis_id, into.kind) != alike
            or into.pk == part.pk
            or into.state in _NOT_THERE
        ):
            raise NotAllowed("Choose another one that stands to merge it into.")
        note = f"merged into {into.kind} {into.number}"
    before: dict[str, Any] = {"state": part.state, "title": part.title, "text": part.text}
    decision = SynthesisDecision(
        part=part, action=action, reason=reason, note=note, is_read=is_read, is_blind=is_blind, by=by, at=now
    )
    if action == ReviewAction.REGENERATE:
        haystacks.again(part, note=note, now=now)
    else:
        if action == ReviewAction.EDIT:
            part.title, part.text = (part.title if title is None else title[:300]), str(text)
        part.state = state
        part.save(update_fields=["state", "title", "text"])
    if into is not None and action == ReviewAction.MERGE:
        before["into"] = _unite(part, into)
    is_as_before = action == ReviewAction.ACCEPT or (action == ReviewAction.EDIT and before["text"] == part.text)
    decision.before = {**before, "stale": {} if is_as_before else _make_stale(part)}
    decision.save()
    _settle_step_states(part.synthesis)
    return decision


@transaction.atomic
def judge(
    *, part: SynthesisPart, insight: SynthesisPart, verdict: str, by: Any, now: datetime, is_blind: bool = False
) -> SynthesisDecision:
    """Say whether a document says an insight; one that it is not planned to say and says is a leak.

    Raises:
        NotAllowed: it is still being made, gone, or handed over; or this is no document, insight or verdict.
    """
    part = _locked(part)
    after(ReviewAction.ACCEPT, part.state)
    is_pair = part.kind == PartKind.DOCUMENT and insight.kind == PartKind.INSIGHT
    if not is_pair or insight.synthesis_id != part.synthesis_id or verdict not in VERDICTS.values():
        raise NotAllowed("Say of an insight whether the document says it: present, partly or absent.")
    return SynthesisDecision.objects.create(
        part=part,
        insight=insight,
        action=ReviewAction.VERDICT,
        reason=verdict,
        before={"said": _said(part, insight)},
        is_blind=is_blind,
        by=by,
        at=now,
    )


class Edits:
    """Which texts people changed, so that what was said of a document before is not of the texts of today."""

    def __init__(self, part: SynthesisPart) -> None:
        rows = SynthesisDecision.objects.filter(
            part__synthesis=part.synthesis_id, action=ReviewAction.EDIT, undone_by=None
        ).order_by("pk")
        self._last = {row.part_id: row for row in rows.only("part", "at")}
        self._part = part
        self._checked_at = part.replies.aggregate(at=Max("created_at"))["at"]

    def are_checked(self, insight: SynthesisPart) -> bool:
        """Whether the checks of the document read it and this insight as they are today."""
        edit = self._last.get(insight.pk)
        changed_at = edit.at if edit else insight.created_at
        return self._part.pk not in self._last and self._checked_at is not None and changed_at <= self._checked_at

    def are_judged(self, verdict: SynthesisDecision) -> bool:
        """Whether a person's verdict is on the document and the insight as they are today."""
        changed = [self._last[pk].pk for pk in (self._part.pk, verdict.insight_id) if pk in self._last]
        return all(each < verdict.pk for each in changed)


def _said(part: SynthesisPart, insight: SynthesisPart) -> str | None:
    """Verdict of the checks on an insight in a document: yes, partly, no; None of texts that they do not know."""
    if not Edits(part).are_checked(insight):
        return None
    said: dict[int, str | None] = {pair["insight"]: pair["present"] for pair in part.data.get("pairs", ())}
    return said.get(insight.number, "no")


@transaction.atomic
def undo(*, synthesis: Synthesis, by: Any, now: datetime) -> SynthesisDecision | None:
    """Take back the newest decision of a person that is not undone yet; None where there is none.

    Raises:
        NotAllowed: somebody else decided on the part since, what was made again is there, or the haystack was
            handed over.
    """
    take_turn(synthesis.pk)
    mine = SynthesisDecision.objects.filter(part__synthesis=synthesis, by=by, undone_by=None)
    decision = mine.exclude(action=ReviewAction.UNDO).order_by("-pk").first()
    if decision is None:
        return None
    part = _locked(decision.part)
    if decision.action != ReviewAction.VERDICT:
        _take_back(decision, part)
    row = SynthesisDecision.objects.create(
        part=part, action=ReviewAction.UNDO, undoes=decision, before={}, by=by, at=now
    )
    _settle_step_states(synthesis)
    return row


def _take_back(decision: SynthesisDecision, part: SynthesisPart) -> None:
    """Make a part as it was before a decision, and what this made stale.

    Raises:
        NotAllowed: it was decided on or made again since.
    """
    later = part.decisions.filter(pk__gt=decision.pk, undone_by=None)
    if later.exclude(action__in=[ReviewAction.UNDO, ReviewAction.VERDICT]).exists():
        raise NotAllowed("Somebody else has decided on this since; decide on it again instead.")
    if decision.action == ReviewAction.REGENERATE:
        heir = part.replaced_by
        if heir.state != PartState.PROPOSED or heir.replies.exists():
            raise NotAllowed("It was made again already; reject that one instead.")
        JudgeRunItem.objects.filter(run__task=JudgeRun.Task.SYNTHESIS, other=heir.pk).delete()
        heir.delete()
    part.state, part.title, part.text = (decision.before[name] for name in ("state", "title", "text"))
    part.save(update_fields=["state", "title", "text"])
    if gave := decision.before.get("into"):
        _part_again(part, gave)
    for pk, state in decision.before.get("stale", {}).items():
        SynthesisPart.objects.filter(pk=pk, state=PartState.STALE).update(state=state)


@transaction.atomic
def accept_clear(*, step: SynthesisStep, by: Any, now: datetime) -> int:
    """Accept all parts of a step that no check flags; they count as unread. How many they were."""
    _take_open_turn(step.synthesis_id)
    parts = list(haystacks.parts_of(step).filter(state=PartState.CLEAR).select_for_update())
    SynthesisDecision.objects.bulk_create(
        SynthesisDecision(
            part=part,
            action=ReviewAction.ACCEPT,
            before={"state": part.state, "title": part.title, "text": part.text, "stale": {}},
            is_read=False,
            by=by,
            at=now,
        )
        for part in parts
    )
    SynthesisPart.objects.filter(pk__in=[part.pk for part in parts]).update(state=PartState.ACCEPTED)
    return len(parts)


def _unite(part: SynthesisPart, into: SynthesisPart) -> dict[str, Any]:
    """Give an insight or key point the documents and passages of another one; what it had before, to be undone."""
    before = {name: into.data.get(name, []) for name in UNITED}
    known = set(into.uses.values_list("pk", flat=True))
    documents = [pk for pk in part.uses.values_list("pk", flat=True) if pk not in known]
    if part.kind != PartKind.POINT and part.synthesis.kind != SynthesisKind.DOCUMENTS:
        documents = []
    into.uses.add(*documents)
    gives = {name: rows for name in UNITED if (rows := part.data.get(name))}
    if gives:
        into.data = {**into.data, **{name: [*before[name], *rows] for name, rows in gives.items()}}
        into.save(update_fields=["data"])
    return {"part": into.pk, "documents": documents, **before}


def _part_again(part: SynthesisPart, gave: dict[str, Any]) -> None:
    """Take from another one what it got from this part alone: what others gave it since stays."""
    other = SynthesisPart.objects.get(pk=gave["part"])
    kept: dict[str, list[Any]] = {}
    for name in UNITED:
        brought, there = part.data.get(name, []), other.data.get(name, [])
        kept[name] = [row for row in there if row in gave.get(name, []) or row not in brought]
    documents = other.uses.filter(pk__in=gave["documents"])
    other.uses.remove(*documents.exclude(number__in={row["document"] for row in kept["evidence"]}))
    changed = {name: rows for name, rows in kept.items() if part.data.get(name)}
    if changed:
        other.data = {**other.data, **changed}
        other.save(update_fields=["data"])


def _locked(part: SynthesisPart) -> SynthesisPart:
    _take_open_turn(part.synthesis_id)
    return SynthesisPart.objects.select_for_update().get(pk=part.pk)


def _take_open_turn(pk: int) -> None:
    """Wait for others who change a synthesis; raises `NotAllowed` where its haystack is in the corpus."""
    if take_turn(pk).is_handed_over:
        raise NotAllowed("It was handed over; its parts do not change any more.")


def _check(part: SynthesisPart, action: str, *, reason: str, text: str | None) -> None:
    if part.kind in {PartKind.TOPIC, PartKind.CELL, PartKind.UPLOAD}:
        raise NotAllowed("This is what the synthesis begins with.")
    if action == ReviewAction.REJECT and reason not in REASONS.values():
        raise NotAllowed("A rejection has a reason.")
    if action == ReviewAction.EDIT and not (text or "").strip():
        raise NotAllowed("The text is empty.")
    if action == ReviewAction.REGENERATE and not can_be_made_again(part):
        raise NotAllowed("This is edited or rejected, not made again.")


def can_be_made_again(part: SynthesisPart) -> bool:
    """Whether a model can be asked for it again by itself."""
    return part.kind in CAN_BE_MADE_AGAIN[part.synthesis.kind]


def made_from(part: SynthesisPart) -> set[int]:
    """The keys of what is there and was made from a part, directly or through others; three queries."""
    links: Any = SynthesisPart.uses.through
    parents: dict[int, list[int]] = {}
    is_sorted = part.synthesis.kind == SynthesisKind.DOCUMENTS  # insights into subtopics, not made from them
    rows = SynthesisPart.objects.filter(synthesis=part.synthesis)
    for pk, parent in rows.values_list("pk", "parent"):
        parents[pk] = [parent] if parent and not is_sorted else []
    uses = links.objects.filter(from_synthesispart__synthesis=part.synthesis)
    for pk, used in uses.values_list("from_synthesispart", "to_synthesispart"):
        parents[pk].append(used)
    alive = rows.exclude(state__in=_NOT_THERE)
    return stale_after({part.pk}, parents) & set(alive.values_list("pk", flat=True))


def _make_stale(part: SynthesisPart) -> dict[str, str]:
    """Mark what was made from a part that changed; states before, by key."""
    rows = SynthesisPart.objects.filter(pk__in=made_from(part)).exclude(state=PartState.STALE)
    before = dict(rows.values_list("pk", "state"))
    SynthesisPart.objects.filter(pk__in=before).update(state=PartState.STALE)
    return {str(pk): state for pk, state in before.items()}


def _settle_step_states(synthesis: Synthesis) -> None:
    """A step is stale while parts of it are, or while parts wait to be made again."""
    for step in synthesis.steps.exclude(state__in=[StepState.RUNNING, StepState.PLANNED, StepState.ESTIMATED]):
        if step.name == "insights":
            continue
        parts = haystacks.parts_of(step)
        state = StepState(step.state)
        if parts.filter(state__in=[PartState.STALE, PartState.PROPOSED]).exists():
            state = StepState.STALE
        elif state == StepState.STALE:
            state = StepState.CLOSED if step.closed_at else StepState.REVIEW
        SynthesisStep.objects.filter(pk=step.pk).exclude(state=state).update(state=state)
