"""The form of a writing study: what it starts with, refuses, previews and no longer changes."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from annotation.models import Study, WritingPlan
from annotation.studies import views as study_views
from annotation.studies.forms import is_overtaken
from annotation.writing import planning
from benchmarks.models import RetrieverRanking
from tests.annotation.writing_study import form_data
from tests.makers import (
    NOW,
    annotator_of,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)


def test_a_researcher_sets_up_a_study_by_form(ada, as_ada, ben) -> None:
    data = form_data(haystacks=[make_haystack().pk], annotators=[annotator_of(ben).pk])
    response = as_ada.post(reverse("annotation:study-create"), data)
    study = Study.objects.get()
    assert response.headers["Location"] == reverse("annotation:study-assignments", args=[study.uid])
    assert study.writing_plan.subtopics.count() == 2
    assert study.writing_plan.limit_ms == 7_200_000
    assert study.writing_plan.show_counters is False
    assert study.guidelines.get().body == "Report\nwhat repeats.\n"
    assert study.created_by == ada


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limit_minutes": "-5"}, "needs at least 1 minute"),
        ({"limit_minutes": "soon"}, "A number, such as 2.5."),
        ({"mark_minutes": "300"}, "longer than the time limit"),
        ({"token_budget": "0"}, "1 or more."),
        ({"hourly_rate": "-1"}, "0 or more."),
        ({"currency": "dollars"}, "Three capital letters"),
        ({"haystacks": []}, "at least one subtopic"),
        ({"haystacks": ["9" * 400]}, "Choose from the list."),
        ({"annotators": [str(2**63)]}, "Choose from the list."),
        ({"setting": "ranking"}, "Choose a retriever."),
        ({"contact": "nowhere"}, "An email address, such as"),
        ({"name": ""}, "Fill this in."),
    ],
)
def test_wrong_settings_get_a_sentence_and_change_nothing(as_ada, change: dict[str, Any], message: str) -> None:
    data = form_data(**{"haystacks": [make_haystack().pk], **change})
    response = as_ada.post(reverse("annotation:study-create"), data)
    assert response.status_code == 422
    assert message in response.text
    assert not Study.objects.exists()


def test_a_new_study_starts_with_the_paper_protocol_on_the_haystack_it_comes_from(as_ada) -> None:
    ferry, _other = make_haystack(), make_haystack(key="mole", title="The mole")
    new = reverse("annotation:study-create")
    found = as_ada.get(new, {"haystack": str(ferry.uid)}).context["form"]
    chosen = {field.name: field.value() for field in found if field.name not in {"guidelines", "contact"}}
    assert (chosen["preset"], chosen["haystacks"], chosen["name"]) == (
        "paper",
        [ferry.pk],
        f"Timed writing: {ferry.title}",
    )
    Study.objects.create(name=chosen["name"], kind="writing", created_at=NOW)
    again = as_ada.get(new, {"haystack": str(ferry.uid)}).context["form"]
    assert again["name"].value() == f"Timed writing: {ferry.title} (2)"
    assert as_ada.get(new).context["form"]["haystacks"].value() is None, "two to choose from"
    assert as_ada.get(new, {"haystack": "x"}).status_code == 404
    sent = {name: value for name, value in chosen.items() if value not in (None, False)}
    as_ada.post(new, {**sent, "name": "As it came", "guidelines": "Write.", "subtopics": []})
    plan = Study.objects.get(name="As it came").writing_plan
    paper = WritingPlan(preset="paper", **dict.fromkeys(planning.AIDS, False))
    assert all(getattr(plan, name) == getattr(paper, name) for name in planning.SETTINGS)


def test_a_study_is_set_up_assigned_and_opened_with_one_button(as_ada, ben) -> None:
    haystack = make_haystack()
    sent = form_data(haystacks=[haystack.pk], annotators=[annotator_of(ben).pk], assign_now="on", then="open")
    answer = as_ada.post(reverse("annotation:study-create"), sent, follow=True)
    study = Study.objects.get()
    assert (study.state, study.assignments.count()) == ("open", 1)
    assert "The study is open." in answer.text
    assert "Nobody has a task yet" not in answer.text
    again = form_data(
        haystacks=[haystack.pk], annotators=[annotator_of(ben).pk], assign_now="on", then="open", name="Again"
    )
    answer = as_ada.post(reverse("annotation:study-create"), again, follow=True)
    assert "Nobody has a task yet" in answer.text
    assert "Why not" in answer.text
    nobody = form_data(haystacks=[haystack.pk], assign_now="on", then="open", name="Nobody")
    answer = as_ada.post(reverse("annotation:study-create"), nobody, follow=True)
    assert (Study.objects.get(name="Nobody").state, "not open yet" in answer.text) == ("draft", True)


def test_what_is_folded_is_summed_up_in_a_line_and_open_where_a_field_in_it_is_wrong(as_ada) -> None:
    make_haystack()
    new = reverse("annotation:study-create")
    form = as_ada.get(new).context["form"]
    assert (form.is_open, form.items_open) == (False, False)  # there is one haystack, which is chosen
    assert "Paper protocol" in form.line
    assert "15,000 tokens" in form.line
    assert "pay 25 USD an hour" in form.line
    assert "Currency" not in form.line
    wrong = as_ada.post(new, form_data(token_budget="0", currency="euro"))
    assert wrong.context["form"].is_open
    assert wrong.text.count('<details class="fold" open>') == 1
    assert "euro an hour" in wrong.context["form"].line


def test_retrievers_to_choose_are_those_with_rankings_and_gaps_are_named(as_ada) -> None:
    haystack, _other = make_haystack(), make_haystack(key="mole", title="The mole")
    RetrieverRanking.objects.create(subtopic=haystack.subtopics.get(number=1), retriever="bm25", scores={"1": 1.0})
    assert b'<option value="bm25">' in as_ada.get(reverse("annotation:study-create")).content
    data = form_data(haystacks=[haystack.pk], setting="ranking", retriever="bm25")
    response = as_ada.post(reverse("annotation:study-create"), data)
    assert "no ranking for: Subtopic 2" in response.text


def test_only_retrievers_that_ranked_every_chosen_subtopic_are_offered(as_ada) -> None:
    ferry, other = make_haystack(), make_haystack(key="mole", title="The mole")
    for haystack, name in ((ferry, "bm25"), (ferry, "random"), (other, "random"), (other, "vector")):
        for subtopic in haystack.subtopics.all():
            RetrieverRanking.objects.create(subtopic=subtopic, retriever=name, scores={"1": 1.0})
    RetrieverRanking.objects.create(subtopic=ferry.subtopics.get(number=1), retriever="partly", scores={"1": 1.0})
    url = reverse("annotation:study-takes", args=["writing"])

    def offered(**chosen) -> list[str]:
        shown = as_ada.post(url, form_data(**chosen)).context["form"].fields["retriever"].widget.choices
        return [name for name, _words in shown if name]

    first, second = ferry.subtopics.order_by("number")
    assert offered() == ["bm25", "partly", "random", "vector"]
    assert offered(haystacks=[ferry.pk]) == ["bm25", "random"]
    assert offered(subtopics=[first.pk]) == ["bm25", "partly", "random"]
    assert offered(haystacks=[other.pk], subtopics=[second.pk]) == ["random"]
    chosen = form_data(haystacks=[ferry.pk], retriever="bm25")
    assert '<option value="bm25" selected>' in as_ada.post(url, chosen).text
    RetrieverRanking.objects.filter(retriever="random").delete()
    answer = as_ada.post(url, form_data(haystacks=[ferry.pk, other.pk]), headers={"HX-Request": "true"})
    assert "No retriever has ranked every chosen subtopic." in answer.text


@pytest.mark.parametrize("retriever", ["vector", "unheard-of"])
def test_a_retriever_that_the_haystack_lacks_is_refused_and_not_offered_again(retriever: str, as_ada) -> None:
    ferry, other = make_haystack(), make_haystack(key="mole", title="The mole")
    for haystack, name in ((ferry, "bm25"), (other, "vector")):
        for subtopic in haystack.subtopics.all():
            RetrieverRanking.objects.create(subtopic=subtopic, retriever=name, scores={"1": 1.0})
    data = form_data(haystacks=[ferry.pk], setting="ranking", retriever=retriever)
    response = as_ada.post(reverse("annotation:study-create"), data)
    assert response.status_code == 422
    assert not Study.objects.exists()
    page = response.text
    assert retriever in re.findall(r'<p class="error">([^<]*)', page)[0]
    assert '<option value="bm25">' in page
    assert f'<option value="{retriever}"' not in page


def test_a_frozen_study_keeps_showing_its_retriever(ada, as_ada, ben) -> None:
    haystack = make_haystack()
    first, second = haystack.subtopics.order_by("number")
    RetrieverRanking.objects.create(subtopic=first, retriever="bm25", scores={"1": 1.0})
    study = make_writing_study(
        haystack=haystack, researcher=ada, annotators=[ben], setting="ranking", retriever="bm25"
    )
    make_session(assignment=make_assignment(study=study, annotator=ben))
    shown = as_ada.get(reverse("annotation:study-settings", args=[study.uid])).text
    url = f"{reverse('annotation:study-takes', args=['writing'])}?study={study.uid}"
    fragment = as_ada.post(url, {"subtopics": [first.pk, second.pk]}, headers={"HX-Request": "true"})
    for page in (shown, fragment.text):
        assert '<option value="bm25" selected>' in page


def test_how_long_reading_takes_is_said_before_anything_is_stored(as_ada) -> None:
    haystack = make_haystack(n_documents=3, words_per_document=4000, golds=[[[1, 2, 3]]])
    data = form_data(name="", haystacks=[haystack.pk], limit_minutes="50")
    answer = as_ada.post(reverse("annotation:study-takes", args=["writing"]), data)
    assert answer.status_code == 200
    for said in ("Not enough time", "1 h 00 min", "1 subtopic of 1 haystack"):
        assert said.lower() in answer.text.lower()
    assert not Study.objects.exists()


def test_the_preview_waits_until_its_own_fields_are_right(as_ada) -> None:
    data = form_data(haystacks=[make_haystack().pk], token_budget="many")
    response = as_ada.post(
        reverse("annotation:study-takes", args=["writing"]), data, headers={"HX-Request": "true"}
    )
    assert "Choose subtopics" in response.text


def test_frozen_settings_cannot_be_posted(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    make_session(assignment=make_assignment(study=study, annotator=ben))
    subtopics = [subtopic.pk for subtopic in study.writing_plan.subtopics.all()]
    data = form_data(name="Renamed", subtopics=subtopics, limit_minutes="5", hourly_rate="99")
    url = reverse("annotation:study-settings", args=[study.uid])
    assert "are frozen" in as_ada.get(url).text
    assert as_ada.post(url, data).status_code == 302
    study.refresh_from_db()
    study.writing_plan.refresh_from_db()
    assert (study.name, study.hourly_rate, study.writing_plan.limit_ms) == ("Renamed", Decimal(25), 7_200_000)


def test_saving_the_settings_keeps_oneself_as_researcher(ada, as_ada) -> None:
    study = make_writing_study(researcher=ada)
    subtopics = [subtopic.pk for subtopic in study.writing_plan.subtopics.all()]
    as_ada.post(
        reverse("annotation:study-settings", args=[study.uid]), form_data(name="Renamed", subtopics=subtopics)
    )
    assert list(study.researchers.all()) == [ada]


def seen_on(client, url: str) -> str:
    """What the page says it showed."""
    return re.search(r'name="seen" value="(\w+)"', client.get(url).text)[1]


@pytest.mark.parametrize("kind", ["writing", "linking"])
def test_settings_that_somebody_changed_meanwhile_are_not_replaced_unseen(kind: str, ada, eve, login) -> None:
    study = make_writing_study(researcher=ada) if kind == "writing" else make_linking_study(researcher=ada)
    url = reverse("annotation:study-settings", args=[study.uid])
    plan = getattr(study, "writing_plan", None)
    subtopics = [subtopic.pk for subtopic in plan.subtopics.all()] if kind == "writing" else []
    first, second = login(ada), login(eve)
    sent = form_data(subtopics=subtopics, trial_tries="2")
    by_first = {**sent, "name": "One", "description": "By ada", "seen": seen_on(first, url)}
    by_second = {**sent, "name": "Two", "seen": seen_on(second, url)}
    assert first.post(url, by_first).status_code == 302
    refused = second.post(url, by_second)
    page = refused.text
    assert refused.status_code == 409
    assert "Somebody changed these settings" in page
    assert "marked fields" not in page
    assert 'value="Two"' in page
    study.refresh_from_db()
    assert (study.name, study.description) == ("One", "By ada")
    again = re.search(r'name="seen" value="(\w+)"', page)
    assert second.post(url, {**by_second, "seen": again[1]}).status_code == 302
    study.refresh_from_db()
    assert study.name == "Two"


@pytest.mark.every_database
@pytest.mark.skipif(connection.vendor == "sqlite", reason="threads share one SQLite connection here")
@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_settings_at_once_the_second_is_refused(
    ada, as_ada, as_eve, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = reverse("annotation:study-settings", args=[make_linking_study(researcher=ada).uid])
    clients = {"One": as_ada, "Two": as_eve}
    sent = {name: {**form_data(name=name), "seen": seen_on(client, url)} for name, client in clients.items()}
    both_checked = Barrier(2)

    def checked(request, seen: str) -> bool:
        answer = is_overtaken(request, seen)
        with suppress(BrokenBarrierError):
            both_checked.wait(timeout=1)  # without a lock both come here before either saves
        return answer

    monkeypatch.setattr(study_views, "is_overtaken", checked)

    def save(name: str) -> int:
        try:
            return int(clients[name].post(url, sent[name]).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(save, sent)) == [302, 409]
