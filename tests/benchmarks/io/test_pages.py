"""Corpora imported in the browser: sent, checked, confirmed; nothing lost and nothing half done."""

import errno
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchmarks.io import haystacks, jobs
from benchmarks.io.jobs import JobMovedOn, UploadRefused, advance, confirm, discard, receive
from benchmarks.models import AuditEvent, Haystack, ImportJob, Judge
from benchmarks.tasks import run_import, sweep_imports
from summhay_site import env
from tests.conftest import make_user
from tests.makers import url
from tests.makers_topic import topic_json

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path: Path) -> Path:
    folder = tmp_path / "uploads"
    settings.STORAGES = settings.STORAGES | {"uploads": env.uploads("UPLOADS", folder=folder, shared=False)}
    return folder


def file_of(value, name: str = "topic_harbour.json") -> SimpleUploadedFile:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return SimpleUploadedFile(name, data, content_type="application/json")


def send(client: Client, value, **fields):
    form = {"format": "summhay", "judge": "published", "file": file_of(value), **fields}
    return client.post(url("import-new"), form)


def stored(value, *, actor, now: datetime, **fields) -> ImportJob:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    given = {"file_name": "topic_harbour.json", "format_name": "summhay", "options": {"judge": "published"}}
    return receive(chunks=[data], actor=actor, now=now, **{**given, **fields})


def test_a_file_is_checked_then_confirmed_then_there(ada, as_ada, uploads: Path) -> None:
    response = send(as_ada, topic_json(unknown_scores=3), dataset="harbours", judge="their judge")
    job = ImportJob.objects.get()
    assert response["Location"] == url("import-job", job.uid)
    page = as_ada.get(url("import-job", job.uid)).text
    assert "What would be imported" in page
    assert "6 times, as in" in page
    assert (job.state, Haystack.objects.count()) == ("checked", 0)
    assert as_ada.post(url("import-confirm", job.uid)).status_code == 302
    job.refresh_from_db()
    assert (job.state, job.report["created"]["documents"]) == ("done", 12)
    haystack = Haystack.objects.get()
    assert (haystack.dataset, haystack.metadata["source_name"]) == ("harbours", "topic_harbour")
    assert Judge.objects.get().name == "their judge"
    assert AuditEvent.objects.get(action="corpus.imported").actor == ada
    assert "Open “The rebuilding of a small harbour”" in as_ada.get(url("import-job", job.uid)).text
    assert list(uploads.iterdir()) == []


def test_a_file_with_errors_is_refused_in_sentences_and_thrown_away(as_ada, uploads: Path) -> None:
    value = topic_json()
    value["documents"][3]["document_text"] = ""
    send(as_ada, value)
    job = ImportJob.objects.get()
    page = as_ada.get(url("import-job", job.uid)).text
    assert "1 error. Nothing was imported." in page
    assert "documents[3].document_text: expected a text that is not empty, got an empty text." in page
    assert as_ada.post(url("import-confirm", job.uid)).status_code == 302
    job.refresh_from_db()
    assert job.state == "failed"
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe", b"[]", b"<html>", b"import os"])
def test_what_is_no_haystack_is_never_run_and_always_explained(data: bytes, as_ada) -> None:
    send(as_ada, data)
    assert "the file: expected " in as_ada.get(url("import-job", ImportJob.objects.get().uid)).text


def test_a_file_sent_again_is_all_unchanged(as_ada) -> None:
    for _time in range(2):
        send(as_ada, topic_json())
        as_ada.post(url("import-confirm", ImportJob.objects.first().uid))
    job = ImportJob.objects.all()[0]
    assert (job.report["unchanged"]["verdicts"], job.report["created"]["verdicts"]) == (24, 0)
    assert Haystack.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"file": ""}, "Choose a file."),
        ({"file": file_of(b"")}, "The file is empty."),
        ({"format": "xml"}, "“xml” is not in it."),
        ({"dataset": "two words"}, "Letters, digits, - and _ only."),
        ({"judge": ""}, "Fill this in."),
    ],
)
def test_a_wrong_form_is_given_back_with_a_message(fields: dict[str, Any], message: str, as_ada) -> None:
    response = send(as_ada, topic_json(), **fields)
    assert response.status_code == 422
    assert message in response.text
    assert not ImportJob.objects.exists()


