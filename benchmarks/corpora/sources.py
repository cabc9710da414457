"""Pages of sources: samples of them, drawn and forgotten, and how long summaries of a dataset are to be."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access.owning import may_change
from benchmarks.engine import texts
from benchmarks.engine.wakeup import enqueue
from benchmarks.leaderboard import sampling
from benchmarks.models import Haystack, SourceSample
from benchmarks.scoring.position import LATE_FROM
from benchmarks.summarizers.source_tasks import SourceTask
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import refuse_others, requires


class SampleForm(forms.Form):
    """Name, rule and seed, and a number for each dataset of sources."""

    name = forms.SlugField(label=_("Name"), max_length=80, help_text="Letters, digits and hyphens.")
    rule = forms.ChoiceField(
        label="Sources",
        choices=[
            (SourceSample.Rule.ANY.value, "any"),
            (
                SourceSample.Rule.LATE.value,
                "content late: the reference follows no sentence before word %(n)s" % {"n": f"{LATE_FROM:,}"},
            ),
        ],
        help_text="MiddleSum has 50 late ones of each of four datasets and 25 of a fifth.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2_000_000_000, initial=1,
        help_text="The same seed gives the same sample of the same datasets on any site.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Haystack.objects.current().sources().order_by("dataset").values("dataset").annotate(n=Count("pk"))
        self.datasets = [(row["dataset"], row["n"]) for row in rows]
        for at, (dataset, n) in enumerate(self.datasets):
            self.fields[f"n_{at}"] = forms.IntegerField(
                label=f"{dataset}, of {n}",
                min_value=0,
                max_value=n,
                required=False,
            )

    def parts(self) -> dict[str, int]:
        """How many of each dataset, of a valid form."""
        wanted = {dataset: self.cleaned_data[f"n_{at}"] for at, (dataset, _n) in enumerate(self.datasets)}
        return {dataset: n for dataset, n in wanted.items() if n}


VIEW, ADD = "benchmarks.view_haystack", "benchmarks.add_haystack"
DRAW = "benchmarks.tasks.draw_samples"


@require_http_methods(["GET", "HEAD", "POST"])
@requires(VIEW)
def sample_list(request: HtmxHttpRequest) -> HttpResponse:
    """All samples; whoever may import draws another here."""
    may_add = request.user.has_perm(ADD)
    if request.method == "POST" and not may_add:
        raise PermissionDenied
    form = SampleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data, now = form.cleaned_data, timezone.now()
        try:
            sampling.request_sample(
                name=data["name"],
                parts=form.parts(),
                rule=data["rule"],
                seed=data["seed"],
                by=request.user,
                now=now,
            )
        except sampling.BadSample as error:
            form.add_error(None, str(error))
        else:
            enqueue(DRAW)
            return redirect("benchmarks:samples")
    samples = SourceSample.objects.annotate(n_left=Count("members"))
    rows = [(row, may_change(request.user, row)) for row in samples]
    context = {"rows": rows, "form": form, "is_drawing": any(row.drawn_at is None for row, _mine in rows)}
    return page(request, "benchmarks/sample_list.html", context, status=422 if form.errors else 200)


@require_POST
@requires("benchmarks.change_haystack")
def sample_delete(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Forget a sample; what was written on its sources stays."""
    sample = get_object_or_404(SourceSample, uid=uid)
    refuse_others(request.user, sample, words="Whoever drew this sample may delete it, and admins.")
    sampling.delete_sample(sample=sample, by=request.user, now=timezone.now())
    messages.success(request, "The sample is deleted. Its sources and all texts stay.")
    return redirect("benchmarks:samples")


class SourceTaskForm(forms.Form):
    """Sentences, and tokens at most."""

    n_sentences = forms.IntegerField(
        label="Sentences", min_value=1, max_value=1000,
        help_text="The same for all sources of the dataset, whatever their own references.",
    )  # fmt: skip
    new_tokens = forms.IntegerField(
        label="New tokens at most", min_value=1, max_value=100_000, help_text="The paper takes 64 to 768."
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_haystack")
def source_task(request: HtmxHttpRequest, dataset: str) -> HttpResponse:
    """What is asked of summaries of a dataset; drafts that are there stay as they were asked."""
    if not Haystack.objects.sources().filter(dataset=dataset).exists():
        raise Http404
    back = f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}"
    form = SourceTaskForm(request.POST or None, initial=asdict(texts.tasks_of([dataset])[dataset]))
    if request.method == "POST" and form.is_valid():
        task = SourceTask(**form.cleaned_data)
        texts.change(dataset=dataset, task=task, by=request.user, now=timezone.now())
        messages.success(request, "Summaries that are not asked for yet will have the new length.")
        return redirect(back)
    context = {"form": form, "dataset": dataset, "back": back}
    return page(request, "benchmarks/source_task.html", context, status=422 if form.errors else 200)
