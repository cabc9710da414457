"""Extraction recall (Long²RAG §3.3): how many of the points that people named are among the extracted ones.

Extracted are the key points of a question, or the points that a judge took from a response. People say whether a
point is among them; the offline judge says so of all, by the extracted point that is closest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benchmarks.engine import texts
from benchmarks.io.reading import tables
from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas import named_points
from benchmarks.io.schemas.named_points import NamedPoint
from benchmarks.judges.base import ItemRef
from benchmarks.judges.registry import lexical_config, offline_judge
from benchmarks.models import Extraction, Judge, KeyPoint, Question, Response, ResponsePoint
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.keypoints import Entailment, extraction_recall
from benchmarks.scoring.stat import Stat


class NotThere(ValueError):
    """A row names a question or a response that is not here, or that nobody has extracted points from."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A named point, the extracted point that is closest, and whether the offline judge takes it for the same."""

    named: NamedPoint
    question: int
    closest: str
    is_alike: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """Extraction recall by people, on the points that they looked for, and by the offline judge, on all.

    `agreement` is how often the offline judge says what people say.
    """

    points: tuple[Compared, ...]
    n_questions: int
    n_labelled: int
    people: Mapping[str, Stat]
    lexical: Mapping[str, Stat]
    agreement: Stat

    @property
    def not_found(self) -> list[Compared]:
        """Points that are not among the extracted ones, by people where they have looked for them."""
        return [one for one in self.points if not _is_found(one)]


Place = tuple[str, str]
"""A question by its key, and a system or nothing."""


def named_in(source: Path | BinaryIO, *, name: str = "", limit_bytes: int) -> list[NamedPoint]:
    """The points of a CSV or JSONL file; raises `ImportFailed`."""
    problems = Problems()
    with tables.opened(
        source, problems, name=name, limit_bytes=limit_bytes, required=named_points.REQUIRED
    ) as rows:
        return named_points.read(rows, problems)


def recalled(named: Sequence[NamedPoint], *, dataset: str, judge: Judge | None) -> Recalled:
    """The figures; raises `NotThere` as `compared` does."""
    found = compared(named, dataset=dataset, judge=judge)
    labelled = [one for one in found if one.named.found is not None]
    same = [one.is_alike == one.named.found for one in labelled]
    return Recalled(
        points=tuple(found),
        n_questions=len({one.question for one in found}),
        n_labelled=len(labelled),
        people=extraction_recall([(one.question, bool(one.named.found)) for one in labelled]),
        lexical=extraction_recall([(one.question, one.is_alike) for one in found]),
        agreement=rate(same, clusters=[one.question for one in labelled], method="same answer"),
    )


def _is_found(one: Compared) -> bool:
    return one.is_alike if one.named.found is None else one.named.found


def compared(named: Sequence[NamedPoint], *, dataset: str, judge: Judge | None) -> list[Compared]:
    """Look for named points among the extracted ones; `judge` is whose extraction of responses is meant.

    Raises:
        NotThere: a row names what is not here.
    """
    questions = _questions(named, dataset)
    extracted = _key_points(questions) | _of_responses(named, questions, judge)
    members: dict[Place, list[NamedPoint]] = defaultdict(list)
    for one in named:
        members[one.question, one.system].append(one)
    known = texts.of_questions(questions.values())
    asked = offline_judge(Judge.Kind.LEXICAL, lexical_config())
    found = []
    for place, points in members.items():
        refs = [ItemRef(one.where, one.text) for one in points]
        question, there = questions[place[0]], extracted.get(place, [])
        background = known[question].background().with_insights([one.text for one in points])
        verdicts = asked.judge_support(refs, there, background)
        for one, verdict in zip(points, verdicts, strict=True):
            closest = "" if verdict.sentence is None else there[verdict.sentence - 1]
            found.append(Compared(one, question, closest, verdict.answer == Entailment.YES))
    return found


def _questions(named: Sequence[NamedPoint], dataset: str) -> dict[str, int]:
    rows = Question.objects.of(dataset=dataset).filter(archived_at=None, key__in={one.question for one in named})
    found: dict[str, int] = {}
    for key, pk in rows.values_list("key", "pk"):
        if key in found:
            raise NotThere(
                f"Several question sets have a question “{key}”: say which (on the command line with --dataset)."
            )
        found[key] = pk
    for one in named:
        if one.question not in found:
            raise NotThere(f"{one.where}: there is no question “{one.question}”.")
    return found


def _key_points(questions: Mapping[str, int]) -> dict[Place, list[str]]:
    keys = {pk: key for key, pk in questions.items()}
    found: dict[Place, list[str]] = {(key, ""): [] for key in questions}
    rows = KeyPoint.objects.filter(question__in=keys).order_by("question", "number")
    for question, text in rows.values_list("question", "text"):
        found[keys[question], ""].append(text)
    return found


def _of_responses(
    named: Sequence[NamedPoint], questions: Mapping[str, int], judge: Judge | None
) -> dict[Place, list[str]]:
    wanted = {(one.question, one.system): one.where for one in named if one.system}
    keys, found = {pk: key for key, pk in questions.items()}, dict[Place, list[str]]()
    systems = {system for _, system in wanted}
    responses = Response.objects.filter(question__in=keys, system__key__in=systems)
    taken = Extraction.objects.filter(judge=judge, is_valid=True, response__in=responses)
    for question, system in taken.values_list("response__question", "response__system__key"):
        found[keys[question], system] = []
    points = ResponsePoint.objects.filter(extraction__in=taken).order_by("extraction", "number")
    fields = ("extraction__response__question", "extraction__response__system__key", "text")
    for question, system, text in points.values_list(*fields):
        found[keys[question], system].append(text)
    for place, where in wanted.items():
        if place not in found:
            by = f"{judge} has not" if judge else "nobody has"
            raise NotThere(f"{where}: {by} extracted points from a response of “{place[1]}” to “{place[0]}”.")
    return found