def test_an_upload_over_the_limit_is_refused_while_it_arrives(as_ada, settings, uploads: Path) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3 * 1024 * 1024
    response = send(as_ada, b" " * (4 * 1024 * 1024))
    assert response.status_code == 422
    assert "The file is too large: at most 3.0 MB can be uploaded." in response.text
    assert not uploads.exists()


def test_a_stream_over_the_limit_leaves_nothing(ada, now: datetime, settings, uploads: Path) -> None:
    settings.UPLOAD_LIMIT_BYTES = 100

    def chunks() -> Iterator[bytes]:
        while True:
            yield b" " * 64

    with pytest.raises(UploadRefused, match="too large"):
        receive(
            chunks=chunks(),
            file_name="x.json",
            format_name="summhay",
            options={"judge": "j"},
            actor=ada,
            now=now,
        )
    assert not uploads.exists()


def test_a_full_disk_is_a_sentence_and_leaves_nothing(ada, login: Login, uploads: Path) -> None:
    class Full(SimpleUploadedFile):
        def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
            yield b"{"
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UploadRefused, match="could not be stored \\(No space left on device\\)"):
        receive(
            chunks=Full("a.json", b"").chunks(), file_name="a.json", format_name="summhay",
            options={"judge": "j"}, actor=ada, now=timezone.now(),
        )  # fmt: skip
    assert not uploads.exists()
    assert not ImportJob.objects.exists()


def test_the_name_of_a_file_cannot_lead_out_of_the_folder(ada, now: datetime, uploads: Path) -> None:
    job = stored(topic_json(), actor=ada, now=now, file_name="../../etc/passwd")
    assert [path.name for path in uploads.iterdir()] == [job.file_path]
    assert job.file_name == "passwd"
    assert (uploads / job.file_path).stat().st_mode & 0o777 == 0o600
    assert uploads.stat().st_mode & 0o777 == 0o700


