"""Pages that need no model: haystacks from packs, and pairs of a haystack for a verification study."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django import forms
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.verification.labels import Stratum
from benchmarks import audit
from benchmarks.io import jobs
from benchmarks.io.pages import ADD, start
from benchmarks.io.published import DOCUMENT, PUBLISHED_JUDGE, values_of
from benchmarks.io.schemas.summhay import dump
from benchmarks.models import Document, Haystack, Insight, KeyPoint, Question, QuestionDocument
from benchmarks.web.groups import GroupedForm, own_group
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from extensions.synthesis.checks import BAND, Plan, compare, make_plan
from extensions.synthesis.packs import HIGHEST_SEED, make, preview
from extensions.synthesis.packs.dealing import NoWorld
from extensions.synthesis.packs.reading import named, shipped
from extensions.synthesis.packs.schema import Pack

FORMAT = "summhay"


@cache
def shelf(name: str) -> Pack:
    """A pack that comes with the program, read once a process: such packs do not change while it runs."""
    return named(name)


class PackForm(GroupedForm):
    pack = forms.ChoiceField(label="Pack")
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=HIGHEST_SEED, initial=1,
        help_text="The same seed always gives the same haystack.",
    )  # fmt: skip
    unlike = forms.IntegerField(
        label="Unlike seed", min_value=0, max_value=HIGHEST_SEED, required=False,
        help_text="Optional: every value differs from those of this seed, for a parallel form.",
    )  # fmt: skip
    dataset = forms.SlugField(
        label="Dataset", max_length=80, required=False,
        help_text="Optional: one name for what belongs together; letters, digits, - and _.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pack"].choices = [(name, shelf(name).title) for name in shipped()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Two seeds that are the same leave nothing to differ."""
        cleaned = super().clean() or {}
        if "seed" in cleaned and cleaned.get("unlike") == cleaned["seed"]:
            self.add_error("unlike", "This is the seed itself; give another one, or none.")
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def pack_new(request: HtmxHttpRequest) -> HttpResponse:
    """Choose a pack and seeds. The fragment is what these draw; making one leads to the page of its import."""
    data = request.POST if request.method == "POST" else request.GET
    form = PackForm(data or {"pack": shipped()[0], "seed": 1, "group": own_group()})
    shown: dict[str, Any] | None = None
    if form.is_valid():
        chosen = form.cleaned_data
        pack, seed, unlike = shelf(chosen["pack"]), chosen["seed"], chosen["unlike"]
        try:
            if request.method == "POST":
                # handed in as if somebody had uploaded its file for a research group
                job = jobs.receive(
                    chunks=dump(make(pack, seed=seed, unlike=unlike).topic),
                    file_name=f"{pack.id}-{seed}{'' if unlike is None else f'-unlike-{unlike}'}.json",
                    format_name=FORMAT,
                    options={
                        "dataset": chosen["dataset"],
                        "judge": PUBLISHED_JUDGE,
                        jobs.GROUP: form.chosen_group_id,
                    },
                    actor=request.user,
                    now=timezone.now(),
                )
                start(job)
                return redirect("benchmarks:import-job", job.uid)
            shown = preview(pack, seed=seed, unlike=unlike)
        except (NoWorld, jobs.UploadRefused) as refused:
            form.add_error(None, str(refused))
    context = {"form": form, "preview": shown, "packs": [shelf(name) for name in shipped()]}
    status = 422 if request.method == "POST" else 200
    return page(request, "synthesis/pack_new.html", context, part="preview", status=status)


# Pairs of a haystack


CATEGORY = "pairs"


class NoPairs(ValueError):
    """There is nothing to ask about; the message says why."""


class Pair(NamedTuple):
    """An insight and a document of a plan, by position."""

    stratum: Stratum
    insight: int
    document: int


def strata(plan: Plan) -> dict[Stratum, list[Pair]]:
    """All pairs of a haystack; not planned ones are close from the lower end of the band on where words decide."""
    pairs: dict[Stratum, list[Pair]] = {stratum: [] for stratum in Stratum}
    for (insight, document), score in np.ndenumerate(compare(plan).best):
        stratum = Stratum.CLOSE if score >= BAND[0] else Stratum.FAR
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
        QuestionDocument.objects.create(question=question, **values_of(document, *DOCUMENT) | {"number": 1})
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
