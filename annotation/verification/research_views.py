"""Figures on verified key points: agreement, which annotators to choose, and the AutoDS filter."""

from __future__ import annotations

import uuid
from dataclasses import replace
from functools import partial
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.figures.page import readable
from annotation.models import Study
from annotation.results.study import waiting_for_study
from annotation.studies.scope import study_of, uid_in
from annotation.verification import autods as filters
from annotation.verification import research_page
from annotation.verification.agreement import FAST_S
from annotation.verification.choosing import SETS, SetsLook
from annotation.verification.labels import has_point_labels
from annotation.verification.machines import threshold_of
from annotation.verification.research_page import ALL, CONTROL, KEY_POINTS, Look, titles
from benchmarks.models import Judge
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file
from benchmarks.scoring.autods import RATES
from benchmarks.scoring.retention import Task
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

ROWS = 60
LONGEST_KEY = 200
MAX_SEED = 2**31 - 1


verification_study = partial(study_of, kind=Study.Kind.VERIFICATION)
"""A verification study that this researcher may see."""


def _with_points(request: HttpRequest, uid: uuid.UUID) -> Study:
    """As above, or a study of judgments on key points that were made elsewhere."""
    found = Study.objects.for_user(request.user).filter(kind=Study.Kind.VERIFICATION, uid=uid).first()
    if found is None:
        elsewhere = readable(request.user).filter(Q(kind=Study.Kind.EXTERNAL))
        found = get_object_or_404(elsewhere, uid=uid)
        if not has_point_labels(found):
            raise Http404
    study: Study = found
    return study


def _look(request: HttpRequest, study: Study) -> Look:
    """Which figures an address asks for."""
    scope = request.GET.get("scope", "")
    people = sorted({key[:LONGEST_KEY] for key in request.GET.getlist("annotator")})
    return Look(
        study.pk,
        threshold=_threshold(request, study),
        scope=scope if scope in {CONTROL, ALL} else "",
        people=tuple(people),
    )


def seed_in(request: HttpRequest, study: Study) -> int:
    """The seed of the address, else the study's own."""
    text = request.GET.get("seed", "")
    return int(text) % MAX_SEED if text.isdecimal() and len(text) < 12 else study.seed % MAX_SEED


def _task_in(request: HttpRequest) -> Task:
    """The task of the address, else the second judgment."""
    name = request.GET.get("task", "")
    return Task(name) if name in set(Task) else Task.KEY_POINT


