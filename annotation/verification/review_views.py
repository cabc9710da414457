"""Where researchers look at single answers: spot checks of one person, and key points on which people disagree."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.adjudication import blind
from annotation.adjudication.decisions import DecisionRefused
from annotation.adjudication.pages import newest, next_open, say_decided, seen_in, withdrawn
from annotation.models import Annotator, LabelItem, PointAdjudication, SpotCheck, Study
from annotation.studies.scope import study_of
from annotation.verification import adjudicating, datasets, spotchecks
from annotation.verification.evidence import answers_on, blinded, passages_of
from annotation.verification.labels import collect
from annotation.verification.pairs import haystacks_of
from annotation.verification.research_forms import DecisionForm, DrawForm, MarkForm
from benchmarks.models import KeyPoint
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

ON_A_PAGE = 30


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
    messages.success(request, _("The spot check is closed."))
    return redirect("annotation:verification-spot-checks", uid=study.uid)


def _queue(study: Study) -> tuple[list[Any], set[int], tuple[str, ...]]:
    """Disputed key points, those adjudicated already, and whose answers make the dataset."""
    table = collect(study)
    chosen = datasets.choice_of(study, table).annotators
    disputes = adjudicating.disputes(table.with_people(chosen))
    decided = set(
        PointAdjudication.objects.filter(study=study, is_current=True).values_list("key_point_id", flat=True)
    )
    return disputes, decided, chosen


@requires("annotation.view_study")
@require_safe
def disagreements(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Key points on which those who make the dataset disagree, those to adjudicate first.

    With `blind=1` open ones have letters instead of names.
    """
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    saw_insights(request.user, *haystacks_of(study))
    disputes, decided, chosen = _queue(study)
    only_open = request.GET.get("open", "1") == "1"
    rows = [dispute for dispute in disputes if not (only_open and dispute.point in decided)]
    shown = Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page"))
    points = KeyPoint.objects.select_related("question").in_bulk([dispute.point for dispute in shown])
    answers = answers_on(study, points, chosen=chosen)
    is_blind = blind.is_asked(request)
    if is_blind:
        hidden = (point for pk, point in points.items() if pk not in decided)
        answers |= {point.pk: blinded(study, point, answers[point.pk]) for point in hidden}
    context = {
        "study": study,
        "here": "disagreements",
        "page": shown,
        "rows": [
            (dispute, points[dispute.point], answers[dispute.point], dispute.point in decided) for dispute in shown
        ],
        "n_all": len(disputes),
        "n_decided": sum(dispute.point in decided for dispute in disputes),
        "only_open": only_open,
        "is_blind": is_blind,
    }
    return page(request, "annotation/verification_disagreements.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def adjudicate(request: HtmxHttpRequest, uid: uuid.UUID, point: uuid.UUID) -> HttpResponse:
    """Decide one key point with everybody's answers and the passages in view."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    items = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY)
    key_point = (
        KeyPoint.objects.select_related("question").filter(pk__in=items.values("key_point"), uid=point).first()
    )
    if key_point is None:
        raise Http404
    saw_insights(request.user, *haystacks_of(study))
    queue, decided, chosen = _queue(study)
    history = list(adjudicating.DECISIONS.history(study, key_point=key_point))
    answers = answers_on(study, [key_point.pk], chosen=chosen)[key_point.pk]
    is_blind = blind.is_asked(request) and not history
    names = {answer.key: answer.name for answer in answers}
    answers = blinded(study, key_point, answers) if is_blind else answers
    places = [dispute.point for dispute in queue]
    next_url = _next(request, study, places, decided, key_point.pk)
    if withdrawn(request, adjudicating.DECISIONS, study, key_point=key_point):
        return redirect(request.get_full_path())
    form = DecisionForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            adjudicating.adjudicate(
                study=study,
                key_point=key_point,
                is_blind=is_blind,
                seen=seen_in(request.POST),
                by=request.user,
                now=timezone.now(),
                **form.cleaned_data,
            )
        except DecisionRefused as problem:
            form.add_error(None, str(problem))
        else:
            who = {answer.name: names[answer.key] for answer in answers} if is_blind else {}
            say_decided(request, blind.in_words(who))
            return redirect(next_url)
    current = next((row for row in history if row.is_current), None)
    context = {
        "study": study,
        "here": "disagreements",
        "is_blind": is_blind,
        "query": _query(request),
        "point": key_point,
        **_values(request, current),
        "passages": passages_of(key_point),
        "answers": answers,
        "form": form,
        "history": history,
        "current": current,
        "seen": newest(history),
        "place": places.index(key_point.pk) + 1 if key_point.pk in places else None,
        "n": len(places),
        "next_url": next_url,
    }
    return page(request, "annotation/verification_adjudicate.html", context, status=422 if form.errors else 200)


def _values(request: HttpRequest, current: Any) -> dict[str, str]:
    """What the form shows: as sent, else what applies."""
    names = ("grounded", "keyness", "note")
    if request.method == "POST":
        return {name: request.POST.get(name, "") for name in names}
    return {name: getattr(current, name, "") for name in names}


def _query(request: HttpRequest) -> str:
    """What of an address goes along from page to page."""
    return f"?{blind.PARAMETER}=1" if blind.is_asked(request) else ""


def _next(request: HttpRequest, study: Study, places: list[int], decided: set[int], at: int) -> str:
    """The next disputed key point that nobody decided, after this one and then from the first; else the list."""
    waiting = next_open(places, decided, after=at)
    if waiting is None:
        return reverse("annotation:verification-disagreements", args=[study.uid]) + _query(request)
    uid = KeyPoint.objects.values_list("uid", flat=True).get(pk=waiting)
    return reverse("annotation:verification-adjudicate", args=[study.uid, uid]) + _query(request)
