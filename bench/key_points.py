"""Questions with as many key points as people verified in Long²RAG: what dealing and agreement are measured on."""

from __future__ import annotations

from datetime import datetime

from benchmarks.models import KeyPoint, Question

N_POINTS, N_QUESTIONS = 8_457, 560
BATCH = 2_000


def make(*, now: datetime) -> list[Question]:
    """The questions, of eight categories and ten domains, stored with their key points."""
    questions = Question.objects.bulk_create(
        Question(
            dataset="bench",
            key=f"q{at}",
            text="What?",
            category=f"c{at % 8}",
            domain=f"d{at % 10}",
            created_at=now,
        )
        for at in range(N_QUESTIONS)
    )
    points = (
        KeyPoint(
            question=questions[at % N_QUESTIONS], number=at // N_QUESTIONS + 1, key=f"k{at}", text=f"Fact {at}."
        )
        for at in range(N_POINTS)
    )
    KeyPoint.objects.bulk_create(points, batch_size=BATCH)
    return questions
