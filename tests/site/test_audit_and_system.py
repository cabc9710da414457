"""The audit log and the state of the system, for admins."""

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from benchmarks.audit import record
from benchmarks.models import AuditEvent
from summhay_site.celery import app as celery_app
from summhay_site.models import WorkerHeartbeat
from summhay_site.operations import system
from tests.makers import flat, make_session


@pytest.fixture
def log(ada, ben, eve, now) -> None:
    record(actor=ada, action="study.opened", target=ben, now=now, note="=SUM(A1)")
    record(actor=eve, action="account.role", target=ben, now=now + timedelta(days=1), before="a", after="b")
    record(actor=None, action="account.created", target=eve, now=now + timedelta(days=2))


def _actions(client, query: str) -> list[str]:
    return [row["event"].action for row in client.get(f"/audit-log/?{query}").context["events"]]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("", ["account.created", "account.role", "study.opened"]),
        ("action=account.role", ["account.role"]),
        ("actor=ADA", ["study.opened"]),
        ("object=be", ["account.role", "study.opened"]),
        ("since=2026-03-03", ["account.created", "account.role"]),
        ("until=2026-03-03", ["account.role", "study.opened"]),
        ("since=2026-03-03&until=2026-03-03&actor=eve", ["account.role"]),
        ("object=nothing", []),
        ("since=0001-01-01&until=9999-12-31", ["account.created", "account.role", "study.opened"]),
    ],
)
def test_events_are_found_by_action_person_object_and_day(
    log: None, as_eve, query: str, actions: list[str]
) -> None:
    assert _actions(as_eve, query) == actions


def test_days_are_those_of_the_reader(log: None, eve, as_eve) -> None:
    eve.time_zone = "Pacific/Auckland"
    eve.save()
    AuditEvent.objects.filter(action="study.opened").update(at="2026-03-02T12:00:00Z")
    assert "study.opened" in _actions(as_eve, "since=2026-03-03")


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-30", "9999-12-31"])
def test_the_first_and_the_last_day_of_the_calendar_are_days_like_others(
    log: None, eve, as_eve, zone: str, day: str
) -> None:
    eve.time_zone = zone
    eve.save()
    assert as_eve.get(f"/audit-log/?since={day}").status_code == 200
    assert as_eve.get(f"/audit-log/?until={day}").status_code == 200


def test_an_object_is_found_by_its_id(log: None, ben, as_eve) -> None:
    assert _actions(as_eve, f"object={ben.uid}") == ["account.role", "study.opened"]


def test_a_wrong_date_says_so(log: None, as_eve) -> None:
    page = as_eve.get("/audit-log/?since=yesterday")
    assert page.status_code == 422
    assert page.context["filter"].errors["since"]
    assert as_eve.get("/audit-log.csv?since=yesterday").status_code == 422


def test_days_in_the_wrong_order_are_said_and_not_taken_for_an_empty_log(as_eve) -> None:
    wrong = "since=2026-03-03&until=2026-03-02"
    page = as_eve.get(f"/audit-log/?{wrong}")
    assert page.status_code == 422
    assert "Choose the day of “From”, or a later one." in page.content.decode()
    assert as_eve.get(f"/audit-log.csv?{wrong}").status_code == 422
    assert as_eve.get("/audit-log/?since=2026-03-03&until=2026-03-03").status_code == 200


def test_the_download_holds_the_filtered_rows_and_guards_formulas(log: None, ada, as_eve) -> None:
    AuditEvent.objects.update(object_name="=cmd()")
    (row,) = csv.DictReader(as_eve.get("/audit-log.csv?actor=ada").getvalue().decode().splitlines())
    assert row["who"] == "ada"
    assert row["at"] == "2026-03-02T09:00:00+00:00"
    assert row["detail"] == '{"note":"=SUM(A1)"}'
    assert row["object_name"] == "'=cmd()"


def test_the_log_is_paged_and_asks_as_much_for_many_events_as_for_few(
    log: None, eve, as_eve, now, django_assert_num_queries
) -> None:
    with django_assert_num_queries(7) as few:  # one of them for the names of people
        as_eve.get("/audit-log/")
    for minute in range(110):
        record(actor=eve, action="study.opened", target=eve, now=now + timedelta(minutes=minute))
    with django_assert_num_queries(len(few)):
        page = as_eve.get("/audit-log/?page=1")
    assert "Page 1 of 2" in page.content.decode()
    assert len(as_eve.get("/audit-log/?page=2").context["events"]) == 13


