"""Uploaded files wait in a folder, in the database or on S3, and another machine may import them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages

from benchmarks.io import jobs
from benchmarks.models import Haystack, ImportJob, UploadPiece
from summhay_site import env
from tests.makers_topic import topic_json

ROOT = Path(__file__).resolve().parents[3]
BUCKET = "s3://summhay-uploads/imports"


@pytest.fixture(params=["folder", "database", BUCKET])
def wheres(request, settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each storage in turn; S3 is played by moto."""
    monkeypatch.setenv("UPLOADS", request.param)
    with ExitStack() as stack:
        if request.param == BUCKET:
            if not find_spec("storages"):
                pytest.skip("the extra s3 is not installed")
            moto, boto3 = pytest.importorskip("moto"), pytest.importorskip("boto3")
            monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            stack.enter_context(moto.mock_aws())
            boto3.client("s3").create_bucket(Bucket="summhay-uploads")
        uploaded = env.uploads("UPLOADS", folder=tmp_path / "uploads", shared=False)
        settings.STORAGES = settings.STORAGES | {"uploads": uploaded}
        yield request.param


@pytest.mark.django_db
@pytest.mark.every_database
def test_an_import_runs_from_every_storage_and_leaves_nothing_in_it(wheres: str, ada, now: datetime) -> None:
    content = json.dumps(topic_json()).encode() + b" " * (2 * jobs.PIECE_BYTES)
    job = jobs.receive(
        chunks=[content[:1000], content[1000:]],
        file_name="topic.json",
        format_name="summhay",
        options={"judge": "published"},
        actor=ada,
        now=now,
    )
    storage = storages["uploads"]
    assert storage.size(job.file_path) == len(content)
    assert UploadPiece.objects.count() == (3 if wheres == "database" else 0)
    assert jobs.advance(uid=job.uid, clock=lambda: now)
    job.refresh_from_db()
    assert job.state == ImportJob.State.CHECKED, job.report
    jobs.confirm(job=job)
    jobs.advance(uid=job.uid, clock=lambda: now)
    job.refresh_from_db()
    assert job.state == ImportJob.State.DONE
    assert Haystack.objects.count() == 1
    assert not storage.exists(job.file_path)


@pytest.mark.django_db
def test_a_storage_that_does_not_answer_refuses_the_upload_in_a_sentence(
    ada, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object, **__: object) -> None:
        raise RuntimeError("no route to bucket")

    monkeypatch.setattr(storages["uploads"], "_save", silent)
    with pytest.raises(jobs.UploadRefused, match="could not be stored"):
        jobs.receive(chunks=[b"{}"], file_name="a", format_name="summhay", options={}, actor=ada, now=now)
    assert not ImportJob.objects.exists()


STEP = """
import django, sys
django.setup()
from django.utils import timezone
from benchmarks.io import jobs
from benchmarks.models import ImportJob
if sys.argv[1] == "receive":
    with open(sys.argv[2], "rb") as file:
        jobs.receive(chunks=[file.read()], file_name="topic.json", format_name="summhay",
                     options={"judge": "published"}, actor=None, now=timezone.now())
job = ImportJob.objects.get()
if sys.argv[1] == "confirm":
    jobs.confirm(job=job)
print(jobs.advance(uid=job.uid, clock=timezone.now).state)
"""


@pytest.mark.own_database
def test_an_import_that_one_machine_took_is_confirmed_and_run_by_another(
    tmp_path: Path, empty_database: Path
) -> None:
    """Two processes with folders of their own over one database."""
    shutil.copy(empty_database, tmp_path / "shared.sqlite3")
    file = tmp_path / "topic.json"
    file.write_text(json.dumps(topic_json()))

    def on(machine: str, *arguments: str) -> str:
        ours = {
            "DATA_DIR": str(tmp_path / machine),
            "DATABASE_URL": f"sqlite:///{tmp_path}/shared.sqlite3",
            "UPLOADS": "database",
            "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
            "DEBUG": "1",
        }
        command = [sys.executable, "-c", STEP, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | ours, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or done.stderr

    assert on("one", "receive", str(file)) == "checked"
    assert on("two", "confirm") == "done"
    assert not list(tmp_path.glob("*/uploads/*"))


def test_uploads_wait_where_all_machines_reach_them_unless_something_else_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def backend(value: str, *, shared: bool) -> str:
        monkeypatch.setenv("UPLOADS", value)
        return str(env.uploads("UPLOADS", folder=tmp_path, shared=shared)["BACKEND"]).rpartition(".")[2]

    assert backend("", shared=False) == "FileSystemStorage"
    assert backend("", shared=True) == "DatabaseStorage"
    assert backend("folder", shared=True) == "FileSystemStorage"
    for wrong in ("s3:", "s3://", "ftp://x", "disk"):
        with pytest.raises(ImproperlyConfigured, match="UPLOADS"):
            backend(wrong, shared=True)
