"""What keeps a site running: systemd's units, and the supervisor that starts again what ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.site import ROOT, answers, free_port
from tests.running import wait_for

UNITS = ROOT / "docs" / "systemd"
BIN = Path(sys.executable).parent
SUPERVISOR = BIN / "supervisord"
SECONDS = 90


def _commands(text: str) -> set[str]:
    """The programs that a file starts, without what systemd and the supervisor write differently."""
    text = re.sub(r"\$\{\w+:-(.+?)\}", r"\1", text).replace("${WORKER_QUEUES}", "summhay-short,summhay-imports")
    text = re.sub(r"\$\{\w+_CONCURRENCY\}", "1", text).replace(
        "python:summhay_site.gunicorn", "summhay_site/gunicorn.py"
    )
    return set(re.findall(r"bin/((?:gunicorn|celery) [^\"\n]+)", text))


def test_units_and_supervisor_start_the_same() -> None:
    commands = _commands("".join(unit.read_text() for unit in UNITS.glob("*.service")))
    assert len(commands) == 5
    assert commands == _commands((ROOT / "supervisord.conf").read_text())
    assert all(f"summhay-{name}" in (ROOT / "docs" / "deployment.md").read_text() for name in ("web", "beat"))


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    units = sorted(tmp_path.glob("*.service"))
    for unit in units:
        unit.write_text(unit.read_text().replace("/opt/summhay/bin", str(BIN)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def site(port: int, tmp_path: Path, empty_database: Path) -> Iterator[Path]:
    """Everything that `make serve` starts, on a folder of its own; gives the log."""
    shutil.copy(empty_database, tmp_path)
    ours = {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "PORT": str(port)}
    log = tmp_path / "log"
    config = tmp_path / "supervisord.conf"
    text = (ROOT / "supervisord.conf").read_text().replace(".venv/bin", str(BIN))
    config.write_text(text.replace("%(here)s/var", str(tmp_path)))
    with log.open("wb") as out:
        process = subprocess.Popen(
            [SUPERVISOR, "-c", config], cwd=ROOT, env=os.environ | ours, stdout=out, stderr=out
        )
    yield log
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == 0


def _started(log: Path, name: str) -> list[int]:
    return [int(pid) for pid in re.findall(rf"spawned: '{name}' with pid (\d+)", log.read_text())]


@pytest.mark.nightly
@pytest.mark.own_database
@pytest.mark.skipif(not SUPERVISOR.exists(), reason="the supervisor is not installed")
def test_a_killed_process_is_started_again_and_the_site_goes_on(port: int, site: Path) -> None:
    wait_for(lambda: answers(port))
    for name in ("figures", "worker", "beat"):
        os.kill(_started(site, name)[0], signal.SIGKILL)
        assert answers(port)
    for name in ("figures", "worker", "beat"):
        wait_for(lambda: len(_started(site, name)) > 1)  # noqa: B023 - called at once
    assert len(_started(site, "web")) == 1
    os.kill(_started(site, "web")[0], signal.SIGKILL)
    wait_for(lambda: len(_started(site, "web")) > 1 and answers(port))
