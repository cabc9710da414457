"""The steps of a synthesis: started one after the other, settled when their run is done, closed by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.engine import judging, overview, runs, versions
from benchmarks.engine.judging import ModelOptions
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import Judge, JudgeRun, JudgeRunItem
from extensions.synthesis import collecting, from_documents, from_questions, making
from extensions.synthesis.counting import Tally
from extensions.synthesis.models import PartState, StepState, Synthesis, SynthesisKind, SynthesisStep
from extensions.synthesis.procedure import Procedure, StepKind
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.seeds import Seed
from extensions.synthesis.settings import Settings, WrongSettings
from extensions.synthesis.sources import Source
from extensions.synthesis.turns import take_turn

PROCEDURES: dict[str, Procedure] = {
    SynthesisKind.NEWS: making.PROCEDURE,
    SynthesisKind.CONVERSATION: making.PROCEDURE,
    SynthesisKind.DOCUMENTS: from_documents.PROCEDURE,
    SynthesisKind.QUESTIONS: from_questions.PROCEDURE,
}
HAYSTACK, FROM_DOCUMENTS = making.PROCEDURE.steps, from_documents.PROCEDURE.steps
FROM_QUESTIONS = from_questions.PROCEDURE.steps
KINDS = {kind.name: kind for each in PROCEDURES.values() for kind in each.steps}
CLOSABLE = (StepState.REVIEW,)


@transaction.atomic
def save_generator(*, config: GeneratorConfig, by: Any, now: datetime) -> Judge:
    """A model that generates, or the next version of it when the configuration differs.

    Raises:
        NotYours: somebody else has one of this name.
    """
    return versions.ensure_judge(
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
    ideas: Sequence[Source] = (),
) -> Synthesis:
    """A synthesis with its steps, all planned; `judges` do the steps that they are named by, `judge` the others.

    `ideas` are documents that the model sees when it is asked for subtopics and insights of a topic.

    Raises:
        WrongSettings: there is no step of such a name, or the documents are too long.
    """
    names = [each.name for each in steps_of(kind)]
    if unknown := judges.keys() - names:
        raise WrongSettings(f"There is no step {min(unknown)}; the steps are {', '.join(names)}.")
    synthesis = Synthesis.objects.create(
        kind=kind, topic=topic, settings=settings.as_mapping(), seed=seed, created_by=by, created_at=now
    )
    for number, name in enumerate(names, 1):
        SynthesisStep.objects.create(synthesis=synthesis, number=number, name=name, judge=judges.get(name, judge))
    if ideas:
        making.add_ideas(synthesis=synthesis, sources=ideas, now=now)
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


@transaction.atomic
def begin_with_seeds(
    *,
    topic: str,
    seeds: Sequence[Seed],
    sources: Sequence[Source],
    addresses: Sequence[str],
    settings: Settings,
    seed: int,
    judge: Judge,
    judges: Mapping[str, Judge],
    by: Any,
    now: datetime,
) -> Synthesis:
    """A synthesis of questions with key points, whose documents are uploaded or searched for at addresses.

    Raises:
        WrongSettings: there is no step of a name, or no such address to search at.
    """
    if "collecting" in judges:
        raise WrongSettings("Documents are collected by a search, not by a model.")
    try:
        search = collecting.save_search(addresses=addresses, by=by, now=now)
    except ValueError as error:
        raise WrongSettings(str(error)) from error
    if not sources and not addresses:
        raise WrongSettings("There are no documents: upload some, or name a search.")
    synthesis = begin(
        kind=SynthesisKind.QUESTIONS,
        topic=topic,
        settings=settings,
        seed=seed,
        judge=judge,
        judges={**judges, "collecting": search},
        by=by,
        now=now,
    )
    from_questions.add_seeds(synthesis=synthesis, seeds=seeds, now=now)
    from_questions.add_uploads(synthesis=synthesis, sources=sources, now=now)
    return synthesis


def steps_of(kind: str) -> tuple[StepKind, ...]:
    """The steps of a kind of synthesis, in their order."""
    return PROCEDURES[kind].steps


def _procedure(step: SynthesisStep) -> Procedure:
    return PROCEDURES[step.synthesis.kind]


@transaction.atomic
def change_model(*, synthesis: Synthesis, name: str, judge: Judge, now: datetime) -> None:
    """Let another model do a step from now on; what is answered stays.

    Raises:
        StepRefused: there is no such step, it is closed or running, or no model does it.
    """
    take_turn(synthesis.pk)
    step = synthesis.steps.select_related("judge", "run").filter(name=name).first()
    if step is None or step.state == StepState.CLOSED or step.judge.kind == Judge.Kind.SEARCH:
        raise StepRefused(f"There is no open step “{name}” that a model does.")
    if step.judge_id == judge.pk:
        return
    if is_under_way(step) and step.run is not None:
        if step.run.state != JudgeRun.State.PAUSED:
            raise StepRefused(f"The step “{name}” is running; pause it first.")
        runs.cancel_run(run=step.run, now=now)
    SynthesisStep.objects.filter(pk=step.pk).update(judge=judge)


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
    if step.synthesis.is_handed_over:
        raise StepRefused("It was handed over; it does not change any more.")
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
    step.estimate = _foreseen(step, now)
    if step.state == StepState.PLANNED:
        step.state = StepState.ESTIMATED
    step.save(update_fields=["estimate", "state"])
    return dict(step.estimate)


def _foreseen(step: SynthesisStep, now: datetime) -> dict[str, Any]:
    """What a step would ask; of a search only how often."""
    subjects = _procedure(step).prepare(step, now=now)
    if step.judge.kind == Judge.Kind.SEARCH:
        open_parts = [part for part in subjects if not collecting.is_collected(part)]
        return {"n_parts": len(open_parts), "n_searches": collecting.n_searches(step.judge, open_parts)}
    estimate = overview.estimate(
        judge=step.judge, task=JudgeRun.Task.SYNTHESIS, subjects=subjects, repeats=1, now=now
    )
    return {
        "n_parts": estimate.n_subjects,
        "n_requests": estimate.n_paid,
        "prompt_tokens": estimate.prompt_tokens,
        "completion_tokens": estimate.completion_tokens,
        "dollars": None if estimate.dollars is None else float(estimate.dollars),
        "at_most": None if estimate.at_most is None else float(estimate.at_most),
    }


class _NotNow(Exception):
    """Takes back what was prepared only to be counted."""


def foresee_next(*, step: SynthesisStep, now: datetime) -> dict[str, Any]:
    """What the step after one at its gate would ask and cost if the gate was passed now; nothing if it cannot run.

    Stored on that step, which is as if it had never been prepared.
    """
    following = step.synthesis.steps.filter(number=step.number + 1).select_related("synthesis", "judge").first()
    if following is None or following.state not in {StepState.PLANNED, StepState.ESTIMATED}:
        return {}
    estimates: dict[str, Any] = {}
    try:
        with transaction.atomic():
            estimates |= _foreseen(following, now)
            raise _NotNow
    except (_NotNow, StepRefused, ValueError):
        SynthesisStep.objects.filter(pk=following.pk).update(estimate=estimates)
    return estimates


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
        subjects=_procedure(step).prepare(step, now=now),
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
    dropped = _procedure(step).take(step, now=now)
    tally = tally_of(step, dropped)
    step.counts = tally.as_json()
    n_failed = tally.further["failed"]
    step.state = StepState.REVIEW
    if not KINDS[step.name].has_gate and not tally.is_short and not n_failed:
        step.state, step.closed_at = StepState.CLOSED, now
    step.save(update_fields=["state", "counts", "closed_at"])
    if step.state == StepState.REVIEW:
        foresee_next(step=step, now=now)


def tally_of(step: SynthesisStep, dropped: Sequence[str]) -> Tally:
    """What a step was asked for, and what came of it."""
    settings = Settings.from_mapping(step.synthesis.settings)
    parts = [part for part in making.parts_of(step) if part.state != PartState.REGENERATED]
    flags = [flag for part in parts for flag in part.data.get("flags", ()) if part.state == PartState.FLAGGED]
    n_failed = step.run.items.filter(state=JudgeRunItem.State.FAILED).count() if step.run else 0
    further = {
        "failed": n_failed,
        "repairs": sum(int(part.data.get("n_repairs", 0)) for part in parts),
        "n_flagged": sum(part.state == PartState.FLAGGED for part in parts),
        "more": making.n_more(step),
    }
    n_asked, least, got = _procedure(step).counts(step, parts, settings)
    missing = _procedure(step).shortages(step, parts, settings)
    return Tally.of(
        n_asked=n_asked, n_got=got, n_least=least, dropped=dropped, flagged=flags, further=further, missing=missing
    )


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
        raise StepRefused(
            f"{tally.sentence} Ask for the missing ones, go on with fewer, or begin anew with another seed."
        )
    n_waiting = making.parts_of(step).filter(state=PartState.FLAGGED, data__waits=True).count()
    if n_waiting and not allow_short:
        raise StepRefused(f"{n_waiting} wait for a person: no try was good. Decide on them first.")
    if making.parts_of(step).filter(state=PartState.STALE).exists():
        raise StepRefused("Some parts are stale: make them again, or accept them as they are.")
    step.state, step.closed_at, step.closed_by = StepState.CLOSED, now, by
    step.save(update_fields=["state", "closed_at", "closed_by"])
    unread = making.parts_of(step).filter(state=PartState.CLEAR).count()
    audit.record(actor=by, action="synthesis.step_closed", target=step.synthesis, now=now, step=step.name,
                 unread=unread)  # fmt: skip
    return step
