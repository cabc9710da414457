"""What is recorded of people and why, and a person's own export of it."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Annotator
from annotation.work.tasklist import contacts
from benchmarks.access import sight
from benchmarks.models import AuditEvent
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.accounts.reader import actor
from summhay_site.privacy import export
from summhay_site.privacy.declared import by_subject, days_of

FILES_AN_HOUR = 3


@requires(LOGGED_IN)
@require_safe
def privacy(request: HtmxHttpRequest) -> HttpResponse:
    """What is recorded of people, why, who sees it, and how long."""
    return _page(request)


@requires(LOGGED_IN)
@require_POST
@never_cache
def own_data(request: HtmxHttpRequest) -> HttpResponseBase:
    """Everything that the site holds of whoever asks, as a zip; a few times an hour."""
    user, now = actor(request), timezone.now()
    sight.lift()  # what is held of somebody does not end where their research group does
    taken = AuditEvent.objects.filter(actor=user, action="file.downloaded", object_uid=str(user.uid))
    if taken.filter(at__gt=now - timedelta(hours=1)).count() >= FILES_AN_HOUR:
        words = _("You have downloaded your data %(n)s times within an hour. Please try again later.")
        response = _page(request, status=429, refusal=words % {"n": FILES_AN_HOUR})
        response["Retry-After"] = "3600"
        return response
    content = export.pieces(export.person_of(user), language=get_language() or "en", now=now)
    return download(content, name="my-data.zip", content_type="application/zip", about=user)


def _page(request: HtmxHttpRequest, *, status: int = 200, refusal: str = "") -> HttpResponse:
    subjects = [
        (subject, [(held, days_of(held)) for held in {held.what: held for held in rows}.values()])
        for subject, rows in by_subject()
    ]
    person = Annotator.objects.filter(user=actor(request)).first()
    context = {
        "subjects": subjects,
        "reasons": export.reasons(),
        "refusal": refusal,
        "contacts": contacts(person) if person else [],
    }
    return page(request, "site/privacy.html", context, status=status)
