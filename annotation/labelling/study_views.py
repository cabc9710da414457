"""The tasks of a study of label work, for researchers: who has what, how far it is, and what was remarked."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from django_filters import ChoiceFilter, FilterSet, ModelChoiceFilter

from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, LabelTask
from annotation.studies.kind import work_of
from annotation.studies.narrowing import NarrowedForm, without_stale
from annotation.studies.scope import study_of
from annotation.studies.views import form_page, work_named
from benchmarks.web.lists import Column, ListPage, ListTable, Search
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires


class TaskTable(ListTable):
    """Who has which task, how far it is, and what was remarked."""

    annotator = Column(_("Annotator"), "annotator__label")
    place = Column(_("Order"), "position", css="num")
    about = Column(_("About"), orderable=False)
    state = Column(_("State"))
    time = Column(_("Active time"), "active_ms", css="num", high_first=True)
    seen = Column(_("Last seen"), "last_seen_at", high_first=True)
    remarks = Column(_("Remarks"), orderable=False)


class TaskFilter(FilterSet):  # type: ignore[misc]
    """Tasks by person, state and remark."""

    q = Search(_("In remarks"), "comment", "skip_reason")
    annotator = ModelChoiceFilter(
        label=_("Annotator"),
        queryset=lambda request: Annotator.objects.filter(
            memberships__study__uid=request.resolver_match.kwargs["uid"]
        ),
        to_field_name="uid",
    )
    state = ChoiceFilter(label=_("State"), choices=LabelTask.State.choices)
    remarks = ChoiceFilter(
        label=_("Remarks"),
        choices=[("flagged", _("flagged")), ("comment", _("with a comment"))],
        method=lambda rows, _name, value: (
            rows.filter(is_flagged=True) if value == "flagged" else rows.exclude(comment="")
        ),
    )


class TaskList(ListPage):
    """Every task of a study."""

    template_name = "annotation/study_work.html"
    table_class = TaskTable
    filterset_class = TaskFilter

    def get_queryset(self) -> QuerySet[LabelTask]:
        """The tasks, person by person; 404 where the study has none."""
        study = study_of(self.request, self.kwargs["uid"])
        kind = work_of(study)
        if not isinstance(kind, LabelWork):
            raise Http404
        self.kind = kind
        self.extra_context = {"study": study, "kind": kind}
        tasks = study.label_tasks.order_by("annotator__label", "position")
        return tasks.select_related("annotator", "item", *kind.about_rows)

    def get_table_kwargs(self) -> dict[str, Any]:
        """Each kind of study has a word for what its tasks are about."""
        about = Column(self.kind.about_label, orderable=False)
        return {"extra_columns": [("about", about)]}


study_work = TaskList.for_users_with("annotation.view_study")


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
