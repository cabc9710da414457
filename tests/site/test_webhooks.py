"""Webhooks: whom they tell of what, signed, tried again, and never inside the network unless settings let them."""

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import CoverageLabel, Study
from annotation.studies.lifecycle import close_study
from benchmarks.models import Judge, JudgeRun
from summhay_site.api import webhooks
from summhay_site.models import Delivery, Webhook
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user

pytestmark = pytest.mark.django_db
EVENTS = list(Webhook.Event.values)


class _Listener(HTTPServer):
    """A program that listens: what it got, and what it answers next."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, bytes]] = []
        self.status = 204
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?to=me"


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def do_POST(self) -> None:
        self.server.heard.append((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.end_headers()

    def log_message(self, *_args) -> None:
        pass


@pytest.fixture
def listener(settings) -> Iterator[_Listener]:
    settings.WEBHOOKS_TO_PRIVATE = True
    server = _Listener()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def study(ada) -> Study:
    labelled = make_labelled_study(summaries=make_summaries(), name="Ferry", researcher=ada)
    labelled.state = Study.State.OPEN
    labelled.save()
    return labelled


def test_who_made_it_is_told_of_what_they_see_once_and_signed(study: Study, ada, listener: _Listener) -> None:
    now = timezone.now()
    hook = webhooks.make_webhook(user=ada, url=listener.url, events=EVENTS, now=now)
    other = webhooks.make_webhook(
        user=make_user("ned", "researcher"), url=listener.url, events=["study.closed", "figures.changed"], now=now
    )
    close_study(study=study, by=ada, now=now + timedelta(seconds=1))
    judge = Judge.objects.create(name="m", kind="imported", config_sha256="m", created_at=now)
    JudgeRun.objects.create(judge=judge, state="done", created_at=now, finished_at=now + timedelta(seconds=1))
    for minutes in (1, 2):
        webhooks.sweep(now=now + timedelta(minutes=minutes))
    told = [json.loads(body) for _headers, body in listener.heard]
    assert sorted(each["event"] for each in told) == sorted(EVENTS)
    assert {each["about"]["name"] for each in told if "name" in each["about"]} == {"Ferry"}
    assert not other.deliveries.exists()
    headers, body = listener.heard[0]
    stamp = headers["X-SummHay-Timestamp"]
    digest = hmac.new(webhooks.secret_of(hook).encode(), stamp.encode() + b"." + body, hashlib.sha256)
    assert headers["X-SummHay-Signature"] == f"sha256={digest.hexdigest()}"
    CoverageLabel.objects.filter(study=study, is_current=True).order_by("pk")[0].delete()
    for minutes in (4, 6):
        webhooks.sweep(now=now + timedelta(minutes=minutes))
    assert [json.loads(body)["event"] for _headers, body in listener.heard[3:]] == ["figures.changed"]


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(
    study: Study, ada, as_ada, listener: _Listener
) -> None:
    now = timezone.now()
    webhooks.make_webhook(user=ada, url=listener.url, events=["study.closed"], now=now)
    close_study(study=study, by=ada, now=now + timedelta(seconds=1))
    listener.status = 302  # is not followed
    now += timedelta(minutes=1)
    webhooks.sweep(now=now)
    webhooks.sweep(now=now + timedelta(seconds=30))
    assert len(listener.heard) == 1
    for wait in webhooks.WAITS:
        now += wait
        webhooks.sweep(now=now)
    assert len(listener.heard) == 6
    assert len({headers["X-SummHay-Delivery"] for headers, _body in listener.heard}) == 1
    delivery = Delivery.objects.get()
    assert (delivery.n_tries, delivery.next_at, delivery.done_at) == (6, None, None)
    page = as_ada.get("/profile/webhooks/").content.decode()
    assert "302 Found" in page
    assert "given up" in page


def test_nothing_is_sent_into_the_network_even_where_the_name_led_elsewhere_before(
    study: Study, ada, login, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, resolved = login(ada), ["93.184.215.14"]
    monkeypatch.setattr(
        webhooks.socket, "getaddrinfo", lambda *_args, **_how: [(0, 0, 0, "", (each, 0)) for each in resolved]
    )
    form = {"url": "https://hooks.example.org/x", "events": ["study.closed"]}
    for inside in ("127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fe80::1%eth0", "fd00::1", "192.168.1.1",
        "::ffff:10.0.0.7", "64:ff9b::a00:7", "100.64.0.1", "224.0.0.1"):  # fmt: skip
        resolved[:] = ["93.184.215.14", inside]
        assert client.post("/profile/webhooks/", form).status_code == 422, inside
    for url in ("ftp://hooks.example.org/", "https://user:word@hooks.example.org/"):
        assert client.post("/profile/webhooks/", form | {"url": url}).status_code == 422, url
    resolved[:] = ["93.184.215.14"]
    made = client.post("/profile/webhooks/", form).content.decode()
    hook = Webhook.objects.get()
    assert webhooks.secret_of(hook) in made
    assert webhooks.secret_of(hook) not in client.get("/profile/webhooks/").content.decode()
    close_study(study=study, by=ada, now=timezone.now())
    resolved[:] = ["127.0.0.1"]
    webhooks.sweep(now=timezone.now())
    assert re.search("inside a network", Delivery.objects.get().outcome)
    ada.is_active = False
    ada.save()
    webhooks.sweep(now=timezone.now() + timedelta(hours=1))
    assert Delivery.objects.get().n_tries == 1
    client = login(make_user("ned", "researcher"))
    assert client.post(f"/profile/webhooks/{hook.uid}/delete/").status_code == 404
