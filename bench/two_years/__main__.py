"""Fill the empty database that DATABASE_URL names, walk all pages, compute figures, or keep a copy of it busy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone

from annotation.kinds import kind_named
from annotation.models import Study
from bench import cases
from bench.chaos.running import Crew
from bench.chaos.scene import run_judge
from bench.site import ROOT, Site, ending_in_order, fake_model
from bench.two_years.load import Load
from bench.walk import N_WORST, in_words, is_notable, summed_up, walk
from bench.world import logged_in, topic
from benchmarks.io import jobs
from benchmarks.models import ImportJob, Result, Summary, Verdict
from benchmarks.results import stored
from benchmarks.tasks import compute_results, resume_runs, run_import
from summhay_site import gunicorn
from summhay_site.celery import app
from summhay_site.models import WorkerHeartbeat

ROLES = ("", "admin0", "researcher0", "annotator0")
MODEL_DELAY_S = 0.05
N_JUDGED, N_IMPORTS, N_STUDIES, EVERY_S = 2_000, 10, 10, 0.5
PAGES = ("annotation:leaderboard", "annotation:agreement", "annotation:content-positions", "annotation:latest")


def fill(options: Namespace) -> dict[str, Any]:
    """Make a share of two years; gives the seconds of each part."""
    call_command("migrate", verbosity=0)
    if Study.objects.exists():
        raise SystemExit("there are studies in this database already")
    load, seconds = Load(options.share, options.seed, timezone.now()), {}
    for step in (load.corpora, load.labels, load.sessions):
        began = time.monotonic()
        with transaction.atomic():
            step()
        seconds[step.__name__] = round(time.monotonic() - began)
    with connection.cursor() as cursor:
        # what a PostgreSQL that runs for two years has done by itself; without it no index answers alone
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return seconds


def pages(options: Namespace) -> dict[str, Any]:
    """Every kind of page that each role reaches by links; what is over the budget is printed as it comes."""
    # by itself: compressing files leaves memory behind that no web process has
    subprocess.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"], cwd=ROOT, check=True)
    gunicorn.preload()

    def say(row: dict[str, Any]) -> None:
        if is_notable(row, "cpu_ms"):
            print(in_words(row), flush=True)

    rows = walk(options.roles, say)
    return {**summed_up(rows), "pss_mib": round(pss_mib()), "rows": rows}


def figures(options: Namespace) -> dict[str, Any]:
    """Compute what the pages of a walk asked for, as a figure worker does: how many, the slowest, memory."""
    app.loader.import_default_modules()  # all kinds of figures are known
    began, rows = time.monotonic(), list[dict[str, Any]]()
    waiting = list(stored.unfinished(timezone.now()).values_list("uid", "name"))
    for uid, name in waiting:
        if time.monotonic() - began > options.seconds:
            break
        at, cpu = time.monotonic(), time.process_time()
        stored.compute(uid=uid, clock=timezone.now)
        rows.append({"name": name, "s": time.monotonic() - at, "cpu_s": time.process_time() - cpu})
    rows.sort(key=lambda row: -row["s"])
    done = Result.objects.filter(uid__in=[uid for uid, _name in waiting])
    reasons = done.exclude(reason="").order_by("name").values_list("name", "reason")
    failed = [f"{name}: {reason}" for name, reason in reasons]
    worst = ["{s:.1f} s ({cpu_s:.1f} of processor) {name}".format(**row) for row in rows[:N_WORST]]
    counts = {"asked": len(waiting), "computed": len(rows) - len(failed), "failed": failed}
    return {**counts, "pss_mib": round(pss_mib()), "worst": worst, "rows": rows}


def live(options: Namespace) -> dict[str, Any]:
    """A rush of log-ins, and the longest silence of each busy worker, on a copy that is then dropped."""
    source = os.environ["DATABASE_URL"]
    server = urlsplit(source)._replace(path="/postgres").geturl() if source.startswith("postgres") else ""
    site = Site(database_url=server)
    try:
        site.collect()
        with site.copy_of(source):
            site.call("bench.world", "haystack", 0)
            rush = cases.logins(site, cases.before_login(site))
            with fake_model(MODEL_DELAY_S) as address:
                crew = Crew(site, address)
                try:
                    crew.start()
                    module, seconds = "bench.two_years.__main__", options.seconds
                    workers = site.call(module, "busy", address, seconds, **crew.shared)
                finally:
                    crew.stop()
    finally:
        site.close()
    return {"logins": rush, "workers": workers}


def busy(model: str, seconds: int) -> dict[str, Any]:
    """Ask for more than can be done in so many seconds, and listen how long workers are silent."""
    began = timezone.now()
    run_judge("load", model, Summary.objects.order_by("pk")[:N_JUDGED], 8)
    resume_runs.delay()
    _imports()
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


def _imports() -> None:
    """Files that are checked and then imported, each by two steps of a worker."""
    actor = get_user_model().objects.get(username="researcher0")
    for at in range(N_IMPORTS):
        content = json.dumps(topic(f"import{at}")).encode()
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


def pss_mib() -> float:
    """Memory of this process, with its part of what is shared."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.two_years", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    options: dict[str, list[tuple[str, Any, Any, str]]] = {
        "fill": [("--share", float, 1.0, "of two years; 0.2 for SQLite"), ("--seed", int, 1, "of what is drawn")],
        "walk": [],
        "figures": [("--seconds", int, 240, "after which nothing new is begun")],
        "live": [("--seconds", int, 120, "for which workers are busy")],
    }
    for (name, rows), step in zip(options.items(), (fill, pages, figures, live), strict=True):
        command = commands.add_parser(name, help=step.__doc__)
        command.add_argument("--json", type=Path, metavar="FILE", help="where all of it is written")
        for flag, kind, default, about in rows:
            command.add_argument(flag, type=kind, default=default, help=about)
        if step is pages:
            command.add_argument("roles", nargs="*", default=ROLES, metavar="USER", help="who walks; all roles")
        command.set_defaults(step=step)
    chosen = parser.parse_args()
    with ending_in_order():
        whole = chosen.step(chosen)
    print(json.dumps({name: value for name, value in whole.items() if name != "rows"}, indent=1))
    if chosen.json:
        chosen.json.write_text(json.dumps(whole, indent=1))


if __name__ == "__main__":
    main()
