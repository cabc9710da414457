"""The tasks of a study of label work, for researchers: who has what, how far it is, and what was remarked."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, Value, When
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.labelling.kind import LabelWork
from annotation.models import LabelTask, Study
from annotation.studies.kind import work_of
from annotation.studies.narrowing import NarrowedForm, without_stale
from annotation.studies.scope import study_of
from annotation.studies.views import form_page, work_named
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires
from benchmarks.web.tables import Choice, Column, Search, Table

ON_A_PAGE = 100


@requires("annotation.view_study")
@require_safe
def study_work(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Every task of a study, sorted and filtered by the address."""
    study = study_of(request, uid)
    kind = work_of(study)
    if not isinstance(kind, LabelWork):
        raise Http404
    tasks = study.label_tasks.order_by("annotator__label", "position").annotate(
        remarked=Case(
            When(is_flagged=True, then=Value("flagged")),
            When(comment="", then=Value("")),
            default=Value("comment"),
        )
    )
    table = tasks_table(study).shown(tasks, request.GET)
    rows = table.rows.select_related("annotator", "item", *kind.about_rows)
    shown = Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "study": study,
        "kind": kind,
        "table": table,
        "tasks": shown,
        "rows": [kind.about(task) for task in shown],
    }
    return page(request, "annotation/study_work.html", context)


@requires("annotation.change_study")
@require_POST
def items(request: HtmxHttpRequest, kind: str) -> HttpResponse:
    """What a form that is being filled in chooses from, and how many; without htmx the page of a new study."""
    work = work_named(kind)
    narrowed = work.items_form
    if not (isinstance(narrowed, type) and issubclass(narrowed, NarrowedForm)):
        raise Http404
    form = without_stale(narrowed, request)
    count = form.count() if form.is_valid() else None
    if wants_fragment(request):
        return page(request, narrowed.COUNTED, {"form": form, "count": count})
    return form_page(request, work, work.new_form(request.POST, user=request.user), status=200, count=count)


def tasks_table(study: Study) -> Table[LabelTask]:
    """What the tasks of a study can be sorted and filtered by."""
    members = study.memberships.select_related("annotator").order_by("annotator__label")
    return Table(
        "tasks",
        {
            "annotator": Column("annotator__label"),
            "place": Column("position"),
            "state": Column("state"),
            "time": Column("active_ms", high_first=True),
            "seen": Column("last_seen_at", high_first=True),
        },
        choices=[
            Choice(
                "annotator",
                _("Annotator"),
                "annotator__uid",
                [(str(member.annotator.uid), member.annotator.label) for member in members],
            ),
            Choice("state", _("State"), "state", LabelTask.State.choices),
            Choice(
                "marked", _("Remarks"), "remarked", [("flagged", _("flagged")), ("comment", _("with a comment"))]
            ),
        ],
        search=Search(_("In remarks"), ("comment", "skip_reason")),
    )
