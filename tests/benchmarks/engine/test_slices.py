"""Work is done in slices of time, each in its queue; leases say who holds a row, one message wakes a worker."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation import tasks as annotation_tasks
from benchmarks import tasks
from benchmarks.engine import judging, runs, versions
from benchmarks.engine.runs import Lease
from benchmarks.engine.wakeup import enqueue
from benchmarks.models import ImportJob, Judge, JudgeRun, Subtopic, Verdict
from summhay_site.celery import app
from tests.benchmarks.engine.test_judging import make_summary, request
from tests.makers import NOW, make_haystack

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch) -> JudgeRun:
    """A run of three summaries, judged one at a time."""
    monkeypatch.setattr(judging, "BATCH", 1)
    subtopic = Subtopic.objects.get(haystack=make_haystack(), number=1)
    for number in range(3):
        make_summary(subtopic, f"- The ferry leaves at {number} [1].")
    return request(versions.default_judge(now=NOW))


def test_a_run_stops_when_its_time_is_up_and_goes_on_where_it_was(run: JudgeRun) -> None:
    progress = judging.run_pending(run=run, clock=lambda: NOW, until=NOW)
    assert (progress.n_done, progress.n_pending) == (1, 2)
    n_before = Verdict.objects.count()
    assert judging.run_pending(run=run, clock=lambda: NOW).n_pending == 0
    assert Verdict.objects.count() == 3 * n_before
    run.refresh_from_db()
    assert run.state == JudgeRun.State.DONE


def test_a_task_whose_time_is_up_sends_its_message_again(run: JudgeRun, monkeypatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(tasks.run_offline, "apply_async", lambda args, **_: sent.append(args))
    tasks.run_offline(str(run.uid))
    assert sent == []
    again = request(versions.default_judge(now=NOW), [make_summary(Subtopic.objects.get(number=1), "- Late [1].")])
    monkeypatch.setattr(tasks, "SLICE", timedelta(0))
    tasks.run_offline(str(again.uid))
    assert sent == [(str(again.uid),)]


def test_a_sweep_has_a_run_taken_up_by_the_queue_of_its_judge(run: JudgeRun, monkeypatch) -> None:
    sent: list[Any] = []
    for task in (tasks.run_offline, tasks.run_judge):
        monkeypatch.setattr(task, "apply_async", lambda args, task=task, **kw: sent.append((task.name, args, kw)))
    tasks.resume_runs()
    assert sent == [("benchmarks.tasks.run_offline", (str(run.uid),), {"expires": 60})]
    Judge.objects.update(kind=Judge.Kind.OPENAI)
    assert runs.worker_task(JudgeRun.objects.get()) == "benchmarks.tasks.run_judge"


def test_long_work_has_queues_of_its_own_and_every_queue_is_declared() -> None:
    app.loader.import_default_modules()
    assert set(settings.CELERY_TASK_ROUTES) <= set(app.tasks)
    queue_of = {name: app.amqp.router.route({}, name)["queue"].name for name in app.tasks if "celery" not in name}
    assert set(queue_of.values()) == set(settings.QUEUES)
    assert queue_of["benchmarks.tasks.run_judge"] == settings.MODELS
    assert queue_of["annotation.tasks.settle_due"] == settings.SHORT


def test_texts_are_checked_for_a_slice_of_time_only(monkeypatch) -> None:
    n_looks: list[int] = []
    monkeypatch.setattr(annotation_tasks, "SLICE", timedelta(milliseconds=30))
    for name in ("check_copying", "check_late_copying", "check_growth"):
        monkeypatch.setattr(annotation_tasks.scoring, name, lambda **_: n_looks.append(1) or 1)  # never at its end
    began = timezone.now()
    annotation_tasks.check_texts()
    assert n_looks
    assert timezone.now() - began < timedelta(seconds=20)


MINUTE = timedelta(minutes=1)


def test_a_row_without_the_name_of_its_worker_is_free_before_and_after_its_lease() -> None:
    lease, rows = Lease(10 * MINUTE, names_worker=False), ImportJob.objects.all()
    ImportJob.objects.create(format="summhay", file_name="a.json", file_path="a", n_total=1, created_at=NOW)
    assert lease.take(rows.filter(lease.free(NOW)), now=NOW, state="running") == 1
    assert rows.get().state == "running"
    assert lease.take(rows.filter(lease.free(NOW + 9 * MINUTE)), now=NOW) == 0
    lease.renew(rows, now=NOW + 9 * MINUTE)
    assert not rows.filter(lease.free(NOW + 12 * MINUTE)).exists()
    assert rows.filter(lease.free(NOW + 20 * MINUTE)).exists()
    lease.release(rows)
    assert rows.filter(lease.free(NOW)).exists()


def test_a_worker_that_ended_is_known_and_forgotten_after_a_day(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    folder = tmp_path / "workers"
    folder.mkdir()
    (folder / "killed").touch()
    assert runs.gone() == ["killed"]
    runs.sweep()
    assert runs.gone() == ["killed"]
    old = (folder / "killed").stat().st_mtime - runs.KEPT_S - 1
    os.utime(folder / "killed", (old, old))
    runs.sweep()
    assert runs.gone() == []


TASK = "benchmarks.tasks.resume_runs"


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr(tasks.resume_runs, "delay", lambda: messages.append(TASK))
    return messages


@pytest.mark.django_db(transaction=True)
def test_many_calls_in_a_transaction_are_one_message_after_it(sent: list[str]) -> None:
    with transaction.atomic():
        enqueue(TASK)
        enqueue(TASK)
        assert sent == []
    assert sent == [TASK]


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_sends_nothing(sent: list[str]) -> None:
    with transaction.atomic():
        enqueue(TASK)
        transaction.set_rollback(True)
    assert sent == []


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_is_no_error(monkeypatch, caplog) -> None:
    def refuse() -> None:
        raise ConnectionError("nobody there")

    monkeypatch.setattr(tasks.resume_runs, "delay", refuse)
    enqueue(TASK)
    assert "the sweep will find the work" in caplog.text
