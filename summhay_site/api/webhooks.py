"""Webhooks: events become rows, rows are sent, signed, and tried again. Every step finds by itself what is due."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import logging
import socket
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from annotation.exports.figures import public_results
from annotation.models import Study
from annotation.states import StudyState
from benchmarks import audit
from benchmarks.access import sight
from benchmarks.models import AuditEvent, JudgeRun
from benchmarks.results.stored import look_up_many
from benchmarks.states import RunState
from summhay_site.models import Delivery, Webhook

logger = logging.getLogger(__name__)

WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
TIMEOUT_S = 10
TAKEN_FOR = timedelta(minutes=2)
"""Nobody else sends a delivery for so long after somebody began to."""
AT_ONCE = 20
KEPT = timedelta(days=30)
OVERLAP = timedelta(minutes=5)
"""What was written late is seen by the next look; nothing becomes two deliveries, since an event has one key."""
ENDED = (RunState.DONE, RunState.CANCELLED)


class Refused(Exception):
    """An address that nothing is sent to; the message says why."""


@transaction.atomic
def make_webhook(*, user: Any, url: str, events: list[str], now: datetime) -> Webhook:
    """Tell an address of what happens from now on."""
    hook = Webhook.objects.create(user=user, url=url, events=events, made_at=now, seen_at=now)
    audit.record(actor=user, action="webhook.made", target=user, now=now, uid=str(hook.uid), events=events)
    return hook


@transaction.atomic
def delete_webhook(*, hook: Webhook, by: Any, now: datetime) -> None:
    """Tell it nothing any more."""
    audit.record(actor=by, action="webhook.deleted", target=hook.user, now=now, uid=str(hook.uid))
    hook.delete()


def secret_of(hook: Webhook) -> str:
    """Secret that deliveries are signed with; it follows from the site's secret key and is not stored."""
    return salted_hmac("summhay.webhook", str(hook.uid), algorithm="sha256").hexdigest()


# Events


def sweep(*, now: datetime) -> None:
    """Note what has happened since each webhook was last looked after, and send what is due."""
    for hook in Webhook.objects.filter(user__is_active=True).select_related("user"):
        with sight.seeing(sight.of(hook.user)):
            rows = [
                Delivery(
                    webhook=hook,
                    event=event,
                    key=key,
                    made_at=now,
                    next_at=now,
                    body=orjson.dumps({"event": event, "at": at, "about": about}).decode(),
                )
                for event, key, at, about in _events(hook, now)
                if event in hook.events
            ]
        with transaction.atomic():
            Delivery.objects.bulk_create(rows, ignore_conflicts=True)
            Webhook.objects.filter(pk=hook.pk).update(seen_at=now)
    Delivery.objects.filter(made_at__lt=now - KEPT).delete()
    for delivery in due(now)[:AT_ONCE]:
        deliver(delivery=delivery, now=now)


Event = tuple[str, str, datetime, dict[str, Any]]


def _events(hook: Webhook, now: datetime) -> Iterator[Event]:
    """Name, key, time and words of each event in the sight of who made the webhook."""
    kinds, since = Webhook.Event, max(hook.made_at, hook.seen_at - OVERLAP)
    studies: list[Study] = []
    if hook.user.has_perm("annotation.view_session"):
        rows = Study.objects.for_user(hook.user)
        studies = list(rows.exclude(state__in=(StudyState.DRAFT, StudyState.ARCHIVED)))
    by_uid = {str(study.uid): study for study in studies}
    if kinds.STUDY_CLOSED in hook.events:
        closed = AuditEvent.objects.filter(action="study.closed", at__gt=since, object_uid__in=by_uid)
        for event in closed.order_by("pk"):
            yield kinds.STUDY_CLOSED, f"closed/{event.pk}", event.at, _named(by_uid[event.object_uid])
    if kinds.FIGURES_CHANGED in hook.events:
        for study in studies:
            yield from _changed(study, since, now)
    if kinds.RUN_ENDED in hook.events and hook.user.has_perm("benchmarks.view_judge"):
        runs = JudgeRun.objects.filter(finished_at__gt=since, state__in=ENDED).select_related("judge")
        for run in runs.order_by("pk"):
            about = {"run": str(run.uid), "judge": str(run.judge), "task": run.task, "state": run.state}
            yield kinds.RUN_ENDED, f"run/{run.uid}/{run.finished_at}", run.finished_at or now, about


def _named(study: Study) -> dict[str, Any]:
    return {"study": str(study.uid), "name": study.name}


