"""The wording of what models are asked: one file per task and protocol, the default text of a new judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


@cache
def default_prompt(protocol: str) -> str:
    """The text for a protocol of coverage: `one` insight per call or `all` of a summary.

    Raises:
        FileNotFoundError: there is no such protocol.
    """
    return (_FOLDER / f"coverage_{protocol}.md").read_text(encoding="utf-8").strip()
