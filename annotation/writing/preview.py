"""Timed writing as researchers preview it: the documents of a subtopic, and a session that is in no table."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from annotation import clock
from annotation.models import Annotator, Assignment, Session
from annotation.pane import pane_for, respond
from annotation.studies.dealing import stable_seed
from annotation.studies.preview import NoPreview, PreviewPlace
from annotation.writing.assigning import shuffled
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.writing.drafting import sha256_of, status_at
from annotation.writing.page_context import ENDPOINTS, client_config, facts, fixed_parts
from annotation.writing.starting import frozen_settings
from benchmarks.models import Subtopic

NOBODY = 0
"""The key of rows that are not stored."""


def page(request: HttpRequest, place: PreviewPlace) -> HttpResponse:
    """The page of the session that somebody would have on a subtopic, with its clock at the start."""
    now = timezone.now()
    row = unstored_session(_assignment(place), started_at=now)
    context = facts(row, now) | {"config_json": client_config(row, now, urls=_urls(place, now)), "preview": place}
    shown = render(request, "annotation/session.html", context | fixed_parts(row))
    haystack, aids = row.assignment.subtopic.haystack, row.config
    return respond(
        request, shown, pane_for(haystack, row.document_numbers, click_to_cite=bool(aids.get("click_to_cite")))
    )


def act(request: HttpRequest, place: PreviewPlace, name: str) -> tuple[dict[str, Any], int]:
    """What the page would get in reply, had it stored something: the clock, and the text as taken."""
    if name not in ENDPOINTS:
        raise Http404
    bare = Assignment(study=place.study, annotator=_nobody(), document_numbers=[])
    row = unstored_session(bare, started_at=_moment(request.GET.get("t", "")))
    state, now_ms = row.clock_state, clock.to_ms(timezone.now())
    t = clock.advance(state, now_ms)
    status = asdict(status_at(state, t, is_active_tab=True))
    is_running = bool(status["remaining_ms"])
    status["state"] = {"pause": "paused", "submit": "submitted"}.get(name, "running" if is_running else "expired")
    del status["rev"], status["refused"]
    if name in {"claim", "draft", "resolve", "pause", "submit"}:
        status["rev"] = _revision(request) if name != "claim" else 0
    if name == "claim":
        status |= {"text": "", "sha256": sha256_of("")}
    return status, 200


def _revision(request: HttpRequest) -> int:
    try:
        base = json.loads(request.body or b"{}").get("base_rev", 0)
    except (ValueError, AttributeError):
        return 1
    return base + 1 if isinstance(base, int) else 1


def _urls(place: PreviewPlace, now: datetime) -> dict[str, str]:
    """Acts come here, with the start of the clock; pause and submit lead back to the study."""
    acts = {name: f"{place.act(name)}?t={clock.to_ms(now)}" for name in ENDPOINTS}
    return acts | {"login": reverse("login")} | dict.fromkeys(("page", "after", "home"), place.study_url)


def _moment(text: str) -> datetime:
    if not (text.isascii() and text.isdigit() and len(text) < 15):
        raise Http404
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(text))


def _assignment(place: PreviewPlace) -> Assignment:
    plan = place.study.writing_plan
    subtopics = plan.subtopics.select_related("haystack").order_by("haystack", "number")
    subtopic: Subtopic = subtopics[place.number - 1]
    rule = rule_of(plan)
    try:
        chosen = choose(load_material([subtopic], retriever=rule.retriever)[subtopic.pk], rule)
    except NoDocuments as problem:
        raise NoPreview(str(problem)) from problem
    return Assignment(
        study=place.study,
        annotator=_nobody(),
        subtopic=subtopic,
        document_numbers=shuffled(chosen.numbers, stable_seed("preview", place.study.seed, subtopic.key)),
        n_words=chosen.n_words,
        n_insights_present=chosen.n_insights_present,
    )


def unstored_session(assignment: Assignment, *, started_at: datetime) -> Session:
    """The session that an assignment would give, running since `started_at`, without a row."""
    settings = {name: value for name, value in frozen_settings(assignment).items() if name != "annotator_id"}
    return Session(
        assignment=assignment,
        annotator=assignment.annotator,
        state=Session.State.RUNNING,
        created_at=started_at,
        started_at=started_at,
        run_started_at=started_at,
        clock_hwm=started_at,
        **settings,
    )


def _nobody() -> Annotator:
    return Annotator(pk=NOBODY, label="")
