"""Login, its throttle, and forgetting failed logins after a day."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import settings as live
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from summhay_site.accounts.logins import client_ip, purge_failed_logins


def _log_in(client: Client, username: str, password: str):
    return client.post("/login/", {"username": username, "password": password})


def test_the_right_password_leads_home_and_a_wrong_one_says_so(ben, client: Client) -> None:
    assert "correct" in _log_in(client, "ben", "wrong horse").content.decode()
    assert _log_in(client, "ben", "correct horse").headers["Location"] == "/"
    assert client.get("/login/").headers["Location"] == "/"


def test_the_login_page_names_the_site_and_not_the_host(client: Client, db: None) -> None:
    page = client.get("/login/").content.decode()
    assert "SummHay" in page
    assert "testserver" not in page


def test_a_login_goes_on_to_a_page_of_this_site_only(ben, client: Client) -> None:
    data = {"username": "ben", "password": "correct horse"}
    assert client.post("/login/", {**data, "next": "/profile/"}).headers["Location"] == "/profile/"
    client.post("/logout/")
    assert client.post("/login/", {**data, "next": "https://elsewhere.example/"}).headers["Location"] == "/"


def test_after_too_many_wrong_passwords_even_the_right_one_has_to_wait(ben, client: Client) -> None:
    for _ in range(live.AXES_FAILURE_LIMIT - 1):
        assert _log_in(client, "ben", "wrong horse").status_code == 200
    locked = _log_in(client, "ben", "wrong horse")
    assert locked.status_code == 429
    assert "15 more minutes" in locked.content.decode()
    assert 800 < int(locked.headers["Retry-After"]) <= 900
    assert _log_in(client, "ben", "correct horse").status_code == 429


def test_the_wait_gets_shorter_and_knocking_does_not_prolong_it(ben, client: Client) -> None:
    for _ in range(live.AXES_FAILURE_LIMIT):
        _log_in(client, "ben", "wrong horse")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert "1 more minute" in _log_in(client, "ben", "wrong horse").content.decode()
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert _log_in(client, "ben", "correct horse").headers["Location"] == "/"


def test_one_locked_name_locks_no_other(ben, cleo, client: Client) -> None:
    for _ in range(live.AXES_FAILURE_LIMIT):
        _log_in(client, "ben", "wrong horse")
    assert _log_in(client, "cleo", "correct horse").status_code == 302


def test_who_is_deactivated_cannot_log_in_and_is_logged_out(ben, client: Client) -> None:
    _log_in(client, "ben", "correct horse")
    ben.is_active = False
    ben.save()
    assert client.get("/").headers["Location"].startswith("/login/")
    assert _log_in(client, "ben", "correct horse").status_code == 200


def test_a_failed_login_is_forgotten_after_a_day(ben, client: Client, now) -> None:
    _log_in(client, "ben", "wrong horse")
    assert AccessAttempt.objects.get().ip_address == "127.0.0.1"
    assert "wrong horse" not in AccessAttempt.objects.get().post_data

    AccessAttempt.objects.update(attempt_time=now)
    assert purge_failed_logins(now=now + timedelta(hours=23)) == 0
    assert purge_failed_logins(now=now + timedelta(hours=25)) == 1


def test_the_purge_is_a_command_too(ben, client: Client, now, capsys) -> None:
    _log_in(client, "ben", "wrong horse")
    AccessAttempt.objects.update(attempt_time=now)
    call_command("purge_failed_logins")
    assert capsys.readouterr().out == "1 forgotten\n"


@pytest.mark.parametrize(("trusted", "address"), [(True, "203.0.113.9"), (False, "127.0.0.1")])
def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(rf, settings, trusted: bool, address: str) -> None:
    settings.TRUST_PROXY = trusted
    assert client_ip(rf.get("/", headers={"x-forwarded-for": "198.51.100.1, 203.0.113.9"})) == address


def test_logout_needs_a_post(as_ben) -> None:
    assert as_ben.get("/logout/").status_code == 405
    assert as_ben.post("/logout/").headers["Location"] == "/login/"
    assert as_ben.get("/").status_code == 302


def test_rights_come_with_a_role_and_with_nothing_else(ben, ada) -> None:
    ben.user_permissions.add(Permission.objects.get(codename="view_study"))
    assert not type(ben).objects.get(pk=ben.pk).has_perm("annotation.view_study")
    assert ada.has_perm("annotation.view_study")
