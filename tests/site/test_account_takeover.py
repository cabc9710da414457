"""Nobody comes into another person's account: not by a link made earlier, not by a role given to it later."""

import csv
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from annotation.models import Annotator
from benchmarks.models import AuditEvent
from summhay_site.accounts import accounts
from summhay_site.accounts.accounts import mail_forgotten
from summhay_site.accounts.models import ADMIN, ANNOTATOR, RESEARCHER
from summhay_site.models import User

PASSWORD = "a much longer horse"
NORA = {"username": "nora", "name": "Nora Lind", "email": "ada.private@example.org", "role": ANNOTATOR}
CSV = "username,name\nnora,Nora Lind\nolaf,Olaf Berg\n"


def _open(url: str, client: Client | None = None):
    return (client or Client()).get(urlsplit(url).path, follow=True)


def _set_password(url: str, client: Client | None = None, **fields: str):
    client = client or Client()
    form = _open(url, client)
    data = {"new_password1": PASSWORD, "new_password2": PASSWORD, **fields}
    return client.post(form.request["PATH_INFO"], data, follow=True)


def _make_nora(client: Client) -> str:
    """Make an annotator; gives the link that the page shows."""
    return str(client.post("/people/new/", NORA).context["links"][0].url)


def test_a_downloaded_list_holds_no_link_of_who_has_set_a_password_since(as_ada) -> None:
    links = as_ada.post("/people/import/", {"text": CSV}).context["links"]
    assert _set_password(links[0].url).status_code == 200
    rows = list(csv.DictReader(as_ada.post("/people/links.csv").getvalue().decode().splitlines()))
    assert [row["username"] for row in rows] == ["olaf"]
    assert "1 person is not in the file" in as_ada.get("/people/").content.decode()


def test_the_only_link_to_download_is_refused_once_it_was_used(as_ada) -> None:
    _set_password(_make_nora(as_ada))
    answer = as_ada.post("/people/links.csv", follow=True)
    assert answer.redirect_chain == [("/people/", 302)]
    assert "no link to download" in answer.content.decode()


def test_a_list_made_by_a_researcher_holds_nobody_who_is_more_than_an_annotator_by_now(as_ada, eve, now) -> None:
    _make_nora(as_ada)
    accounts.change_role(actor=eve, user=User.objects.get(username="nora"), role=RESEARCHER, now=now)
    assert as_ada.post("/people/links.csv").status_code == 302


def test_every_link_is_in_the_audit_log_wherever_it_was_made(ada, as_ada, eve, settings) -> None:
    settings.EMAIL_IS_SET = True

    def made() -> int:
        return AuditEvent.objects.filter(action="account.link").count()

    _make_nora(as_ada)
    assert made() == 1
    as_ada.post("/people/links.csv")
    assert made() == 2
    as_ada.post("/people/import/", {"text": CSV.replace("nora", "mira")})
    assert made() == 4
    as_ada.post("/people/links.csv")
    assert made() == 6
    nora = User.objects.get(username="nora")
    as_ada.post(f"/people/{nora.uid}/link/")
    assert made() == 7
    assert set(AuditEvent.objects.filter(action="account.link").values_list("actor", flat=True)) == {ada.pk}


@pytest.mark.parametrize("role", [RESEARCHER, ADMIN])
def test_the_link_kept_by_who_made_the_account_ends_with_a_new_role(role: str, as_ada, as_eve) -> None:
    kept = _make_nora(as_ada)
    nora = User.objects.get(username="nora")
    page = as_eve.post(f"/people/{nora.uid}/role/", {"role": role})
    assert _open(kept).status_code == 410
    assert "new password" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert _set_password(page.context["links"][0].url).context["user"].role == role


