"""The steps of a synthesis: started one after the other, settled when their run is done, closed by people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.engine import judging, overview, runs, versions
from benchmarks.engine.judging import ModelOptions
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import Judge, JudgeRun, JudgeRunItem
from extensions.synthesis import collecting, haystacks, questions
from extensions.synthesis.haystacks import Procedure
from extensions.synthesis.models import (
    KINDS,
    STEPS_OF,
    PartKind,
    PartState,
    StepRefused,
    StepState,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisStep,
    take_turn,
)
from extensions.synthesis.settings import Settings, WrongSettings
from extensions.synthesis.sources import Seed, Source

PROCEDURES: dict[str, Procedure] = {
    SynthesisKind.NEWS: haystacks.OF_TOPICS,
    SynthesisKind.CONVERSATION: haystacks.OF_TOPICS,
    SynthesisKind.DOCUMENTS: haystacks.OF_DOCUMENTS,
    SynthesisKind.QUESTIONS: questions.OF_QUESTIONS,
}
MOST_WORDS_OF_IDEAS = 40_000
_NAMED = 5
"""Places that lack something, in a sentence."""


# Beginning


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
    sources: Sequence[Source] = (),
    seeds: Sequence[Seed] = (),
    addresses: Sequence[str] = (),
) -> Synthesis:
    """A synthesis with its steps, all planned; `judges` do the steps that they are named by, `judge` the others.

    `sources` are the documents of one's own, or those that all questions may use beside what is found at
    `addresses`, or such as the model sees when it is asked for subtopics and insights of a topic.

    Raises:
        WrongSettings: there is no step of such a name, no such address, or documents are missing or too long.
    """
    if kind == SynthesisKind.QUESTIONS:
        if "collecting" in judges:
            raise WrongSettings("Documents are collected by a search, not by a model.")
        try:
            judges = {**judges, "collecting": collecting.save_search(addresses=addresses, by=by, now=now)}
        except ValueError as error:
            raise WrongSettings(str(error)) from error
        if not sources and not addresses:
            raise WrongSettings("There are no documents: upload some, or name a search.")
    names = [each.name for each in STEPS_OF[kind]]
    if unknown := judges.keys() - names:
        raise WrongSettings(f"There is no step {min(unknown)}; the steps are {', '.join(names)}.")
    synthesis = Synthesis.objects.create(
        kind=kind, topic=topic, settings=settings.as_mapping(), seed=seed, created_by=by, created_at=now
    )
    steps = {
        name: SynthesisStep.objects.create(
            synthesis=synthesis, number=number, name=name, judge=judges.get(name, judge)
        )
        for number, name in enumerate(names, 1)
    }
    if kind == SynthesisKind.QUESTIONS:
        questions.add_seeds(steps["seeds"], seeds, now)
        unlike = collecting.distinct([collecting.Candidate(source, {}) for source in sources])
        _add_sources(steps["collecting"], PartKind.UPLOAD, [candidate.hit for candidate in unlike], now)
    elif kind == SynthesisKind.DOCUMENTS:
        _add_sources(steps["points"], PartKind.DOCUMENT, sources, now)
    else:
        n_words = sum(len(source.text.split()) for source in sources)
        if n_words > MOST_WORDS_OF_IDEAS:
            raise WrongSettings(
                f"The documents that give ideas have {n_words:,} words together; {MOST_WORDS_OF_IDEAS:,} at most "
                "are sent with each question."
            )
        _add_sources(steps["subtopics"], PartKind.UPLOAD, sources, now)
    audit.record(actor=by, action="synthesis.begun", target=synthesis, now=now, kind=kind)
    return synthesis


def _add_sources(step: SynthesisStep, kind: PartKind, sources: Iterable[Source], now: datetime) -> None:
    """Take documents in, as they are."""
    SynthesisPart.objects.bulk_create(
        step.new(kind, number, now, state=PartState.ACCEPTED, title=source.title, text=source.text)
        for number, source in enumerate(sources, 1)
    )


# Going on


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
    """Foresee what a step will ask and cost about; stored on it.

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
    """Requests of a step; of a search only how often."""
    subjects = PROCEDURES[step.synthesis.kind].prepare(step, now)
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


