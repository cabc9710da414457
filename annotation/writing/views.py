"""Endpoints of the session page's scripts: the JSON that they and the server exchange, parsed and printed.

Every view finds the session among the person's own, makes one verb call and prints the status. Refusals keep the
text, and say so with a code.

Every POST body is an object with `tab_id`; those that carry a draft (draft, pause, submit, resolve) add
`{op_id, base_rev, text, client_active_ms?, typed_at?, offline_ms?, source?, confirm_empty?}`, and any may add
`events`, a list of `{seq, type, at?, payload?}`; `typed_at` and `at` are the browser's clock in milliseconds since
the epoch. `notes` is `{op_id, text, typed_at?}`: refused with 409 or 410 it is stored apart. `resolve` has
`replaces_sha256` in place of `base_rev`; `claim`, `heartbeat`, `resume` and `events` have no draft; pause and
submit may come without one (leave out `text`).

200: `{state, active_ms, remaining_ms, limit_ms, next_mark_ms, is_active_tab, pauses_in_ms?, paused_by}` = the
status, with `pauses_in_ms` where the session pauses itself if nothing is heard of this tab for so long; plus `rev`
where a draft was taken, `refused` where a pause came too late, and `{rev, text, sha256}` in the answer to `claim`.
401 `login` · 404 `not_found` · 400 `invalid` · 409 `conflict`, `tab_lost`, `empty`, `paused`, `not_started`,
`other_session`, `consent` · 410 `closed` · 413 `too_long` · 503 `unavailable`. 409 and 410 are the status with
`{code, message}` and, for a draft, `{your_text, server_text, server_sha256}`, never the revision; the text is
stored. `consent` without a draft is `{code, message}` alone: nothing was looked up. 410 adds `late_words`, the
number of words that came too late. With the others it is not stored, and stays in the browser.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import wraps
from typing import Any, TypeGuard
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
from annotation.writing.drafting import (
    Draft,
    DraftRefused,
    Event,
    Message,
    Refused,
    SessionClosed,
    Status,
)
from annotation.writing.late import new_words
from benchmarks.io.published import sha256_of
from benchmarks.web.permissions import LOGGED_IN, requires

MAX_EVENTS = 200
MAX_PAYLOAD_KEYS = 12
MAX_PAYLOAD_TEXT = 200
LARGEST = 2**31 - 1
LATEST_MS = 2**47
"""About the year 6429: what a browser calls a time in milliseconds lies before it."""

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,40}")
EVENT_TYPE = re.compile(r"[a-z_]{1,30}")
SHA256 = re.compile(r"[0-9a-f]{64}")
SOURCE = re.compile(r"[a-z_]{1,20}")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadMessage(Exception):
    """The message is not what the protocol says; the text of the exception names the field."""


def read_message(body: bytes, *, needs_draft: bool = False, resolves: bool = False) -> Message:
    """Parse a POST body; BadMessage names what was expected."""
    data = read_object(body)
    draft = None
    if needs_draft or resolves or data.get("text") is not None:
        draft = _draft(data, has_base=not resolves)
    return Message(
        tab_id=read_identifier(data, "tab_id"),
        draft=draft,
        replaces_sha256=_matching(data, "replaces_sha256", SHA256) if resolves else "",
        events=_events(data.get("events", [])),
    )


def read_object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage(_("The body is not JSON.")) from error
    if not isinstance(data, dict):
        raise BadMessage(_("The body is not a JSON object."))
    return data


def storable(text: str) -> str:
    """The text without what no database holds (NUL, half a surrogate pair), each as a replacement mark."""
    return UNSTORABLE.sub("\ufffd", text)


def read_identifier(data: Mapping[str, Any], name: str) -> str:
    """A name that the browser made up, for a tab or an operation."""
    return _matching(data, name, IDENTIFIER)


def read_text(data: Mapping[str, Any], name: str) -> str:
    """A text field, made storable."""
    value = data.get(name)
    if not isinstance(value, str):
        raise BadMessage(_("“%(name)s” must be a text.") % {"name": name})
    return storable(value)


def _is_passage(value: Any) -> bool:
    is_four = isinstance(value, list) and len(value) == 4 and all(map(_is_count, value))
    return is_four and value[1] < value[2] and value[3] < COLOURS


def read_moment(data: Mapping[str, Any], name: str) -> int | None:
    """A time by the browser's clock (ms since the epoch); None where it is none, which never costs the rest."""
    value = data.get(name)
    is_time = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LATEST_MS
    return value if is_time else None


def _draft(data: Mapping[str, Any], *, has_base: bool) -> Draft:
    source = data.get("source")
    seen, offline = data.get("client_active_ms"), data.get("offline_ms")
    return Draft(
        op_id=read_identifier(data, "op_id"),
        base_rev=_count(data, "base_rev") if has_base else 0,
        text=read_text(data, "text"),
        client_active_ms=seen if _is_count(seen) else None,
        source=source if isinstance(source, str) and SOURCE.fullmatch(source) else "typing",
        confirm_empty=data.get("confirm_empty") is True,
        typed_at_ms=read_moment(data, "typed_at"),
        offline_ms=offline if _is_count(offline) else 0,
    )


