"""What a subcommand of `manage.py synthesize` is. A new one is a module with one, and a line in the list."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas.topics import TopicFile


class SynthesisRefused(Exception):
    """It cannot be done as asked; the message says why and what to do."""


class Failed(Exception):
    """It was done, and what came out is not good: the command ends with status 1 and prints nothing more."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where a subcommand writes lines: `result` to stdout, `note` to stderr."""

    result: Callable[[str], None]
    note: Callable[[str], None]

    def json(self, value: Any) -> None:
        """Write plain values as JSON."""
        self.result(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One subcommand: `run` gets the parsed options.

    `run` raises `SynthesisRefused` where it cannot begin or go on, `Failed` after it has said what is wrong.
    """

    name: str
    help: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Mapping[str, Any], Output], None]


def read_haystack(path: Path) -> TopicFile:
    """A haystack file in the published format.

    Raises:
        SynthesisRefused: it is not one; the message names the place.
    """
    try:
        return summhay.parse(path, limit_bytes=settings.UPLOAD_LIMIT_BYTES)
    except ImportFailed as failure:
        raise SynthesisRefused(f"{path.name}: {failure}") from failure
    except OSError as error:
        raise SynthesisRefused(f"{path}: {error.strerror}") from error
