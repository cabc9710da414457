"""Commands, run as from a shell."""

import io
import json
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
