"""Responses with key points, verdicts and extracted points, made straight in the database."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from benchmarks.models import (
    Extraction,
    Judge,
    KeyPoint,
    PointVerdict,
    Question,
    QuestionDocument,
    Response,
    ResponsePoint,
    System,
)

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_ANSWERS = {"y": "yes", "n": "no", "-": ""}


def make_judge(name: str, *, kind: str = "lexical") -> Judge:
    """A judge whose verdicts a test writes itself."""
    return Judge.objects.create(name=name, kind=kind, config_sha256="0" * 64, created_at=NOW)


def make_response(
    key: str,
    *,
    system: str,
    n_points: int,
    category: str = "",
    domain: str = "",
    n_words: int = 40,
    text: str = "",
    dataset: str = "long2rag",
) -> Response:
    """A system's response to a question of its own (or one made before under this key)."""
    question, is_new = Question.objects.get_or_create(
        dataset=dataset,
        key=key,
        defaults={
            "text": f"Why {key}?", "category": category, "domain": domain, "n_words": 6, "created_at": NOW,
        },
    )  # fmt: skip
    if is_new:
        QuestionDocument.objects.create(
            question=question,
            number=1,
            key=f"{key}-1",
            title="Log",
            text=f"The log of {key} says little.",
            n_words=6,
        )
        for number in range(1, n_points + 1):
            KeyPoint.objects.create(
                question=question, number=number, key=f"{key}-{number}", text=f"{key} {number}."
            )
    row, _ = System.objects.get_or_create(key=system, defaults={"summarizer": system})
    words = text or " ".join(["word"] * n_words)
    return Response.objects.create(
        question=question,
        system=row,
        text=words,
        text_sha256=hashlib.sha256(words.encode()).hexdigest(),
        n_words=len(words.split()),
        created_at=NOW,
    )


def say(judge: Judge, response: Response, answers: Sequence[str]) -> None:
    """Verdicts on the key points of a response in order; an empty one is invalid."""
    PointVerdict.objects.bulk_create(
        PointVerdict(
            judge=judge, premise="response", response=response, key_point=point, answer=answer,
            is_valid=bool(answer), raw={"sentence": 1, "evidence": "word"}, created_at=NOW,
        )
        for point, answer in zip(response.question.key_points.order_by("number"), answers, strict=True)
    )  # fmt: skip


def extract(judge: Judge, response: Response, n_points: int) -> Extraction:
    """A response taken apart into points."""
    extraction = Extraction.objects.create(judge=judge, response=response, created_at=NOW)
    for number in range(1, n_points + 1):
        ResponsePoint.objects.create(extraction=extraction, number=number, text=f"Point {number}.")
    return extraction


def support(judge: Judge, extraction: Extraction, **said: str) -> None:
    """Verdicts on the points by premise, a letter each: y, n, or - for an invalid one."""
    for premise, letters in said.items():
        for point, letter in zip(extraction.points.order_by("number"), letters, strict=True):
            PointVerdict.objects.create(
                judge=judge, premise=premise, response=extraction.response, point=point,
                answer=_ANSWERS[letter], is_valid=letter != "-", created_at=NOW,
            )  # fmt: skip
