"""Ways in that are easily forgotten: rows of the admin site that name insights, and forms after a lost login."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Exposure
from tests.makers import make_haystack, make_writing_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("way", ["list", "row"])
def test_who_reads_insights_on_the_admin_site_has_seen_them(way: str, eve, as_eve) -> None:
    haystack = make_haystack()
    eve.is_superuser = True
    eve.save()
    insight = haystack.subtopics.get(number=1).insights.get(number=1)
    as_eve.get(reverse("admin:benchmarks_haystack_changelist"))
    assert not Exposure.objects.exists()
    if way == "list":
        assert as_eve.get(reverse("admin:benchmarks_insight_changelist")).status_code == 200
    else:
        assert as_eve.get(reverse("admin:benchmarks_insight_change", args=[insight.pk])).status_code == 200
    seen = Exposure.objects.contaminating().get()
    assert (seen.user, seen.haystack) == (eve, haystack)


@pytest.mark.parametrize(
    ("referer", "next_page"),
    [
        ("http://testserver/studies/?q=a&b=1#x", "/studies/%3Fq%3Da%26b%3D1"),
        ("https://elsewhere.example/", "/"),
        ("http://testserver//elsewhere.example/x", "/elsewhere.example/x"),
        ("", "/"),
    ],
)
def test_a_form_sent_after_the_login_ended_leads_back_to_its_page(
    client: Client, referer: str, next_page: str
) -> None:
    study = make_writing_study()
    response = client.post(reverse("annotation:study-state", args=[study.uid]), HTTP_REFERER=referer)
    assert response.status_code == 302
    assert response["Location"] == f"/login/?next={next_page}"


def test_a_superuser_is_not_led_to_work_that_is_not_there(login, django_user_model) -> None:
    shown = login(django_user_model.objects.create_superuser("root", "", "correct horse")).get("/").text
    assert reverse("annotation:studies") in shown
    assert f'href="{reverse("annotation:work")}"' not in shown


@pytest.mark.parametrize(
    "address",
    [
        "/people/?q=%00",
        "/corpora/?q=%00",
        "/corpora/search/?q=%00",
        "/questions/?q=%00&category=%00",
        "/agreement/?dataset=%00&q=%00",
        "/audit-log/?actor=%00&object=%00",
    ],
)
def test_a_search_that_no_database_can_hold_is_refused(address: str, as_eve) -> None:
    assert as_eve.get(address).status_code == 400
