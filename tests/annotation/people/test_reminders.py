"""Mail that reminds of open tasks: to whom, when, how often, and what a mail server gets."""

import socketserver
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from email import message_from_bytes

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from annotation.models import Annotator, LabelTask, Membership, Study
from annotation.people.reminders import is_due, members_to_remind, send_due, send_for_study
from annotation.studies import consent
from benchmarks.models import AuditEvent
from tests.conftest import make_user
from tests.makers import annotator_of, make_assignment, make_haystack, make_linking_study, make_writing_study

DAY = timedelta(days=1)


class MailHandler(socketserver.StreamRequestHandler):
    """Just enough of SMTP (RFC 5321) to take mails."""

    thanks = b"250 kept\r\n"
    """What the server says once it has a mail; nothing: it hangs up."""

    def handle(self) -> None:
        self.wfile.write(b"220 mail.test\r\n")
        text: list[bytes] | None = None
        for line in self.rfile:
            if text is not None:
                if line == b".\r\n":
                    self.server.mails.append(b"".join(text))
                    text = None
                    if not self.thanks:
                        return
                    self.wfile.write(self.thanks)
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
def mail_server(settings) -> Iterator[list[bytes]]:
    """A mail server of our own, and the site set to it; gives the mails that it got."""
    with socketserver.TCPServer(("127.0.0.1", 0), MailHandler) as server:
        server.mails = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_IS_SET = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.SITE_ADDRESS = "https://summhay.example/"
        yield server.mails
        server.shutdown()


@pytest.fixture
def study(ada, ben, settings, now: datetime) -> Study:
    """Ben has four summaries to link, due in two days; mail goes into memory."""
    settings.EMAIL_IS_SET = True
    made = make_linking_study(annotators=[ben], researcher=ada)
    made.due_at = now + 2 * DAY
    made.save()
    return made


@pytest.mark.every_database
def test_a_mail_server_gets_a_friendly_mail_without_a_login(
    mail_server: list[bytes], study: Study, ben, now: datetime
) -> None:
    ben.name, ben.time_zone = "Ben Ó", "Europe/Lisbon"
    ben.save()
    call_command("send_reminders", now=now)
    [text] = mail_server
    got = message_from_bytes(text)
    assert got["To"] == "ben@example.org"
    body = got.get_payload(decode=True).decode()
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


def test_at_most_one_mail_a_day_for_all_studies(study: Study, ben, ada, now: datetime) -> None:
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
def test_nobody_is_mailed_without_cause(reason: str, study: Study, ben, settings, now: datetime) -> None:
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


def second_account(study: Study, user):
    """Another annotator with the same address, in capitals, who has a task of the study."""
    other = make_user("benedict", "annotator")
    other.email = user.email.upper()
    other.save()
    Membership.objects.create(study=study, annotator=annotator_of(other), number=7, joined_at=study.created_at)
    task = study.label_tasks.unfinished().last()
    task.annotator = annotator_of(other)
    task.save()
    return other


def test_two_accounts_of_an_address_get_one_mail_together(study: Study, ben, now: datetime) -> None:
    second_account(study, ben)
    assert send_for_study(study=study, now=now) == 1
    assert send_due(now=now + timedelta(hours=1)) == 0
    late = make_user("late", "annotator")
    assert send_for_study(study=study, now=now + timedelta(hours=2)) == 0, "nor by an account made later"
    type(late).objects.filter(pk=late.pk).update(email=ben.email)
    LabelTask.objects.filter(study=study).update(annotator=annotator_of(late))
    Membership.objects.create(study=study, annotator=annotator_of(late), number=8, joined_at=now)
    assert members_to_remind(study, now=now + timedelta(hours=3))[0] == []
    assert send_for_study(study=study, now=now + timedelta(hours=3)) == 0
    assert len(mail.outbox) == 1


@pytest.mark.every_database
@pytest.mark.skipif(connection.vendor == "sqlite", reason="threads share one SQLite connection here")
@pytest.mark.django_db(transaction=True)
def test_many_who_ask_at_once_send_one_mail(study: Study, ben, now: datetime) -> None:
    second_account(study, ben)
    start = threading.Barrier(6)

    def press() -> None:
        try:
            start.wait()
            send_for_study(study=study, now=now)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(mail.outbox) == 1


def test_a_mail_server_that_takes_a_mail_and_goes_silent_gets_no_second(
    mail_server: list[bytes], study: Study, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MailHandler, "thanks", b"")
    for minute in range(3):
        send_for_study(study=study, now=now + timedelta(minutes=minute))
    assert len(mail_server) == 1


def test_pressing_again_before_a_worker_has_begun_asks_for_nothing(study: Study, as_ada, as_eve) -> None:
    address = reverse("annotation:study-remind", args=[study.uid])
    assert as_ada.post(address).status_code == 302
    for client in (as_ada, as_eve):
        again = client.post(address)
        assert again.status_code == 409
        assert "they are sent, or on their way" in again.content.decode()
        assert "Send now" not in client.get(address).content.decode()
    assert AuditEvent.objects.filter(action="study.remind").count() == 1


def test_a_mail_that_fails_is_tried_again(study: Study, ben, settings, now: datetime) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_PORT = 9
    assert send_due(now=now) == 0
    assert annotator_of(ben).reminded_at is None


def test_a_researcher_reminds_the_members_of_a_study(
    study: Study, ada, as_ada, ben, django_capture_on_commit_callbacks
) -> None:
    address = reverse("annotation:study-remind", args=[study.uid])
    assert "1 person gets an email" in as_ada.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        sent = as_ada.post(address, follow=True)
    assert "1 reminder is on its way" in sent.content.decode()
    assert [one.to for one in mail.outbox] == [["ben@example.org"]]
    assert AuditEvent.objects.filter(action="study.remind", actor=ada).count() == 1
    assert as_ada.post(address).status_code == 409
    assert "reminded in the past 24 hours" in as_ada.get(address).content.decode()


def test_an_annotator_turns_reminders_off_in_the_profile(ben, as_ben, as_ada, settings) -> None:
    settings.EMAIL_IS_SET = True
    assert "Email me reminders" in as_ben.get("/profile/").content.decode()
    as_ben.post("/profile/", {"name": "Ben", "time_zone": "UTC"})
    assert not annotator_of(ben).wants_reminders
    as_ben.post("/profile/", {"name": "Ben", "time_zone": "UTC", "reminders": "on"})
    assert annotator_of(ben).wants_reminders
    assert "Remind me" not in as_ada.get("/profile/").content.decode()
