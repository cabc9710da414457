"""Commands, run as from a shell, tables in files, and waiting for what others do."""

import csv
import io
import json
import time
from collections.abc import Callable
from typing import Any

from django.core.management import call_command


def output_of(*args, **options) -> str:
    """What a command prints."""
    out = io.StringIO()
    call_command(*map(str, args), stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def json_of(*args):
    """What a command prints with --json."""
    return json.loads(output_of(*args, "--json"))


def told_by(*args) -> tuple[int, Any]:
    """The exit code of a command, and what it prints with --json."""
    out = io.StringIO()
    try:
        call_command(*map(str, args), "--json", stdout=out, stderr=io.StringIO())
    except SystemExit as left:
        return int(str(left.code)), json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


def wait_for(is_so: Callable[[], object], *, seconds: float = 120) -> None:
    """Look again and again until it is so; fails if that takes longer."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, f"not within {seconds} s"
        time.sleep(0.1)


def csv_rows(content: str | bytes) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    return list(csv.DictReader(io.StringIO(text)))
