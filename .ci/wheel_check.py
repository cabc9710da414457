"""Build the wheel, install it where nothing else is, start it and look at it: `make wheel-check`.

Arguments are interpreters to install it with; without any it is the one that runs this. What git knows of the
packages, `templates/` and `static/` must be in the wheel, and nothing else. The installed program must load
the demo, serve a page with its style sheet, and keep its data out of the installation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("annotation/", "benchmarks/", "extensions/", "summhay_site/")
ASSETS = ("templates/", "static/", "locale/")
DOCS = re.compile(r"docs/[^/]+\.(md|jsonl?|py)")
PORT = 8471
READY_S = 600  # far more than it takes, since the machine of a gate may be busy
PIP = ("-I", "-m", "pip", "--quiet", "--disable-pip-version-check")


def main(interpreters: list[str]) -> None:
    """Check with each interpreter, and say what was found with the seconds it took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        folder, wheel = Path(name), None
        for number, interpreter in enumerate(interpreters or [sys.executable]):
            place = folder / f"{number}"
            python = environment(interpreter, place / "venv")
            if wheel is None:
                wheel = build(python, folder)
                print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {check_contents(wheel)} files", flush=True)
            install(python, wheel)
            check_running(python, place)
            version = run([f"{python}", "--version"]).strip()
            print(f"the installed program works with {version} ({time.monotonic() - began:.0f} s)", flush=True)


def environment(interpreter: str, folder: Path) -> Path:
    """Make a virtual environment; returns its interpreter."""
    run([interpreter, "-m", "venv", f"{folder}"])
    return folder / "bin" / "python"


def tracked() -> list[str]:
    """The files of the checkout that git does not ignore."""
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    return [path for path in listed.splitlines() if (ROOT / path).is_file()]


def build(python: Path, folder: Path) -> Path:
    """Build from a copy, so that neither old files get in nor new ones stay behind."""
    for path in tracked():
        copy = folder / "checkout" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy)
    run([f"{python}", *PIP, "wheel", "--no-deps", "--wheel-dir", f"{folder}", f"{folder / 'checkout'}"])
    [wheel] = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> int:
    """Compare with what git knows; returns the number of files."""
    expected = {path for path in tracked() if path.startswith(PACKAGES)}
    expected |= {
        f"summhay_site/assets/{path}" for path in tracked() if path.startswith(ASSETS) or DOCS.fullmatch(path)
    }
    with zipfile.ZipFile(wheel) as file:
        held = {path for path in file.namelist() if ".dist-info/" not in path}
    if missing := sorted(expected - held):
        sys.exit(f"The wheel lacks {len(missing)} files: {', '.join(missing[:10])}")
    if surplus := sorted(held - expected):
        sys.exit(f"The wheel holds {len(surplus)} files that it should not: {', '.join(surplus[:10])}")
    return len(held)


def install(python: Path, wheel: Path) -> None:
    """Install the wheel and what it needs."""
    # Not compiled: half of the time would go into modules that are never imported.
    run([f"{python}", *PIP, "install", "--no-compile", "-c", f"{ROOT / 'constraints.txt'}", f"{wheel}"])


def check_running(python: Path, folder: Path) -> None:
    """Serve the demo from an empty folder, and ask for the page of logins and its style sheet."""
    home = folder / "home"
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": f"{home}"}
    command = [f"{python.parent / 'summhay-manage'}", "demo", "--port", f"{PORT}"]
    said = folder / "demo.log"
    with said.open("wb") as log:
        demo = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        address = wait_for_address(demo, said)
        if not json.loads(get(f"{address}health/"))["ok"]:
            sys.exit("/health/ does not say that all is well.")
        [sheet] = re.findall(r'href="/(static/css/site\.[0-9a-f]+\.css)"', get(f"{address}login/"))
        if "{" not in get(f"{address}{sheet}"):
            sys.exit(f"{sheet} is no style sheet.")
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.wait(timeout=30)
    if not (home / ".local" / "share" / "summhay" / "db.sqlite3").exists():
        sys.exit(f"The data is not in {home}.")
    print(said.read_text().strip())


def wait_for_address(demo: subprocess.Popen[bytes], said: Path) -> str:
    """Wait until the demo says where it serves."""
    until = time.monotonic() + READY_S
    while time.monotonic() < until and demo.poll() is None:
        if found := re.search(r"Serving on (\S+)", said.read_text()):
            return found[1]
        time.sleep(0.1)
    sys.exit(f"The demo did not start:\n{said.read_text()}")


def get(address: str) -> str:
    """The text at an address; the program ends if there is none."""
    try:
        with urlopen(address, timeout=10) as answer:
            return str(answer.read().decode())
    except URLError as error:
        sys.exit(f"{address}: {error}")


def run(command: list[str], cwd: Path | None = None) -> str:
    """Run a program to its end; returns what it prints."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
