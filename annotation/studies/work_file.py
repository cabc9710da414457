"""What an archive of label work holds beside its labels: the names of these files, and the schema of `work.json`.

`annotation.exports.behind` writes them, `annotation.importing.label_work` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from annotation.states import LabelTaskState
from benchmarks.io.schemas.fields import Expected, Part, Text, no_nul
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LOWEST
from benchmarks.states import Grounded, Keyness, PointJudgment, SummaryOrigin, SystemKind

WORK = "work.json"
SMALLINT = 2**15 - 1


def question_file(dataset: str) -> str:
    """The file of the questions of a dataset."""
    return f"questions-{dataset}.jsonl"


def _name(most: int, least: int = 1) -> Any:
    return Annotated[
        str,
        Field(strict=True, min_length=least, max_length=most),
        AfterValidator(no_nul),
        Expected(f"a text of {least} to {most} characters"),
    ]


def _one_of(*values: str) -> Any:
    def known(value: str) -> str:
        if value not in values:
            raise ValueError("unknown")
        return value

    words = ", ".join(values)
    return Annotated[str, Field(strict=True), AfterValidator(known), Expected(f"one of {words}")]


def _whole(low: int, high: int) -> Any:
    expected = Expected(f"a whole number from {low:,} to {high:,}")
    return Annotated[int, Field(strict=True, ge=low, le=high), expected]


def _rows(words: str, *types: Any) -> Any:
    """A list of rows, each a list with one value of each type."""
    return Annotated[list[Annotated[tuple[types], Expected(words)]], Expected("a list of rows")]  # type: ignore[valid-type]


Place = _whole(0, 2**31 - 1)
Version = _whole(1, SMALLINT)
Share = Annotated[float | None, Field(ge=0, le=1), Expected("a number from 0 to 1, or nothing")]
JudgeName = _name(120)


class Archived(Part):
    """A part of `work.json`; rows of tables are lists there, tuples here."""

    model_config = ConfigDict(strict=False)
    EXPECTED = "an object as an archive has it"


class HaystackPart(Archived):
    """A haystack as far as summaries need it."""

    key: _name(210)  # type: ignore[valid-type]
    title: _name(300)  # type: ignore[valid-type]
    language: _name(20)  # type: ignore[valid-type]


class SubtopicPart(Archived):
    """A subtopic of it."""

    key: _name(120)  # type: ignore[valid-type]
    number: Place  # type: ignore[valid-type]
    name: _name(300)  # type: ignore[valid-type]
    query: Text


class SystemPart(Archived):
    """Who wrote a summary."""

    key: _name(200)  # type: ignore[valid-type]
    kind: _one_of(*SystemKind.values)  # type: ignore[valid-type]
    summarizer: _name(120)  # type: ignore[valid-type]
    retriever: _name(120, 0)  # type: ignore[valid-type]
    document_order: _name(40, 0)  # type: ignore[valid-type]


class SummaryPart(Archived):
    """A summary with the place that it has."""

    haystack: HaystackPart
    subtopic: SubtopicPart
    system: SystemPart
    origin: _one_of(*SummaryOrigin.values)  # type: ignore[valid-type]
    text: Annotated[str, AfterValidator(no_nul), Expected("a text")]


class ItemPart(Archived):
    """What every item has."""

    id: _name(400)  # type: ignore[valid-type]
    block: _name(80, 0)  # type: ignore[valid-type]
    n_questions: _whole(1, SMALLINT)  # type: ignore[valid-type]
    is_overlap: Annotated[bool, Field(strict=True), Expected("true or false")]


class SummaryItem(ItemPart):
    """A summary to rate."""

    summary: SummaryPart


class PointItem(ItemPart):
    """A key point beside the documents of its question."""

    dataset: _name(80)  # type: ignore[valid-type]
    question: _name(120)  # type: ignore[valid-type]
    key_point: _name(120)  # type: ignore[valid-type]


class PairItem(PointItem):
    """A key point and a response."""

    system: _name(200)  # type: ignore[valid-type]


Tasks = _rows(
    "person, item, state, answers given and active time of a task",
    _name(120), Place, _one_of(*LabelTaskState.values), _whole(0, SMALLINT), _whole(0, 2**63 - 1),
)  # fmt: skip


class PeoplePerItem(Archived):
    """Settings of a rating study."""

    people_per_item: _whole(1, SMALLINT)  # type: ignore[valid-type]


class PeoplePerQuestion(Archived):
    """Settings of a verification study."""

    people_per_question: _whole(1, SMALLINT)  # type: ignore[valid-type]


class ValidationSettings(PeoplePerItem):
    """Settings of a validation study, with the judge by name and version."""

    shows_verdict: Annotated[bool, Field(strict=True), Expected("true or false")]
    asks_why_not: Annotated[bool, Field(strict=True), Expected("true or false")]
    judge: Annotated[tuple[JudgeName, Version], Expected("name and version of a judge")]  # type: ignore[valid-type]


Ratings = _rows(
    "judge, version, item, aspect and value",
    JudgeName,
    Version,
    Place,
    _one_of(*ASPECTS),
    _whole(LOWEST, HIGHEST) | None,
)
Judgments = _rows(
    "judge, version, item, judgment and answer",
    JudgeName, Version, Place, _one_of(*PointJudgment.values), _one_of("", *Grounded.values, *Keyness.values),
)  # fmt: skip
Entailments = _rows(
    "judge, version, item if it is one, dataset, question, system, key point and answer",
    JudgeName, Version, Place | None, _name(80), _name(120), _name(200), _name(120), _one_of(*ENTAILMENTS),
)  # fmt: skip
Scores = _rows(
    "judge, version, item, repeat, score and its bounds",
    JudgeName, Version, Place, _whole(0, SMALLINT), Share, Share, Share,
)  # fmt: skip


class RatingWork(Archived):
    """Of a rating study."""

    items: Annotated[list[SummaryItem], Expected("a list of items")]
    plan: PeoplePerItem
    tasks: Tasks  # type: ignore[valid-type]
    judges: Ratings  # type: ignore[valid-type]
    autods: ClassVar[Sequence[Any]] = ()


class VerificationWork(Archived):
    """Of a verification study."""

    items: Annotated[list[PointItem], Expected("a list of items")]
    plan: PeoplePerQuestion
    tasks: Tasks  # type: ignore[valid-type]
    judges: Judgments  # type: ignore[valid-type]
    autods: Scores = Field(default_factory=list)  # type: ignore[valid-type]


class ValidationWork(Archived):
    """Of a validation study."""

    items: Annotated[list[PairItem], Expected("a list of items")]
    plan: ValidationSettings
    tasks: Tasks  # type: ignore[valid-type]
    judges: Entailments  # type: ignore[valid-type]
    autods: ClassVar[Sequence[Any]] = ()