def test_what_goes_back_to_the_whole_site_is_not_said_to_go_to_a_group(eve, as_eve, now) -> None:
    record(actor=eve, action="questions.moved", target=None, now=now, group="Gulls")
    record(actor=eve, action="questions.moved", target=None, now=now, group="")
    back, there = (row["sentence"] for row in as_eve.get("/audit-log/").context["events"])
    assert (back, there) == (
        "gave a question set back to the whole site", "gave a question set to a research group"
    )  # fmt: skip


def test_the_headline_of_the_system_says_what_is_not_set_up(as_eve, settings) -> None:
    system.record_heartbeat(name="one", now=timezone.now())
    settings.BACKUP_DIR, settings.EMAIL_IS_SET = None, False
    assert "No backup is made by schedule. Mail is off." in flat(as_eve.get("/system/").text)


def test_an_empty_log_says_what_will_be_there(as_eve) -> None:
    assert "Nothing recorded yet" in as_eve.get("/audit-log/").content.decode()


def test_a_worker_is_alive_for_two_minutes_after_its_last_sign(db: None, now) -> None:
    system.record_heartbeat(name="one", now=now)
    system.record_heartbeat(name="one", now=now + timedelta(seconds=30))
    assert WorkerHeartbeat.objects.count() == 1
    at = now + timedelta(seconds=30)
    assert not system.read_workers(now=at + timedelta(seconds=120))[0].is_silent
    assert system.read_workers(now=at + timedelta(seconds=121))[0].is_silent
    assert system.read_alarm(now=at + timedelta(seconds=121)).worker_silent_since == at


def test_one_worker_that_speaks_is_enough_and_old_ones_are_forgotten(db: None, now) -> None:
    system.record_heartbeat(name="old", now=now)
    system.record_heartbeat(name="new", now=now + timedelta(hours=23))
    assert not system.read_alarm(now=now + timedelta(hours=23)).worker_silent_since
    assert len(system.read_workers(now=now)) == 2
    system.record_heartbeat(name="new", now=now + timedelta(hours=25))
    assert [worker.name for worker in system.read_workers(now=now)] == ["new"]


def test_a_queue_that_no_speaking_worker_takes_from_is_named(as_eve) -> None:
    now = timezone.now()
    system.record_heartbeat(name="worker", queues=[settings.SHORT, settings.IMPORTS], now=now)
    system.record_heartbeat(name="models", queues=[settings.MODELS], now=now - timedelta(minutes=3))
    assert system.read_alarm(now=now).queues_without_worker == ("figures", "models")
    assert "these queues: figures, models." in " ".join(as_eve.get("/").content.decode().split())
    system.record_heartbeat(name="rest", now=now)
    assert not system.read_alarm(now=now).queues_without_worker


def test_beat_asks_only_for_tasks_that_exist_and_lets_late_messages_expire() -> None:
    celery_app.loader.import_default_modules()
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        assert entry["task"] in celery_app.tasks, name
        seconds = (
            entry["schedule"] if isinstance(entry["schedule"], int) else 3600
        )  # crontabs here are hourly or rarer
        assert entry["options"]["expires"] <= seconds, name


def test_the_queue_counts_sessions_whose_clock_is_due(ben, now) -> None:
    session = make_session(annotator=ben.annotator, state="running")
    session.next_due_at = now
    session.save()
    queue = system.read_queue(now=now + timedelta(minutes=3))
    assert [queue[name] for name in ("sessions_due", "oldest_due_at", "runs", "items")] == [1, now, 0, 0]
    assert system.read_queue(now=now)["sessions_due"] == 0


def test_the_page_of_the_system_shows_workers_queue_and_storage(
    as_eve, now, django_assert_max_num_queries
) -> None:
    for number in range(5):
        system.record_heartbeat(name=f"worker-{number}", now=now)
    with django_assert_max_num_queries(14):
        page = as_eve.get("/system/").content.decode()
    assert "worker-4" in page
    assert "silent" in page
    assert "Disk free" in page


def test_the_size_of_the_database_is_known(db: None) -> None:
    assert system.database_bytes() >= 0
    disk = system.read_disk(Path("/"))
    assert 0 < disk.free <= disk.total
