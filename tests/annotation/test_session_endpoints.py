"""The endpoints of the session page: who may call them, what they answer, and what they never tell."""

import json
from datetime import timedelta
from hashlib import sha256
from itertools import count

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from annotation.models import DraftRevision, Session, SessionEvent
from annotation.writing import locking
from annotation.writing.locking import LockedSession
from annotation.writing.locking import reading as real_reading
from tests.annotation.writer import after, start_session
from tests.makers import NOW

pytestmark = pytest.mark.django_db
OPERATIONS = count(1)
POSTS = ["draft", "heartbeat", "pause", "resume", "submit", "claim", "resolve", "events", "notes", "read"]


class Browser:
    """A logged-in tab that speaks the protocol."""

    def __init__(self, client: Client, session: Session, tab_id: str = "tab-1") -> None:
        self.client, self.session, self.tab_id = client, session, tab_id

    def post(self, name: str, **body):
        return self.client.post(
            reverse(f"annotation:session-{name}", args=[self.session.uid]),
            json.dumps({"tab_id": self.tab_id, **body}),
            content_type="application/json",
        )

    def draft(self, text: str, base_rev: int = 0, name: str = "draft", **body):
        fields = {"op_id": f"op-{next(OPERATIONS)}", "base_rev": base_rev, "text": text, "source": "typing"}
        return self.post(name, **fields | body)

    def state(self, tab_id: str = "tab-1"):
        return self.client.get(reverse("annotation:session-state", args=[self.session.uid]), {"tab_id": tab_id})


@pytest.fixture
def clock(time_machine):
    time_machine.move_to(NOW, tick=False)
    return time_machine


@pytest.fixture
def browser(ben, as_ben, clock) -> Browser:
    return Browser(as_ben, start_session(ben))


def test_a_save_answers_with_the_revision_and_the_clock(browser: Browser, clock) -> None:
    clock.move_to(after(1_500), tick=False)
    answer = browser.draft("- one [1]", client_active_ms=1_400)
    assert answer.status_code == 200
    assert answer.json() == {
        "rev": 1,
        "state": "running",
        "active_ms": 1_500,
        "remaining_ms": 7_198_500,
        "limit_ms": 7_200_000,
        "next_mark_ms": 600_000,
        "is_active_tab": True,
        "paused_by": "",
        "refused": "",
    }
    assert answer["Cache-Control"] == "no-store"


def test_a_conflict_shows_both_texts_and_never_the_new_revision(browser: Browser) -> None:
    browser.draft("server")
    answer = browser.draft("mine", base_rev=0)
    data = answer.json()
    assert answer.status_code == 409
    assert (data["code"], data["your_text"], data["server_text"]) == ("conflict", "mine", "server")
    assert data["server_sha256"] == sha256(b"server").hexdigest()
    assert "rev" not in data
    assert data["message"]
    chosen = browser.draft("both", name="resolve", replaces_sha256=data["server_sha256"])
    assert (chosen.status_code, chosen.json()["rev"]) == (200, 2)


def test_the_older_of_two_tabs_is_told_so_and_its_text_is_kept(browser: Browser) -> None:
    browser.draft("old")
    claimed = Browser(browser.client, browser.session, "tab-2").post("claim").json()
    assert (claimed["rev"], claimed["text"], claimed["is_active_tab"]) == (1, "old", True)
    assert claimed["sha256"] == sha256(b"old").hexdigest()
    answer = browser.draft("old goes on", base_rev=1)
    assert (answer.status_code, answer.json()["code"]) == (409, "tab_lost")
    assert not browser.post("heartbeat").json()["is_active_tab"]
    assert DraftRevision.objects.filter(reject_code="tab_lost", text="old goes on").exists()


def test_an_empty_text_over_a_long_one_asks_back(browser: Browser) -> None:
    browser.draft("word " * 100)
    assert browser.draft("", base_rev=1).json()["code"] == "empty"
    assert browser.draft("", base_rev=1, confirm_empty=True).json()["rev"] == 2


def test_a_text_after_the_end_is_gone_but_kept(browser: Browser) -> None:
    assert browser.draft("final", name="submit").json()["state"] == "submitted"
    answer = browser.draft("late", base_rev=1)
    assert (answer.status_code, answer.json()["code"], answer.json()["state"]) == (410, "closed", "submitted")
    assert DraftRevision.objects.filter(reject_code="closed", text="late").exists()
    assert browser.post("resume").status_code == 410
    assert browser.post("claim").status_code == 410
    assert browser.post("events", events=[{"seq": 1, "type": "blur"}]).status_code == 200


