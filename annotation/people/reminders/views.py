"""Send a reminder to the members of a study now."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import ngettext, ngettext_lazy
from django.views.decorators.http import require_http_methods

from annotation.models import Study
from annotation.people.reminders import sending
from annotation.people.reminders.sending import Why
from annotation.studies.kind import has_plan
from annotation.studies.scope import study_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

REASONS: dict[Why, Any] = {
    Why.NOTHING: ngettext_lazy("%(n)d person has no open task.", "%(n)d people have no open task.", "n"),
    Why.TODAY: ngettext_lazy(
        "%(n)d person was reminded in the past 24 hours.", "%(n)d people were reminded in the past 24 hours.", "n"
    ),
    Why.OPTED_OUT: ngettext_lazy("%(n)d person wants no reminders.", "%(n)d people want no reminders.", "n"),
    Why.NO_ADDRESS: ngettext_lazy(
        "%(n)d person has no email address.", "%(n)d people have no email address.", "n"
    ),
}


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_remind(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Say who would get a mail and who would not, and send it when asked; a worker does the sending."""
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    now = timezone.now()
    people, others = sending.members_to_remind(study, now=now)
    asked_at = sending.asked_at(study, now=now)
    may_send = settings.EMAIL_IS_SET and study.state == Study.State.OPEN and people and not asked_at
    if request.method == "POST" and may_send:
        try:
            sending.ask_for_study(study=study, by=request.user, n=len(people), now=now)
        except sending.AlreadyAsked:
            return redirect("annotation:study-remind", uid=study.uid)
        text = ngettext("%(n)d reminder is on its way.", "%(n)d reminders are on their way.", len(people))
        messages.success(request, text % {"n": len(people)})
        return redirect("annotation:study-annotators", uid=study.uid)
    context = {
        "study": study,
        "people": people,
        "others": [REASONS[reason] % {"n": n} for reason, n in others.items()],
        "mail_is_set": settings.EMAIL_IS_SET,
        "may_send": may_send,
        "asked_at": asked_at,
        "minutes": sending.ASK_AGAIN_AFTER // timedelta(minutes=1),
    }
    return page(request, "annotation/study_remind.html", context, status=409 if request.method == "POST" else 200)
