"""Pairs of insights and documents of a haystack as a question set, for a verification study: drawn by stratum."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.verification.labels import Stratum
from benchmarks import audit
from benchmarks.models import Document, Haystack, Insight, KeyPoint, Question, QuestionDocument
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from extensions.synthesis.checks.lexical import BAND, compare
from extensions.synthesis.checks.plans import Plan, make_plan

CATEGORY = "pairs"


class NoPairs(ValueError):
    """There is nothing to ask about; the message says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An insight and a document of a plan, by position."""

    stratum: Stratum
    insight: int
    document: int


def strata(plan: Plan) -> dict[Stratum, list[Pair]]:
    """All pairs of a haystack; not planned ones are close from the lower end of the band on where words decide."""
    pairs: dict[Stratum, list[Pair]] = {stratum: [] for stratum in Stratum}
    best = compare(plan).best
    for insight in range(len(plan.insights)):
        for document in range(len(plan.documents)):
            is_close = best[insight, document] >= BAND[0]
            stratum = Stratum.CLOSE if is_close else Stratum.FAR
            if plan.planted[insight, document]:
                stratum = Stratum.PLANNED
            pairs[stratum].append(Pair(stratum, insight, document))
    return pairs


def draw(by_stratum: dict[Stratum, list[Pair]], n: int, *, seed: int) -> list[Pair]:
    """Half of `n` planned, the others in equal parts close and far, or all where there are fewer; by document."""
    shares = {Stratum.PLANNED: n - n // 2, Stratum.CLOSE: n // 2 - n // 4, Stratum.FAR: n // 4}
    chosen = [
        pair
        for stratum, n_wanted in shares.items()
        for pair in sorted(by_stratum[stratum], key=lambda pair: _place(pair, seed))[:n_wanted]
    ]
    return sorted(chosen, key=lambda pair: (pair.document, _place(pair, seed)))


def _place(pair: Pair, seed: int) -> str:
    return hashlib.sha256(f"{seed}|{pair.insight}|{pair.document}".encode()).hexdigest()


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
    return {stratum: len(pairs) for stratum, pairs in strata(_read(haystack)[0]).items()}


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
            KeyPoint(
                question=question,
                number=number,
                key=f"{pair.stratum}:{pair.insight + 1}",
                text=insights[pair.insight].text,
            )
            for number, pair in enumerate(pairs, 1)
        )
    audit.record(actor=by, action="haystack.pairs_drawn", target=haystack, now=now, dataset=name, n=n)
    return name


class PairsForm(forms.Form):
    """How many pairs are drawn, and by which seed."""

    n = forms.IntegerField(
        label="Pairs", min_value=4, max_value=5000, initial=200,
        help_text="Half of them planned; the others in equal parts close by words and far from it.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, initial=1)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("annotation.add_study")
def haystack_pairs(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Draw them, then go on to a new verification study of them."""
    haystack = get_object_or_404(Haystack.objects.for_work(), uid=uid)
    form = PairsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            name = make_set(haystack=haystack, **form.cleaned_data, by=request.user, now=timezone.now())
            return redirect(f"{reverse('annotation:study-create', args=['verification'])}?dataset={name}")
        except NoPairs as error:
            form.add_error(None, str(error))
    status = 422 if request.method == "POST" else 200
    return page(request, "synthesis/pairs_new.html", {"form": form, "haystack": haystack}, status=status)
