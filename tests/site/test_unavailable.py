"""A full disk, a database that is out of reach: 503 with a sentence, for pages and for scripts, never a 500."""

import io
import logging
from contextlib import suppress
from itertools import count

import psycopg
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection, connections
from django.test import Client
from django.urls import reverse

from summhay_site.postgresql import base
from tests.annotation.writer import start_session
from tests.conftest import NOW

PASSWORD = {"username": "ben", "password": "correct horse"}
JSON = {"accept": "application/json"}


@pytest.fixture
def quiet() -> Client:
    """A client that gets the error page instead of the exception."""
    return Client(raise_request_exception=False)


def _fail(words: str):
    def fail(*args, **kwargs) -> None:
        raise OperationalError(words)

    return fail


def _is_a_503(answer, words: str) -> None:
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["Cache-Control"] == "no-store"
    assert words in answer.content.decode()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the size of the file is limited by SQLite itself")
@pytest.mark.django_db(transaction=True)
def test_a_login_on_a_full_disk_says_so_and_works_when_there_is_space(ben, quiet: Client) -> None:
    with connection.cursor() as cursor:
        try:
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count={pages}")
            for size in (3000, 300, 1):  # what is left in the pages that there are
                with suppress(OperationalError):
                    for number in count():
                        Session.objects.create(
                            session_key=f"{size}-{number}", session_data="x" * size, expire_date=NOW
                        )
            answer = quiet.post("/login/", PASSWORD)
        finally:
            cursor.execute("PRAGMA max_page_count=1073741823")
    _is_a_503(answer, "The server's disk is full")
    assert "not stored" in answer.content.decode()
    assert quiet.post("/login/", PASSWORD).headers["Location"] == "/"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connection to cut")
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_cut_is_a_503_and_the_next_request_is_served(as_ben) -> None:
    as_ben.raise_request_exception = False
    other = connection.copy()
    for path, headers in (("/", {}), ("/", JSON)):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid = cursor.fetchone()[0]
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        _is_a_503(as_ben.get(path, headers=headers), "saved right now" if headers else "cannot be reached")
        connection.close()  # the server does so between requests
        assert as_ben.get("/").status_code == 302
    other.close()


@pytest.mark.parametrize("where", ["the web session", "the page"])
def test_a_database_out_of_reach_is_a_503_wherever_it_is_noticed(
    where: str, as_ben, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_ben.raise_request_exception = False
    if where == "the page":
        monkeypatch.setattr("summhay_site.home.redirect", _fail("unable to open database file"))
    else:
        monkeypatch.setattr(SessionStore, "_get_session_from_db", _fail("unable to open database file"))
    _is_a_503(as_ben.get("/"), "cannot be reached")
    _is_a_503(as_ben.get("/", headers=JSON), '"code": "unavailable"')
    monkeypatch.undo()
    assert as_ben.get("/").status_code == 302


def test_a_save_whose_log_in_cannot_be_read_is_told_to_try_again(
    ben, as_ben, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(ben)
    as_ben.raise_request_exception = False
    monkeypatch.setattr(SessionStore, "_get_session_from_db", _fail("database is locked"))
    address = reverse("annotation:session-draft", args=[session.uid])
    answer = as_ben.post(address, "{}", content_type="application/json", headers=JSON)
    _is_a_503(answer, '"code": "unavailable"')


def test_the_probe_of_a_proxy_is_told_too(db: None, quiet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(type(connections["default"]), "cursor", _fail("unable to open database file"))
        answer = quiet.get("/health/")
        assert (answer.status_code, answer.json()["ok"]) == (503, False)
    answer = quiet.get("/health/", headers={"host": "any.name.example"})
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "answered_s_ago": 0.0})


def test_a_mistake_of_the_program_stays_a_500(as_ben, monkeypatch: pytest.MonkeyPatch) -> None:
    as_ben.raise_request_exception = False
    monkeypatch.setattr("summhay_site.home.redirect", lambda _to: 1 / 0)
    page = as_ben.get("/")
    assert page.status_code == 500
    assert "Something went wrong" in page.content.decode()
    assert as_ben.get("/", headers=JSON).json()["code"] == "server_error"


@pytest.fixture
def log():
    """What the configured handler prints."""
    handler = next(h for h in logging.getLogger().handlers if type(h) is logging.StreamHandler)
    stream = io.StringIO()
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)


def test_a_refused_page_is_one_line_in_the_log_and_a_failure_keeps_its_traceback(
    as_ben, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_ben.raise_request_exception = False
    assert as_ben.get("/people/").status_code == 403
    assert as_ben.get("/profile/?q=%00").status_code == 400
    assert "Forbidden" in log.getvalue()
    assert "NUL in the address" in log.getvalue()
    assert "Traceback" not in log.getvalue()
    monkeypatch.setattr("summhay_site.home.redirect", lambda _to: 1 / 0)
    assert as_ben.get("/").status_code == 500
    assert "Traceback" in log.getvalue()


@pytest.mark.parametrize(
    "path", ["/", "/profile/", "/people/", "/audit-log/", "/studies/", "/corpora/", "/nowhere/"]
)
def test_pages_are_kept_by_no_cache_in_between(path: str, as_eve) -> None:
    assert as_eve.get(path).headers["Cache-Control"] == "private, no-cache"


def test_what_says_more_itself_is_left_alone(as_eve) -> None:
    assert as_eve.get("/audit-log.csv").headers["Cache-Control"] == "no-store"
    assert "no-store" in as_eve.get("/system/").headers["Cache-Control"]


def test_a_logout_takes_the_pages_out_of_the_browser(as_ben) -> None:
    assert as_ben.post("/logout/").headers["Clear-Site-Data"] == '"cache"'


def test_an_answer_on_an_open_connection_lets_all_others_connect_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.Connection, "wait", lambda _self, generator, *_more: next(generator))
    monkeypatch.setattr(base, "outage", base.Outage())
    open_one = base.Connection.__new__(base.Connection)
    for patience_s in (5.0, None):
        base.outage.begin()
        assert not base.outage.try_again()
        open_one.patience_s = patience_s
        open_one.wait(iter(["an answer"]))
        assert not base.outage.is_on
