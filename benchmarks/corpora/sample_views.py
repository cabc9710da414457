"""Samples of sources: what there is, drawing one, and forgetting it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access.owning import may_change
from benchmarks.corpora.sample_forms import SampleForm
from benchmarks.engine.wakeup import enqueue
from benchmarks.leaderboard import sampling
from benchmarks.models import SourceSample
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import refuse_others, requires

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