def foresee_next(*, step: SynthesisStep, now: datetime) -> dict[str, Any]:
    """Foresee requests and costs of the step after one at its gate, were it passed now; nothing if it cannot run.

    Stored on that step, which is as if it had never been prepared.
    """
    following = step.synthesis.steps.filter(number=step.number + 1).select_related("synthesis", "judge").first()
    if following is None or following.state not in {StepState.PLANNED, StepState.ESTIMATED}:
        return {}
    estimates: dict[str, Any] = {}
    try:
        with transaction.atomic():
            estimates |= _foreseen(following, now)
            transaction.set_rollback(True)
    except ValueError:
        pass
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
        if step.state != StepState.REVIEW or step.name not in haystacks.LISTS:
            raise StepRefused("Only a list that awaits review is asked for again.")
        haystacks.want_more(step)
    run = judging.request_run(
        judge=step.judge,
        task=JudgeRun.Task.SYNTHESIS,
        subjects=PROCEDURES[step.synthesis.kind].prepare(step, now),
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
    dropped = PROCEDURES[step.synthesis.kind].take(step, now)
    step.counts = counts_of(step, dropped)
    step.state = StepState.REVIEW
    if not KINDS[step.name].has_gate and not step.counts["is_short"] and not step.counts["failed"]:
        step.state, step.closed_at = StepState.CLOSED, now
    step.save(update_fields=["state", "counts", "closed_at"])
    if step.state == StepState.REVIEW:
        foresee_next(step=step, now=now)


def counts_of(step: SynthesisStep, dropped: Iterable[str] = ()) -> dict[str, Any]:
    """Counts of what a step was asked for, and what came of it; `dropped` and `flagged` count by reason.

    `least` is the least that lets the synthesis go on; `missing` says where how many are missing.
    """
    procedure, settings = PROCEDURES[step.synthesis.kind], Settings.from_mapping(step.synthesis.settings)
    parts = [part for part in haystacks.parts_of(step) if part.state != PartState.REGENERATED]
    flagged = [part for part in parts if part.state == PartState.FLAGGED]
    n_asked, n_least, n_got = procedure.counts(step, parts, settings)
    counts: dict[str, Any] = {
        "asked": n_asked,
        "got": n_got,
        "least": n_least,
        "dropped": _counted(dropped),
        "flagged": _counted(flag for part in flagged for flag in part.data.get("flags", ())),
        "missing": procedure.shortages(step, parts, settings),
        "is_short": n_got < n_least,
        "failed": step.run.items.filter(state=JudgeRunItem.State.FAILED).count() if step.run else 0,
        "repairs": sum(int(part.data.get("n_repairs", 0)) for part in parts),
        "n_flagged": len(flagged),
        "more": haystacks.n_more(step),
    }
    return {**counts, "sentence": sentence_of(counts)}


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items(), key=lambda pair: (-pair[1], pair[0])))


def sentence_of(counts: Mapping[str, Any]) -> str:
    """Counts in words: “Asked for 10, got 8, 2 dropped: 1 × says the same as …”."""
    dropped, flagged, missing = counts["dropped"], counts["flagged"], counts["missing"]
    parts = [f"Asked for {counts['asked']:,}, got {counts['got']:,}"]
    words = {
        name: "; ".join(f"{n} × {reason}" for reason, n in counts[name].items()) for name in ("dropped", "flagged")
    }
    if dropped:
        parts.append(f"{sum(dropped.values()):,} dropped: {words['dropped']}")
    if flagged:
        parts.append(f"flagged: {words['flagged']}")
    if n_more := counts["more"]:
        parts.append(f"{n_more:,} {'list' if n_more == 1 else 'lists'} asked for once more")
    if missing:
        first = [f"{n:,} of {name}" for name, n in list(missing.items())[:_NAMED]]
        n_others = len(missing) - len(first)
        parts.append("missing: " + ", ".join(first) + (f" and of {n_others:,} others" if n_others else ""))
    least = f" At least {counts['least']:,} are needed." if counts["is_short"] else ""
    return ", ".join(parts) + "." + least


@transaction.atomic
def close(*, step: SynthesisStep, by: Any, now: datetime, allow_short: bool = False) -> SynthesisStep:
    """Go through the gate: what stands goes on to the next step.

    Raises:
        StepRefused: it is not awaiting review, there is less than is needed, or parts are stale.
    """
    step = _held(step)
    if step.state != StepState.REVIEW:
        raise StepRefused(f"This step is {step.get_state_display()}; only one that awaits review can be closed.")
    counts = counts_of(step)
    if counts["is_short"] and not allow_short:
        raise StepRefused(
            f"{counts['sentence']} Ask for the missing ones, go on with fewer, or begin anew with another seed."
        )
    n_waiting = haystacks.parts_of(step).filter(state=PartState.FLAGGED, data__waits=True).count()
    if n_waiting and not allow_short:
        raise StepRefused(f"{n_waiting} wait for a person: no try was good. Decide on them first.")
    if haystacks.parts_of(step).filter(state=PartState.STALE).exists():
        raise StepRefused("Some parts are stale: make them again, or accept them as they are.")
    step.state, step.closed_at, step.closed_by = StepState.CLOSED, now, by
    step.save(update_fields=["state", "closed_at", "closed_by"])
    unread = haystacks.parts_of(step).filter(state=PartState.CLEAR).count()
    audit.record(actor=by, action="synthesis.step_closed", target=step.synthesis, now=now, step=step.name,
                 unread=unread)  # fmt: skip
    return step
