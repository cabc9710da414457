"""Pairs of insights and documents of a haystack as a question set, for a verification study."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.models import Document, Haystack, Insight, KeyPoint, Question, QuestionDocument
from benchmarks.synthesis.checks.pairs import Pair, Stratum, draw, key_of, sizes, strata
from benchmarks.synthesis.checks.plans import Plan, make_plan

CATEGORY = "pairs"


class NoPairs(ValueError):
    """There is nothing to ask about; the message says why."""


def plan_in(haystack: Haystack) -> Plan:
    """What a haystack of the database was planned to be."""
    return _read(haystack)[0]


def _read(haystack: Haystack) -> tuple[Plan, list[Insight], list[Document]]:
    rows = Insight.objects.filter(subtopic__haystack=haystack).select_related("subtopic")
    insights = list(rows.order_by("subtopic__number", "number"))
    documents = list(haystack.documents.order_by("number"))
    places = {document.number: at for at, document in enumerate(documents)}
    plan = make_plan(
        [insight.text for insight in insights],
        [insight.subtopic_id for insight in insights],
        [document.text for document in documents],
        [
            (at, places[number])
            for at, insight in enumerate(insights)
            for number in insight.gold_documents
            if number in places
        ],
    )
    return plan, insights, documents


def sizes_in(haystack: Haystack) -> dict[Stratum, int]:
    """How many pairs of each stratum a haystack has."""
    return sizes(strata(plan_in(haystack)))


@transaction.atomic
def make_set(*, haystack: Haystack, n: int, seed: int, by: Any, now: datetime) -> str:
    """Draw pairs and make a question of each of their documents; gives the name of the set, made once.

    No passage is marked, since marks would tell planned pairs from others.

    Raises:
        NoPairs: the haystack has no documents or no insights.
    """
    name = f"pairs-{haystack.uid.hex[:8]}-{n}-{seed}"
    Haystack.objects.select_for_update(no_key=True).get(pk=haystack.pk)
    if Question.objects.filter(dataset=name).exists():
        return name
    plan, insights, documents = _read(haystack)
    if not insights or not documents:
        raise NoPairs("There are no documents or no insights to ask about.")
    by_document: dict[int, list[Pair]] = defaultdict(list)
    for pair in draw(strata(plan), n, seed=seed):
        by_document[pair.document].append(pair)
    for at, pairs in by_document.items():
        document = documents[at]
        question = Question.objects.create(
            dataset=name,
            key=f"document-{document.number}",
            text=f"Does the text say this? ({haystack.title})",
            category=CATEGORY,
            haystack=haystack,
            language=haystack.language,
            n_words=document.n_words,
            created_by=by,
            created_at=now,
        )
        QuestionDocument.objects.create(
            question=question,
            number=1,
            key=document.key,
            title=document.title,
            text=document.text,
            n_words=document.n_words,
        )
        KeyPoint.objects.bulk_create(
            KeyPoint(question=question, number=number, key=key_of(pair), text=insights[pair.insight].text)
            for number, pair in enumerate(pairs, 1)
        )
    audit.record(actor=by, action="haystack.pairs_drawn", target=haystack, now=now, dataset=name, n=n)
    return name
