"""Scores of texts on sources by metrics that are computed elsewhere, as JSONL: those of a text on each line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

from pydantic import AfterValidator, Field

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import Limits, example
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import Expected, Id, Part, checked
from benchmarks.io.schemas.long2rag import Name
from benchmarks.io.schemas.sources import SCORES, named_scores

EXAMPLE = example("source-scores.jsonl")


class ScorePart(Part):
    """One line of the file."""

    EXPECTED = "an object with a key, a system or a person, and scores"
    key: Id
    system: Name | None = None
    person: Name | None = None
    scores: Annotated[
        dict[str, Annotated[float, Expected(SCORES)]],
        Field(min_length=1),
        AfterValidator(named_scores),
        Expected(SCORES),
    ]


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of the text of a system or a person on a source; `where` is its line."""

    source: str
    writer: str
    is_person: bool
    scores: Mapping[str, float]
    where: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """The key of a line: the source with the writer."""
        return f"{self.source} · {self.writer}"


def parse(
    source: jsonlines.Source, *, problems: Problems | None = None, **limits: Unpack[Limits]
) -> tuple[TextScores, ...]:
    """Read all of a file, or of objects as its lines hold; raises `ImportFailed` if there is any error."""
    expected = "a text with its scores on each line"
    return jsonlines.all_rows(source, _scores, problems, expected=expected, **limits)


def _scores(where: str, value: Any, problems: Problems) -> TextScores | None:
    part = checked(ScorePart, value, where, problems, warns=True)
    if part is None:
        return None
    if (part.system is None) == (part.person is None):
        got = Got("neither" if part.system is None else "both")
        problems.error("wrong_value", where, "", expected="either a system or a person", got=got)
        return None
    return TextScores(part.key, part.system or part.person or "", part.system is None, part.scores, where)
