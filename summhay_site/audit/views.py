"""The audit log, for admins: filtered by address, paged, and as a download."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from benchmarks.web.downloads import csv_download
from benchmarks.web.lists import ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest
from benchmarks.web.permissions import requires
from summhay_site.audit.log import COLUMNS, EVENTS, EventFilter, table
from summhay_site.audit.words import events_in_words


class EventTable(ListTable):
    """Events, shown in words."""


class EventList(ListPage):
    """Who did what, the newest first."""

    template_name = "site/audit_log.html"
    table_class = EventTable
    filterset_class = EventFilter
    queryset = EVENTS

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Also what happened, in words."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"events": events_in_words([row.record for row in context["table"].paginated_rows])}


audit_log = EventList.for_users_with("benchmarks.view_auditevent")


@requires("benchmarks.view_auditevent")
@require_safe
def audit_csv(request: HtmxHttpRequest) -> HttpResponseBase:
    """The same rows as CSV."""
    wanted = EventFilter(request.GET, EVENTS)
    if not wanted.is_valid():
        return audit_log(request)  # type: ignore[no-any-return]
    return csv_download(request, COLUMNS, table(wanted.qs), name="audit-log.csv")
