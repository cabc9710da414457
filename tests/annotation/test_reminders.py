"""Mail that reminds of open tasks: to whom, when, how often, and what a mail server gets."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from email import message_from_bytes
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Annotator, Study
from annotation.reminders.choosing import is_due
from annotation.reminders.sending import send_due, send_for_study
from annotation.studies import consent
from benchmarks.models import AuditEvent
from tests.makers import annotator_of, make_assignment, make_haystack, make_linking_study, make_writing_study

DAY = timedelta(days=1)


class MailHandler(socketserver.StreamRequestHandler):
    """Just enough of SMTP (RFC 5321) to take mails."""

    def handle(self) -> None:
        self.wfile.write(b"220 mail.test\r\n")
        text: list[bytes] | None = None
        for line in self.rfile:
            if text is not None:
                if line == b".\r\n":
                    self.server.mails.append(b"".join(text))  # type: ignore[attr-defined]
                    text = None
                    self.wfile.write(b"250 kept\r\n")
                else:
                    text.append(line)
            elif line.upper().startswith(b"DATA"):
                text = []
                self.wfile.write(b"354 go on\r\n")
            elif line.upper().startswith(b"QUIT"):
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 ok\r\n")


@pytest.fixture
def mail_server(settings: Any) -> Iterator[list[bytes]]:
    """A mail server of our own, and the site set to it; gives the mails that it got."""
    with socketserver.TCPServer(("127.0.0.1", 0), MailHandler) as server:
        server.mails = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_IS_SET = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.SITE_ADDRESS = "https://summhay.example/"
        yield server.mails  # type: ignore[attr-defined]
        server.shutdown()


@pytest.fixture
def study(ada: Any, ben: Any, settings: Any, now: datetime) -> Study:
    """Ben has four summaries to link, due in two days; mail goes into memory."""
    settings.EMAIL_IS_SET = True
    made = make_linking_study(annotators=[ben], researcher=ada)
    made.due_at = now + 2 * DAY
    made.save()
    return made


def test_a_mail_server_gets_a_friendly_mail_without_a_login(
    mail_server: list[bytes], study: Study, ben: Any, now: datetime
) -> None:
    ben.name, ben.time_zone = "Ben Ó", "Europe/Lisbon"
    ben.save()
    call_command("send_reminders", now=now)
    [text] = mail_server
    got = message_from_bytes(text)
    assert got["To"] == "ben@example.org"
    body = got.get_payload(decode=True).decode()  # type: ignore[union-attr]
    assert body.startswith("Hello Ben Ó,")
    for words in ("Ferry links: 4 tasks, due Wednesday 4 March, 09:00 WET", "https://summhay.example/work/"):
        assert words in body
    assert "https://summhay.example/profile/" in body
    assert "study@example.org" in body
    for secret in ("password", "token", "user name", "/set/"):
        assert secret not in body.lower()


def test_reminders_go_once_three_days_and_once_one_day_before(now: datetime) -> None:
    due = now + 10 * DAY
    assert not is_due(None, reminded_at=None, now=now)
    assert not is_due(due, reminded_at=None, now=due - 4 * DAY)
    assert is_due(due, reminded_at=None, now=due - 2 * DAY)
    assert is_due(due, reminded_at=due - 9 * DAY, now=due - 2 * DAY)
    assert not is_due(due, reminded_at=due - 2.5 * DAY, now=due - 1.5 * DAY)
    assert is_due(due, reminded_at=due - 2.5 * DAY, now=due - 0.5 * DAY)
    assert not is_due(due, reminded_at=due - 0.5 * DAY, now=due - 0.2 * DAY)
    assert not is_due(due, reminded_at=None, now=due)


def test_at_most_one_mail_a_day_for_all_studies(study: Study, ben: Any, ada: Any, now: datetime) -> None:
    assert send_due(now=now) == 1
    other = make_writing_study(
        haystack=make_haystack(key="other", title="Other"), study_fields={"due_at": now + DAY}
    )
    make_assignment(annotator=ben, study=other)
    assert send_due(now=now + timedelta(hours=2)) == 0
    assert send_for_study(study=other, now=now + timedelta(hours=3)) == 0
    assert send_for_study(study=other, now=now + timedelta(hours=25)) == 1
    assert "Ferry summaries: 1 task" in mail.outbox[1].body
    assert "Ferry links: 4 tasks" in mail.outbox[1].body


REASONS = ("opted out", "no address", "night", "closed", "left", "done", "withdrawn", "no mail")


@pytest.mark.parametrize("reason", REASONS)
def test_nobody_is_mailed_without_cause(reason: str, study: Study, ben: Any, settings: Any, now: datetime) -> None:
    if reason == "opted out":
        Annotator.objects.filter(user=ben).update(wants_reminders=False)
    elif reason == "no address":
        ben.email = ""
    elif reason == "night":
        ben.time_zone = "Pacific/Auckland"
    elif reason == "closed":
        study.state = Study.State.CLOSED
    elif reason == "left":
        study.memberships.update(left_at=now)
    elif reason == "done":
        study.label_tasks.all().delete()
    elif reason == "withdrawn":
        consent.withdraw(annotator=annotator_of(ben), by=ben, now=now)
    else:
        settings.EMAIL_IS_SET = False
    ben.save()
    study.save()
    assert send_due(now=now) == 0
    assert mail.outbox == []


def test_a_mail_that_fails_is_tried_again(study: Study, ben: Any, settings: Any, now: datetime) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_PORT = 9
    assert send_due(now=now) == 0
    assert annotator_of(ben).reminded_at is None


def test_a_researcher_reminds_the_members_of_a_study(
    study: Study, ada: Any, ben: Any, login: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client, address = login(ada), reverse("annotation:study-remind", args=[study.uid])
    assert "1 person gets an email" in client.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        sent = client.post(address, follow=True)
    assert "1 reminder is on its way" in sent.content.decode()
    assert [one.to for one in mail.outbox] == [["ben@example.org"]]
    assert AuditEvent.objects.filter(action="study.remind", actor=ada).count() == 1
    assert client.post(address).status_code == 409
    assert "reminded in the past 24 hours" in client.get(address).content.decode()


def test_an_annotator_turns_reminders_off_in_the_profile(ben: Any, ada: Any, login: Any, settings: Any) -> None:
    settings.EMAIL_IS_SET = True
    page = login(ben).get("/profile/").content.decode()
    assert "Email me reminders" in page
    login(ben).post("/profile/", {"name": "Ben", "time_zone": "UTC"})
    assert not annotator_of(ben).wants_reminders
    login(ben).post("/profile/", {"name": "Ben", "time_zone": "UTC", "reminders": "on"})
    assert annotator_of(ben).wants_reminders
    assert "Remind me" not in login(ada).get("/profile/").content.decode()