def test_the_link_ends_even_if_the_form_was_open_already(as_ada, as_eve) -> None:
    kept, there = _make_nora(as_ada), Client()
    form = _open(kept, there)
    nora = User.objects.get(username="nora")
    as_eve.post(f"/people/{nora.uid}/role/", {"role": ADMIN})
    answer = there.post(form.request["PATH_INFO"], {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert answer.status_code == 410
    assert not User.objects.get(pk=nora.pk).has_usable_password()


class Meanwhile:
    """A validator of passwords during which something happens."""

    act: ClassVar[Any] = None

    def validate(self, password: str, user=None) -> None:
        """Let it happen, once."""
        act, Meanwhile.act = Meanwhile.act, None
        if act:
            act()

    def get_help_text(self) -> str:
        """Nothing to say."""
        return ""


@pytest.fixture
def meanwhile(settings):
    settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": f"{__name__}.Meanwhile"}]
    return Meanwhile


def test_a_link_that_dies_while_its_form_is_read_sets_nothing(as_ada, eve, now, meanwhile) -> None:
    kept = _make_nora(as_ada)
    nora = User.objects.get(username="nora")
    meanwhile.act = lambda: accounts.change_role(actor=eve, user=User.objects.get(pk=nora.pk), role=ADMIN, now=now)
    assert _set_password(kept).status_code == 410
    nora = User.objects.get(pk=nora.pk)
    assert (nora.role, nora.is_staff, nora.has_usable_password()) == (ADMIN, True, False)


def test_a_password_changed_while_the_account_is_switched_off_does_not_switch_it_on(
    ben, as_ben, eve, now, meanwhile
) -> None:
    meanwhile.act = lambda: accounts.deactivate(actor=eve, user=User.objects.get(pk=ben.pk), now=now)
    data = {"old_password": "correct horse", "new_password1": PASSWORD, "new_password2": PASSWORD}
    assert as_ben.post("/password/", data).headers["Location"] == "/login/"
    ben.refresh_from_db()
    assert (ben.is_active, ben.check_password("correct horse")) == (False, True)


def test_who_set_the_password_of_an_account_does_not_rise_with_it(as_ada, as_eve) -> None:
    thief = Client()
    _set_password(_make_nora(as_ada), thief)
    nora = User.objects.get(username="nora")
    assert thief.get("/work/").status_code == 200
    as_eve.post(f"/people/{nora.uid}/role/", {"role": ADMIN})
    assert thief.get("/").headers["Location"].startswith("/login/")
    assert thief.post("/login/", {"username": "nora", "password": PASSWORD}).status_code == 200
    assert thief.get("/").status_code == 302


def test_a_lower_role_ends_log_ins_and_links_and_keeps_the_password(ada, eve, login) -> None:
    there, admin = login(ada), login(eve)
    kept = admin.post(f"/people/{ada.uid}/link/").context["links"][0].url
    admin.post(f"/people/{ada.uid}/role/", {"role": ANNOTATOR})
    assert there.get("/").headers["Location"].startswith("/login/")
    assert _open(kept).status_code == 410
    assert there.post("/login/", {"username": "ada", "password": "correct horse"}).headers["Location"] == "/"
    assert Annotator.objects.active().filter(user=ada).exists()


def test_the_same_role_again_ends_nothing(ada, as_ada, as_eve) -> None:
    as_eve.post(f"/people/{ada.uid}/role/", {"role": RESEARCHER})
    assert as_ada.get("/").status_code == 200


def test_a_log_in_does_not_come_back_with_a_reactivation(ben, eve, login) -> None:
    there, admin = login(ben), login(eve)
    for active in ("0", "1"):
        admin.post(f"/people/{ben.uid}/active/", {"active": active})
    assert there.get("/").headers["Location"].startswith("/login/")


def test_a_link_does_not_come_back_with_the_old_address(ben, as_eve) -> None:
    kept = as_eve.post(f"/people/{ben.uid}/link/").context["links"][0].url
    for address in ("ben@example.com", "ben@example.org"):
        as_eve.post(f"/people/{ben.uid}/details/", {"name": "Ben", "email": address})
    assert _open(kept).status_code == 410


def test_a_forgotten_password_is_not_mailed_to_an_account_that_waits_for_its_new_role(
    as_ada, as_eve, now, settings
) -> None:
    settings.EMAIL_IS_SET = True
    _make_nora(as_ada)
    nora = User.objects.get(username="nora")
    as_eve.post(f"/people/{nora.uid}/role/", {"role": ADMIN})
    assert mail_forgotten(email=NORA["email"], base_url="http://testserver/", now=now) == 0
    assert mail.outbox == []


def test_who_sets_a_password_says_where_links_may_be_mailed(as_ada, settings, now) -> None:
    settings.EMAIL_IS_SET = True
    link = _make_nora(as_ada)
    assert NORA["email"] in _open(link).content.decode()
    assert _set_password(link, email="not an address").status_code == 422
    assert _set_password(link, email="nora@example.org").status_code == 200
    assert User.objects.get(username="nora").email == "nora@example.org"
    assert mail_forgotten(email=NORA["email"], base_url="http://testserver/", now=now) == 0


def test_the_address_that_links_go_to_is_not_changed_past_the_audit_log(ben, as_eve) -> None:
    page = as_eve.get(f"/admin/summhay_site/user/{ben.pk}/change/").content.decode()
    assert 'name="name"' in page
    assert 'name="email"' not in page
