"""Pages of corpora: what they show, to whom, at what cost, and that reading insights is noted."""

import re
from collections.abc import Callable
from datetime import datetime
from functools import partial
from urllib.parse import quote

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Exposure
from benchmarks.corpora.archiving import obstacles
from benchmarks.models import AuditEvent, Haystack, Insight, Subtopic, Summary, System
from tests.makers import make_assignment, make_haystack, make_summary, make_writing_study, url
from tests.makers_topic import SYSTEMS, topic_json
from tests.taking_in import import_topic

pytestmark = pytest.mark.django_db
Login, Read = Callable[..., Client], Callable[..., str]
PAGES = ("list", "haystack", "document", "subtopic", "insight", "summary", "search")
CORPORA, SEARCH = "/corpora/", "/corpora/search/"


@pytest.fixture
def read(as_ada) -> Read:
    """A page as a researcher reads it."""
    return partial(text_of, as_ada)


def imported(now: datetime, **kwargs) -> Haystack:
    value = topic_json(**kwargs)
    import_topic(value, now=now)
    return Haystack.objects.get(key=value["topic_id"])


def addresses(haystack: Haystack) -> dict[str, str]:
    subtopic = haystack.subtopics.get(number=1)
    return {
        "list": url("corpora"),
        "haystack": url("haystack-detail", haystack.uid),
        "document": url("document-detail", haystack.uid, 2),
        "subtopic": url("subtopic-detail", subtopic.uid),
        "insight": url("insight-detail", subtopic.insights.get(number=1).uid),
        "summary": url("summary-detail", subtopic.summaries.get(system__key="model-a").uid),
        "search": url("corpora-search") + "?q=harbour",
    }


def text_of(client: Client, address: str, status: int = 200, **headers) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == status, address
    return response.text


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_for_admins(name: str, now: datetime, as_eve) -> None:
    text_of(as_eve, addresses(imported(now))[name])


@pytest.mark.parametrize(("name", "shows_insights"), [*zip(PAGES[:-1], (False, False, *[True] * 4), strict=True)])
def test_a_page_is_noted_as_an_exposure_exactly_when_it_shows_reference_insights(
    name: str, shows_insights: bool, now: datetime, ada, read: Read
) -> None:
    haystack = imported(now)
    page = read(addresses(haystack)[name])
    insights = [insight.text for insight in Insight.objects.all()]
    if shows_insights:
        assert any(text in page for text in insights)
    assert Exposure.objects.filter(user=ada, haystack=haystack, reason="page").exists() is shows_insights


def test_finding_an_insight_notes_its_haystack_and_no_other(now: datetime, read: Read) -> None:
    first = imported(now)
    second = imported(now, key="market", title="The market", seed=99)
    word = first.subtopics.get(number=1).insights.get(number=1).text[:40]
    assert "Insights" in read(f"{SEARCH}?q={word}&in=insights")
    assert set(Exposure.objects.values_list("haystack", flat=True)) == {first.pk}
    read(SEARCH + "?q=The market&in=haystacks")
    assert not Exposure.objects.filter(haystack=second).exists()


def queries(client: Client, address: str) -> int:
    client.get(address)  # the second reading writes no exposure
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize(("name", "at_most"), [*zip(PAGES, (9, 15, 8, 17, 11, 10, 16), strict=True)])
def test_the_number_of_queries_is_fixed(name: str, at_most: int, now: datetime, as_ada) -> None:
    small = imported(now, key="small", n_documents=4, n_subtopics=1, n_insights=2)
    as_ada.get(addresses(small)[name])  # what is stored is computed
    few = queries(as_ada, addresses(small)[name])
    many_systems = (*SYSTEMS, *(f"summary_subtopic_vector_m{number}" for number in range(12)))
    large = imported(now, key="large", n_documents=40, n_subtopics=5, n_insights=9, systems=many_systems)
    for number in range(4):
        imported(now, key=f"more{number}", title=f"Harbour {number}")
    as_ada.get(addresses(large)[name])
    many = queries(as_ada, addresses(large)[name])
    assert many <= few
    assert many <= at_most


def test_the_list_is_searched_and_sorted_by_the_address(now: datetime, read: Read) -> None:
    imported(now, key="b", title="Beta", n_documents=5)
    imported(now, key="a", title="Alpha", n_documents=9)
    by_title = read(CORPORA)
    assert by_title.index("Alpha") < by_title.index("Beta")
    imported(now, key="c", title="Gamma", n_documents=20)
    by_size = read(CORPORA + "?sort=-documents")
    assert by_size.index("Gamma") < by_size.index("Alpha") < by_size.index("Beta")
    found = read(CORPORA + "?q=alph")
    assert "Alpha" in found
    assert "Beta" not in found


