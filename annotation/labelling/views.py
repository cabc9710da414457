"""Acts on a task that no kind of label work has for itself, and ways through a study."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.labelling import handling
from annotation.labelling.answers import PAGES, answers, page_of
from annotation.labelling.course import Course, course_of
from annotation.labelling.handling import OwnTask
from annotation.models import LabelTask, Membership
from annotation.views.scope import annotator_behind
from benchmarks.web.pages import page
from benchmarks.web.permissions import LOGGED_IN, requires


def state_of(task: LabelTask) -> dict[str, Any]:
    """What the page shows of a task."""
    return {
        "state": task.state,
        "n_answered": task.n_answered,
        "n_questions": task.n_questions,
        "is_flagged": task.is_flagged,
    }


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def seen(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """The person is at work."""
    return state_of(handling.contact(tasks=tasks, now=now))


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def skip(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Put the task out of the way, and go to the next one; `undo` takes that back."""
    if request.POST.get("undo"):
        return state_of(handling.unskip(tasks=tasks, now=now))
    reason = request.POST.get("other", "").strip() or request.POST.get("reason", "")
    task = handling.skip(tasks=tasks, reason=reason, now=now)
    way = course_of(study=task.study, annotator=task.annotator, at=task)
    return state_of(task) | {"next": _onward(task.study, way)}


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def remark(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Set flag and comment."""
    task = handling.remark(
        tasks=tasks,
        is_flagged=request.POST.get("flag") == "1",
        comment=request.POST.get("comment", ""),
        now=now,
    )
    return state_of(task)


@requires("annotation.do_work")
@require_safe
@never_cache
def go(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """To the task with the number `n`, or to the next open one after `after`, or else to where the person was.

    Where that is done too the next open one; at the end the page that says so.
    """
    study, way = _way(request, uid)
    number = _number(request.GET.get("n"))
    if number is not None:
        stop = way.stops[min(max(number, 1), len(way.stops)) - 1] if way.stops else None
        return redirect(page_of(study.kind, stop.uid) if stop else "annotation:work")
    after = _number(request.GET.get("after"))
    if after is not None:
        at = after - 1 if 0 < after <= len(way.stops) else None
        return redirect(_onward(study, Course(way.stops, at)))
    here = Course(way.stops, _last_seen(request, study, way))
    if here.at is not None and here.stops[here.at].is_open:
        return redirect(page_of(study.kind, here.stops[here.at].uid))
    return redirect(_onward(study, here))


@requires("annotation.do_work")
@require_safe
@never_cache
def finished(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Nothing is left to answer, or what was skipped."""
    study, way = _way(request, uid)
    skipped = [(stop, page_of(study.kind, stop.uid)) for stop in way.stops if stop.state == "skipped"]
    answered = [(stop, page_of(study.kind, stop.uid)) for stop in way.stops if stop.state in {"done", "begun"}]
    context = {"study": study, "way": way, "skipped": skipped, "answered": answered}
    return page(request, "annotation/label_finished.html", context)


def _way(request: HttpRequest, uid: uuid.UUID) -> tuple[Any, Course]:
    person = annotator_behind(request)
    memberships = Membership.objects.filter(annotator=person, study__kind__in=list(PAGES))
    member = get_object_or_404(memberships.select_related("study"), study__uid=uid)
    return member.study, course_of(study=member.study, annotator=person)


def _onward(study: Any, way: Course) -> str:
    stop = way.next_open
    if stop is None and way.at is not None and way.stops[way.at].is_open:
        stop = way.stops[way.at]
    if stop is None:
        return reverse("annotation:label-finished", args=[study.uid])
    return page_of(study.kind, stop.uid)


def _last_seen(request: HttpRequest, study: Any, way: Course) -> int | None:
    """The index of the stop where the person was last."""
    seen = LabelTask.objects.for_annotator(request.user).filter(study=study, last_seen_at__isnull=False)
    uid = seen.order_by("-last_seen_at").values_list("uid", flat=True).first()
    return next((at for at, stop in enumerate(way.stops) if stop.uid == uid), None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else None
