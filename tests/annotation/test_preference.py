"""A kind of study is added by a folder with its models and one line: a toy, in a program that has it."""

from __future__ import annotations

import os
import subprocess
import sys

from django.conf import settings


def test_a_kind_needs_its_folder_alone() -> None:
    proof = "tests/annotation/preference/proof.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", proof]
    done = subprocess.run(
        [*command, "--ds=tests.annotation.preference.settings"],
        cwd=settings.BASE_DIR,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
