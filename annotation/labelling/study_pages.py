"""What the researchers' pages of all kinds of label work do alike: fetch, change details, add people, deal."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import studies
from annotation.labelling.setting_up import update_details
from annotation.models import Study
from annotation.study_forms import DetailsForm, MoreForm
from benchmarks.web.pages import page

OVERVIEWS = {
    Study.Kind.LINKING: "annotation:linking-study",
    Study.Kind.VERIFICATION: "annotation:verification-study",
    Study.Kind.VALIDATION: "annotation:validation-study",
}
"""The page of a study of each kind of label work."""

Add = Callable[..., int]


class Planning(Protocol):
    """The module of a kind that deals its items."""

    def deal(self, *, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Any:
        """Give every item the people it lacks."""

    def n_short(self, study: Study) -> int:
        """How many items have fewer people than planned."""


def study_of(request: HttpRequest, uid: uuid.UUID, kind: Study.Kind) -> Study:
    """A study of this kind that this researcher may see; 404 otherwise."""
    rows = Study.objects.for_user(request.user).filter(kind=kind)
    plan = f"{kind}_plan"
    study: Study = get_object_or_404(rows.select_related(plan, "created_by"), uid=uid)
    return study


def overview_of(study: Study) -> str:
    """The address of the page of a study; 404 for a kind that has none."""
    if study.kind not in OVERVIEWS:
        raise Http404
    return reverse(OVERVIEWS[Study.Kind(study.kind)], args=[study.uid])


def details_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show and change name, description, contact, date and rate."""
    form = DetailsForm(request.POST or None, instance=study)
    if request.method == "POST" and form.is_valid():
        try:
            update_details(study=study, details=form.details(), by=request.user, now=timezone.now())
        except studies.Frozen as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, _("Saved."))
            return redirect(request.path)
    context = {"study": study, "form": form}
    return page(request, "annotation/label_settings.html", context, status=422 if form.errors else 200)


def more_page(
    request: HttpRequest, study: Study, *, items: Callable[..., Form], add_items: Add, planning: Planning
) -> HttpResponse:
    """Let researchers add people or items and deal what is missing; work that was begun stays where it is.

    `items` is the form that chooses items, and `add_items` gets it once it is valid.
    """
    action = request.POST.get("action", "") if request.method == "POST" else ""
    people = MoreForm(request.POST if action == "people" else None, study=study)
    is_sent = action == "items"
    form = items(request.POST if is_sent else None, request.FILES if is_sent else None)
    if request.method == "POST" and _add_and_deal(
        request, study, people=people, items=form, add_items=add_items, deal=planning.deal
    ):
        return redirect(overview_of(study))
    context = {
        "study": study,
        "people": people,
        "form": form,
        "n_short": planning.n_short(study),
        "members": study.memberships.current().select_related("annotator").order_by("number"),
    }
    status = 422 if request.method == "POST" else 200
    return page(request, f"annotation/{study.kind}_more.html", context, status=status)


def _add_and_deal(
    request: HttpRequest, study: Study, *, people: MoreForm, items: Any, add_items: Add, deal: Callable[..., Any]
) -> bool:
    """Do what one of the forms of a page asks and deal what is missing; False where it is not right.

    The forms are sent with action "people", "items" or "deal"; `add_items` gets the valid form `items`.

    Raises:
        Http404: none of the three was asked.
    """
    action = request.POST.get("action", "")
    how: dict[str, Any] = {"study": study, "by": request.user, "now": timezone.now()}
    rebalance = False
    if action == "people":
        if not people.is_valid():
            return False
        studies.add_annotators(annotators=people.cleaned_data["annotators"], **how)
        rebalance = people.cleaned_data["rebalance"]
    elif action == "items":
        if not items.is_valid():
            return False
        add_items(form=items, **how)
    elif action != "deal":
        raise Http404
    n_new = deal(rebalance=rebalance, **how).n_new
    text = ngettext("%(n)d task was dealt.", "%(n)d tasks were dealt.", n_new) % {"n": n_new}
    messages.success(request, text)
    return True