def test_an_expired_session_says_so_to_whoever_comes_next(browser: Browser, clock) -> None:
    browser.draft("text")
    clock.move_to(NOW + timedelta(hours=5), tick=False)
    assert browser.state().json()["state"] == "expired"
    answer = browser.post("pause")
    assert (answer.status_code, answer.json()["state"]) == (200, "expired")


@pytest.mark.parametrize("size", [61_441, 900_000, 1_200_000])
def test_a_text_over_sixty_kilobytes_is_refused_with_a_clear_code(browser: Browser, size: int) -> None:
    answer = browser.draft("x" * size)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_long")
    assert not DraftRevision.objects.exists()


def test_a_full_disk_is_a_clear_answer_and_changes_nothing(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*args, **kwargs) -> None:
        raise OperationalError("database or disk is full")

    browser.draft("before")
    with monkeypatch.context() as patched:
        patched.setattr(LockedSession, "flush", full)
        answer = browser.draft("on the full disk", base_rev=1, op_id="again")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert "disk is full" in caplog.text
    assert Session.objects.get().draft_text == "before"
    assert browser.draft("on the full disk", base_rev=1, op_id="again").json()["rev"] == 2


def test_a_clock_of_the_server_that_is_set_takes_and_gives_no_working_time(
    browser: Browser, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock by which the machine counts since its start runs on as it does; a few seconds pass meanwhile."""
    monkeypatch.setattr(locking, "reading", real_reading)
    clock.move_to(after(1_000), tick=False)
    told = [browser.draft("- one [1]").json()["active_ms"]]
    for rev, set_to in enumerate((timedelta(minutes=7), timedelta(hours=3), timedelta(hours=-2)), 1):
        clock.move_to(NOW + set_to, tick=False)
        told += [browser.state().json()["active_ms"], browser.draft("- more", rev).json()["active_ms"]]
    assert told == sorted(told)
    assert (told[0], told[-1] < 60_000) == (1_000, True)
    assert SessionEvent.objects.filter(type="clock_jump").count() == 3


def test_pause_and_resume_over_the_wire(browser: Browser, clock) -> None:
    clock.move_to(after(60_000), tick=False)
    paused = browser.draft("text", name="pause").json()
    assert (paused["state"], paused["paused_by"], paused["rev"], paused["active_ms"]) == (
        "paused",
        "pause",
        1,
        60_000,
    )
    clock.move_to(after(90_000), tick=False)
    assert browser.draft("text 2", base_rev=1).json()["code"] == "paused"
    assert browser.post("resume").json()["state"] == "running"
    clock.move_to(after(91_000), tick=False)
    assert browser.state().json()["active_ms"] == 61_000


def test_looking_at_the_state_claims_nothing_and_tells_no_revision(browser: Browser) -> None:
    browser.draft("text")
    data = browser.state("tab-9").json()
    assert not data["is_active_tab"]
    assert "rev" not in data
    assert Session.objects.get().active_tab == "tab-1"


@pytest.mark.parametrize("passage", [[1, 4, 4, 0], [1, 0, 4, 6], [1, 0, 4], [1, 0, "4", 0], {"1": 0}])
def test_what_is_no_passage_is_not_marked(browser: Browser, passage) -> None:
    assert browser.post("marks", passages=[[2, 5, 9, 3]]).status_code == 200
    assert browser.post("marks", passages=[passage]).status_code == 400
    assert Session.objects.get().marked_passages == [[2, 5, 9, 3]]


def test_notes_and_read_marks_over_the_wire(browser: Browser) -> None:
    assert browser.post("notes", text="see 4\x00").status_code == 200
    assert browser.post("read", documents=[4, 1, 4]).status_code == 200
    row = Session.objects.get()
    assert (row.notes_text, row.read_documents) == ("see 4\ufffd", [1, 4])
    assert browser.post("notes", text="x" * 70_000).status_code == 413


def test_events_keep_small_facts_and_drop_everything_else(browser: Browser) -> None:
    events = [
        {"seq": 1, "type": "search", "payload": {"query": "q" * 500, "hits": 3, "deep": {"a": [1]}}},
        {"seq": 2, "type": "Not a type"},
        {"seq": -1, "type": "blur"},
        "nonsense",
        {"seq": 3, "type": "blur", "payload": "text"},
    ]
    assert browser.post("events", events=events).status_code == 200
    rows = list(SessionEvent.objects.order_by("client_seq").values_list("type", "payload"))
    assert rows == [("search", {"query": "q" * 200, "hits": 3}), ("blur", {})]


def test_a_text_with_signs_no_database_holds_is_stored_without_them(browser: Browser) -> None:
    answer = browser.client.post(
        reverse("annotation:session-draft", args=[browser.session.uid]),
        '{"tab_id": "t", "op_id": "o", "base_rev": 0, "text": "a\\u0000b\\ud83d"}',
        content_type="application/json",
    )
    assert answer.status_code == 200
    assert DraftRevision.objects.get().text == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("not json", "JSON"),
        ("[1]", "object"),
        ("[" * 100_000, "JSON"),
        ('{"op_id": "o", "base_rev": 0, "text": "x"}', "tab_id"),
        ('{"tab_id": "t", "base_rev": 0, "text": "x"}', "op_id"),
        ('{"tab_id": "t", "op_id": "o p", "base_rev": 0, "text": "x"}', "op_id"),
        ('{"tab_id": "t", "op_id": "o", "base_rev": -1, "text": "x"}', "base_rev"),
        ('{"tab_id": "t", "op_id": "o", "base_rev": true, "text": "x"}', "base_rev"),
        ('{"tab_id": "t", "op_id": "o", "base_rev": 0, "text": 5}', "text"),
        ('{"tab_id": "@server", "op_id": "o", "base_rev": 0, "text": "x"}', "tab_id"),
    ],
)
def test_a_malformed_save_is_a_sentence_that_names_the_field(browser: Browser, body: str, named: str) -> None:
    url = reverse("annotation:session-draft", args=[browser.session.uid])
    answer = browser.client.post(url, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert named in answer.json()["message"]


def test_a_malformed_event_or_stray_field_never_costs_the_text(browser: Browser) -> None:
    answer = browser.draft("kept", events="what", source="No Such!", client_active_ms="soon")
    assert answer.json()["rev"] == 1
    assert DraftRevision.objects.get().source == "typing"


@pytest.mark.parametrize("name", POSTS)
def test_nobody_else_finds_the_session(browser: Browser, name: str, dot, ada, eve, login) -> None:
    for user in (dot, ada, eve):
        other = Browser(login(user), browser.session)
        answer = other.draft("mine now", name=name, replaces_sha256="0" * 64, documents=[1])
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert other.state().status_code == 404
    assert not DraftRevision.objects.exists()
    assert not SessionEvent.objects.exists()


@pytest.mark.parametrize("name", POSTS)
def test_an_expired_login_is_told_without_a_redirect_so_that_the_text_survives(
    browser: Browser, name: str
) -> None:
    answer = Browser(Client(), browser.session).draft("still here", name=name)
    assert (answer.status_code, answer.json()["code"]) == (401, "login")
    assert answer["HX-Trigger"] == "login-expired"
    browser.client.logout()
    browser.client.force_login(get_user_model().objects.get(username="ben"))
    assert browser.draft("still here").json()["rev"] == 1


@pytest.mark.parametrize("name", POSTS)
def test_a_post_needs_the_token_against_forgery_and_a_get_changes_nothing(
    browser: Browser, name: str, ben, login
) -> None:
    forged = Browser(login(ben, enforce_csrf_checks=True), browser.session)
    assert forged.draft("forged", name=name).status_code == 403
    url = reverse(f"annotation:session-{name}", args=[browser.session.uid])
    assert browser.client.get(url).status_code == 405
    assert Session.objects.get().draft_rev == 0


def test_an_ordinary_save_over_the_wire_costs_nine_statements(browser: Browser, django_assert_num_queries) -> None:
    browser.draft("one")
    with django_assert_num_queries(9):  # login, person, consent and session, then five of the save
        assert browser.draft("two", base_rev=1).status_code == 200


def test_how_a_session_stands_is_read_at_once(browser: Browser, django_assert_num_queries) -> None:
    browser.draft("one")
    with django_assert_num_queries(4):  # login, person, whose session it is, its clock
        assert browser.state().json()["state"] == "running"
