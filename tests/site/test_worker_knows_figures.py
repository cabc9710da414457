"""A worker knows every figure that a page may ask it for, whatever else it has loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from django.urls import reverse

from benchmarks.results.computation import computations

ROOT = Path(__file__).resolve().parents[2]
KNOWN_TO_A_WORKER = """
import json
from celery.signals import worker_init
from summhay_site.celery import app
worker_init.send(sender=app)
from benchmarks.results.computation import computations
print(json.dumps([computation.name for computation in computations()]))
"""


def test_a_worker_that_has_begun_knows_all_figures_of_pages(tmp_path: Path) -> None:
    reverse("home")  # imports all views
    env = os.environ | {"DATA_DIR": str(tmp_path), "DEBUG": "1", "CELERY_SKIP_CHECKS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", KNOWN_TO_A_WORKER], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE
    )
    known = json.loads(done.stdout)
    assert len(known) > 20
    assert {computation.name for computation in computations()} - set(known) == set()
