"""Context of the pages of a session, worked out from its rows; no queries beyond those the rows bring."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from annotation import clock
from annotation.models import Annotator, Assignment, Guideline, Session, WritingPlan
from annotation.pane import pane_for, respond
from annotation.studies.amounts import duration
from annotation.studies.dealing import stable_seed
from annotation.studies.guidelines import current_guideline, guideline_html
from annotation.studies.kind import NoPreview, PreviewPlace
from annotation.studies.rhythm import preferences_of
from annotation.writing import late
from annotation.writing.assigning import shuffled
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.writing.drafting import status_at
from annotation.writing.eligibility import Code, NotEligible
from annotation.writing.planning import AIDS, frozen_settings, limit_of, mark_every_of
from benchmarks.io.published import sha256_of
from benchmarks.models import Subtopic
from benchmarks.scoring.text import bullets, lines_from_text

WORDS_PER_MINUTE = 200
ENDPOINTS = (
    "draft",
    "state",
    "heartbeat",
    "pause",
    "resume",
    "submit",
    "claim",
    "resolve",
    "events",
    "notes",
    "read",
    "marks",
)


def facts(row: Session, now: datetime) -> dict[str, Any]:
    state, now_ms = row.clock_state, clock.to_ms(now)
    t = clock.advance(state, now_ms)
    seconds = max(0, clock.remaining_ms(state, t)) // 1000
    return {
        "session": row,
        "text_size": preferences_of(row.annotator).text_size,
        **_task_facts(row.assignment, row.guideline, row.document_numbers, row.config.get("list_hits", False)),
        "n_words": lambda: sum(line.n_words for line in bullets(lines_from_text(row.draft_text))),
        "n_bullets": lambda: len(bullets(lines_from_text(row.draft_text))),
        "time_left": f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}",
        "time_worked": duration(clock.active_ms(state, t)),
    }


def _task_facts(
    assignment: Assignment, guideline: Guideline | None, numbers: Sequence[int], lists_hits: bool
) -> dict[str, Any]:
    return {
        "assignment": assignment,
        "subtopic": assignment.subtopic,
        "haystack": assignment.subtopic.haystack,
        "study": assignment.study,
        "contact": contact_of(assignment),
        "guideline": guideline,
        "guideline_html": guideline_html(guideline),
        **_about(assignment, numbers, lists_hits),
    }


def late_facts(row: Session) -> dict[str, Any]:
    """Text that arrived too late, and data for the script that sends on what this browser still holds."""
    texts = late.late_texts(row)
    return {
        "late": texts[0] if texts else None,
        "earlier_late": texts[1:],
        "late_notes": list(row.late_notes.order_by("-pk")),
        "leftovers_json": leftovers_config(row.annotator.uid),
    }


def leftovers_config(person: UUID) -> str:
    """Data for the script that sends on texts of sessions of this person, and of nobody else."""
    config = {"person": str(person), "sessions": reverse("annotation:work") + "sessions/"}
    return json.dumps(config, separators=(",", ":"))


def client_config(row: Session, now: datetime, *, urls: dict[str, str] | None = None) -> str:
    """Data for the scripts of the page, as JSON for one attribute; `urls` if none is stored."""
    state = row.clock_state
    t = clock.advance(state, clock.to_ms(now))
    config = {
        "session": str(row.uid),
        "person": str(row.annotator.uid),
        "urls": urls or _urls(row.uid),
        "state": row.state,
        "rev": row.draft_rev,
        "active_ms": clock.active_ms(state, t),
        "remaining_ms": clock.remaining_ms(state, t),
        "limit_ms": row.limit_ms,
        "next_mark_ms": clock.next_mark_ms(state, t),
        "pauses_in_ms": clock.pauses_in_ms(state, t),
        "mark_every_ms": row.mark_every_ms,
        "auto_pause": row.disconnect_policy == WritingPlan.DisconnectPolicy.AUTO_PAUSE,
        "lease_ms": row.lease_ms,
        "paste_policy": row.config.get("paste_policy", "block"),
        "may_paste": bool(row.config.get("may_paste")) or row.annotator.may_paste,
        "time_zone": timezone.get_current_timezone_name(),
        "numbers": row.document_numbers,
        "read": row.read_documents,
        "passages": row.marked_passages,
        "aids": {name: bool(row.config.get(name)) for name in AIDS},
    }
    return json.dumps(config, separators=(",", ":"))


def fixed_parts(row: Session) -> dict[str, SafeString]:
    """Parts that all work pages share, rendered once per process: dialogs, sentences for scripts."""
    language = get_language() or ""
    version = row.guideline.version if row.guideline else 0
    html = str(guideline_html(row.guideline))
    contact = contact_of(row.assignment)
    return {
        "dialogs": _dialogs(
            language,
            version,
            html,
            contact,
            **{name: bool(row.config.get(name)) for name in ("click_to_cite", "live_citation_check")},
            **_about(row.assignment, row.document_numbers, row.config.get("list_hits", False)),
        ),
        "texts": _texts(language),
    }


def with_documents(request: HttpRequest, row: Session, context: dict[str, Any]) -> HttpResponse:
    """The work page of a session with its documents."""
    shown = render(request, "annotation/session.html", context | fixed_parts(row))
    click_to_cite = bool(row.config.get("click_to_cite"))
    pane = pane_for(row.assignment.subtopic.haystack, row.document_numbers, click_to_cite=click_to_cite)
    return respond(request, shown, pane)


def _about(assignment: Assignment, numbers: Sequence[int], lists_hits: bool) -> dict[str, Any]:
    """Facts that the rules of a session depend on."""
    return {
        "lists_hits": bool(lists_hits),
        "n_insights": assignment.n_insights_present,
        "n_documents": len(numbers),
        "is_source": assignment.subtopic.haystack.is_source,
        "is_paid": assignment.study is not None and bool(assignment.study.hourly_rate),
    }


@lru_cache(maxsize=64)
def _dialogs(language: str, version: int, html: str, contact: str, **about: Any) -> SafeString:
    context = {
        **about,
        "guideline": {"version": version},
        "guideline_html": mark_safe(html),  # noqa: S308  made by `guideline_html`
        "contact": contact,
    }
    return render_to_string("annotation/_session_dialogs.html", context)


@lru_cache(maxsize=8)
def _texts(language: str) -> SafeString:
    return render_to_string("annotation/_session_texts.html")


@lru_cache(maxsize=1024)
def _urls(uid: UUID) -> dict[str, str]:
    """The addresses that the scripts of one session call."""
    urls = {name: reverse(f"annotation:session-{name}", args=[uid]) for name in ENDPOINTS}
    return urls | {
        "page": reverse("annotation:session", args=[uid]),
        "after": reverse("annotation:session-after", args=[uid]),
        "login": reverse("login"),
        "home": reverse("annotation:work"),
    }


def start_facts(assignment: Assignment) -> dict[str, Any]:
    study = assignment.study
    plan = study.writing_plan if study else None
    guideline = current_guideline(study) if study else None
    step = 10 ** max(0, len(str(assignment.n_words)) - 3)
    return {
        **_task_facts(
            assignment,
            guideline,
            assignment.document_numbers,
            bool(plan and plan.list_hits and plan.preset == WritingPlan.Preset.ASSISTED),
        ),
        "recorded": tuple(_recorded(mark_every_of(assignment), limit_of(assignment)).values()),
        "words": number_format(round(assignment.n_words / step) * step, force_grouping=True),
        "reading": duration(-(-assignment.n_words // WORDS_PER_MINUTE) * 60_000),
        "limit": duration(limit_of(assignment)),
        "is_auto_pause": bool(plan and plan.disconnect_policy == WritingPlan.DisconnectPolicy.AUTO_PAUSE),
    }


def _recorded(mark_every_ms: int, limit_ms: int) -> dict[str, Any]:
    """Record of a session, with how often its text is copied."""
    if mark_every_ms < limit_ms:
        copies = _("A copy of the text every %(time)s of work, and the final text.")
    else:
        copies = _("A copy of the final text.")
    return RECORDED | {"snapshots": copies % {"time": duration(mark_every_ms)}}


def contact_of(assignment: Assignment) -> str:
    """The address to write to: the study's, or else the site's."""
    study_contact = assignment.study.contact if assignment.study else ""
    return study_contact or str(settings.CONTACT_ADDRESS)


def why_not(error: NotEligible) -> dict[str, Any]:
    """Why a task can't be started, for the person it concerns."""
    codes = error.codes
    if Code.NO_CONSENT in codes:
        text = _("Please read the page on consent first, and decide whether you agree.")
    elif codes == {Code.NO_PRACTICE}:
        text = _("First do a short practice session on other documents, to get to know the page.")
    elif codes & {Code.EXPOSED, Code.RESEARCH_ROLE}:
        text = _(
            "You have already seen what these documents contain, so somebody else has to write this summary. "
            "You did nothing wrong."
        )
    elif codes & {Code.SECOND_ON_HAYSTACK, Code.SAME_SUBTOPIC}:
        text = _("You have written about these documents before, and a second summary would not be comparable.")
    elif codes <= {Code.OTHER_FORM_FIRST, Code.NO_PRACTICE}:
        text = _("You write two summaries in this study, in a fixed order. This task opens after the other one.")
    else:
        text = _("It is no longer open. You keep what you have earned so far.")
    return {
        "obstacle": text,
        "consent_first": Code.NO_CONSENT in codes,
        "practice_first": codes == {Code.NO_PRACTICE},
    }


