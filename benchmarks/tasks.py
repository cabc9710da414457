"""Celery tasks: shells around verbs that are commands too. A lost message is a delay, never a loss."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from benchmarks.engine import judging, leases, retrieving, runs
from benchmarks.importing import tasks as import_tasks
from benchmarks.models import JudgeRun

logger = logging.getLogger(__name__)

__all__ = ["import_tasks", "resume_retrievals", "resume_runs", "retrieve", "run_judge"]


@shared_task
def run_judge(run_uid: str) -> None:
    """Judge what is left of a run."""
    run = JudgeRun.objects.select_related("judge").filter(uid=run_uid).first()
    if run is not None:
        judging.run_pending(run=run, clock=timezone.now)


@shared_task
def resume_runs() -> None:
    """Take up runs that nobody holds; beat calls it every minute."""
    leases.sweep()
    for uid in runs.unfinished_runs(now=timezone.now()):
        try:
            run_judge(str(uid))
        except Exception:
            logger.exception("The run %s could not go on; the next sweep tries again.", uid)


@shared_task
def retrieve(retrieval_uid: str) -> None:
    """Compute the scores that a retrieval asks for."""
    retrieving.advance(uid=retrieval_uid, clock=timezone.now)


@shared_task
def resume_retrievals() -> None:
    """Take up retrievals that nobody holds; beat calls it every minute."""
    for uid in retrieving.waiting(now=timezone.now()):
        retrieving.advance(uid=uid, clock=timezone.now)