def _events(items: Any) -> tuple[Event, ...]:
    """Events that can be stored; a malformed one never costs the text that came with it."""
    if not isinstance(items, list):
        return ()
    return tuple(
        Event(
            seq=item["seq"],
            type=item["type"],
            payload=_payload(item.get("payload")),
            at_ms=read_moment(item, "at"),
        )
        for item in items[:MAX_EVENTS]
        if isinstance(item, dict)
        and _is_count(item.get("seq"))
        and isinstance(item.get("type"), str)
        and EVENT_TYPE.fullmatch(item["type"])
    )


def _payload(value: Any) -> dict[str, Any]:
    """Few and small facts: numbers, yes or no, short texts such as what was searched for."""
    if not isinstance(value, dict):
        return {}
    kept: dict[str, Any] = {}
    for key, fact in list(value.items())[:MAX_PAYLOAD_KEYS]:
        if isinstance(fact, str):
            kept[storable(key)[:30]] = storable(fact)[:MAX_PAYLOAD_TEXT]
        elif fact is None or isinstance(fact, bool) or (isinstance(fact, int | float) and abs(fact) < 1e15):
            kept[storable(key)[:30]] = fact
    return kept


def _matching(data: Mapping[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BadMessage(_("“%(name)s” must match %(pattern)s.") % {"name": name, "pattern": pattern.pattern})
    return value


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if not _is_count(value):
        raise BadMessage(_("“%(name)s” must be a whole number from 0.") % {"name": name})
    return value


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


logger = logging.getLogger(__name__)

MAX_READ_MARKS = 2_000
MAX_PASSAGES, COLOURS = 1_000, 6

Endpoint = Callable[[HttpRequest, Session, datetime], Status | dict[str, Any] | JsonResponse]
View = Callable[[HttpRequest, UUID], JsonResponse]

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


def printed(endpoint: Endpoint) -> View:
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
            return _json(_refusal(refusal), {"closed": 410}.get(refusal.code, 409))
        if isinstance(outcome, JsonResponse):
            return outcome
        return _json(_status(outcome) if isinstance(outcome, Status) else outcome, 200)

    return view


@printed
def keep_text(request: HttpRequest, mine: Session, now: datetime) -> JsonResponse:
    """Answer somebody who has withdrawn their consent: a text is stored as refused, and nothing else is."""
    for resolves in (False, True):
        with suppress(BadMessage):
            message = read_message(request.body, resolves=resolves)
            if message.draft is not None:
                raise drafting.refuse_without_consent(session=mine, message=message, now=now)
    return consent.refusal()


def answers_json(endpoint: Endpoint) -> View:
    """Print what an endpoint says to a POST; without consent keep the text that was sent to it."""
    return requires(LOGGED_IN, json=True)(require_POST(kept_without_consent(keep_text)(printed(endpoint))))


def takes_message(verb: Callable[..., Status], **expected: bool) -> View:
    """A view that gives a message of the browser to a verb."""

    @wraps(verb)
    def endpoint(request: HttpRequest, mine: Session, now: datetime) -> Status:
        return verb(session=mine, message=read_message(request.body, **expected), now=now)

    return answers_json(endpoint)


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


draft = takes_message(drafting.save, needs_draft=True)
resolve = takes_message(drafting.choose, resolves=True)
heartbeat = takes_message(sessions.heartbeat)
pause = takes_message(sessions.pause)
resume = takes_message(sessions.resume)
submit = takes_message(sessions.submit)
events = takes_message(sessions.record_events)


@requires(LOGGED_IN, json=True)
@require_GET
@kept_without_consent(keep_text)
@printed
def state(request: HttpRequest, mine: Session, now: datetime) -> Status:
    return sessions.look(session=mine, tab_id=request.GET.get("tab_id", ""), now=now)


@answers_json
def claim(request: HttpRequest, mine: Session, now: datetime) -> dict[str, Any]:
    """Go on in this tab, with the text and its revision."""
    status, text = sessions.claim_tab(session=mine, message=read_message(request.body), now=now)
    return _status(status) | {"text": text, "sha256": sha256_of(text)}


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


@answers_json
def read(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Keep which documents are marked as read: `{tab_id, documents: [numbers]}`, all of them."""
    data = read_object(request.body)
    tab_id = read_identifier(data, "tab_id")
    value = data.get("documents")
    if not isinstance(value, list) or len(value) > MAX_READ_MARKS or not all(_is_count(each) for each in value):
        raise BadMessage(
            _("“%(name)s” must be a list of at most %(n)d numbers.") % {"name": "documents", "n": MAX_READ_MARKS}
        )
    numbers = sorted(set(value))
    return sessions.mark_read(session=mine, tab_id=tab_id, numbers=numbers, now=now)


@answers_json
def marks(request: HttpRequest, mine: Session, now: datetime) -> Status:
    """Keep the passages that are marked: `{tab_id, passages: [[document, start, end, colour]]}`, all of them."""
    data = read_object(request.body)
    tab_id = read_identifier(data, "tab_id")
    value = data.get("passages")
    if not isinstance(value, list) or len(value) > MAX_PASSAGES or not all(map(_is_passage, value)):
        raise BadMessage(_("“%(name)s” must be a list of marked passages.") % {"name": "passages"})
    return sessions.mark_passages(session=mine, tab_id=tab_id, passages=value, now=now)
