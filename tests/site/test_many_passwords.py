"""Many passwords at once: they are checked in turns, others come again by themselves; an address has a limit."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.test import Client
from django.utils import timezone

from summhay_site.accounts import accounts, logins

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|x-csrftoken": "\w+"')
HASHER = "summhay_site.accounts.logins.TakesTurns"
RIGHT = {"username": "ben", "password": "correct horse"}
WRONG = {"username": "ben", "password": "wrong horse"}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, settings, ben) -> Iterator[dict[str, Any]]:
    """Passwords are hashed as on a site, and other threads hold the two places until `go` is set."""
    settings.PASSWORD_HASHERS = [HASHER]
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 10)
    monkeypatch.setattr(logins, "_places", threading.BoundedSemaphore(2))
    monkeypatch.setattr(logins, "_turns", threading.BoundedSemaphore(1))
    ben.set_password("correct horse")
    ben.save()
    go, begun = threading.Event(), threading.Barrier(3)

    def hold() -> None:
        with logins.place():
            begun.wait(10)
            go.wait(60)

    threads = [threading.Thread(target=hold, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    yield {"go": go, "threads": threads}
    _let_go({"go": go, "threads": threads})


def _let_go(slow: dict[str, Any]) -> None:
    slow["go"].set()
    for thread in slow["threads"]:
        thread.join(10)


def test_without_a_script_the_form_comes_again_with_the_name_and_without_the_password(
    slow, client: Client
) -> None:
    answer = client.post("/login/", {**RIGHT, "next": "/profile/"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "1"
    page = answer.content.decode()
    assert "Type your password again in a few seconds" in page
    assert 'value="ben"' in page
    assert 'value="/profile/"' in page
    assert "correct horse" not in page
    assert not AccessAttempt.objects.exists()
    _let_go(slow)
    assert client.post("/login/", RIGHT).headers["Location"] == "/"


def test_a_script_is_told_when_to_send_the_form_again_and_then_where_to_go_on(slow, client: Client) -> None:
    answer = client.post("/login/", RIGHT, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["Retry-After"], answer.content) == (503, "1", b"")
    assert not AccessAttempt.objects.exists()
    _let_go(slow)
    wrong = client.post("/login/", WRONG, headers={"HX-Request": "true"})
    assert (wrong.status_code, "HX-Redirect" in wrong.headers) == (200, False)
    assert "correct" in wrong.content.decode()
    answer = client.post("/login/", RIGHT | {"next": "/profile/"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (200, "/profile/")
    assert client.get("/profile/").status_code == 200


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_whether_somebody_has_a_name_shows_in_nothing_while_passwords_wait(
    slow, client: Client, headers: dict[str, str]
) -> None:
    pages = []
    for name in ("ben", "nob"):
        answer = client.post("/login/", {"username": name, "password": "wrong horse"}, headers=headers)
        assert answer.status_code == 503
        pages.append(TOKEN.sub("", answer.content.decode()).replace(name, "NAME"))
    assert pages[0] == pages[1]


def test_who_finds_no_place_costs_no_query(
    slow, client: Client, django_assert_num_queries: Callable[..., Any]
) -> None:
    with django_assert_num_queries(0):
        assert client.post("/login/", RIGHT, headers={"HX-Request": "true"}).status_code == 503


def test_a_password_being_changed_waits_for_its_turn_too(slow, as_ben) -> None:
    data = {"old_password": "correct horse", "new_password1": "a longer horse", "new_password2": "a longer horse"}
    answer = as_ben.post("/password/", data)
    assert answer.status_code == 503
    assert "Try again in a few seconds" in answer.content.decode()
    assert as_ben.post("/password/", data, headers={"HX-Request": "true"}).headers["Retry-After"] == "1"
    _let_go(slow)
    answer = as_ben.post("/password/", data, headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"] == "/profile/"
    assert as_ben.get("/profile/").status_code == 200


def _link_of(user) -> str:
    return accounts.make_link(actor=None, user=user, base_url="http://testserver/", now=timezone.now()).url


def test_a_link_to_set_a_password_works_once_the_wait_is_over(slow, ben, client: Client) -> None:
    address = client.get(_link_of(ben)).headers["Location"]
    data = {"new_password1": "a longer horse", "new_password2": "a longer horse"}
    assert client.post(address, data, headers={"HX-Request": "true"}).headers["Retry-After"] == "1"
    _let_go(slow)
    refused = client.post(address, data | {"new_password2": "another"}, headers={"HX-Request": "true"})
    assert refused.status_code == 422
    assert client.post(address, data, headers={"HX-Request": "true"}).headers["HX-Redirect"] == "/"
    assert client.get("/profile/").status_code == 200


def test_passwords_take_half_of_the_threads_and_hash_one_after_the_other(
    slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_go(slow)
    busy, most_at_once, outcomes = threading.Semaphore(0), [0, 0], []
    go, hashing_now = threading.Event(), threading.Lock()

    def slow_hash(*args, **kwargs) -> str:
        with hashing_now:
            most_at_once[0] += 1
            most_at_once[1] = max(most_at_once)
        busy.release()
        go.wait(30)
        with hashing_now:
            most_at_once[0] -= 1
        return "hash"

    def hash_it() -> None:
        try:
            outcomes.append(make_password("a horse", hasher="default"))
        except logins.Busy:
            outcomes.append("busy")

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", slow_hash)
    threads = [threading.Thread(target=hash_it, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert busy.acquire(timeout=10)
    for _ in range(200):
        if len(outcomes) == 4:
            break
        threading.Event().wait(0.05)
    assert outcomes == ["busy"] * 4  # at once, while the others hash or wait
    go.set()
    for thread in threads:
        thread.join(10)
    assert outcomes == ["busy"] * 4 + ["hash"] * 2
    assert most_at_once[1] == 1


@pytest.mark.parametrize(("threads", "places"), [("1", 1), ("3", 1), ("4", 2), ("9", 4)])
def test_at_most_half_of_the_threads_of_a_process_are_places_for_passwords(threads: str, places: int) -> None:
    program = "from django.conf import settings; print(settings.PASSWORD_PLACES, settings.PASSWORDS_AT_ONCE)"
    environment = {**os.environ, "WEB_THREADS": threads, "DJANGO_SETTINGS_MODULE": "summhay_site.settings"}
    environment.pop("PASSWORDS_AT_ONCE", None)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    n_places, n_turns = map(int, done.stdout.split())
    assert n_places == places
    assert 1 <= n_turns <= n_places


def test_passwords_from_before_still_fit(db: None, settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    before = make_password("correct horse")
    settings.PASSWORD_HASHERS = [HASHER]
    assert check_password("correct horse", before)


def test_after_many_wrong_passwords_for_many_names_an_address_has_to_wait(ben, client: Client, settings) -> None:
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


def test_the_wait_of_an_address_lasts_until_it_is_below_its_limit(ben, client: Client, settings) -> None:
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
