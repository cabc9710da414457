"""`python -m tests.tiers record FOLDER`, then `python -m tests.tiers choose FOLDER`."""

import os
import subprocess
import sys
from pathlib import Path

from tests.tiers import ROOT
from tests.tiers.choosing import first_tier, read, write


def record(folder: Path) -> None:
    """Run all tests twice, some forty minutes: for what each costs, and for what each reaches."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "tests.tiers.recording"]
    for name, more in (("seconds", {}), ("lines", {"RECORD_LINES": "1"})):
        (folder / name).mkdir(parents=True)
        env = os.environ | {"RECORDING": f"{folder / name}"} | more
        subprocess.run([*command, "-m", "not browser and not nightly"], cwd=ROOT, env=env, check=True)


def choose(folder: Path) -> None:
    """Write the list from a recording."""
    recording = read(folder)
    write(recording, first_tier(recording))


if __name__ == "__main__":
    {"record": record, "choose": choose}[sys.argv[1]](Path(sys.argv[2]))
