"""Archives of the demo, checked by the programs of others: `make interop`, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MANAGE = [sys.executable, "manage.py"]
SHOWN = 5


def run(*words: str, **more: Any) -> str:
    """What a command prints; its errors end this program."""
    return subprocess.run([*words], check=True, capture_output=True, text=True, **more).stdout


def archives(folder: Path) -> Iterator[Path]:
    """The folder of the archive of every study of the demo, and of its leaderboard."""
    site = {**os.environ, "DATA_DIR": str(folder / "site")}
    for unwanted in ("DATABASE_URL", "CELERY_BROKER_URL"):
        site.pop(unwanted, None)
    (folder / "site").mkdir(mode=0o700)
    run(*MANAGE, "migrate", "--verbosity", "0", env=site)
    run(*MANAGE, "load_demo", env=site)
    names = "from annotation.models import Study; print(*Study.objects.values_list('name', flat=True), sep='\\n')"
    studies = run(*MANAGE, "shell", "--verbosity", "0", "--command", names, env=site).splitlines()
    calls = [["export_study", "--study", name] for name in studies]
    calls.append(["export_leaderboard", "--judge", "lexical-2", "--people"])
    for at, call in enumerate(calls):
        path = folder / f"{at}.zip"
        run(*MANAGE, *call, "--licence", "CC BY 4.0", "--out", str(path), env=site)
        with zipfile.ZipFile(path) as zipped:
            zipped.extractall(folder / str(at))
        [root] = (folder / str(at)).iterdir()
        yield root


def problems_of(root: Path, validators: Path) -> Iterator[str]:
    """What Frictionless and Croissant have against an archive."""
    call = [str(validators / "frictionless"), "validate", "datapackage.json", "--json"]
    told = subprocess.run(call, cwd=root, capture_output=True, text=True, check=False)
    report = json.loads(told.stdout)
    if not report["valid"] or not report["tasks"]:
        errors = [*report["errors"], *(error for task in report["tasks"] for error in task["errors"])]
        yield from (f"frictionless: {error['message']}" for error in errors[:SHOWN])
        yield from [] if errors else ["frictionless: no table"]
    call = [str(validators / "mlcroissant"), "validate", "--jsonld", "croissant.json"]
    told = subprocess.run(call, cwd=root, capture_output=True, text=True, check=False)
    said = f"{told.stdout}{told.stderr}"
    if told.returncode or "error(s)" in said or "Done." not in said:
        yield f"croissant: {said[-2000:]}"


def main(validators: Path) -> int:
    """Check all; the number of archives with problems."""
    n_wrong = 0
    with tempfile.TemporaryDirectory(prefix="summhay-interop-") as folder:
        for root in archives(Path(folder)):
            problems = list(problems_of(root, validators))
            n_wrong += bool(problems)
            print(root.name, *(problems or ["is valid"]), sep="\n  ")
    return n_wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
