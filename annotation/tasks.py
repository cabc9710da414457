"""Celery tasks: shells around verbs that are commands too. A lost message is a delay, never a loss."""

from __future__ import annotations

from celery import current_app, shared_task
from django.utils import timezone

from annotation import pane
from annotation.first_looks import of_study
from annotation.leaderboard import positions
from annotation.models import Study
from annotation.people import reminders
from annotation.writing import late, packing, scoring, settling
from benchmarks.engine.runs import worker_task
from benchmarks.results.stored import LIMIT_S
from benchmarks.tasks import SLICE


@shared_task
def settle_due() -> None:
    """Settle sessions that something is due for; beat calls it every 20 s."""
    settling.settle_due(now=timezone.now())


@shared_task
def score_snapshots() -> None:
    """Have new snapshots and accepted late texts judged, and finished texts looked over."""
    for run in scoring.score_snapshots(now=timezone.now()):
        current_app.tasks[worker_task(run)].apply_async((str(run.uid),))
    check_texts.apply_async()


@shared_task
def check_texts() -> None:
    """Look for copied text, leaps and texts as typed, for a slice of time; beat calls it every minute."""
    until = timezone.now() + SLICE
    checks = (late.note_typed, scoring.check_copying, scoring.check_late_copying, scoring.check_growth)
    for check in checks:
        while timezone.now() < until and check(now=timezone.now()):
            pass


@shared_task
def place_texts() -> None:
    """Find where new texts take their content from; beat calls it every five minutes, and the page asks for it."""
    until = timezone.now() + SLICE
    positions.place_missing(clock=timezone.now, until=until)
    if timezone.now() >= until:
        place_texts.apply_async()


@shared_task
def pack_drafts() -> None:
    """Compress drafts of sessions that are over, slice by slice until none is left; beat calls it once a day."""
    until = timezone.now() + SLICE
    packing.pack_ended(now=timezone.now(), until=lambda: timezone.now() >= until)
    if timezone.now() >= until:
        pack_drafts.apply_async()


@shared_task(soft_time_limit=LIMIT_S)
def first_looks(uid: str) -> None:
    """Compute what the results of a study that was closed show first."""
    for study in Study.objects.filter(uid=uid):
        of_study(study)


@shared_task
def sweep_panes() -> None:
    """Remove rendered documents that were made long ago; beat calls it once a day."""
    pane.sweep(now=timezone.now())


@shared_task
def send_reminders() -> None:
    """Mail annotators whose tasks are due soon; beat calls it every hour."""
    reminders.send_due(now=timezone.now())


@shared_task
def remind_study(uid: str) -> None:
    """Mail the members of a study who have open tasks."""
    reminders.send_for_study(study=Study.objects.get(uid=uid), now=timezone.now())
