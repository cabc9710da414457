"""The steps of a synthesis: started one after the other, settled when their run is done, closed by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.engine import judging, overview, runs
from benchmarks.engine.judging import ModelOptions
from benchmarks.judges.generator import GeneratorConfig
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, Synthesis, SynthesisStep
from benchmarks.states import PartKind, PartState, StepState, SynthesisKind
from benchmarks.synthesis import from_documents, making
from benchmarks.synthesis.counting import Tally
from benchmarks.synthesis.refusals import StepRefused
from benchmarks.synthesis.settings import Settings, WrongSettings
from benchmarks.synthesis.sources import Source
from benchmarks.synthesis.standing import stands
from benchmarks.synthesis.turns import take_turn


@dataclass(frozen=True)
class StepKind:
    """A step: what it makes, and whether people are asked before the next one begins."""

    name: str
    makes: str
    has_gate: bool = True


HAYSTACK = (
    StepKind("subtopics", PartKind.SUBTOPIC),
    StepKind("insights", PartKind.INSIGHT, has_gate=False),
    StepKind("screening", PartKind.INSIGHT),
    StepKind("documents", PartKind.DOCUMENT),
    StepKind("queries", PartKind.QUERY),
)
FROM_DOCUMENTS = (
    StepKind("points", PartKind.DOCUMENT, has_gate=False),
    StepKind("grouping", PartKind.INSIGHT),
    StepKind("sorting", PartKind.SUBTOPIC),
    StepKind("holding", PartKind.DOCUMENT, has_gate=False),
)
KINDS = {kind.name: kind for kind in (*HAYSTACK, *FROM_DOCUMENTS)}
CLOSABLE = (StepState.REVIEW,)


@transaction.atomic
def save_generator(*, config: GeneratorConfig, by: Any, now: datetime) -> Judge:
    """A model that generates, or the next version of it when the configuration differs.

    Raises:
        NotYours: somebody else has one of this name.
    """
    return judging.ensure_judge(
        name=config.model[:120],
        kind=Judge.Kind.OPENAI,
        config=config.as_mapping(),
        now=now,
        role=Judge.Role.GENERATOR,
        by=by,
    )


@transaction.atomic
def begin(
    *,
    kind: str,
    topic: str,
    settings: Settings,
    seed: int,
    judge: Judge,
    judges: Mapping[str, Judge],
    by: Any,
    now: datetime,
) -> Synthesis:
    """A synthesis with its steps, all planned; `judges` do the steps that they are named by, `judge` the others.

    Raises:
        WrongSettings: there is no step of such a name.
    """
    names = [each.name for each in steps_of(kind)]
    if unknown := judges.keys() - names:
        raise WrongSettings(f"There is no step {min(unknown)}; the steps are {', '.join(names)}.")
    synthesis = Synthesis.objects.create(
        kind=kind, topic=topic, settings=settings.as_mapping(), seed=seed, created_by=by, created_at=now
    )
    for number, name in enumerate(names, 1):
        SynthesisStep.objects.create(synthesis=synthesis, number=number, name=name, judge=judges.get(name, judge))
    audit.record(actor=by, action="synthesis.begun", target=synthesis, now=now, kind=kind)
    return synthesis


@transaction.atomic
def begin_with_documents(
    *,
    topic: str,
    sources: Sequence[Source],
    settings: Settings,
    seed: int,
    judge: Judge,
    judges: Mapping[str, Judge],
    by: Any,
    now: datetime,
) -> Synthesis:
    """A synthesis of documents of one's own; raises as `begin`."""
    synthesis = begin(
        kind=SynthesisKind.DOCUMENTS,
        topic=topic,
        settings=settings,
        seed=seed,
        judge=judge,
        judges=judges,
        by=by,
        now=now,
    )
    from_documents.add_documents(synthesis=synthesis, sources=sources, now=now)
    return synthesis


def steps_of(kind: str) -> tuple[StepKind, ...]:
    """The steps of a kind of synthesis, in their order."""
    return FROM_DOCUMENTS if kind == SynthesisKind.DOCUMENTS else HAYSTACK


def next_step(synthesis: Synthesis) -> SynthesisStep | None:
    """The first step that is not closed; None when all are."""
    return (
        synthesis.steps.exclude(state=StepState.CLOSED).order_by("number").select_related("judge", "run").first()
    )


def is_under_way(step: SynthesisStep) -> bool:
    """Whether a run of it goes on or is paused; one that was cancelled can be started again."""
    return step.state == StepState.RUNNING and step.run is not None and step.run.state in runs.OPEN


def check_startable(step: SynthesisStep) -> None:
    """Whether a step may run now.

    Raises:
        StepRefused: it runs already, was handed over, or an earlier step is not closed.
    """
    if step.synthesis.haystack_id is not None:
        raise StepRefused("The haystack was handed over; it does not change any more.")
    if is_under_way(step):
        raise StepRefused("This step is running, or its run is paused.")
    first = next_step(step.synthesis)
    if first is not None and first.number < step.number:
        raise StepRefused(f"The step “{first.name}” comes first.")


def _held(step: SynthesisStep) -> SynthesisStep:
    """A step as others left it, for this transaction alone; what it leads to is read after the wait."""
    take_turn(step.synthesis_id)
    return SynthesisStep.objects.select_for_update().get(pk=step.pk)


