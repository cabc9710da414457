"""The audit log, for admins: filtered by address, paged, and as a download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from benchmarks.web.downloads import csv_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.audit.log import COLUMNS, Wanted, read_actions, read_events, table
from summhay_site.audit.words import events_in_words, kind_name

PER_PAGE = 50


class AuditFilter(forms.Form):
    """Which events to list."""

    action = forms.ChoiceField(label=_("Action"), required=False)
    actor = forms.CharField(label=_("Who (user name)"), required=False, max_length=150)
    object = forms.CharField(label=_("What (name or id)"), required=False, max_length=200)
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, actions: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("any action")), *sorted(actions, key=lambda one: one[1].casefold())]
        self.fields["action"].choices = choices  # type: ignore[attr-defined]


@requires("benchmarks.view_auditevent")
@require_safe
def audit_log(request: HtmxHttpRequest) -> HttpResponse:
    """Who did what, the newest first."""
    form = _filter(request)
    wanted = Wanted(**form.cleaned_data) if form.is_valid() else Wanted()
    found = Paginator(read_events(wanted), PER_PAGE).get_page(request.GET.get("page"))
    params = request.GET.copy()
    params.pop("page", None)
    context = {"form": form, "found": found, "events": events_in_words(found), "query": params.urlencode()}
    return page(request, "site/audit_log.html", context, status=422 if form.errors else 200)


@requires("benchmarks.view_auditevent")
@require_safe
def audit_csv(request: HtmxHttpRequest) -> HttpResponseBase:
    """The same rows as CSV."""
    form = _filter(request)
    if not form.is_valid():
        return audit_log(request)
    return csv_download(request, COLUMNS, table(read_events(Wanted(**form.cleaned_data))), name="audit-log.csv")


def _filter(request: HttpRequest) -> AuditFilter:
    return AuditFilter(request.GET, actions=[(action, kind_name(action)) for action in read_actions()])