def test_a_large_file_is_the_worker_s_and_the_page_polls_until_it_is_done(
    as_ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[tuple[Any, ...]] = []
    monkeypatch.setattr(jobs, "INLINE_BYTES", 10)
    monkeypatch.setattr("benchmarks.io.pages.enqueue", lambda *call: messages.append(call))
    send(as_ada, topic_json())
    job = ImportJob.objects.get()
    assert (job.state, messages) == ("uploaded", [("benchmarks.tasks.run_import", str(job.uid))])
    fragment = as_ada.get(url("import-job", job.uid), headers={"HX-Request": "true"})
    assert fragment.status_code == 200
    assert re.search(r'hx-trigger="every \d+s"', fragment.text)
    run_import(str(job.uid))
    last = as_ada.get(url("import-job", job.uid), headers={"HX-Request": "true"})
    assert last.status_code == 286
    assert "hx-trigger" not in last.text
    as_ada.post(url("import-confirm", job.uid))
    assert len(messages) == 2
    assert not Haystack.objects.exists()
    run_import(str(job.uid))
    assert Haystack.objects.exists()


def test_a_lost_message_is_only_a_delay(ada) -> None:
    job = stored(topic_json(), actor=ada, now=timezone.now())
    sweep_imports()
    job.refresh_from_db()
    assert job.state == "checked"
    confirm(job=job)
    sweep_imports()
    assert Haystack.objects.exists()


def test_a_step_is_never_taken_by_two_workers_and_a_dead_worker_is_replaced(ada, now: datetime) -> None:
    job = stored(topic_json(), actor=ada, now=now)
    advance(uid=job.uid, clock=lambda: now)
    confirm(job=job)
    ImportJob.objects.update(state="running", claimed_at=now)  # a worker claimed it, and died
    assert advance(uid=job.uid, clock=lambda: now + timedelta(minutes=9)) is None
    with pytest.raises(JobMovedOn):
        discard(job=job, now=now + timedelta(minutes=9))
    assert jobs.waiting_jobs(now=now + timedelta(minutes=9)) == []
    later = now + timedelta(minutes=11)
    assert jobs.waiting_jobs(now=later) == [job.uid]
    assert advance(uid=job.uid, clock=lambda: later).state == "done"
    assert advance(uid=job.uid, clock=lambda: later) is None


def test_confirming_twice_imports_once(as_ada) -> None:
    send(as_ada, topic_json())
    job = ImportJob.objects.get()
    as_ada.post(url("import-confirm", job.uid))
    assert "not waiting to be imported" in as_ada.post(url("import-confirm", job.uid), follow=True).text
    assert AuditEvent.objects.filter(action="corpus.imported").count() == 1


def test_work_that_breaks_off_says_so_and_nothing_is_imported(
    ada, as_ada, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = stored(topic_json(), actor=ada, now=now)
    advance(uid=job.uid, clock=lambda: now)
    confirm(job=job)

    def fail(*args, **kwargs) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("benchmarks.io.haystacks.HaystackPlan.write", fail)
    run_import(str(job.uid))
    page = as_ada.get(url("import-job", job.uid)).text
    assert "Processing this file failed" in page
    assert "boom" not in page
    assert not Haystack.objects.exists()


def test_progress_is_told_while_a_file_is_read(ada, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    job = stored(topic_json(), actor=ada, now=now)
    seen: list[int] = []
    take = haystacks.HaystackPlan.take

    def watch(*args, **kwargs):
        seen.append(ImportJob.objects.get().n_done)
        return take(*args, **kwargs)

    monkeypatch.setattr(haystacks.HaystackPlan, "take", watch)
    advance(uid=job.uid, clock=lambda: now)
    assert seen == [job.n_total]


def test_a_file_that_nobody_confirms_is_forgotten_after_a_week(ada, now: datetime, uploads: Path) -> None:
    advance(uid=stored(topic_json(), actor=ada, now=now).uid, clock=lambda: now)
    assert jobs.forget_unconfirmed(now=now + timedelta(days=6)) == 0
    assert jobs.forget_unconfirmed(now=now + timedelta(days=8)) == 1
    assert list(uploads.iterdir()) == []


def test_a_file_can_be_discarded(as_ada, uploads: Path) -> None:
    send(as_ada, topic_json())
    assert as_ada.post(url("import-discard", ImportJob.objects.get().uid)).status_code == 302
    assert not ImportJob.objects.exists()
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize("name", ["job", "confirm", "discard"])
def test_a_file_is_its_sender_s_and_the_admin_s(
    name: str, ada, as_ben, as_eve, now: datetime, login: Login, client: Client
) -> None:
    job = stored(topic_json(), actor=ada, now=now)
    advance(uid=job.uid, clock=lambda: now)
    other = login(make_user("flo", "researcher"))
    verb = "get" if name == "job" else "post"
    assert getattr(other, verb)(url(f"import-{name}", job.uid)).status_code == 404
    assert getattr(as_ben, verb)(url(f"import-{name}", job.uid)).status_code == 403
    assert getattr(client, verb)(url(f"import-{name}", job.uid))["Location"].startswith("/login/")
    assert getattr(as_eve, verb)(url(f"import-{name}", job.uid)).status_code in {200, 302}


def test_the_page_lists_one_s_own_files_at_a_fixed_cost(
    ada, as_ada, ben, now: datetime, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        stored(topic_json(), actor=ada, now=now, file_name=f"mine{number}.json")
    stored(topic_json(), actor=ben, now=now, file_name="theirs.json")
    with django_assert_max_num_queries(7):
        page = as_ada.get(url("import-new")).text
    assert "mine4.json" in page
    assert "theirs.json" not in page


def test_every_format_has_an_example_that_imports(as_ada) -> None:
    response = as_ada.get(url("format-example", "summhay"))
    send(as_ada, b"".join(response.streaming_content))
    assert ImportJob.objects.get().state == "checked"
    assert as_ada.get(url("format-example", "xml")).status_code == 404
