"""Celery tasks of imports: shells around `jobs`."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from benchmarks.io import jobs


@shared_task(name="benchmarks.run_import")
def run_import(job_uid: str) -> None:
    jobs.advance(uid=job_uid, clock=timezone.now)


@shared_task(name="benchmarks.sweep_imports")
def sweep_imports() -> None:
    """Have jobs taken up whose message was lost or whose worker died, and forget what nobody confirmed."""
    for uid in jobs.waiting_jobs(now=timezone.now()):
        run_import.apply_async((str(uid),), expires=60)
    jobs.forget_unconfirmed(now=timezone.now())
