"""A disk that is full: what is typed is refused as a browser understands it, and stored once there is space."""

import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.urls import reverse

from annotation.models import DraftRevision, PointLabel, SessionEvent
from bench.chaos import running
from bench.chaos.people import Person
from bench.chaos.running import Crew
from bench.site import Site
from tests.annotation.writer import start_session
from tests.conftest import NOW
from tests.makers import label_task
from tests.makers_verification import make_verification_study

SQLITE = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="the size of the file is limited by SQLite itself"
)
JSON = {"accept": "application/json"}


@contextmanager
def a_full_database(session_pk: int) -> Iterator[None]:
    """SQLite may not grow, and what is left in its pages is used up."""
    with connection.cursor() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count={pages}")
        try:
            for size in (3_000, 300, 1):
                with suppress(OperationalError):
                    for number in count():
                        filler = {"type": "filler", "at_server": NOW, "active_ms": 0, "payload": "x" * size}
                        SessionEvent.objects.create(
                            session_id=session_pk, tab_id=f"{size}", client_seq=number, **filler
                        )
            yield
        finally:
            cursor.execute("PRAGMA max_page_count=1073741823")


@SQLITE
@pytest.mark.django_db(transaction=True)
def test_a_text_and_an_answer_wait_for_space(ben, as_ben, time_machine) -> None:
    time_machine.move_to(NOW)
    session = start_session(ben)
    task = label_task(make_verification_study(annotators=[ben]), ben)

    def save(number: int):
        message = {
            "tab_id": "t",
            "op_id": f"op-{number}",
            "base_rev": number - 1,
            "text": "- a line\n" * 500 * number,
        }
        url = reverse("annotation:session-draft", args=[session.uid])
        return as_ben.post(url, json.dumps(message), content_type="application/json", headers=JSON)

    def answer(number: int):
        url = reverse("annotation:label-choice", args=["verification", task.uid])
        form = {"grounded": ("no", "yes")[number % 2], "op_id": f"act-{number}"}
        return as_ben.post(url, form, headers=JSON)

    assert save(1).json()["rev"] == 1
    with a_full_database(session.pk):
        assert _is_refused(save(2))
        # some rows find room in pages that their table has already
        stored = next(number for number in range(2_000) if _is_refused(answer(number)))
        assert as_ben.get(reverse("annotation:session-state", args=[session.uid])).status_code == 200
    assert DraftRevision.objects.count() == 1
    assert PointLabel.objects.count() == stored
    assert save(2).json()["rev"] == 2
    assert answer(stored).status_code == 200
    assert PointLabel.objects.get(is_current=True).op_id == f"act-{stored}"


def _is_refused(response) -> bool:
    return (response.status_code, response.json().get("code")) == (503, "unavailable")


@contextmanager
def a_small_disk(megabytes: int) -> Iterator[Path]:
    """A file system of its own; skips where this machine does not allow one."""
    folder = Path(tempfile.mkdtemp(prefix="small-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("needs the right to mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.mark.own_database
@pytest.mark.nightly
def test_a_site_on_a_full_disk_loses_nothing_and_goes_on_when_there_is_space(empty_database: Path) -> None:
    """Web servers, workers and broker write on one small file system, which fills up twice while people work."""
    with a_small_disk(200) as folder:

        def fill_up(crew: Crew, people: list[Person]) -> Counter[str]:
            for _ in range(2):
                before = [person.log.n_retries for person in people]
                with (folder / "filler").open("wb", buffering=0) as filler, suppress(OSError):
                    while filler.write(b"\0" * 65_536):
                        pass
                time.sleep(6)
                (folder / "filler").unlink()
                assert sum(person.log.n_retries for person in people) > sum(before), "it was not full"
                time.sleep(4)
            return Counter({"disk full": 2})

        site = Site(folder=folder)
        try:
            numbers = running.Numbers(writers=6, labellers=2, reviewers=1)
            outcome = running.run(site, numbers, empty=empty_database, disturb=fill_up)
        finally:
            site.close()
    assert outcome.problems == []
    assert sum(len(log.saves) for log in outcome.logs) > 50
