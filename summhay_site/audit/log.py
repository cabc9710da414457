"""The audit log, for admins: its queries, its page and its download."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import orjson
from django.db.models import Q, QuerySet
from django.forms import DateInput, Form
from django.http import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_filters import CharFilter, ChoiceFilter, DateFilter, FilterSet

from benchmarks.models import AuditEvent
from benchmarks.web.downloads import csv_download
from benchmarks.web.lists import ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest
from benchmarks.web.permissions import requires
from summhay_site.audit.words import events_in_words, kind_name

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(9000, 1, 1)
"""Later or earlier days are ignored: in some time zones their midnight is out of range."""
COLUMNS = ("at", "who", "action", "object_type", "object_uid", "object_name", "detail")


EVENTS = AuditEvent.objects.select_related("actor")
"""Events with their actors, the newest first."""


def read_actions() -> list[tuple[str, str]]:
    """All actions that the log holds, with their words, sorted by these."""
    actions = AuditEvent.objects.order_by("action").values_list("action", flat=True).distinct()
    return sorted(((action, kind_name(action)) for action in actions), key=lambda choice: choice[1].casefold())


class EventForm(Form):
    """The controls of `EventFilter`."""

    def clean(self) -> dict[str, Any]:
        """Days in their order: the other way round nothing could match."""
        data: dict[str, Any] = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and until < since:
            self.add_error("until", "Choose the day of “From”, or a later one.")
        return data


class EventFilter(FilterSet):  # type: ignore[misc]
    """Events by what was done, by whom, to what and when; days are in the time zone of the reader."""

    action = ChoiceFilter(label="Action", choices=read_actions)
    actor = CharFilter(label="Who (user name)", field_name="actor__username", lookup_expr="iexact")
    object = CharFilter(label="What (name or id)", method="about")
    since = DateFilter(label="From", method="on_days", widget=DateInput(attrs={"type": "date"}))
    until = DateFilter(label="Until", method="on_days", widget=DateInput(attrs={"type": "date"}))

    class Meta:
        form = EventForm

    def about(self, events: QuerySet[Any], _name: str, text: str) -> QuerySet[Any]:
        """Events of what has this id, or this in its name."""
        return events.filter(Q(object_name__icontains=text) | Q(object_uid=text))

    def on_days(self, events: QuerySet[Any], name: str, day: date) -> QuerySet[Any]:
        """Events from this day on, or until its end."""
        if not FIRST_DAY < day < LAST_DAY:
            return events
        if name == "since":
            return events.filter(at__gte=_midnight(day))
        return events.filter(at__lt=_midnight(day + timedelta(days=1)))


def table(rows: QuerySet[Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the download, in `COLUMNS`; times are UTC, details JSON."""
    for event in rows.iterator(chunk_size=500):
        yield (
            event.at.isoformat(),
            event.actor.get_username() if event.actor else "",
            event.action,
            event.object_type,
            event.object_uid,
            event.object_name,
            orjson.dumps(event.detail).decode(),
        )


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


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