# What is recorded


RECORDED = {
    "drafts": gettext_lazy(
        "The text as it is written: each version with the time at which it was typed and arrived."
    ),
    "snapshots": gettext_lazy(
        "Copies of the text at even intervals of work, in most studies every ten minutes, and the final text."
    ),
    "work_periods": gettext_lazy("When work begins and pauses, and why the clock stopped."),
    "events": gettext_lazy(
        "The words searched for in the documents and how many hits there were; when the page is hidden or "
        "out of focus; long breaks; that the browser translates the documents; of pastes and copies "
        "their source and size, not the text."
    ),
    "notes": gettext_lazy("The notes beside the text; they are never scored."),
    "passages": gettext_lazy("The passages marked in the documents; they are never scored."),
}
"""By the name under which `people.held` declares it."""


# Preview


NOBODY = 0
"""The key of rows that are not stored."""


def page(request: HttpRequest, place: PreviewPlace) -> HttpResponse:
    """The page of the session that somebody would have on a subtopic, with its clock at the start."""
    now = timezone.now()
    row = unstored_session(_assignment(place), started_at=now)
    acts = {name: f"{place.act(name)}?t={clock.to_ms(now)}" for name in ENDPOINTS}
    context = facts(row, now) | {
        "config_json": client_config(
            row,
            now,
            urls=acts | {"login": reverse("login")} | dict.fromkeys(("page", "after", "home"), place.study_url),
        ),
        "preview": place,
    }
    return with_documents(request, row, context)


def act(request: HttpRequest, place: PreviewPlace, name: str) -> tuple[dict[str, Any], int]:
    """Reply that the page would get, had it stored something: the clock, and the text as taken."""
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
