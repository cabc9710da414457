"""The recruitment links of a study: make, open, close, and the list for paying."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import RecruitmentLink, Study
from annotation.recruitment import links
from annotation.recruitment.completion import COLUMNS, rows_of
from annotation.recruitment.forms import LinkForm
from annotation.studies.kind import has_plan
from annotation.studies.scope import study_of
from benchmarks.web.downloads import csv_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The links with their places, and a form for another one."""
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    form = LinkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        links.create_link(study=study, values=form.values(), by=request.user, now=timezone.now())
        messages.success(request, _("The link was created. Open it when people may join."))
        return redirect("annotation:recruitment", uid=study.uid)
    rows = [
        (link, request.build_absolute_uri(reverse("join", args=[link.key])) + "?" + links.query_of(link))
        for link in links.links_of(study)
    ]
    context = {"study": study, "rows": rows, "form": form}
    return page(request, "annotation/recruitment.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_POST
def recruitment_state(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Open a link with `open=1`, else close it."""
    row = _link(study_of(request, uid), link)
    is_open = request.POST.get("open") == "1"
    links.set_open(link=row, is_open=is_open, by=request.user, now=timezone.now())
    messages.success(request, _("The link is open.") if is_open else _("The link is closed."))
    return redirect("annotation:recruitment", uid=uid)


@requires("annotation.change_study")
@require_safe
def recruitment_file(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponseBase:
    """Participants' ids with tasks, time and amount, as CSV; without pseudonyms."""
    study = study_of(request, uid)
    row = _link(study, link)
    return csv_download(request, COLUMNS, rows_of(row), name=f"participants-{row.panel}-{row.pk}.csv", about=study)


def _link(study: Study, uid: uuid.UUID) -> RecruitmentLink:
    link: RecruitmentLink = get_object_or_404(study.recruitment_links.select_related("study"), uid=uid)
    return link
