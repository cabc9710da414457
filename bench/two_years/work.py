"""Work for models, figures and imports all at once, and how long workers are silent meanwhile."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone

from annotation.kinds import kind_named
from annotation.models import Study
from bench.world import haystack_file, logged_in
from benchmarks.engine import judging, versions
from benchmarks.io import jobs
from benchmarks.io.tasks import run_import
from benchmarks.models import ImportJob, Result, Summary, Verdict
from benchmarks.tasks import compute_results, resume_runs
from summhay_site.models import WorkerHeartbeat

N_JUDGED, N_IMPORTS, N_STUDIES, EVERY_S = 2_000, 10, 10, 0.5
PAGES = ("annotation:leaderboard", "annotation:agreement", "annotation:content-positions", "annotation:latest")


def busy(folder: str, model: str, seconds: int) -> dict[str, Any]:
    """Ask for more than can be done in so many seconds, and listen."""
    began = timezone.now()
    _models(model)
    _imports(folder)
    _figures()
    silent: dict[str, float] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        now = timezone.now()
        for name, at in WorkerHeartbeat.objects.filter(at__gte=began).values_list("name", "at"):
            silent[name] = max(silent.get(name, 0.0), (now - at).total_seconds())
        time.sleep(EVERY_S)
    results = Result.objects.filter(computed_at__gte=began)
    return {
        "silent_s": silent,
        "verdicts": Verdict.objects.filter(created_at__gte=began).count(),
        "results": results.count(),
        "imports": ImportJob.objects.filter(created_at__gte=began, state=ImportJob.State.DONE).count(),
        "slowest_result_s": max((row.took.total_seconds() for row in results), default=0),
        "figure_worker_mib": results.aggregate(most=Max("memory"))["most"] or 0,
    }


def _models(address: str) -> None:
    config, now = {"base_url": address, "model": "load", "prompt": "Say."}, timezone.now()
    judge = versions.ensure_judge(name="load", kind="openai", config=config, now=now)
    subjects, options = Summary.objects.order_by("pk")[:N_JUDGED], judging.ModelOptions(concurrency=8)
    judging.request_run(judge=judge, subjects=subjects, reason="load", now=now, options=options)
    resume_runs.delay()


def _imports(folder: str) -> None:
    """Files that are checked and then imported, each by two steps of a worker."""
    actor = get_user_model().objects.get(username="researcher0")
    for at in range(N_IMPORTS):
        content = Path(haystack_file(folder, f"import{at}")).read_bytes()
        about: dict[str, Any] = {"format_name": "summhay", "options": {"judge": "published"}, "actor": actor}
        job = jobs.receive(chunks=[content], file_name=f"{at}.json", now=timezone.now(), **about)
        ImportJob.objects.filter(pk=job.pk).update(state=ImportJob.State.QUEUED)
        run_import.delay(str(job.uid))


def _figures() -> None:
    """Pages of results whose figures are stale, now that there are other haystacks."""
    Result.objects.all().delete()
    client = logged_in(get_user_model().objects.get(username="admin0"))
    studies = Study.objects.exclude(kind=Study.Kind.WRITING).order_by("pk")[:N_STUDIES]
    pages = [reverse(kind_named(study.kind).results_page, args=[study.uid]) for study in studies]
    for path in [*map(reverse, PAGES), *pages]:
        client.get(path)
    compute_results.delay()
