"""The wording of what models are asked: one file per task and protocol, the default text of a new judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


@cache
def default_prompt(protocol: str, task: str = "coverage", *, with_examples: bool = True) -> str:
    """The text for a task and a protocol: `one` insight or point per call, or `all` of a summary or response.

    Extraction has one text for both protocols. That of coverage ends with examples of our own, unless it is to
    have none, or others.

    Raises:
        FileNotFoundError: there is no such task or protocol.
    """
    text = text_of(task if task == "extraction" else f"{task}_{protocol}")
    if task == "coverage" and with_examples:
        return f"{text}\n\n{text_of(f'coverage_{protocol}_examples')}"
    return text


@cache
def text_of(name: str) -> str:
    """A wording by the name of its file; FileNotFoundError if there is none."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
