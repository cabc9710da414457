"""How long summaries of the sources of a dataset are to be, which people may change."""

from __future__ import annotations

from dataclasses import asdict

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from benchmarks.engine import texts
from benchmarks.models import Haystack
from benchmarks.summarizers.source_tasks import SourceTask
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


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
