"""`synthesize lint FILE.toml`: what a writer of a pack should look at."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from extensions.synthesis.commands.base import Failed, Output, Subcommand, SynthesisRefused
from extensions.synthesis.packs.filling import NoWorld
from extensions.synthesis.packs.linting import Finding, lint
from extensions.synthesis.packs.reading import UnreadablePack, read_pack


def add_arguments(parser: ArgumentParser) -> None:
    """Take a file."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a pack: TOML, with its parts beside it")
    parser.add_argument("--json", action="store_true", help="print a list of objects")


def run(options: Mapping[str, Any], output: Output) -> None:
    """Print findings; status 1 when there are any."""
    try:
        findings = lint(read_pack(options["file"]))
    except UnreadablePack as error:
        findings = [Finding(*problem.split(": ", 1)) for problem in error.problems]
    except NoWorld as error:
        raise SynthesisRefused(f"{options['file'].name}: {error}") from error
    if options["json"]:
        output.json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.result(str(finding))
        output.note(f"{len(findings)} to look at" if findings else "Nothing to change.")
    if findings:
        raise Failed


LINT = Subcommand(
    name="lint",
    help="Check the texts of a pack: slots, wording, and how telling each one is to the offline judge.",
    add_arguments=add_arguments,
    run=run,
)
