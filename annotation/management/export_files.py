"""Common to commands that export files: arguments, and a file that is there once it is complete."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from annotation.exports.archive import arriving
from annotation.models import Study
from benchmarks import audit
from benchmarks.web.downloads import READERS, SPREADSHEETS


def add_reader(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--for",
        dest="reader",
        choices=READERS,
        default=SPREADSHEETS,
        help="CSV: for programs every text is as it is; for spreadsheets (default) what they would run as a"
        " formula begins with an apostrophe",
    )


def add_archive(parser: ArgumentParser) -> None:
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")
    parser.add_argument("--licence", default="", metavar="TEXT", help="for instance CC BY 4.0")


def write_archive_file(
    options: Mapping[str, Any], write: Callable[..., Mapping[str, Any]], *, of: Study | None, now: datetime
) -> str:
    """Have `write(file, licence=…, now=…)` write an archive to `--out`, record it, and say how many files it has.

    `write` gives the manifest.

    Raises:
        CommandError: the file cannot be written.
    """
    out: Path = options["out"]
    with arriving(out) as file:
        manifest = write(file, licence=options["licence"].strip(), now=now)
    audit.record_export(target=of, files=[out.name], now=now)
    return f"{len(manifest['files']) + 1} files in {out}"
