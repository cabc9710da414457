"""Many passwords at once: they are checked in turns, others are asked to try again; an address has a limit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.test import Client
from django.utils import timezone

from summhay_site import hashing
from summhay_site.logins import purge_failed_logins

HASHER = "summhay_site.hashing.TakesTurns"
WRONG = {"username": "ben", "password": "wrong horse"}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, settings: Any, ben: Any) -> Iterator[dict[str, Any]]:
    """Passwords are hashed as on a site; another thread is in the middle of it until `go` is set."""
    settings.PASSWORD_HASHERS = [HASHER]
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 10)
    monkeypatch.setattr(hashing, "WAIT_S", 0.05)
    ben.set_password("correct horse")
    ben.save()
    go, begun = threading.Event(), threading.Event()

    def hold() -> None:
        with hashing.turn():
            begun.set()
            go.wait(60)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert begun.wait(10)
    yield {"go": go, "thread": thread}
    go.set()
    thread.join(10)


def test_a_login_while_others_are_checked_is_asked_to_try_again(slow: Any, client: Client) -> None:
    answer = client.post("/login/", {"username": "ben", "password": "correct horse"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "2"
    assert "Try again in a few seconds" in answer.content.decode()
    assert 'value="ben"' in answer.content.decode()
    assert not AccessAttempt.objects.exists()
    slow["go"].set()
    slow["thread"].join(10)
    assert client.post("/login/", {"username": "ben", "password": "correct horse"}).headers["Location"] == "/"


def test_a_name_that_nobody_has_waits_for_its_turn_too(slow: Any, client: Client) -> None:
    assert client.post("/login/", {"username": "nobody", "password": "wrong horse"}).status_code == 503


def test_a_password_being_changed_waits_for_its_turn_too(slow: Any, ben: Any, login: Any) -> None:
    data = {"old_password": "correct horse", "new_password1": "a longer horse", "new_password2": "a longer horse"}
    answer = login(ben).post("/password/", data)
    assert answer.status_code == 503
    assert "Try again in a few seconds" in answer.content.decode()


def test_only_a_few_wait_so_that_other_requests_find_a_free_thread(
    slow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashing, "WAIT_S", 30)
    outcomes: list[str] = []

    def hash_one() -> None:
        try:
            make_password("a horse", hasher="default")
            outcomes.append("done")
        except hashing.Busy:
            outcomes.append("busy")

    threads = [threading.Thread(target=hash_one, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        if len(outcomes) == 4:
            break
        threading.Event().wait(0.05)
    assert outcomes == ["busy"] * 4
    slow["go"].set()
    for thread in threads:
        thread.join(10)
    assert sorted(outcomes) == ["busy"] * 4 + ["done"]


def test_passwords_from_before_still_fit(db: None, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    before = make_password("correct horse")
    settings.PASSWORD_HASHERS = [HASHER]
    assert check_password("correct horse", before)


def test_after_many_wrong_passwords_for_many_names_an_address_has_to_wait(
    ben: Any, client: Client, settings: Any
) -> None:
    settings.LOGIN_FAILURES_PER_ADDRESS = 10
    for number in range(10):
        assert client.post("/login/", {"username": f"p{number}", "password": "wrong horse"}).status_code == 200
    locked = client.post("/login/", {"username": "ben", "password": "correct horse"})
    assert locked.status_code == 429
    assert 0 < int(locked.headers["Retry-After"]) <= 900
    assert "Too many wrong passwords came from your network" in locked.content.decode()
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert elsewhere.post("/login/", {"username": "ben", "password": "correct horse"}).status_code == 302
    assert client.get("/login/").status_code == 200

    AccessAttempt.objects.filter(username="p0").update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert client.post("/login/", {"username": "ben", "password": "correct horse"}).status_code == 302


def test_the_wait_of_an_address_lasts_until_it_is_below_its_limit(ben: Any, client: Client, settings: Any) -> None:
    settings.LOGIN_FAILURES_PER_ADDRESS = 10
    for number in range(12):
        AccessAttempt.objects.create(
            username=f"p{number}", ip_address="127.0.0.1", user_agent="", failures_since_start=1
        )
    now = timezone.now()
    for number in range(12):
        AccessAttempt.objects.filter(username=f"p{number}").update(attempt_time=now - timedelta(minutes=number))
    answer = client.post("/login/", WRONG)
    assert 300 < int(answer.headers["Retry-After"]) <= 360  # the one of nine minutes ago is the third to go


def test_a_university_behind_one_address_is_not_locked_by_its_typing_errors(client: Client, db: None) -> None:
    for number in range(60):
        AccessAttempt.objects.create(
            username=f"p{number}", ip_address="127.0.0.1", user_agent="", failures_since_start=1
        )
    assert client.post("/login/", WRONG).status_code == 200


def test_addresses_are_forgotten_after_a_day_whatever_the_limit(client: Client, db: None, now: Any) -> None:
    client.post("/login/", WRONG)
    AccessAttempt.objects.update(attempt_time=now)
    assert purge_failed_logins(now=now + timedelta(hours=25)) == 1
    assert not AccessAttempt.objects.exists()
