"""Plant the faults of `tests.planted_faults`, one at a time, and see that the test each names fails.

`python -m tests.plant` works on a copy of the tracked files in a temporary folder. Words after it choose faults by
what they break. In the end the named tests run once more without any fault, where all must pass. Status 1 if a
fault survives.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.planted_faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ("*.py", "*.html", "*.js")
ALL_PASSED, SOME_FAILED = 0, 1
GIVE_UP_S = 1800
GATE = "not browser and not nightly and not second_tier"
"""The first tier, which has to catch them all by itself."""


class NotPlantable(Exception):
    """The text of a fault is not in exactly one place of the program; the message says in which files it is."""


@cache
def _program() -> dict[str, str]:
    """The texts of the program by their paths; tests and measurements are no part of it."""
    names = subprocess.run(
        ["git", "ls-files", *PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    paths = [name for name in names.splitlines() if not name.startswith(("tests/", "bench/"))]
    return {name: (ROOT / name).read_text() for name in paths if (ROOT / name).is_file()}


def place_of(fault: Fault) -> str:
    """The path of the file whose text the fault changes; raises `NotPlantable`."""
    places = [name for name, text in _program().items() for _ in range(text.count(fault.text))]
    if len(places) != 1:
        raise NotPlantable(f"“{fault.text.strip()}” occurs in {', '.join(places) or 'no file'}: {fault.breaks}")
    return places[0]


def is_caught(fault: Fault, *, folder: Path) -> bool:
    """Whether the named test fails while the fault is in this copy, which is then as before.

    Raises RuntimeError where the test could not be run.
    """
    path = folder / place_of(fault)
    before = path.read_text()
    path.write_text(before.replace(fault.text, fault.instead))
    try:
        status, printed = _tested([fault.caught_by], folder=folder)
    finally:
        path.write_text(before)
    if status not in {ALL_PASSED, SOME_FAILED}:
        raise RuntimeError(f"the test could not be run (status {status}): {fault.breaks}\n{printed[-4000:]}")
    return status == SOME_FAILED


def _tested(tests: Iterable[str], *, folder: Path) -> tuple[int, str]:
    """Run these up to the first failure; gives the status of pytest and what it printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", GATE, *tests]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "gate", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "1000"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=GIVE_UP_S, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _copied(folder: Path) -> None:
    """Copy what is tracked, as it is now, and compile it once; what a fault changes is told by its content."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(folder)]
    subprocess.run(compiling, check=True)


def main(words: list[str]) -> int:
    """Plant what was chosen, or everything; gives how many faults no test noticed."""
    chosen = [fault for fault in FAULTS if all(word in fault.breaks for word in words)]
    if not chosen:
        raise SystemExit(f"No fault has these words: {' '.join(words)}")
    survivors = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _copied(folder)
        for fault in chosen:
            began = time.monotonic()
            caught = is_caught(fault, folder=folder)
            survivors += not caught
            print(
                f"{'caught' if caught else 'SURVIVED'}  {time.monotonic() - began:4.0f} s  "
                f"{fault.breaks}  {fault.caught_by}",
                flush=True,
            )
        status, printed = _tested(sorted({fault.caught_by for fault in chosen}), folder=folder)
        if status != ALL_PASSED:
            raise RuntimeError(f"a test fails without any fault:\n{printed[-4000:]}")
    return survivors


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
