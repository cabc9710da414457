"""Packages that are pinned: known to be vulnerable, or behind what their indexes have. Both need a network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.audit.conftest import Audit
from tests.conftest import ROOT

pytestmark = pytest.mark.nightly
LONGEST_S = 300


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, check=False, capture_output=True, text=True, timeout=LONGEST_S
    )


def test_no_pinned_package_is_known_to_be_vulnerable(audit: Audit) -> None:
    program = os.environ.get("PIP_AUDIT", "")
    if not Path(program).is_file():
        pytest.skip("not run: pip-audit is not here; `make audit` installs it where an index has it")
    done = run(program, "--requirement", "constraints.txt", "--no-deps", "--disable-pip", "--format", "json")
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        pytest.skip(
            f"not run: the service that knows vulnerabilities does not answer ({done.stderr[-200:].strip()})"
        )
    known_there = [package for package in found if "skip_reason" not in package]
    if not known_there:
        pytest.skip(f"not run: none of {len(found)} packages could be looked up")
    audit.count("pinned packages looked up", len(known_there))
    audit.count("pinned packages not looked up", len(found) - len(known_there))
    for package in known_there:
        for known in package.get("vulns", ()):
            audit.find(f"{package['name']} {package['version']}: {known['id']}, mended in {known['fix_versions']}")
    audit.conclude()


def test_direct_dependencies_that_are_behind_are_told(audit: Audit, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        done = run(sys.executable, "-m", "pip", "list", "--outdated", "--not-required", "--format", "json")
        behind = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        pytest.skip("not run: no index answers")
    audit.count("direct dependencies behind their index", len(behind))
    with capsys.disabled():
        for one in behind:
            print(f"\n{one['name']} {one['version']}, the index has {one['latest_version']}", end="")
