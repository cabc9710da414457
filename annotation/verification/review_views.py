"""Spot checks: where researchers look at single answers of one person."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Annotator, SpotCheck, Study
from annotation.studies.scope import study_of
from annotation.verification import spotchecks
from annotation.verification.evidence import in_words, passages_of
from annotation.verification.pairs import haystacks_of
from annotation.verification.research_forms import DrawForm, MarkForm
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, saw_insights


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def spot_checks(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The checks made so far with their results, and a form to draw one."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    members = study.memberships.filter(annotator__pointlabels__study=study).select_related("annotator").distinct()
    people = [(str(member.annotator.uid), member.annotator.label) for member in members.order_by("number")]
    form = DrawForm(request.POST if request.method == "POST" else None, people=people)
    if request.method == "POST" and form.is_valid():
        data = dict(form.cleaned_data)
        annotator = get_object_or_404(Annotator, uid=data.pop("annotator"))
        try:
            check = spotchecks.draw(study=study, annotator=annotator, by=request.user, now=timezone.now(), **data)
        except spotchecks.NothingToCheck as problem:
            form.add_error("annotator", str(problem))
        else:
            return redirect("annotation:verification-spot-check", uid=study.uid, number=check.pk)
    checks = study.spot_checks.select_related("annotator", "made_by")
    context = {
        "study": study,
        "here": "spot",
        "form": form,
        "people": people,
        "checks": [(check, spotchecks.result(check), check.marks.count()) for check in checks],
    }
    return page(request, "annotation/verification_spot_list.html", context, status=422 if form.errors else 200)


def _check(request: HttpRequest, uid: uuid.UUID, number: int) -> tuple[Study, SpotCheck]:
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    rows = study.spot_checks.select_related("annotator")
    return study, get_object_or_404(rows, pk=number)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def spot_check(request: HtmxHttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """One answer of the sample: the point, its passages, what was answered, and whether that is right."""
    study, check = _check(request, uid, number)
    saw_insights(request.user, *haystacks_of(study))
    marks = list(check.marks.order_by("pk"))
    position = _position(request, [mark.is_right for mark in marks])
    form = MarkForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            spotchecks.mark(
                check=check,
                position=position,
                is_right=form.cleaned_data["verdict"] == "right",
                note=form.cleaned_data["note"],
                now=timezone.now(),
            )
        except spotchecks.Closed as problem:
            messages.error(request, str(problem))
        return redirect(_after(study, check, position, len(marks)))
    mark = check.marks.select_related("label__key_point__question", "label__task").get(pk=marks[position - 1].pk)
    context = {
        "study": study,
        "here": "spot",
        "check": check,
        "mark": mark,
        "point": mark.label.key_point,
        "words": in_words(mark.label),
        "passages": passages_of(mark.label.key_point),
        "position": position,
        "n": len(marks),
        "marks": list(enumerate(marks, 1)),
        "result": spotchecks.result(check),
        "n_right": sum(row.is_right is True for row in marks),
        "n_marked": sum(row.is_right is not None for row in marks),
    }
    return page(request, "annotation/verification_spot_check.html", context, status=422 if form.errors else 200)


def _position(request: HttpRequest, marks: list[bool | None]) -> int:
    """The place of the address, else the first that is not reviewed, else the first."""
    text = request.GET.get("at", "")
    if text.isdecimal() and 1 <= int(text[:6]) <= len(marks):
        return int(text[:6])
    return marks.index(None) + 1 if None in marks else 1


def _after(study: Study, check: SpotCheck, position: int, n: int) -> str:
    """The next one that is not reviewed, with wrap-around; after the last one the first."""
    here = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
    marks = list(check.marks.order_by("pk").values_list("is_right", flat=True))
    order = [*range(position, n), *range(position)]
    waiting = next((at + 1 for at in order if marks[at] is None), None)
    return f"{here}?at={waiting or position}"


@requires("annotation.change_study")
@require_POST
def spot_check_close(request: HttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    study, check = _check(request, uid, number)
    spotchecks.close(check=check, by=request.user, now=timezone.now())
    messages.success(request, "The spot check is closed.")
    return redirect("annotation:verification-spot-checks", uid=study.uid)