def _changed(study: Study, since: datetime, now: datetime) -> Iterator[Event]:
    """The newest figures of a study if they are newer than that; has workers look whether they still hold."""
    public = public_results(study)
    if public is None:
        return
    [shown] = look_up_many(public[0].computation, [public[1]], now=now)
    at = shown.result.computed_at
    if shown.figures is not None and at is not None and at > since:
        about = {**_named(study), "data_version": shown.version}
        yield Webhook.Event.FIGURES_CHANGED, f"figures/{study.uid}/{shown.version}", at, about


# Sending


def due(now: datetime) -> QuerySet[Delivery]:
    """Deliveries to be sent by now, the oldest first."""
    rows = Delivery.objects.filter(next_at__lte=now, webhook__user__is_active=True)
    return rows.select_related("webhook").order_by("next_at", "pk")


def deliver(*, delivery: Delivery, now: datetime) -> None:
    """Send it, unless somebody else does, and note how that ended."""
    taken = Delivery.objects.filter(pk=delivery.pk, next_at=delivery.next_at).update(next_at=now + TAKEN_FOR)
    if not taken:
        return
    try:
        status = send(delivery, now=now)
        outcome, is_done = f"{status} {http.client.responses.get(status, '')}".strip(), 200 <= status < 300
    except Refused as refusal:
        outcome, is_done = str(refusal), False
    except (OSError, http.client.HTTPException) as problem:
        outcome, is_done = str(problem) or type(problem).__name__, False
    n_tries = delivery.n_tries + 1
    again = None if is_done or n_tries > len(WAITS) else now + WAITS[n_tries - 1]
    Delivery.objects.filter(pk=delivery.pk).update(
        n_tries=n_tries, outcome=outcome[:200], next_at=again, done_at=now if is_done else None
    )


def send(delivery: Delivery, *, now: datetime) -> int:
    """Post it to where its address resolves to now; gives the status of the answer.

    Raises:
        Refused: the address is inside a network.
        OSError: nobody can be reached there.
    """
    hook, body = delivery.webhook, delivery.body.encode()
    host, port, is_safe, address = place_of(hook.url)
    stamp = str(int(now.timestamp()))
    signature = hmac.new(secret_of(hook).encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    parts = urlsplit(hook.url)
    connection = _Pinned(host, port, address, is_safe=is_safe)
    try:
        connection.request(
            "POST",
            (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
            body,
            {
                "Content-Type": "application/json",
                "User-Agent": "SummHay",
                "X-SummHay-Delivery": str(delivery.uid),
                "X-SummHay-Timestamp": stamp,
                "X-SummHay-Signature": f"sha256={signature}",
            },
        )
        return connection.getresponse().status
    finally:
        connection.close()


class _Pinned(http.client.HTTPConnection):
    """A connection to an address that was looked at, whatever its name resolves to a moment later."""

    def __init__(self, host: str, port: int, address: str, *, is_safe: bool) -> None:
        super().__init__(host, port, timeout=TIMEOUT_S)
        self.address = address
        self.context = ssl.create_default_context() if is_safe else None
        self.default_port = 443 if is_safe else 80

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)
        if self.context is not None:
            self.sock = self.context.wrap_socket(self.sock, server_hostname=self.host)


def place_of(url: str) -> tuple[str, int, bool, str]:
    """Host, port, whether it is https, and the network address of a URL.

    Raises:
        Refused: it is no web address, resolves to nothing, or to what is not public though settings ask for that.
    """
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Refused("This is no web address.") from None
    if parts.scheme not in {"http", "https"} or not host or parts.username is not None:
        raise Refused("This is no web address.")
    is_safe = parts.scheme == "https"
    port = port or (443 if is_safe else 80)
    try:
        resolved = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        raise Refused(f"{host} cannot be found.") from None
    if not settings.WEBHOOKS_TO_PRIVATE and not all(_is_public(each) for each in resolved):
        raise Refused(f"{host} is inside a network.")
    return host, port, is_safe, resolved[0]


def _is_public(text: str) -> bool:
    """Whether an address is of the open internet, also one that wraps another."""
    address = ipaddress.ip_address(text.partition("%")[0])
    wrapped = [address]
    if isinstance(address, ipaddress.IPv6Address):
        teredo = address.teredo
        inner = [address.ipv4_mapped, address.sixtofour, teredo[1] if teredo else None]
        if address in ipaddress.ip_network("64:ff9b::/96"):
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        wrapped += filter(None, inner)
    return all(each.is_global and not each.is_multicast for each in wrapped)
