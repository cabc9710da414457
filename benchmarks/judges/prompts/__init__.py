"""The wording of what models are asked: one file per task and protocol, the default text of a new judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


@cache
def default_prompt(protocol: str, task: str = "coverage") -> str:
    """The text for a task and a protocol: `one` insight or point per call, or `all` of a summary or response.

    Extraction has one text for both protocols.

    Raises:
        FileNotFoundError: there is no such task or protocol.
    """
    return text_of(task if task == "extraction" else f"{task}_{protocol}")


@cache
def text_of(name: str) -> str:
    """A wording by the name of its file; FileNotFoundError if there is none."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
