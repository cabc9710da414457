"""Files between the demo and other programs, both ways: `make interop`.

Archives and files of the demo are checked by the programs that they are for (`interop_reading.py`). Labels that
other programs wrote are taken in, and assignments as we write them.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

MANAGE = [sys.executable, "manage.py"]
SHOWN = 5
BOARD = ("--judge", "lexical-2", "--people")
WRITTEN = Path(__file__).with_name("benchmarks") / "io" / "tools"
"""Files that other programs wrote."""


def run(*words: str, **more) -> str:
    """What a command prints; its errors end this program."""
    return subprocess.run([*words], check=True, capture_output=True, text=True, **more).stdout


class Demo:
    """A site with the demo in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "DATA_DIR": str(folder / "site")}
        for unwanted in ("DATABASE_URL", "CELERY_BROKER_URL"):
            self.env.pop(unwanted, None)
        (folder / "site").mkdir(mode=0o700)
        self.manage("migrate", "--verbosity", "0")
        self.manage("load_demo")

    def manage(self, *words: str) -> str:
        return run(*MANAGE, *words, env=self.env)

    def told(self, code: str, value: str):
        """A plain value that the site knows, as code gives it."""
        return json.loads(
            self.manage("shell", "-v", "0", "-c", f"import json; {code}; print(json.dumps({value}))")
        )

    def studies(self) -> dict[str, str]:
        """The kind of each study by its name."""
        return self.told("from annotation.models import Study", "dict(Study.objects.values_list('name', 'kind'))")

    def written(self, name: str, *words: str) -> Path:
        """The folder in the zip that a command writes."""
        path = self.folder / f"{name}.zip"
        self.manage(*words, "--licence", "CC BY 4.0", "--out", str(path))
        with zipfile.ZipFile(path) as zipped:
            zipped.extractall(self.folder / name)
        [root] = (self.folder / name).iterdir()
        return root

    def archives(self) -> Iterator[Path]:
        """That of every study, and of the leaderboard."""
        for at, name in enumerate(self.studies()):
            yield self.written(str(at), "export_study", "--study", name)
        yield self.written("board", "export_leaderboard", *BOARD)

    def exchanged(self) -> Iterator[tuple[str, Path]]:
        """Each format with what it is made of."""
        made_of = "{name: [*each.made_of] for name, each in FORMATS.items()}"
        formats = self.told("from extensions.exchange.formats import FORMATS", made_of)
        studies = self.studies().items()
        for name, kinds in formats.items():
            for at, (study, kind) in enumerate(studies):
                if kind in kinds:
                    yield name, self.written(f"{name}-{at}", "export_for", name, "--study", study, "--texts")
            if "leaderboard" in kinds:
                yield name, self.written(f"{name}-board", "export_for", name, *BOARD, "--insights")
            if "recall" in kinds:
                yield name, self.written(f"{name}-recall", "export_for", name, "--dataset", "demo", *BOARD[:2])

    def taken_in(self, path: Path) -> str:
        """What a file of another program becomes, as the command says it."""
        words = ("import_dataset", "tool-labels", str(path), "--researcher", "ada", "--study", path.name)
        return self.manage(*words).strip().replace("\n", "\n  ")


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


def read(name: str, root: Path, validators: Path) -> tuple[bool, str]:
    """Whether files of a format are read by their program, and what it says."""
    call = [str(validators / "python"), str(Path(__file__).with_name("interop_reading.py")), name, str(root)]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(root.parent / "hub")}
    told = subprocess.run(call, cwd=root, capture_output=True, text=True, check=False, env=offline)
    return not told.returncode, (told.stderr[-2_000:] if told.returncode else told.stdout.strip())


def main(validators: Path) -> int:
    """Check all; the number of archives and files with problems."""
    n_wrong = 0
    with tempfile.TemporaryDirectory(prefix="summhay-interop-") as folder:
        demo = Demo(Path(folder))
        for root in demo.archives():
            problems = list(problems_of(root, validators))
            n_wrong += bool(problems)
            print(root.name, *(problems or ["is valid"]), sep="\n  ")
        nuggets: list[Path] = []
        for name, root in demo.exchanged():
            is_read, said = read(name, root, validators)
            n_wrong += not is_read
            print(root.name, said, sep="\n  ", flush=True)
            nuggets += sorted(root.glob("*.jsonl"))[:1] if name == "nuggetizer" else []
        for path in (*sorted(WRITTEN.iterdir()), nuggets[-1]):
            print(path.name, demo.taken_in(path), sep="\n  ", flush=True)
    return n_wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
