"""The wording of what models are asked in a synthesis: one file a prompt, with fields in braces. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "prompts"
_FIELD = re.compile(r"\{([a-z]+)\}")
PROMPTS = (
    "subtopics",
    "insights",
    "insight_again",
    "category",
    "overlap",
    "document",
    "repair",
    "included",
    "query",
    "distinct",
    "chapter",
    "belongs",
    "closed_book",
    "points",
    "grouping",
    "sorting",
    "criterion",
    "category_of_question",
    "wider",
    "deeper",
    "subquestions",
    "key_points",
    "aggregation",
)
"""The names of all wordings."""
OF_HAYSTACKS = PROMPTS[: PROMPTS.index("points")]
OF_QUESTIONS = PROMPTS[PROMPTS.index("criterion") :]


@cache
def default_prompt(name: str) -> str:
    """A wording by its name; FileNotFoundError if there is none."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def filled(prompt: str, fields: Mapping[str, str]) -> str:
    """A wording with its fields, each once: braces in what is filled in stay as they are, unknown ones too."""
    return _FIELD.sub(lambda match: fields.get(match[1], match[0]), prompt)


def prompt_sha256(prompt: str) -> str:
    """Hash of a wording before it is filled."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def inspiring(documents: Sequence[str]) -> str:
    """Documents that give ideas, as the field of a wording; empty without any."""
    if not documents:
        return ""
    texts = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(documents, 1))
    return (
        "These documents may give you ideas. Take no name, number or date from them, so that nobody can know the "
        f"answers from elsewhere:\n\n{texts}\n\n"
    )


def numbered(lines: list[str] | tuple[str, ...]) -> str:
    """Lines with their numbers from 1."""
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)) or "(none)"
