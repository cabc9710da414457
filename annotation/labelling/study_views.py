"""The tasks of a study of label work, for researchers: who has what, how far it is, and what was remarked."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from django_filters import ChoiceFilter, FilterSet, ModelChoiceFilter

from annotation.labelling import trial
from annotation.labelling.handling import MAX_TEXT, NoRemark, reply
from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, LabelTask, RemarkReply
from annotation.studies.kind import work_of
from annotation.studies.member_views import member_of
from annotation.studies.scope import study_of
from benchmarks.web.lists import Column, ListPage, ListTable, Search
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


class TaskTable(ListTable):
    """Who has which task, how far it is, and what was remarked."""

    annotator = Column("Annotator", "annotator__label")
    place = Column("Order", "position", css="num")
    about = Column("About", orderable=False)
    state = Column("State")
    time = Column("Active time", "active_ms", css="num", high_first=True)
    seen = Column("Last seen", "last_seen_at", high_first=True)
    remarks = Column("Remarks", orderable=False)


REMARKS: dict[str, Callable[[Any], Any]] = {
    "flagged": lambda rows: rows.filter(is_flagged=True),
    "comment": lambda rows: rows.exclude(comment=""),
    "unanswered": lambda rows: rows.unanswered(),
    "answered": lambda rows: rows.filter(Exists(RemarkReply.objects.order_by().filter(task=OuterRef("pk")))),
}


class TaskFilter(FilterSet):  # type: ignore[misc]
    """Tasks by person, state and remark."""

    q = Search("In remarks", "comment", "skip_reason")
    annotator = ModelChoiceFilter(
        label="Annotator",
        queryset=lambda request: Annotator.objects.filter(
            memberships__study__uid=request.resolver_match.kwargs["uid"]
        ),
        to_field_name="uid",
    )
    state = ChoiceFilter(label="State", choices=LabelTask.State.choices)
    remarks = ChoiceFilter(
        label="Remarks",
        choices=[
            ("flagged", "flagged"),
            ("comment", "with a comment"),
            ("unanswered", "to answer"),
            ("answered", "answered"),
        ],
        method=lambda rows, _name, value: REMARKS[value](rows),
    )


class TaskList(ListPage):
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
        return tasks.select_related("annotator", "item", *kind.about_rows).prefetch_related("replies")

    def get_table_kwargs(self) -> dict[str, Any]:
        """Each kind of study has a word for what its tasks are about."""
        about = Column(self.kind.about_label, orderable=False)
        return {"extra_columns": [("about", about)]}


study_work = TaskList.for_users_with("annotation.view_study")


class ReplyForm(forms.Form):
    """A researcher's answer to a flag or a comment."""

    text = forms.CharField(
        label="Answer",
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=(
            "The annotator reads it beside the item, and a count on their page of work says that it is there."
        ),
    )


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def remark_reply(request: HtmxHttpRequest, uid: UUID, task: UUID) -> HttpResponse:
    """Answer a flag or a comment; what was answered before stays above the form."""
    study = study_of(request, uid)
    kind = work_of(study)
    if not isinstance(kind, LabelWork):
        raise Http404
    rows = study.label_tasks.select_related("study", "annotator", "item", *kind.about_rows)
    row = get_object_or_404(rows, uid=task)
    form = ReplyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            reply(task=row, text=form.cleaned_data["text"], by=request.user, now=timezone.now())
        except NoRemark:
            messages.warning(request, "The annotator has taken the remark back meanwhile; nothing was stored.")
        else:
            messages.success(request, "Your answer is on the annotator's page.")
        return redirect(f"{reverse('annotation:study-work', args=[study.uid])}?remarks=unanswered")
    context = {"study": study, "kind": kind, "task": row, "about": kind.about(row), "form": form}
    return page(request, "annotation/remark_reply.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_POST
def allow_try(request: HttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    """Let somebody who is out of tries have another one."""
    member = member_of(study_of(request, uid), annotator)
    words = {"name": member.annotator.label}
    if trial.allow_another(member=member, by=request.user, now=timezone.now()):
        messages.success(request, "%(name)s can try once more." % words)
    else:
        messages.info(request, "%(name)s needs no other try." % words)
    return redirect("annotation:study-annotators", uid)
