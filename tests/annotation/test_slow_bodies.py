"""A body may follow its headers as late as its sender likes: what counts is when all of it is there."""

import json
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from django.middleware.csrf import _get_new_csrf_string
from django.urls import reverse
from django.utils import timezone

from annotation.models import DraftRevision, LabelTask, Session
from annotation.writing import sessions
from tests.makers import give_consent, make_assignment, make_linking_study, make_writing_study

pytestmark = pytest.mark.django_db(transaction=True)
LATE_S = 1.2
Post = Callable[..., dict[str, Any]]


@pytest.fixture
def post(live_server, as_ben) -> Post:
    """Send headers, wait, then send the body, over a plain socket to a real server."""
    token = _get_new_csrf_string()
    where = urlsplit(live_server.url)
    urlopen(f"{live_server.url}/health/").close()  # noqa: S310  the first request loads the site
    cookies = f"csrftoken={token}; sessionid={as_ben.cookies['sessionid'].value}"

    def send(url: str, body: str, *, content_type: str = "application/json", wait_s: float = LATE_S):
        head = (
            f"POST {url} HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: {cookies}\r\nX-CSRFToken: {token}\r\n"
            f"Accept: application/json\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        with socket.create_connection((where.hostname, where.port), timeout=20) as line:
            line.sendall(head.encode())
            time.sleep(wait_s)
            line.sendall(body.encode())
            answer = b""
            while chunk := line.recv(65_536):
                answer += chunk
        first, _, rest = answer.partition(b"\r\n\r\n")
        return {"status": int(first.split()[1]), **json.loads(rest)}

    return send


@pytest.fixture
def session(ben) -> Session:
    """A session of one second, begun now."""
    now = timezone.now()
    study = make_writing_study(annotators=[ben], now=now)
    give_consent(ben, now=now)
    begun = sessions.start(
        assignment=make_assignment(annotator=ben, study=study, now=now), attested=True, now=timezone.now()
    )
    Session.objects.filter(pk=begun.pk).update(
        limit_ms=1_000, grace_ms=0, next_due_at=timezone.now() + timedelta(seconds=1)
    )
    return begun


def draft(**more) -> str:
    return json.dumps(
        {"tab_id": "tab", "op_id": "op", "base_rev": 0, "text": "- after the end", "source": "typing", **more}
    )


@pytest.mark.parametrize("name", ["draft", "submit", "pause"])
def test_headers_sent_before_the_end_do_not_carry_a_text_over_it(post: Post, session: Session, name: str) -> None:
    answer = post(reverse(f"annotation:session-{name}", args=[session.uid]), draft())
    assert (answer["status"], answer["code"], answer["state"]) == (410, "closed", "expired")
    stored = DraftRevision.objects.get()
    assert (stored.accepted, stored.reject_code) == (False, "closed")
    assert Session.objects.get().draft_text == ""


@pytest.mark.parametrize("name", ["heartbeat", "events", "resume", "claim"])
def test_a_sign_of_life_counts_when_it_is_complete(post: Post, session: Session, name: str) -> None:
    answer = post(reverse(f"annotation:session-{name}", args=[session.uid]), json.dumps({"tab_id": "tab"}))
    assert answer["state"] == "expired"


def test_a_contact_of_label_work_counts_when_it_is_complete(post: Post, ben) -> None:
    make_linking_study(annotators=[ben])
    task = LabelTask.objects.filter(annotator__user=ben)[0]
    begun = timezone.now()
    assert post(reverse("annotation:label-seen", args=[task.uid]), "{}", wait_s=LATE_S)["status"] == 200
    task.refresh_from_db()
    assert task.last_seen_at >= begun + timedelta(seconds=LATE_S)