def test_empty_pages_say_what_to_do_next(now: datetime, read: Read) -> None:
    assert "No corpora yet." in read(CORPORA)
    assert "The archive is empty." in read(CORPORA + "?archived=1")
    assert "Enter at least two characters." in read(f"{SEARCH}?q=a")
    assert "The search looks for exactly this text" in read(f"{SEARCH}?q=nowhere")
    bare = make_haystack()
    assert "No system has summarized this haystack yet." in read(url("haystack-detail", bare.uid))
    subtopic = bare.subtopics.get(number=1)
    assert "No system has summarized this subtopic yet." in read(url("subtopic-detail", subtopic.uid))


def test_documents_are_found_by_what_they_hold_whatever_the_accents_and_ends_of_paragraphs(
    now: datetime, read: Read
) -> None:
    haystack = imported(now)
    address = addresses(haystack)["haystack"]
    part = read(f"{address}?q=Report 7.", **{"HX-Request": "true"})
    assert "1 document" in part
    assert "Report 7." in part
    assert "Subtopics" not in part
    haystack.documents.filter(number=2).update(text="They met at the “Café\n\nde l’Île” in nai\u0308ve hope.")
    for words in ('"cafe de l\'ile"', "ÎLE” IN NAÏVE"):
        assert "They met at the" in read(f"{SEARCH}?in=documents&q={quote(words)}")
        part = read(f"{addresses(haystack)['haystack']}?q={quote(words)}", **{"HX-Request": "true"})
        assert "1 document" in part
    assert "Nothing here contains" in read(f"{SEARCH}?in=documents&q=l.ile")


def test_the_search_shows_the_first_of_each_kind_and_pages_of_one(now: datetime, read: Read) -> None:
    imported(now, n_documents=60)
    everything = read(f"{SEARCH}?q=Report")
    assert "Showing the first 5." in everything
    assert 'href="?q=Report&amp;in=documents"' in everything
    assert "Page 1 of" not in everything
    shown = [
        set(re.findall(r"documents/(\d+)/", read(f"{SEARCH}?q=Report&in=documents{page}")))
        for page in ("", "&page=2", "&page=3")
    ]
    assert [len(numbers) for numbers in shown] == [20, 20, 20]
    assert len(set.union(*shown)) == 60
    assert "Page 3 of 3" in read(f"{SEARCH}?q=Report&in=documents&page=99")


def test_text_is_always_escaped(now: datetime, read: Read) -> None:
    value = topic_json()
    evil = "<script>alert(1)</script>"
    value["topic"] = evil
    value["documents"][1]["document_text"] += evil
    for subtopic in value["subtopics"]:
        subtopic["subtopic_name"] = subtopic["query"] = evil
        for insight in subtopic["insights"]:
            insight["insight_name"] = insight["insight"] = evil
        for lines in subtopic["summaries"].values():
            lines.append(f"- {evil} [1]")
    import_topic(value, now=now)
    pages = addresses(Haystack.objects.get())
    for address in (*pages.values(), SEARCH + "?q=<script>alert(1)"):
        page = read(address)
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page


def test_the_summary_page_marks_citations_of_no_document_and_links_lines(now: datetime, read: Read) -> None:
    value = topic_json(n_subtopics=1, n_insights=1, systems=("summary_subtopic_model-a",))
    value["subtopics"][0]["summaries"]["summary_subtopic_model-a"] = ["Intro:", "- A point [2, 99]."]
    value["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"] = [
        {
            "insight_id": "harbour-s0-i0",
            "coverage": "FULL_COVERAGE",
            "bullet_id": 2,
            "probabilities": {"none": 0.05, "partial": 0.26, "full": 0.69},
        }
    ]
    import_topic(value, now=now)
    page = read(addresses(Haystack.objects.get())["summary"])
    assert "1 citation without a document" in page
    assert "99: no such document" in page
    assert 'id="line-2"' in page
    assert 'href="#line-2"' in page
    assert "coverage-full" in page
    assert "expected 0.82<br> none 0.05, partial 0.26, full 0.69" in " ".join(page.split())


def test_texts_of_people_are_not_shown_as_summaries_of_systems(now: datetime, read: Read) -> None:
    haystack = imported(now)
    person = System.objects.create(key="people", kind="human", summarizer="people")
    subtopic = haystack.subtopics.get(number=1)
    written = Summary.objects.create(
        subtopic=subtopic, haystack=haystack, system=person, origin="session", text="- Secret sentence.",
        text_sha256="x", created_at=now,
    )  # fmt: skip
    read(url("summary-detail", written.uid), status=404)
    assert str(written.uid) not in read(addresses(haystack)["subtopic"])
    assert "No corpus contains" in read(SEARCH + "?q=Secret sentence")
    late = make_summary(subtopic=subtopic, system="late-comer")
    page = read(url("subtopic-detail", subtopic.uid))
    row = page[page.index(str(late.uid)) :]
    assert row[: row.index("</tr>")].count(">–</td>") == 3


