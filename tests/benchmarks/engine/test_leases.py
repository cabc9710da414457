"""Leases: who holds a row, with and without the name of its worker."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine import runs
from benchmarks.engine.runs import Lease
from benchmarks.models import ImportJob
from tests.makers import NOW

pytestmark = pytest.mark.django_db
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


def test_a_worker_that_ended_is_known_and_forgotten_after_a_day(settings: Any, tmp_path: Path) -> None:
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
