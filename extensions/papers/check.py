"""Check a folder that was submitted with a paper: is it as it was written, and do its numbers come out again?

The archives are imported into a site of their own in a temporary folder, which writes the folder again; then both
are compared number by number. Nothing of the site that runs the check is read or changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from extensions.papers.folder import LEADERBOARD, MANIFEST, NUMBERS, NUMBERS_JSON, Number, macro_of

MACRO = re.compile(r"\\newcommand\{\\(\w+)\}\{(.*)\}% (.*)")
NAMED = ("name", "slug", "archive")
"""Fields of a manifest about each study."""
CLOSE = 1e-9
MISSING = "stands on what the archive does not hold"
LONGEST_S = 900


class NoPaper(Exception):
    """A folder cannot be checked; the message says why."""


def check_paper(folder: Path) -> tuple[list[str], int, Mapping[str, str]]:
    """Check hashes, then compute all again.

    Gives what differs, how many numbers came out again, and the macros that the archives alone do not give, each
    with why.

    Raises:
        NoPaper: there is no such folder, or its archives cannot be imported.
    """
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        files = dict(manifest["files"])
        studies = [{name: str(study[name]) for name in NAMED} | dict(study) for study in manifest["studies"]]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise NoPaper(f"{folder} has no {MANIFEST} of such a folder.") from error
    for study in studies:
        if not (folder / str(study["archive"])).resolve().is_relative_to(folder.resolve()):
            raise NoPaper(f"{study['archive']} is not in the folder.")
    problems = list(_changed(folder, files))
    for study in studies:
        problems += _changed_inside(folder / str(study.get("archive", "")))
    with tempfile.TemporaryDirectory(prefix="summhay-paper-") as scratch:
        again = _made_again(folder, studies, Path(scratch))
        for study in studies:
            problems += _differing_figures(folder, again, study)
        different, n_same, unknown = _compared(
            _macros(folder / NUMBERS), _macros(again / NUMBERS), [_beyond(study) for study in studies]
        )
    problems += _other_hashes(folder)
    return [*problems, *different], n_same, unknown


def _changed(folder: Path, files: Mapping[str, str]) -> Iterator[str]:
    for name, expected in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            yield f"{name} is missing"
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                yield f"{name} has been changed since it was written"


def _changed_inside(path: Path) -> Iterator[str]:
    """Members of an archive whose bytes are not those of its manifest."""
    try:
        with zipfile.ZipFile(path) as zipped:
            members = {info.filename.partition("/")[2]: info for info in zipped.infolist()}
            about = orjson.loads(zipped.read(members["manifest.json"]))
            for file in about["files"]:
                info = members.get(file["name"])
                if info is None:
                    yield f"{path.name}: {file['name']} is missing"
                    continue
                with zipped.open(info) as member:
                    if hashlib.file_digest(member, "sha256").hexdigest() != file["sha256"]:  # type: ignore[arg-type]
                        yield f"{path.name}: {file['name']} has been changed since it was written"
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise NoPaper(f"{path.name} is no archive of a study.") from error


# Computed again


def _made_again(folder: Path, studies: Sequence[Mapping[str, Any]], scratch: Path) -> Path:
    """The folder as a site writes it that has nothing but what the archives hold."""
    _run(scratch, "migrate", "--verbosity", "0")
    boards = [board for board in studies if board.get("kind") == LEADERBOARD]
    judge = [word for board in boards[:1] for word in ("--judge", str(board["options"]["judge"]))]
    for corpus in sorted((folder / "corpora").glob("*.json")):
        _run(scratch, "import_dataset", "summhay", str(corpus), *judge, "--json")
    with_labels = [study for study in studies if study not in boards]
    for study in with_labels:
        _run(scratch, "import_dataset", "archive", str(folder / str(study["archive"])), "--json")
    _run(scratch, "settle_sessions", "--score")
    options = [word for study in with_labels for word in ("--study", str(study["name"]))]
    options += [word for board in boards[:1] for word in _board_options(board["options"])]
    again = scratch / "again"
    _run(scratch, "paper", "--out", str(again), *options, "--no-charts")
    return again


def _board_options(options: Mapping[str, Any]) -> Iterator[str]:
    """The words of the command that ask for a leaderboard."""
    yield from ("--leaderboard", "--judge", str(options["judge"]), "--average", str(options["average"]))
    yield from ("--score", str(options["score"]))
    yield from (word for key in options["haystacks"] for word in ("--haystack", str(key)))
    yield from ("--minute", str(options["minute"])) if options["minute"] is not None else ()
    yield from ("--people",) if options["people"] else ()
    yield from ("--with-people-only",) if options["with_people_only"] else ()


def _run(scratch: Path, *words: str) -> None:
    """Run a command of this program on a site of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    call = "from summhay_site.command_line import main; main()"
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, no shell
            [sys.executable, "-c", call, *words],
            env={**kept, "DATA_DIR": str(scratch / "site"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoPaper(f"“{' '.join(words[:2])}” took more than {LONGEST_S} s.") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise NoPaper(f"“{' '.join(words[:2])}” failed: {' '.join(said)}")


def _differing_figures(folder: Path, again: Path, study: Mapping[str, Any]) -> Iterator[str]:
    """Figures of an archive that come out otherwise from the labels beside them."""
    stored, computed = (_figures(place / str(study["archive"])) for place in (folder, again))
    beyond = _beyond(study)[1]
    for path, value in stored.items():
        if any(word in path for word in beyond):
            continue
        other = computed.get(path)
        are_numbers = isinstance(value, float | int) and isinstance(other, float | int)
        if are_numbers and abs(value - other) > CLOSE * max(1.0, abs(value)):
            yield f"{study['archive']}: figures.json has {value} for {path}, its labels give {other}"


def _beyond(study: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Beginning of a study's macros, and names of figures that its archive does not give, with why."""
    return macro_of(str(study["slug"])), dict(study.get("beyond_archive", {}))


def _other_hashes(folder: Path) -> Iterator[str]:
    """Numbers whose hash in `numbers.json` is not that of what it says, or whose macro says something else."""
    macros = _macros(folder / NUMBERS)
    try:
        numbers = orjson.loads((folder / NUMBERS_JSON).read_bytes())
        for number in numbers:
            item_set = number["item_set"]
            told = Number(
                number["macro"], number["text"], number["figure"], number["estimand"],
                item_set["n"], item_set["clusters"], number["archive"], (item_set["file"], item_set["sha256"]),
            )  # fmt: skip
            if told.sha256 != number["sha256"]:
                yield f"\\{number['macro']} has another hash in {NUMBERS_JSON} than what stands there"
            elif macros.get(number["macro"], ("",))[0] != number["text"]:
                yield f"\\{number['macro']} is {number['text']} in {NUMBERS_JSON}, not in {NUMBERS}"
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        yield f"{NUMBERS_JSON} cannot be read ({type(error).__name__})"


def _figures(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as zipped:
        name = next((name for name in zipped.namelist() if name.endswith("/figures.json")), None)
        return {} if name is None else dict(_leaves(orjson.loads(zipped.read(name))))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of plain values with its path; rows of a list by place."""
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, dict | list):
        yield path, value
    for key, inner in pairs:
        yield from _leaves(inner, f"{path}.{key}" if path else str(key))


def _macros(path: Path) -> dict[str, tuple[str, str]]:
    """Each macro of a file with its text and what it is."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NoPaper(f"{path.name} cannot be read.") from error
    return {match[1]: (match[2], match[3]) for line in lines if (match := MACRO.fullmatch(line))}


def _compared(
    stored: Mapping[str, tuple[str, str]],
    again: Mapping[str, tuple[str, str]],
    beyond: Sequence[tuple[str, Mapping[str, str]]],
) -> tuple[tuple[str, ...], int, Mapping[str, str]]:
    """Macros that differ, how many are the same, and those that cannot be computed again, with why."""
    different, unknown = [], {}
    for name, (text, about) in stored.items():
        if again.get(name, ("",))[0] == text:
            continue
        known = [words for start, words in beyond if name.startswith(start)]
        why = next((why for words in known for word, why in words.items() if word in about), "")
        if why or name not in again:
            unknown[name] = why or MISSING
        else:
            different.append(f"\\{name} is {text} in {NUMBERS}, computed again {again[name][0]} ({about})")
    return tuple(different), len(stored) - len(different) - len(unknown), unknown
