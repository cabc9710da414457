"""Log-in through an institution: who comes in, who does not, and what a wrong token is worth."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from axes.models import AccessAttempt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings as live
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings
from django.utils import timezone

from benchmarks import grouping
from benchmarks.models import AuditEvent
from summhay_site import env, urls
from tests.conftest import make_user
from tests.institution import CLIENT, SECRET, Institution, institution

assert urls.urlpatterns  # read before any test sets an institution, as other tests want them


@pytest.fixture
def there(db: None) -> Iterator[Institution]:
    cache.clear()
    with (
        institution() as place,
        override_settings(
            ROOT_URLCONF="tests.site.urls_of_institution",
            OIDC_ISSUER=place.issuer,
            OIDC_RP_CLIENT_ID=CLIENT,
            OIDC_RP_CLIENT_SECRET=SECRET,
            OIDC_NAME="the university",
            AUTHENTICATION_BACKENDS=[
                *live.AUTHENTICATION_BACKENDS,
                "summhay_site.accounts.institution.InstitutionBackend",
            ],
        ),
    ):
        yield place


def come_back(client: Client, next_page: str = "/profile/"):
    """Go there and back; gives the last answer of this site, redirects followed."""
    away = client.get("/login/institution/", {"next": next_page})
    if away.headers["Location"] == "/login/":
        return client.get("/login/")
    back = requests.get(away.headers["Location"], timeout=5, allow_redirects=False).headers["Location"]
    address = urlsplit(back)
    return client.get(f"{address.path}?{address.query}", follow=True)


def is_refused(client: Client, why: str) -> bool:
    page = come_back(client)
    return page.request["PATH_INFO"] == "/login/" and why in page.content.decode()


NO_ACCOUNT, BROKEN = "No account here", "could not log you in"


def test_somebody_with_a_verified_address_is_logged_in_and_later_known_without_it(
    ben, there: Institution, client: Client
) -> None:
    assert "Log in through the university" in client.get("/login/?next=/profile/").content.decode()
    page = come_back(client)
    assert (page.request["PATH_INFO"], page.context["user"]) == ("/profile/", ben)
    client.logout()
    there.person |= {"email": "elsewhere@example.org", "email_verified": False}
    assert come_back(client).context["user"] == ben
    assert AuditEvent.objects.filter(action="account.institution").count() == 1
    assert come_back(Client(), next_page="https://elsewhere.example/").request["PATH_INFO"] != "elsewhere.example"


def test_a_first_log_in_joins_the_groups_of_the_setting_unless_an_admin_has_chosen_one(
    ben, eve, there: Institution, client: Client
) -> None:
    gulls, terns, old = (
        grouping.make_group(name=name, by=eve, now=timezone.now()) for name in ("Gulls", "Terns", "Auks")
    )
    grouping.set_archived(group=old, is_archived=True, by=eve, now=timezone.now())
    with override_settings(OIDC_GROUPS=["gulls", "Auks", "Nobody"]):
        come_back(client)
        assert list(ben.research_groups.all()) == [gulls]
        ben.research_groups.clear()
        client.logout()
        come_back(client)
        assert not ben.research_groups.exists()  # only the first time
        type(ben).objects.filter(pk=ben.pk).update(subject="")
        ben.research_groups.set([terns])
        come_back(Client())
        assert list(ben.research_groups.all()) == [terns]


def test_nobody_gets_in_by_an_address_that_is_not_theirs_alone(ben, there: Institution, client: Client) -> None:
    there.person["email_verified"] = "true"  # a word is no yes
    assert is_refused(client, NO_ACCOUNT)
    there.person |= {"email_verified": True, "email": "stranger@example.org"}
    assert is_refused(client, NO_ACCOUNT)
    there.person["email"] = ""
    assert is_refused(client, NO_ACCOUNT)
    twin = make_user("twin", "annotator")
    twin.email = "BEN@example.org"
    twin.save()
    there.person["email"] = ben.email
    assert is_refused(client, NO_ACCOUNT)
    twin.is_active = False
    twin.save()
    assert come_back(client).context["user"] == ben
    there.person |= {"sub": "somebody else", "email": ben.email}  # the address went to another person there
    assert is_refused(Client(), NO_ACCOUNT)
    ben.is_active = False
    ben.save()
    there.person["sub"] = "b-17"
    assert is_refused(Client(), NO_ACCOUNT)
    assert not AccessAttempt.objects.exists()  # no wrong password: nobody is locked out by it


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://elsewhere.example"},
        {"aud": "another site"},
        {"aud": ["another", "and another"]},
        {"nonce": "of another log-in"},
        {"exp": 1},
        {"exp": None},
        {"sub": "ada"},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_log_in_is_worth_nothing(
    claims: dict[str, Any], ben, there: Institution, client: Client
) -> None:
    there.claims = claims
    assert is_refused(client, BROKEN)


def test_a_forged_signature_and_an_institution_that_is_away_are_said_and_break_nothing(
    ben, there: Institution, client: Client
) -> None:
    there.key = rsa.generate_private_key(65537, 2048)
    assert is_refused(client, BROKEN)
    there.key = there.published
    there.is_broken = True
    assert is_refused(client, BROKEN)  # its description is known already
    cache.clear()
    assert is_refused(client, BROKEN)
    there.is_broken = False
    assert come_back(client).context["user"] == ben


def test_an_answer_that_nobody_asked_for_logs_nobody_in(ben, there: Institution, client: Client) -> None:
    for query in ({"code": "1", "state": "2"}, {"error": "access_denied"}, {}):
        page = client.get("/login/institution/back/", query, follow=True)
        assert BROKEN in page.content.decode()
        assert not page.context["user"].is_authenticated
    away = client.get("/login/institution/")
    back = requests.get(away.headers["Location"], timeout=5, allow_redirects=False).headers["Location"]
    other = Client()  # the browser of somebody who was sent that link
    assert BROKEN in other.get("/login/institution/back/?" + urlsplit(back).query, follow=True).content.decode()
    client.get("/login/institution/back/?" + urlsplit(back).query)
    client.logout()
    again = client.get("/login/institution/back/?" + urlsplit(back).query, follow=True)
    assert not again.context["user"].is_authenticated


def test_without_an_institution_there_are_no_such_addresses(client: Client, db: None) -> None:
    assert client.get("/login/institution/").status_code == 404
    assert "institution" not in client.get("/login/").content.decode()


@pytest.mark.parametrize("missing", ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_half_an_institution_stops_the_start_with_a_sentence(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"):
        monkeypatch.setenv(name, "" if name == missing else "https://there.example")
    with pytest.raises(ImproperlyConfigured, match=missing):
        env.institution()
