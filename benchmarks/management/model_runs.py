"""Common to commands that start runs of judges and summarizers: arguments, paused runs, what was spent."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks.engine import costs, judging, runs
from benchmarks.engine.runs import RunProgress
from benchmarks.engine.tasks import TASKS
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem

PAUSED = "Waits for batch files, or to be resumed."
"""Why a run that is asked for with `--paused` waits."""


def add_arguments(parser: ArgumentParser) -> None:
    """How a model is asked, and how the command reports."""
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help="requests at a time, of models")
    parser.add_argument("--budget", metavar="DOLLARS", help="pause before this is spent, of models")
    parser.add_argument(
        "--paused", action="store_true", help="queue a paused run and ask nothing: for batch files; prints its id"
    )
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def finish(
    command: BaseCommand, options: Mapping[str, Any], done: str, *, since: datetime, repeats: int = 1, **work: Any
) -> list[JudgeRun] | None:
    """Queue this work of a judge and finish its runs; None, and the id of the run, with `--paused`.

    `done` is what happens to subjects.

    Raises:
        CommandError: it cannot be asked.
    """
    try:
        run = judging.request_run(
            **work,
            reason="command",
            now=since,
            options=judging.ModelOptions.checked(
                concurrency=options["concurrency"], repeats=repeats, budget=options["budget"]
            ),
            paused_because=PAUSED if options["paused"] else "",
        )
    except (judging.JudgeUnavailable, ValueError) as error:
        raise CommandError(str(error)) from error
    if options["paused"]:
        uid = str(run.uid) if run is not None else None
        report = orjson.dumps({"run": uid, "items": run.items.count() if run else 0}).decode()
        command.stdout.write(report if options["json"] else uid or "Nothing is missing; no run was made.")
        return None

    def say(run: JudgeRun, now: RunProgress) -> None:
        failed = f", {now.n_failed:,} failed" if now.n_failed else ""
        command.stderr.write(f"{now.n_done:,} of {now.n_total:,} {TASKS[run.task].nouns} {done}{failed}")

    write = command.stderr.write
    return judging.finish_runs(judge=work["judge"], clock=timezone.now, say=write, progress=say)


def left(missing: Mapping[int, int], *, judge: Judge, task: str, worked_on: Sequence[JudgeRun]) -> dict[str, int]:
    """Why answers are missing, by the keys of subjects, after a command worked on these runs.

    They failed, unless another worker holds them, or they are on hold in batch files or in a run that paused here.
    """
    subject = TASKS[task].subject
    rows = runs.waiting_items(judge=judge, task=task)
    paused = JudgeRunItem.objects.filter(run__in=worked_on, run__task=task, run__state=JudgeRun.State.PAUSED)
    paused = paused.filter(state=JudgeRunItem.State.PENDING)
    on_hold = {key for some in (rows.exclude(batch=None), paused) for key in some.values_list(subject, flat=True)}
    held = set(rows.filter(batch=None).values_list(subject, flat=True)) - on_hold
    return {
        "failed": sum(n for key, n in missing.items() if key not in held | on_hold),
        "held_elsewhere": sum(n for key, n in missing.items() if key in held),
        "on_hold": sum(n for key, n in missing.items() if key in on_hold),
    }


def spent(*, judge: Judge, since: datetime, worked_on: Sequence[JudgeRun]) -> dict[str, Any]:
    """Costs of a judge since then, and why one of the runs that were worked on is paused."""
    held = JudgeRun.objects.filter(pk__in=[run.pk for run in worked_on], state=JudgeRun.State.PAUSED)
    paused = held.order_by("-created_at").values_list("message", flat=True).first()
    cost = costs.cost_of(JudgeCall.objects.filter(run__judge=judge, answered_at__gte=since))
    return {**cost.as_json, **({"paused": paused} if paused else {})}


def said_of_left(report: Mapping[str, Any], *, whose: str) -> Iterator[str]:
    """Say what the counts of a command leave to be done, and by whom."""
    if "paused" in report:
        yield f"A run of this {whose} is paused. {report['paused']}"
    if report["held_elsewhere"]:
        yield f"{report['held_elsewhere']:,} more are in the hands of another worker."
    if report["on_hold"]:
        yield f"{report['on_hold']:,} more wait in batch files or in a paused run."
