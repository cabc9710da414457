"""Draw pairs of insights and documents of a haystack for a verification study."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from benchmarks.models import Haystack
from benchmarks.synthesis.verifying import NoPairs, make_set
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


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
