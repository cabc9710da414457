"""The end of a study of label work, as an annotator sees it."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Sum
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.labelling.task_page import listed
from annotation.labelling.views import own_tasks
from annotation.models import LabelTask
from annotation.people.recruitment import outcomes
from annotation.studies.amounts import pay
from annotation.studies.scope import annotator_behind
from annotation.work import tasklist
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.do_work")
@require_safe
@never_cache
def finished(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Nothing is left to answer, or what was skipped; with the code of a panel, for who came from one."""
    person, now = annotator_behind(request), timezone.now()
    study, tasks = own_tasks(request, uid)
    rows = listed(tasks)
    worked_ms = tasks.aggregate(ms=Sum("active_ms"))["ms"] or 0
    n_done = sum(row.state == LabelTask.State.DONE for row in rows)
    context = {
        "study": study,
        "endings": [each for each in outcomes.endings(person, now=now) if each.link.study_id == study.pk],
        "worked_ms": worked_ms,
        "earned": pay(worked_ms, study.hourly_rate),
        "each_ms": worked_ms // n_done if n_done else None,
        "next": tasklist.next_step(person, now),
        "n": len(rows),
        "n_open": sum(row.is_open for row in rows),
        "n_blocked": tasks.unfinished().with_blocked().filter(is_blocked=True).count(),
        "n_done": n_done,
        "skipped": [row for row in rows if row.state == LabelTask.State.SKIPPED],
        "answered": [row for row in rows if row.state in {LabelTask.State.DONE, LabelTask.State.BEGUN}],
    }
    return page(request, "annotation/label_finished.html", context)
