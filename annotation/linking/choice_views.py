"""How many summaries the form of a linking study chooses, while it is being filled in."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from annotation.linking.forms import NARROWED_BY, LinkingStudyForm, SummariesForm
from annotation.models import Study
from annotation.studies.narrowing import without_stale
from annotation.studies.views import form_page, work_named
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_POST
def summaries(request: HtmxHttpRequest) -> HttpResponse:
    """What the ticked haystacks can be narrowed by, and the count; without htmx the page of a new study."""
    form = without_stale(SummariesForm, request, NARROWED_BY)
    count = form.count() if form.is_valid() else None
    if wants_fragment(request):
        return page(request, "annotation/_linking_choice.html", {"form": form, "count": count})
    whole = LinkingStudyForm(request.POST, user=request.user)
    return form_page(request, work_named(Study.Kind.LINKING), whole, status=200, count=count)
