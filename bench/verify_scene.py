"""People who verify: everybody gets every key point, about as many as one of four people had in Long²RAG."""

from __future__ import annotations

import random
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from annotation.models import LabelTask, Study, VerificationPlan
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.verification import planning
from bench.corpus import sentences
from bench.scene import cookies, people_named
from benchmarks.models import KeyPoint, Question, QuestionDocument, Span

N_DOCUMENTS, N_WORDS = 5, 5000
N_QUESTIONS = 140
POINTS_EACH = 15
N_CHOSEN = 40


def prepare(name: str, n_people: int, n_long: int) -> list[dict[str, Any]]:
    """A study, its people with cookies, the pages that they open and the forms that they send.

    Of its questions so many have long documents.
    """
    now = timezone.now()
    users = people_named(name, n_people, now=now)
    long = _questions(f"{name}-long", n_long, N_WORDS, now=now)
    short = _questions(f"{name}-short", N_QUESTIONS - n_long, 200, now=now)
    study = planning.create_study(
        details=lifecycle.Details(name=f"Measured, {name}", contact="bench@example.org"),
        plan=VerificationPlan(control_share=Decimal(1)),
        questions=[*long, *short],
        guidelines=default_guidelines(Study.Kind.VERIFICATION),
        by=None,
        now=now,
        annotators=[user.annotator for user in users],
    )
    lifecycle.open_study(study=study, by=None, now=now)
    agreed = consent.ensure_default_consent(now=now)
    for user in users:
        consent.give(annotator=user.annotator, version=agreed.version, now=now)
    found = []
    for user in users:
        own = LabelTask.objects.filter(study=study, annotator=user.annotator).order_by("position")
        places = [(uid, question) for uid, question in own.values_list("uid", "item__question")]
        pages: dict[int, list[str]] = {question.pk: [] for question in long}
        for uid, question in places:
            if question in pages:
                pages[question].append(f"/work/verification/{uid}/")
        found.append(
            {
                "person": user.annotator.pk,
                "pages": list(pages.values()),
                "forms": _forms([uid for uid, _ in places[:N_CHOSEN]]),
                **cookies(user),
            }
        )
    return found


def _questions(name: str, count: int, n_words: int, *, now: datetime) -> list[Question]:
    """Questions with documents of so many words each, and key points with a located span each."""
    dice, pool = random.Random(name), sentences()  # noqa: S311 - filler
    questions = Question.objects.bulk_create(
        Question(
            dataset="measured",
            key=f"{name}-{n}",
            text=f"What do the reports of {name} {n} say of the crossing, and why?",
            category="causal",
            domain="transport",
            n_words=N_DOCUMENTS * n_words,
            created_at=now,
        )
        for n in range(count)
    )
    for question in questions:
        texts = [_text(pool, n_words, dice) for _ in range(N_DOCUMENTS)]
        documents = QuestionDocument.objects.bulk_create(
            QuestionDocument(
                question=question, number=n, key=f"d{n}", title=f"Report {n}", text=text, n_words=n_words
            )
            for n, text in enumerate(texts, 1)
        )
        points = KeyPoint.objects.bulk_create(
            KeyPoint(question=question, number=n, key=f"k{n}", text=f"Point {n}: {dice.choice(pool)}")
            for n in range(1, POINTS_EACH + 1)
        )
        spans = []
        for point in points:
            document = dice.choice(documents)
            start = dice.randrange(len(document.text) - 200)
            where = {"start": start, "end": start + 160, "match_ratio": 1.0, "is_exact": True}
            quote = document.text[start : start + 160]
            spans.append(Span(key_point=point, number=1, document=document, quote=quote, **where))
        Span.objects.bulk_create(spans)
    return questions


def _text(pool: list[str], n_words: int, dice: random.Random) -> str:
    chosen, count = [], 0
    while count < n_words:
        chosen.append(dice.choice(pool))
        count += len(chosen[-1].split())
    return "\n\n".join(" ".join(chosen[at : at + 6]) for at in range(0, len(chosen), 6))


def _forms(tasks: list[UUID]) -> list[list[str]]:
    """A no, a yes and a complete answer to every task in turn."""
    answers = [{"grounded": "no"}, {"grounded": "yes"}, {"grounded": "yes", "keyness": "agree"}]
    return [
        [f"/work/verification/{uid}/choice/", urlencode({"guideline": 1, **answer})]
        for answer in answers
        for uid in tasks
    ]
