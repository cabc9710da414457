"""The JSON that the session page and the server exchange; the protocol and its parsing.

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
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from django.utils.translation import gettext as _

MAX_TEXT_BYTES = 60 * 1024
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


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the browser reports; `seq` counts within its tab, `at_ms` is its own clock."""

    seq: int
    type: str
    payload: dict[str, Any]
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A text on its way to the server, with the revision it builds on; `typed_at_ms` is the browser's clock."""

    op_id: str
    base_rev: int
    text: str
    client_active_ms: int | None = None
    source: str = "typing"
    confirm_empty: bool = False
    typed_at_ms: int | None = None
    offline_ms: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A complete POST: the tab, its draft if there is one, its events."""

    tab_id: str
    draft: Draft | None = None
    replaces_sha256: str = ""
    events: tuple[Event, ...] = ()


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
    """Parse a JSON object."""
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


def read_numbers(data: Mapping[str, Any], name: str, *, at_most: int) -> list[int]:
    """A list of distinct document numbers, in order."""
    value = data.get(name)
    if not isinstance(value, list) or len(value) > at_most or not all(_is_count(each) for each in value):
        raise BadMessage(_("“%(name)s” must be a list of at most %(n)d numbers.") % {"name": name, "n": at_most})
    return sorted(set(value))


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
