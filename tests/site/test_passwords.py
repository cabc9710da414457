"""Passwords: changed, set through one-time links, asked for by mail."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from benchmarks.models import AuditEvent
from summhay_site.accounts import accounts
from summhay_site.accounts.accounts import NoMail, mail_forgotten, mail_link, make_link, may_make_link, tokens

SITE = "https://summhay.example/"
NEW = "a much longer horse"


def _path(link) -> str:
    return urlsplit(link.url).path


def _set(client: Client, path: str, password: str = NEW):
    form = client.get(path, follow=True)
    return client.post(
        form.request["PATH_INFO"], {"new_password1": password, "new_password2": password}, follow=True
    )


def test_a_link_sets_the_password_once_and_logs_in(ben, eve, client: Client, now) -> None:
    link = make_link(actor=eve, user=ben, base_url=SITE, now=now)
    page = client.get(_path(link), follow=True)
    assert "ben" in page.content.decode()
    assert link.url not in page.content.decode()
    assert page.headers["Cache-Control"].startswith("max-age=0")

    answer = _set(client, _path(link))
    assert answer.redirect_chain[-1][0] == "/work/"
    assert answer.context["user"] == ben
    ben.refresh_from_db()
    assert ben.check_password(NEW)
    assert Client().get(_path(link), follow=True).status_code == 410
    assert AuditEvent.objects.filter(action="account.password", object_uid=str(ben.uid)).count() == 1


def test_a_newer_link_cancels_the_older(ben, eve, now) -> None:
    first = make_link(actor=eve, user=ben, base_url=SITE, now=now)
    second = make_link(actor=eve, user=ben, base_url=SITE, now=now)
    assert Client().get(_path(first), follow=True).status_code == 410
    assert Client().get(_path(second), follow=True).status_code == 200


def test_a_weak_password_is_refused_and_a_link_dies_of_age(ben, now, settings, client: Client) -> None:
    answer = _set(client, _path(make_link(actor=None, user=ben, base_url=SITE, now=now)), "short")
    assert answer.status_code == 422
    assert "at least 10 characters" in answer.content.decode()
    path = _path(make_link(actor=None, user=ben, base_url=SITE, now=now))
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert client.get(path, follow=True).status_code == 410


def test_a_link_dies_with_the_account_and_does_not_come_back(ben, eve, now, client: Client) -> None:
    path = _path(make_link(actor=None, user=ben, base_url=SITE, now=now))
    accounts.deactivate(actor=eve, user=ben, now=now)
    assert client.get(path, follow=True).status_code == 410
    accounts.reactivate(actor=eve, user=ben, now=now)
    assert client.get(path, follow=True).status_code == 410


@pytest.mark.parametrize("path", ["/password/set/x/y/", "/password/set/00000000-0000-4000-8000-000000000000/1-2/"])
def test_an_address_that_is_no_link_says_so(path: str, client: Client, db: None) -> None:
    assert client.get(path).status_code == 410


def test_a_link_of_one_person_does_not_fit_another(ben, cleo) -> None:
    assert tokens.check_token(ben, tokens.make_token(ben))
    assert not tokens.check_token(cleo, tokens.make_token(ben))


def test_a_researcher_makes_links_only_for_annotators_who_never_had_a_password(ada, ben, eve, now) -> None:
    row = accounts.NewAccount(username="nora", name="Nora")
    nora = accounts.create_account(actor=ada, row=row, role="annotator", now=now)
    other = accounts.create_account(actor=eve, row=accounts.NewAccount("olaf", "Olaf"), role="researcher", now=now)
    assert may_make_link(ada, user=nora)
    assert not may_make_link(ada, user=ben)
    assert not may_make_link(ada, user=other)
    assert not may_make_link(ben, user=nora)
    assert all(may_make_link(eve, user=user) for user in (nora, ben, other, ada))


def test_the_link_page_shows_the_link_once(ben, as_eve) -> None:
    page = as_eve.post(f"/people/{ben.uid}/link/")
    assert page.context["links"][0].url in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert as_eve.get(f"/people/{ben.uid}/link/").status_code == 405


def test_a_link_is_mailed_where_mail_is_set(ben, as_eve, settings, now) -> None:
    settings.EMAIL_IS_SET = True
    page = as_eve.post(f"/people/{ben.uid}/link/", {"mail": "1"})
    assert mail.outbox[0].to == ["ben@example.org"]
    assert page.context["links"][0].url in mail.outbox[0].body
    assert "Your user name is ben." in mail.outbox[0].body
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    page = as_eve.post(f"/people/{ben.uid}/link/", {"mail": "1"})
    assert "could not be sent" in page.content.decode()
    assert page.context["links"][0].url in page.content.decode()
    with pytest.raises(NoMail):
        mail_link(link=make_link(actor=None, user=ben, base_url=SITE, now=now))


def test_the_password_can_be_changed_and_this_login_stays(ben, as_ben) -> None:
    data = {"old_password": "correct horse", "new_password1": NEW, "new_password2": NEW}
    assert as_ben.post("/password/", data).headers["Location"] == "/profile/"
    assert "was changed" in as_ben.get("/profile/").content.decode()
    ben.refresh_from_db()
    assert ben.check_password(NEW)


def test_changing_the_password_logs_out_other_devices(ben, login) -> None:
    here, there = login(ben), login(ben)
    here.post("/password/", {"old_password": "correct horse", "new_password1": NEW, "new_password2": NEW})
    assert there.get("/").headers["Location"].startswith("/login/")


def test_asking_by_mail_answers_alike_whether_the_address_is_known(
    ben, client: Client, settings, django_capture_on_commit_callbacks
) -> None:
    settings.EMAIL_IS_SET = True

    def ask(email: str):
        with django_capture_on_commit_callbacks(execute=True):
            return client.post("/password/forgotten/", {"email": email})

    known, unknown = ask("BEN@example.org"), ask("nobody@example.org")
    assert known.status_code == unknown.status_code == 200
    main = [answer.content.decode().split("<main", 1)[1] for answer in (known, unknown)]
    assert main[0].replace("BEN", "nobody") == main[1]
    assert [message.to for message in mail.outbox] == [["ben@example.org"]]
    assert "http://testserver/password/set/" in mail.outbox[0].body


def test_one_link_is_mailed_in_ten_minutes_and_none_to_who_is_deactivated(ben, cleo, now) -> None:
    cleo.is_active = False
    cleo.save()

    def ask(email: str, minutes: int) -> int:
        return mail_forgotten(email=email, base_url=SITE, now=now + timedelta(minutes=minutes))

    assert [ask("ben@example.org", minutes) for minutes in (0, 9, 11)] == [1, 0, 1]
    assert ask("cleo@example.org", 0) == 0
    assert ask("", 0) == 0


def test_without_mail_the_page_says_whom_to_ask(client: Client, ben, settings) -> None:
    settings.EMAIL_IS_SET = False
    assert "cannot send email" in client.get("/password/forgotten/").content.decode()
    client.post("/password/forgotten/", {"email": "ben@example.org"})
    assert mail.outbox == []
    assert "Forgot your password" not in client.get("/login/").content.decode()
