"""A verification study straight in the database, for tests of the work itself, dealt to everybody."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from annotation.models import Guideline, LabelItem, LabelTask, Membership, Study, VerificationPlan
from benchmarks.models import KeyPoint, Question, QuestionDocument, Span
from tests.makers import NOW, annotator_of, give_consent

POINTS = ("The ferry leaves at six.", "The pier opens in 2031.", "A crossing costs four euros.")
TEXT = (
    "Notices of the harbour.\n\nBoats leave at six in the morning, every day but Sunday.\n\n"
    "Tickets cost four euros."
)


def make_points_question(
    *,
    key: str = "q1",
    text: str = "When does the ferry leave, and what does it cost?",
    texts: Sequence[str] = (TEXT, "On the pier.\n\nThe new pier opens in the spring of 2031."),
    points: Sequence[str] = POINTS,
    quotes: Sequence[str] = ("Boats leave at six in the morning", "The new pier opens", "no such words"),
    language: str = "en",
    now: datetime = NOW,
) -> Question:
    """Make a question; each point has one span, located where a document holds its quote."""
    question = Question.objects.create(
        dataset="ferry", key=key, text=text, category="factual", domain="Travel", language=language, created_at=now
    )
    documents = [
        QuestionDocument.objects.create(
            question=question,
            number=n,
            key=f"{key}-d{n}",
            title=f"Notice {n}",
            text=body,
            n_words=len(body.split()),
        )
        for n, body in enumerate(texts, 1)
    ]
    for n, (words, quote) in enumerate(zip(points, quotes, strict=True), 1):
        point = KeyPoint.objects.create(question=question, number=n, key=f"{key}-k{n}", text=words, autods=0.375)
        add_span(point, quote, documents)
    return question


def add_span(point: KeyPoint, quote: str, documents: Iterable[QuestionDocument], *, number: int = 1) -> Span:
    """Locate a quote in the first document that holds it."""
    for document in documents:
        start = document.text.find(quote)
        if start >= 0:
            where = {"start": start, "end": start + len(quote), "match_ratio": 1.0, "is_exact": True}
            return Span.objects.create(key_point=point, number=number, document=document, quote=quote, **where)
    return Span.objects.create(key_point=point, number=number, quote=quote)


def make_points_study(
    *,
    annotators: Iterable[Any],
    questions: Iterable[Question] | None = None,
    researcher=None,
    now: datetime = NOW,
    **fields,
) -> Study:
    """Make an open study in which everybody verifies all key points of the questions, in their order."""
    values = {"name": "Ferry points", "contact": "study@example.org", "seed": 7, "state": Study.State.OPEN}
    study = Study.objects.create(
        kind=Study.Kind.VERIFICATION, created_at=now, created_by=researcher, **(values | fields)
    )
    if researcher is not None:
        study.researchers.add(researcher)
    VerificationPlan.objects.create(study=study)
    Guideline.objects.create(study=study, version=1, body="Look, *then* judge.", created_at=now)
    people = [annotator_of(person) for person in annotators]
    give_consent(*people, now=now)
    items = [
        LabelItem.objects.create(
            study=study,
            question=question,
            key_point=point,
            highlight_of=point,
            block=str(question.uid),
            n_questions=1,
            added_at=now,
        )
        for question in (questions if questions is not None else [make_points_question(now=now)])
        for point in question.key_points.order_by("number")
    ]
    for number, person in enumerate(people, 1):
        Membership.objects.create(study=study, annotator=person, number=number, joined_at=now)
        for position, item in enumerate(items, 1):
            LabelTask.objects.create(
                study=study, annotator=person, item=item, position=position, n_questions=1, created_at=now
            )
    return study
