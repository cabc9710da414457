"""Summaries as items: how many a form chooses, while it is being filled in, and who may not see one yet."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.labelling.summary_forms import SummariesForm
from annotation.models import LabelTask
from annotation.studies import exposures
from annotation.studies.narrowing import without_stale
from annotation.studies.views import form_page, work_named
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_POST
def summaries(request: HtmxHttpRequest, kind: str) -> HttpResponse:
    """What the ticked haystacks can be narrowed by, and the count; without htmx the page of a new study."""
    work = work_named(kind)
    if work.items_form is not SummariesForm:
        raise Http404
    form = without_stale(SummariesForm, request)
    count = form.count() if form.is_valid() else None
    if wants_fragment(request):
        return page(request, "annotation/_summaries_count.html", {"form": form, "count": count})
    return form_page(request, work, work.new_form(request.POST, user=request.user), status=200, count=count)


def barred(request: HttpRequest, task: LabelTask, *, reason: str) -> HttpResponse | None:
    """A page that says why the task cannot be shown yet; otherwise note that the haystack was seen, and why.

    Whoever has seen what a haystack says never writes on it again, so what is still to be written comes first.
    """
    haystack = task.item.summary.haystack
    if LabelTask.objects.filter(pk=task.pk).with_blocked().filter(is_blocked=True).exists():
        return render(request, "annotation/label_later.html", {"study": task.study}, status=409)
    exposures.record_exposure(user=request.user, haystack=haystack, reason=reason, now=timezone.now())
    return None