@requires("annotation.view_study")
@require_safe
def agreement(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """How far people agree on both judgments and on keeping, on the control group or on all items."""
    study = _with_points(request, uid)
    look = _look(request, study)
    shown = look_up(KEY_POINTS, look, now=timezone.now())
    if shown.figures is None:
        return waiting_for_study(request, shown, study, here="agreement", heading=_("Agreement"))
    found = shown.figures
    context = {
        "study": study,
        "here": "agreement",
        "shown": shown,
        "found": found,
        "chosen": look.people,
        "sections": research_page.sections(found, request.GET),
        "fast_s": FAST_S,
        "chosen_on": study.dataset_versions.exclude(selection_seed=None).order_by("-number").first(),
        "query": request.GET.urlencode(),
    }
    return page(request, "annotation/verification_agreement.html", context, part="figures")


@requires("annotation.view_study")
@require_safe
def agreement_file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """All figures as JSON, or tables as CSV; people under their pseudonyms."""
    study = _with_points(request, uid)
    if name not in {"figures.json", "agreement.csv", "annotators.csv"}:
        raise Http404
    look = replace(_look(request, study), is_public=True)
    shown = look_up(KEY_POINTS, look, now=timezone.now(), wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    found = shown.figures
    title = f"key-points-{shown.version}-{found.scope}-{name}"
    if name == "agreement.csv":
        rows = research_page.agreement_rows(found)
        return csv_download(request, research_page.AGREEMENT_COLUMNS, rows, name=title, about=study)
    if name == "annotators.csv":
        return csv_download(
            request, research_page.PEOPLE_COLUMNS, research_page.people_rows(found), name=title, about=study
        )
    return json_download(
        {"data_version": shown.version, **research_page.everything(found)}, name=title, about=study
    )


@requires("annotation.view_study")
@require_safe
def choosing(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Every set of annotators, ranked on one half of the control group and reported on the other."""
    study = verification_study(request, uid)
    seed, task = seed_in(request, study), _task_in(request)
    shown = look_up(SETS, SetsLook(study.pk, task, seed), now=timezone.now())
    if shown.figures is None:
        return waiting_for_study(request, shown, study, here="choosing", heading=_("Choose annotators"))
    found = shown.figures.ranking
    names = {person.key: person.name for person in found.people}
    rows = [
        {
            "names": [names[key] for key in row.annotators],
            "ranked_on": row.ranked_on,
            "held_out": row.held_out,
            "query": urlencode([*(("annotators", key) for key in row.annotators), ("selection_seed", seed)]),
        }
        for row in found.rows
    ]
    context = {
        "study": study,
        "here": "choosing",
        "shown": shown,
        "task": task,
        "tasks": titles(),
        "seed": seed,
        "other_seed": (seed + 1) % MAX_SEED,
        "ranking": found,
        "rows": rows[:ROWS],
        "n_rows": len(rows),
        "flattered": shown.figures.flattered,
        "has_control": shown.figures.has_control,
        "q": shown.figures.q,
    }
    return page(request, "annotation/verification_choosing.html", context)


def threshold_in(request: HttpRequest, default: float) -> float:
    """The threshold of the address, from 0 to 1."""
    try:
        value = float(request.GET.get("threshold", ""))
    except ValueError:
        return default
    return value if 0 <= value <= 1 else default


def _threshold(request: HttpRequest, study: Study) -> float:
    """The threshold of the address, else that of the newest dataset, else the paper's."""
    return threshold_in(request, threshold_of(study))


def _scores(request: HttpRequest) -> Judge | None:
    """The judge whose scores are looked at; None: those that key points came with, or got first."""
    judge = request.GET.get("scores", "")
    return get_object_or_404(Judge.objects.counted(), uid=uid_in(judge)) if judge else None


def _autods(request: HttpRequest, study: Study, *, wait_s: float = WAIT_S) -> Shown[filters.AutoDSFigures]:
    judge = _scores(request)
    look = filters.AutoDSLook(study.pk, _threshold(request, study), judge.pk if judge else None)
    return look_up(filters.AUTODS, look, now=timezone.now(), wait_s=wait_s)


@requires("annotation.view_study")
@require_safe
def autods(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The scores of the key points, and what a threshold keeps and gets wrong."""
    study = verification_study(request, uid)
    shown, judge = _autods(request, study), _scores(request)
    if shown.figures is None:
        return waiting_for_study(request, shown, study, here="autods", heading="AutoDS")
    found = shown.figures.autods
    context: dict[str, Any] = {
        "study": study,
        "here": "autods",
        "shown": shown,
        "found": found,
        "reason": filters.NO_SCORES,
        "judge": judge,
        "sources": Judge.objects.counted().filter(autods_scores__key_point__label_items__study=study).distinct(),
        "query": request.GET.urlencode(),
    }
    if found is not None:
        context |= {
            "charts": filters.charts(found),
            "files_url": reverse("annotation:verification-autods-file", args=[study.uid, "x"])[:-1],
            "rates": [(filters.TITLES[name], found.mean[name]) for name in RATES],
            "rows": [
                (one.person.name, [getattr(one.figures, name) for name in RATES], one.figures.n_unlabelled)
                for one in found.people
            ],
            "heads": [filters.TITLES[name] for name in RATES],
        }
    return page(request, "annotation/verification_autods.html", context)


@requires("annotation.view_study")
@require_safe
def autods_file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """All figures as JSON, or a file of a chart."""
    study = verification_study(request, uid)
    shown = _autods(request, study, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    found = shown.figures.autods
    if found is None:
        raise Http404
    if name == "autods.json":
        return json_download(filters.as_json(found), name="autods.json", about=study)
    return chart_file(request, filters.charts(found), name, prefix="autods-", about=study)
