"""What the scripts of the session page call: JSON in, JSON out, see `wire` for the protocol.

Every view finds the session among the person's own, makes one verb call and prints the status. Refusals keep
the text, and say so with a code.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Session
from annotation.studies import consent
from annotation.studies.consent import kept_without_consent
from annotation.writing import drafting, sessions
from annotation.writing.drafting import DraftRefused, Refused, SessionClosed, Status, sha256_of
from annotation.writing.late import new_words
from annotation.writing.wire import (
    BadMessage,
    Message,
    read_identifier,
    read_message,
    read_moment,
    read_numbers,
    read_object,
    read_text,
)
from benchmarks.web.permissions import LOGGED_IN, requires

logger = logging.getLogger(__name__)

MAX_READ_MARKS = 2_000

Endpoint = Callable[[HttpRequest, Session, datetime], Status | dict[str, Any] | JsonResponse]

MESSAGES = {
    "conflict": gettext_lazy(
        "There is a newer text on the server. Both are kept; choose the one to continue with."
    ),
    "tab_lost": gettext_lazy("This session is open in another tab. What you typed here is kept."),
    "empty": gettext_lazy("The text is empty now, but was long. Confirm this, or restore the text."),
    "paused": gettext_lazy("The session is paused. What you typed is kept; resume to continue."),
    "not_started": gettext_lazy("The session has not been started."),
    "closed": gettext_lazy("The session is over. What you typed after its end is kept, but not counted."),
    "consent": gettext_lazy("You have withdrawn your consent. What you typed is kept, but not counted."),
    "other_session": gettext_lazy("Your clock is running in another session. Pause or submit that one first."),
}
HTTP_STATUS = {"closed": 410}


def _with_draft(body: bytes) -> Message | None:
    """The message if it carries a draft, in either of the two forms that the protocol has for one."""
    for resolves in (False, True):
        try:
            message = read_message(body, resolves=resolves)
        except BadMessage:
            continue
        if message.draft is not None:
            return message
    return None


def printed(endpoint: Endpoint) -> Callable[[HttpRequest, UUID], JsonResponse]:
    """Give an endpoint the person's session and the time, and print what it says or why it did not."""

    @wraps(endpoint)
    def view(request: HttpRequest, uid: UUID) -> JsonResponse:
        try:
            mine = Session.objects.only("annotator").get(annotator__user=request.user.pk, uid=uid)
            outcome = endpoint(request, mine, timezone.now())
        except BadMessage as error:
            return _json({"code": "invalid", "message": str(error)}, 400)
        except (drafting.DraftTooLong, RequestDataTooBig):
            return _json({"code": "too_long", "message": _("The text is over 60 KB and was not stored.")}, 413)
        except (OperationalError, InterfaceError):
            # A full disk, a lock held too long, a lost connection: the browser keeps the text and tries again.
            logger.exception("a message of session %s could not be stored", uid)
            return _json({"code": "unavailable", "message": _("It could not be saved right now.")}, 503)
        except Session.DoesNotExist:
            return _json({"code": "not_found", "message": _("You have no such session.")}, 404)
        except Refused as refusal:
            return _json(_refusal(refusal), HTTP_STATUS.get(refusal.code, 409))
        if isinstance(outcome, JsonResponse):
            return outcome
        return _json(_status(outcome) if isinstance(outcome, Status) else outcome, 200)

    return view


@printed
def keep_text(request: HttpRequest, mine: Session, now: datetime) -> JsonResponse:
    """Answer somebody who has withdrawn their consent: a text is stored as refused, and nothing else is."""
    message = _with_draft(request.body)
    if message is None:
        return consent.refusal()
    raise drafting.refuse_without_consent(session=mine, message=message, now=now)


def answers_json(endpoint: Endpoint) -> Callable[[HttpRequest, UUID], JsonResponse]:
    """Print what an endpoint says; without consent keep the text that was sent to it."""
    return kept_without_consent(keep_text)(printed(endpoint))


def _json(data: dict[str, Any], status: int) -> JsonResponse:
    return JsonResponse(data, status=status, headers={"Cache-Control": "no-store"})


def _status(status: Status) -> dict[str, Any]:
    """The status as JSON; what does not apply is left out."""
    return {name: value for name, value in asdict(status).items() if value is not None or name == "next_mark_ms"}


def _refusal(refusal: Refused) -> dict[str, Any]:
    """A refusal as JSON. It never holds the revision: with it the next key would overwrite a text unseen."""
    data = _status(refusal.status) | {"code": refusal.code, "message": str(MESSAGES[refusal.code])}
    data.pop("rev", None)
    if isinstance(refusal, DraftRefused):
        data |= {
            "your_text": refusal.your_text,
            "server_text": refusal.server_text,
            "server_sha256": sha256_of(refusal.server_text),
        }
    if isinstance(refusal, SessionClosed):
        data["late_words"] = new_words(refusal.server_text, refusal.your_text)
    return data


def _message(request: HttpRequest, **expected: bool) -> Message:
    return read_message(request.body, **expected)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def draft(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Save what was typed."""
    return drafting.save(session=mine, message=_message(request, needs_draft=True), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def resolve(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Go on with one of two texts."""
    return drafting.choose(session=mine, message=_message(request, resolves=True), now=now)


@requires(LOGGED_IN, json=True)
@require_GET
@answers_json
def state(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """How the session stands."""
    return sessions.look(session=mine, tab_id=request.GET.get("tab_id", ""), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def heartbeat(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """A sign of life."""
    return sessions.heartbeat(session=mine, message=_message(request), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def pause(request: HttpRequest, mine: Session, now: datetime) -> Status:
    return sessions.pause(session=mine, message=_message(request), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def resume(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Let the clock run again."""
    return sessions.resume(session=mine, message=_message(request), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def submit(request: HttpRequest, mine: Session, now: datetime) -> Status:
    return sessions.submit(session=mine, message=_message(request), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def claim(request: HttpRequest, mine: Session, now: datetime) -> dict[str, Any]:
    """Go on in this tab, with the text and its revision."""
    status, text = sessions.claim_tab(session=mine, message=_message(request), now=now)
    return _status(status) | {"text": text, "sha256": sha256_of(text)}


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def events(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """What was searched, pasted, left; no sign of life by itself."""
    return sessions.record_events(session=mine, message=_message(request), now=now)


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def notes(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Keep the notes: `{tab_id, op_id, text, typed_at}`."""
    data = read_object(request.body)
    return sessions.write_notes(
        session=mine,
        tab_id=read_identifier(data, "tab_id"),
        op_id=read_identifier(data, "op_id") if "op_id" in data else "",
        text=read_text(data, "text"),
        typed_at_ms=read_moment(data, "typed_at"),
        now=now,
    )


@requires(LOGGED_IN, json=True)
@require_POST
@answers_json
def read(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Keep which documents are marked as read: `{tab_id, documents: [numbers]}`, all of them."""
    data = read_object(request.body)
    tab_id = read_identifier(data, "tab_id")
    numbers = read_numbers(data, "documents", at_most=MAX_READ_MARKS)
    return sessions.mark_read(session=mine, tab_id=tab_id, numbers=numbers, now=now)
