"""Files of seed questions: a question on each line, as JSON, with its answer and perhaps its category. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Unpack

from pydantic import Field

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import Limits
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import Expected, Part, Text, checked, label
from benchmarks.io.schemas.long2rag import CATEGORIES, known_name


@dataclass(frozen=True)
class Seed:
    """A question that somebody asked, and the longest answer that it got."""

    question: str
    answer: str = ""
    category: str = ""


class SeedPart(Part):
    """One line of the file."""

    EXPECTED = "an object with a question"
    question: Text = Field(description="The question.")
    answer: Annotated[str, Expected("a text")] = Field(
        default="", description="Its answer; questions with the longest ones are taken."
    )
    category: label(60) = Field(default="", description="Kind of question, where it is known.")  # type: ignore[valid-type]


def parse(source: jsonlines.Source, *, problems: Problems, **limits: Unpack[Limits]) -> tuple[Seed, ...]:
    """Read all of a file, each question once, with its longest answer; `ImportFailed` if there is any error."""
    seeds: dict[str, Seed] = {}
    for where, value in jsonlines.values(source, problems, **limits):
        seed = _seed(where, value, problems)
        if seed is not None:
            same = seed.question.casefold()
            seeds[same] = max(seeds.get(same, seed), seed, key=lambda seed: len(seed.answer.split()))
    if not seeds and not problems.n_errors:
        problems.error("empty_file", "", "", expected="a question on each line", got=Got("none"))
    problems.raise_errors()
    return tuple(seeds.values())


def _seed(where: str, value: Any, problems: Problems) -> Seed | None:
    part = checked(SeedPart, value, where, problems, warns=True)
    if part is None:
        return None
    return Seed(" ".join(part.question.split()), part.answer, known_name(part.category, CATEGORIES))


def read(path: Path, *, limit_bytes: int) -> tuple[Seed, ...]:
    """The seeds of a file; raises `ImportFailed` and OSError."""
    return parse(path, problems=Problems(file=path.name), limit_bytes=limit_bytes)
