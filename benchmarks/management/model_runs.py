"""What commands that start runs of judges and summarizers share: arguments, paused runs, what was spent."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.core.management.base import OutputWrapper

from benchmarks.engine import costs, runs
from benchmarks.engine.tasks import TASKS
from benchmarks.models import Judge, JudgeCall, JudgeRun

PAUSED = "Waits for batch files, or to be resumed."
ON_HOLD = "{:,} more wait in batch files or in a paused run."


def add_arguments(parser: ArgumentParser) -> None:
    """How a model is asked, and how the command reports."""
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help="requests at a time, of models")
    parser.add_argument("--budget", metavar="DOLLARS", help="pause before this is spent, of models")
    parser.add_argument(
        "--paused", action="store_true", help="queue a paused run and ask nothing: for batch files; prints its id"
    )
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def paused_because(options: dict[str, Any]) -> str:
    """Why the run that is asked for waits; empty if it doesn't."""
    return PAUSED if options["paused"] else ""


def print_paused(run: JudgeRun | None, out: OutputWrapper, *, is_json: bool) -> None:
    """Name the run that waits."""
    uid = str(run.uid) if run is not None else None
    if is_json:
        out.write(orjson.dumps({"run": uid, "items": run.items.count() if run else 0}).decode())
    else:
        out.write(uid or "Nothing is missing; no run was made.")


@dataclass(frozen=True)
class Waiting:
    """Keys of the subjects of a task that wait.

    They are `held` by another worker, or `on_hold` in batch files or in a run that paused here.
    """

    held: set[int]
    on_hold: set[int]


def waiting(*, judge: Judge, task: str, worked_on: Sequence[JudgeRun]) -> Waiting:
    """What waits after a command worked on these runs: it has not failed."""
    subject = TASKS[task].subject
    rows = runs.waiting_items(judge=judge, task=task)
    on_hold = set(rows.exclude(batch=None).values_list(subject, flat=True))
    on_hold |= set(runs.left_in(worked_on).filter(run__task=task).values_list(subject, flat=True))
    return Waiting(set(rows.filter(batch=None).values_list(subject, flat=True)) - on_hold, on_hold)


def spent(*, judge: Judge, since: datetime, worked_on: Sequence[JudgeRun]) -> dict[str, Any]:
    """What a judge cost since then, in US dollars: null with a reason where it is not known.

    Also why one of the runs that were worked on is paused.
    """
    cost = costs.cost_of(JudgeCall.objects.filter(run__judge=judge, answered_at__gte=since))
    held = JudgeRun.objects.filter(pk__in=[run.pk for run in worked_on], state=JudgeRun.State.PAUSED)
    paused = held.order_by("-created_at").values_list("message", flat=True).first()
    return {
        "cost": None if cost.dollars is None else float(cost.dollars),
        **({"cost_unknown": cost.reason} if cost.reason else {}),
        **({"paused": paused} if paused else {}),
    }