@transaction.atomic
def estimate(*, step: SynthesisStep, now: datetime) -> dict[str, Any]:
    """What a step will ask and cost about; stored on it.

    Raises:
        StepRefused: it cannot run now, or what is planned is impossible.
        ValueError: the model's configuration cannot be used.
    """
    step = _held(step)
    check_startable(step)
    subjects = making.prepare(step, now=now)
    found = overview.estimate(
        judge=step.judge, task=JudgeRun.Task.SYNTHESIS, subjects=subjects, repeats=1, now=now
    )
    step.estimate = {
        "n_parts": found.n_subjects,
        "n_requests": found.n_paid,
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "dollars": None if found.dollars is None else float(found.dollars),
        "at_most": None if found.at_most is None else float(found.at_most),
    }
    if step.state == StepState.PLANNED:
        step.state = StepState.ESTIMATED
    step.save(update_fields=["estimate", "state"])
    return dict(step.estimate)


@transaction.atomic
def start(
    *, step: SynthesisStep, options: ModelOptions, by: Any, now: datetime, more: bool = False
) -> JudgeRun | None:
    """Queue what a step has to ask; None where everything is answered already, and then it is settled at once.

    `more` asks once again for what the lists of a step that awaits review lack.

    Raises:
        StepRefused: it cannot run now, what is planned is impossible, or nothing is missing.
        JudgeUnavailable: its model cannot be asked.
    """
    step = _held(step)
    check_startable(step)
    if more:
        if step.state != StepState.REVIEW or step.name not in making.LISTS:
            raise StepRefused("Only a list that awaits review is asked for again.")
        making.want_more(step)
    run = judging.request_run(
        judge=step.judge,
        task=JudgeRun.Task.SYNTHESIS,
        subjects=making.prepare(step, now=now),
        reason="synthesis",
        now=now,
        requested_by=by,
        options=options,
        scope={"synthesis": step.synthesis.topic},
    )
    step.state, step.closed_at, step.closed_by = StepState.RUNNING, None, None
    step.run = run or step.run
    step.save(update_fields=["state", "closed_at", "closed_by", "run"])
    if run is None:
        _settle(step, now=now)
    return run


def settle(*, run: JudgeRun, now: datetime) -> None:
    """Take what a run that is done has made; call inside a transaction."""
    rows = SynthesisStep.objects.select_for_update(of=("self",)).select_related("synthesis")
    for step in rows.filter(run=run, state=StepState.RUNNING):
        _settle(step, now=now)


def _settle(step: SynthesisStep, *, now: datetime) -> None:
    """Write down new parts and counts; a step without a gate closes unless it came out short or failed."""
    is_of_documents = step.synthesis.kind == SynthesisKind.DOCUMENTS
    take = from_documents.take if is_of_documents else making.take_children
    dropped = take(step, now=now)
    tally = tally_of(step, dropped)
    step.counts = tally.as_json()
    n_failed = tally.further["failed"]
    step.state = StepState.REVIEW
    if not KINDS[step.name].has_gate and not tally.is_short and not n_failed:
        step.state, step.closed_at = StepState.CLOSED, now
    step.save(update_fields=["state", "counts", "closed_at"])


def tally_of(step: SynthesisStep, dropped: Sequence[str]) -> Tally:
    """What a step was asked for, and what came of it."""
    settings = Settings.from_mapping(step.synthesis.settings)
    parts = [part for part in making.parts_of(step) if part.state != PartState.REGENERATED]
    flags = [flag for part in parts for flag in part.data.get("flags", ()) if part.state == PartState.FLAGGED]
    standing = [part for part in parts if stands(part.kind, part.state)]
    n_failed = step.run.items.filter(state=JudgeRunItem.State.FAILED).count() if step.run else 0
    further = {
        "failed": n_failed,
        "repairs": sum(int(part.data.get("n_repairs", 0)) for part in parts),
        "n_flagged": sum(part.state == PartState.FLAGGED for part in parts),
        "more": making.n_more(step),
    }
    n_subtopics = sum(part.kind == PartKind.SUBTOPIC for part in making.standing_of(step.synthesis))
    asked, least, got = {
        "subtopics": (settings.subtopics, settings.subtopics_least, len(standing)),
        "insights": (n_subtopics * settings.insights, n_subtopics * settings.insights_least, len(parts)),
        "screening": (len(parts), n_subtopics * settings.insights_least, len(standing)),
        "documents": (settings.documents, settings.documents, sum(bool(part.text) for part in parts)),
        "queries": (n_subtopics, n_subtopics, sum(bool(part.text) for part in parts)),
        "points": (len(parts), 1, sum(bool(part.data.get("points")) for part in parts)),
        "grouping": (sum(len(part.data.get("evidence", ())) for part in parts), 1, len(standing)),
        "sorting": (settings.subtopics, 1, len(standing)),
        "holding": (len(parts), 1, len(parts)),
    }[step.name]
    return Tally.of(n_asked=asked, n_got=got, n_least=least, dropped=dropped, flagged=flags, further=further)


@transaction.atomic
def close(*, step: SynthesisStep, by: Any, now: datetime, allow_short: bool = False) -> SynthesisStep:
    """Go through the gate: what stands goes on to the next step.

    Raises:
        StepRefused: it is not awaiting review, there is less than is needed, or parts are stale.
    """
    step = _held(step)
    if step.state not in CLOSABLE:
        raise StepRefused(f"This step is {step.get_state_display()}; only one that awaits review can be closed.")
    tally = tally_of(step, [])
    if tally.is_short and not allow_short:
        raise StepRefused(f"{tally.sentence} Ask for the missing ones, go on with fewer, or begin anew.")
    if making.parts_of(step).filter(state=PartState.STALE).exists():
        raise StepRefused("Some parts are stale: make them again, or accept them as they are.")
    step.state, step.closed_at, step.closed_by = StepState.CLOSED, now, by
    step.save(update_fields=["state", "closed_at", "closed_by"])
    unread = making.parts_of(step).filter(state=PartState.CLEAR).count()
    audit.record(actor=by, action="synthesis.step_closed", target=step.synthesis, now=now, step=step.name,
                 unread=unread)  # fmt: skip
    return step
