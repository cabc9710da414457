"""A haystack made from templates in the browser: looked at, made, checked, imported, and known for what it is."""

import pytest
from django.urls import reverse

from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Haystack, ImportJob
from tests.synthesis.worlds import world

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


def made(client, **fields: object):
    data = {"pack": "baths", "seed": 1, "dataset": "baths"} | fields
    return client.post(reverse("synthesis:pack-new"), data, follow=True)


def imported(client, **fields: object) -> Haystack:
    assert made(client, **fields).status_code == 200
    job = ImportJob.objects.latest("created_at")
    client.post(reverse("benchmarks:import-confirm", args=[job.uid]))
    job.refresh_from_db()
    return Haystack.objects.get(uid=job.report["results"][0]["id"])


def test_the_page_shows_what_a_seed_draws_before_anything_is_made(as_ada) -> None:
    address = reverse("synthesis:pack-new")
    shown = as_ada.get(address).content.decode()
    insight = world(1).topic.subtopics[0].insights[0].text
    assert insight in shown
    other = as_ada.get(address, {"pack": "baths", "seed": 2, "unlike": 1}, **HTMX).content.decode()
    assert world(2, unlike=1).topic.subtopics[0].insights[0].text in other
    assert "<html" not in other
    assert insight not in other
    assert not ImportJob.objects.exists()


@pytest.mark.every_database
def test_two_clicks_make_a_haystack_that_says_what_it_was_made_from(as_ada) -> None:
    haystack = imported(as_ada, seed=2, unlike=1)
    assert haystack.dataset == "baths"
    made_topic = world(2, unlike=1).topic
    stored = topic_of(haystack)
    assert stored.documents == made_topic.documents
    assert [one.insights for one in stored.subtopics] == [one.insights for one in made_topic.subtopics]
    page = as_ada.get(reverse("benchmarks:haystack-detail", args=[haystack.uid])).content.decode()
    for words in ("made from templates: pack baths,", "seed 2", "unlike seed 1"):
        assert words in page
    parallel = "?pack=baths&amp;seed=3&amp;unlike=2"
    assert parallel in page
    form = as_ada.get(reverse("synthesis:pack-new") + parallel.replace("&amp;", "&")).content.decode()
    assert world(3, unlike=2).topic.subtopics[0].insights[0].text in form
    assert b"".join(summhay.dump(stored)) == b"".join(summhay.dump(made_topic))


def test_the_same_seed_again_changes_nothing(as_ada) -> None:
    imported(as_ada)
    page = made(as_ada).content.decode()
    assert Haystack.objects.count() == 1
    assert "nothing" in page.lower()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"unlike": 1}, "This is the seed itself"),
        ({"seed": -1}, "0 or more."),
        ({"seed": ""}, "required"),
        ({"seed": 3_000_000_000}, "2147483647 or less."),
        ({"pack": "<script>"}, "Choose from the list"),
        ({"dataset": "two words"}, "Letters, digits, - and _ only."),
    ],
)
def test_what_cannot_be_made_is_said_at_its_field(as_ada, fields, message: str) -> None:
    answer = made(as_ada, **fields)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert "<script>" not in answer.content.decode()
    assert not ImportJob.objects.exists()
