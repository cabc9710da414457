"""Common to commands that start runs of judges and summarizers: arguments, paused runs, what was spent."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.core.management.base import CommandError, OutputWrapper

from benchmarks.engine import costs, runs
from benchmarks.engine.runs import RunProgress
from benchmarks.engine.tasks import TASKS
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, Question
from benchmarks.models.querysets import QuestionQuerySet

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


def questions(dataset: str) -> QuestionQuerySet:
    """The questions of a set, or of all where none is named.

    Raises:
        CommandError: there is no such set.
    """
    questions = Question.objects.of(dataset=dataset).filter(archived_at=None)
    if dataset and not questions.exists():
        raise CommandError(f"No question was imported as “{dataset}”; see the page of questions for names.")
    return questions


def progress(err: OutputWrapper, done: str) -> Callable[[JudgeRun, RunProgress], None]:
    """Writer of how far a run is; `done` is what happens to its subjects."""

    def say(run: JudgeRun, now: RunProgress) -> None:
        subjects = TASKS[run.task].subjects.replace("_", " ")
        failed = f", {now.n_failed:,} failed" if now.n_failed else ""
        err.write(f"{now.n_done:,} of {now.n_total:,} {subjects} {done}{failed}")

    return say


def print_paused(run: JudgeRun | None, out: OutputWrapper, *, is_json: bool) -> None:
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
    """Work that waits after a command worked on these runs: it has not failed."""
    subject = TASKS[task].subject
    rows = runs.waiting_items(judge=judge, task=task)
    on_hold = set(rows.exclude(batch=None).values_list(subject, flat=True))
    left = JudgeRunItem.objects.filter(run__in=worked_on, run__task=task, run__state=JudgeRun.State.PAUSED)
    on_hold |= set(left.filter(state=JudgeRunItem.State.PENDING).values_list(subject, flat=True))
    return Waiting(set(rows.filter(batch=None).values_list(subject, flat=True)) - on_hold, on_hold)


def spent(*, judge: Judge, since: datetime, worked_on: Sequence[JudgeRun]) -> dict[str, Any]:
    """Costs of a judge since then, in US dollars: null with a reason where they are not known.

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


def print_left(report: Mapping[str, Any], out: OutputWrapper, *, whose: str) -> None:
    """Print what the counts of a command leave to be done, and by whom."""
    if "paused" in report:
        out.write(f"A run of this {whose} is paused. {report['paused']}")
    if report["held_elsewhere"]:
        out.write(f"{report['held_elsewhere']:,} more are in the hands of another worker.")
    if report["on_hold"]:
        out.write(f"{report['on_hold']:,} more wait in batch files or in a paused run.")
