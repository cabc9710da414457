"""Celery tasks: shells around verbs that are commands too. A lost message is a delay, never a loss.

No task goes on for long: a run works for a slice of time, then sends its own message again and lets others in.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from celery import current_app, shared_task
from django.utils import timezone

from benchmarks.engine import judging, retrieving, runs
from benchmarks.io import jobs
from benchmarks.leaderboard import sampling
from benchmarks.models import JudgeRun
from benchmarks.results import stored

logger = logging.getLogger(__name__)

SLICE_OF_MODELS = timedelta(seconds=60)
SLICE = timedelta(seconds=20)
SWEEP_S = 60
"""A message of a sweep that nobody took before the next sweep expires."""


@shared_task(bind=True)
def run_judge(self: Any, run_uid: str) -> None:
    """Work on a run that asks a model, for a minute."""
    _work(self, run_uid, SLICE_OF_MODELS)


@shared_task(bind=True)
def run_offline(self: Any, run_uid: str) -> None:
    """Work on a run that asks no model, for 20 seconds."""
    _work(self, run_uid, SLICE)


def _work(task: Any, run_uid: str, slice_: timedelta) -> None:
    run = JudgeRun.objects.select_related("judge").filter(uid=run_uid).first()
    if run is None:
        return
    until = timezone.now() + slice_
    try:
        judging.run_pending(run=run, clock=timezone.now, until=until)
    finally:
        if timezone.now() >= until:
            task.apply_async((run_uid,))


@shared_task
def resume_runs() -> None:
    """Have runs that nobody holds taken up; beat calls it every minute."""
    runs.sweep()
    uids = runs.unfinished_runs(now=timezone.now())
    for run in JudgeRun.objects.filter(uid__in=uids).select_related("judge").order_by("created_at"):
        task = current_app.tasks[runs.worker_task(run)]
        try:
            task.apply_async((str(run.uid),), expires=SWEEP_S)
        except Exception:
            logger.exception("The run %s could not go on; the next sweep tries again.", run.uid)


@shared_task
def retrieve(retrieval_uid: str) -> None:
    retrieving.advance(uid=retrieval_uid, clock=timezone.now)


@shared_task
def resume_retrievals() -> None:
    """Have retrievals that nobody holds taken up; beat calls it every minute."""
    for uid in retrieving.waiting(now=timezone.now()):
        retrieve.apply_async((str(uid),), expires=SWEEP_S)


@shared_task(name="benchmarks.run_import")
def run_import(job_uid: str) -> None:
    jobs.advance(uid=job_uid, clock=timezone.now)


@shared_task(name="benchmarks.sweep_imports")
def sweep_imports() -> None:
    """Have jobs taken up whose message was lost or whose worker died, and forget what nobody confirmed."""
    for uid in jobs.waiting_jobs(now=timezone.now()):
        run_import.apply_async((str(uid),), expires=SWEEP_S)
    jobs.forget_unconfirmed(now=timezone.now())


@shared_task
def draw_samples() -> None:
    """Draw samples of sources that wait for it; beat calls it every minute."""
    sampling.draw_pending(clock=timezone.now)


@shared_task(soft_time_limit=stored.LIMIT_S)
def compute_result(result_uid: str) -> None:
    stored.compute(uid=result_uid, clock=timezone.now)


@shared_task
def compute_results() -> None:
    """Have figures computed that nobody works on, and forget those nobody looks at; beat calls it every minute."""
    now = timezone.now()
    stored.forget(now=now)
    for uid in stored.unfinished(now).values_list("uid", flat=True):
        compute_result.apply_async((str(uid),), expires=SWEEP_S)
