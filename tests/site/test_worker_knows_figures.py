"""A worker knows every figure that a page may ask it for, whatever else it has loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = """
import json
from celery.signals import worker_init
from summhay_site.celery import app
worker_init.send(sender=app)
from benchmarks.results.computation import computations
begun = [computation.name for computation in computations()]
from django.urls import reverse
reverse("home")  # imports all views
print(json.dumps([begun, [computation.name for computation in computations()]]))
"""
"""Prints what a worker knows once it has begun, and what a web server knows."""


def test_a_worker_that_has_begun_knows_all_figures_of_pages(tmp_path: Path) -> None:
    env = os.environ | {"DATA_DIR": str(tmp_path), "DEBUG": "1", "CELERY_SKIP_CHECKS": "1"}
    done = subprocess.run([sys.executable, "-c", KNOWN], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
    of_worker, of_server = json.loads(done.stdout)
    assert len(of_worker) > 20
    assert of_worker == of_server
