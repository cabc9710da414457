"""How many questions the form of a verification study chooses, while it is being filled in."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from annotation.models import Study
from annotation.studies.narrowing import without_stale
from annotation.studies.views import form_page, work_named
from annotation.verification.forms import QuestionsForm, VerificationStudyForm
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_POST
def questions(request: HtmxHttpRequest) -> HttpResponse:
    """What the chosen set can be narrowed by, and the count; without htmx the page of a new study."""
    form = without_stale(QuestionsForm, request)
    count = form.count() if form.is_valid() else None
    if wants_fragment(request):
        return page(request, "annotation/_verification_choice.html", {"form": form, "count": count})
    whole = VerificationStudyForm(request.POST, user=request.user)
    return form_page(request, work_named(Study.Kind.VERIFICATION), whole, status=200, count=count)