def test_summaries_are_sorted_by_the_scores_of_the_chosen_judge(now: datetime, read: Read) -> None:
    value = topic_json(n_subtopics=1, n_insights=2, systems=("summary_subtopic_good", "summary_subtopic_bad"))
    for name, coverage in (("good", "FULL_COVERAGE"), ("bad", "NO_COVERAGE")):
        for row in value["subtopics"][0]["eval_summaries"][f"summary_subtopic_{name}"]:
            row |= {"coverage": coverage, "bullet_id": 2 if name == "good" else "NA"}
    import_topic(value, now=now)
    address = url("subtopic-detail", Subtopic.objects.get().uid)
    by_name, by_score = read(address), read(f"{address}?sort=-coverage")
    assert by_name.index(">bad<") < by_name.index(">good<")
    assert by_score.index(">good<") < by_score.index(">bad<")
    assert "100.0" in by_score
    read(f"{address}?judge=nobody", status=404)


def test_an_archived_haystack_leaves_lists_and_search_and_comes_back(now: datetime, ada, as_ada) -> None:
    haystack = imported(now)
    Haystack.objects.update(created_by=ada)
    archive = url("haystack-archive", haystack.uid)
    for _ in range(2):
        assert as_ada.post(archive, {"archived": "1"}).status_code == 302
    assert "is archived" in text_of(as_ada, CORPORA)
    assert haystack.title not in text_of(as_ada, CORPORA)
    assert haystack.title in text_of(as_ada, CORPORA + "?archived=1")
    assert "No corpus contains" in text_of(as_ada, SEARCH + "?q=harbour")
    as_ada.post(archive, {"archived": "0"})
    assert haystack.title in text_of(as_ada, CORPORA)
    assert [event.action for event in AuditEvent.objects.filter(actor=ada).order_by("pk")] == [
        "haystack.archived",
        "haystack.restored",
    ]


def test_only_an_admin_deletes_and_everything_goes_along(now: datetime, as_ada, eve, as_eve) -> None:
    address = url("haystack-delete", imported(now).uid)
    assert as_ada.post(address).status_code == 403
    assert "24 verdicts" in text_of(as_eve, address)
    assert Haystack.objects.exists()
    assert as_eve.post(address).status_code == 302
    assert not Haystack.objects.exists()
    assert not Summary.objects.exists()
    event = AuditEvent.objects.get(action="haystack.deleted")
    assert event.actor == eve
    assert event.detail["documents"] == 12


@pytest.mark.needs("synthesis")
def test_a_haystack_on_which_rows_of_an_absent_extension_stand_is_not_deleted_and_the_page_names_it(
    now: datetime, as_eve
) -> None:
    haystack = imported(now)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE gone (haystack_id bigint REFERENCES benchmarks_haystack (id))")
        cursor.execute("INSERT INTO gone VALUES (%s)", [haystack.pk])
    MigrationRecorder(connection).record_applied("weaving", "0001_initial")
    answer = as_eve.post(url("haystack-delete", haystack.uid), follow=True)
    assert "Not deleted: 1 row of the extension “weaving”, which is turned off" in answer.text
    assert Haystack.objects.filter(pk=haystack.pk).exists()


def test_a_haystack_that_a_study_uses_is_not_deleted_and_the_page_says_why(now: datetime, ben, as_eve) -> None:
    haystack = make_haystack()
    make_assignment(annotator=ben, study=make_writing_study(haystack=haystack, annotators=[ben]))
    assert {row.label: row.count for row in obstacles(haystack)} == {"writing plan": 1, "assignment": 1}
    address = url("haystack-delete", haystack.uid)
    page = text_of(as_eve, address)
    assert "1 assignment" in page
    assert "Delete for good" not in page
    assert "depend on it" in as_eve.post(address, follow=True).text
    assert Haystack.objects.filter(pk=haystack.pk).exists()


def test_the_admin_shows_every_model_and_changes_none(now: datetime, eve, as_eve) -> None:
    imported(now)
    eve.is_superuser = True
    eve.save()
    for model in apps.get_app_config("benchmarks").get_models():
        assert model in admin.site._registry, model
        row = model._default_manager.first()
        name = f"admin:benchmarks_{model._meta.model_name}"
        assert as_eve.get(reverse(f"{name}_changelist")).status_code == 200
        assert as_eve.get(reverse(f"{name}_add")).status_code == 403
        if row is not None:
            assert as_eve.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200
            assert as_eve.post(reverse(f"{name}_change", args=[row.pk])).status_code == 403
            assert as_eve.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403
