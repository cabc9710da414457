"""A haystack that three systems and people summarized, judged offline; sessions ended in every way."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Membership, Study
from annotation.studies import consent
from tests.annotation.leaderboard.board import BOTH, FIRST, MINUTE, judged, written
from tests.conftest import make_user
from tests.makers import (
    NOW,
    annotator_of,
    fill_missing,
    make_assignment,
    make_haystack,
    make_session,
    make_writing_study,
)
from tests.running import output_of

SCRIPT = "<script>alert(1)</script>"
NAMES = ("anna", "bert", "cora", "dora", "emil", "fritz", "gerd")
"""The writers, in their order: by these names nobody is in a file."""


@pytest.fixture(scope="module")
def _sessions(kept: None) -> None:
    ada = make_user("ada", "researcher")
    people = {name: make_user(name, "annotator") for name in NAMES}
    study = make_writing_study(
        haystack=make_haystack(), researcher=ada, annotators=people.values(), name="Ferries"
    )
    written(people["anna"], study, FIRST, now=NOW)
    long = make_session(
        assignment=make_assignment(annotator=people["bert"], study=study),
        state="expired",
        revisions=[(5 * MINUTE, FIRST), (25 * MINUTE, f"{BOTH}\n{SCRIPT}")],
        acc_ms=120 * MINUTE,
        ended_at=NOW + timedelta(minutes=150),
    )
    fill_missing(session=long, now=NOW)
    for name, state, fields in (
        ("cora", "paused", {"clock_hwm": NOW + timedelta(minutes=9)}),
        ("dora", "voided", {}),
        ("emil", "submitted", {}),
        ("fritz", "running", {"now": timezone.now()}),
        ("gerd", "ready", {}),
    ):
        session = make_session(
            assignment=make_assignment(annotator=people[name], study=study),
            state=state,
            revisions=[(6 * MINUTE, f"{FIRST}\n- and so on")],
            **fields,
        )
        fill_missing(session=session, now=NOW + timedelta(minutes=6))
    Membership.objects.filter(annotator=annotator_of(people["cora"])).update(left_at=NOW)
    consent.withdraw(annotator=annotator_of(people["emil"]), by=people["emil"], now=NOW)
    judged(study, now=NOW)


@pytest.fixture
def study(_sessions: None, db: None) -> Study:
    return Study.objects.get()


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., dict[str, bytes]]:
    """Has the command write a zip, and gives its files by their names in its one folder."""

    def write(*args) -> dict[str, bytes]:
        out = tmp_path / "out.zip"
        output_of("export_for", *args, "--out", out)
        return opened(out.read_bytes())

    return write


def opened(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        return {name.partition("/")[2]: zipped.read(name) for name in zipped.namelist()}


def named(files: dict[str, bytes], start: str) -> bytes:
    """The one file whose name starts so."""
    [name] = [name for name in files if name.startswith(start)]
    return files[name]


def lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]
