"""Pages of a study: whose they are, what they ask of the database, and what is done on them."""

import re
from datetime import datetime

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from annotation.models import Annotator, Assignment, Membership, Study
from tests.annotation.writing_study import form_data
from tests.makers import NOW, annotator_of, make_assignment, make_haystack, make_session, make_writing_study
from tests.queries import cost_of


def test_the_list_shows_own_studies_and_to_admins_all(ada, as_ada, as_eve) -> None:
    haystack = make_haystack()
    make_writing_study(haystack=haystack, name="Mine", researcher=ada)
    make_writing_study(haystack=haystack, name="Hers")
    make_writing_study(haystack=haystack, name="Old", researcher=ada, state="archived")
    url = reverse("annotation:studies")
    seen = as_ada.get(url).text
    assert "Mine" in seen
    assert "Hers" not in seen
    assert "Old" not in seen
    assert "Old" in as_ada.get(url + "?state=archived").text
    assert "Hers" in as_eve.get(url).text


def grow(study: Study, n: int) -> None:
    for number in range(2, n + 2):
        person = Annotator.objects.create(label=f"Writer {number}", created_at=NOW)
        Membership.objects.create(study=study, annotator=person, number=number, joined_at=NOW)
        task = make_assignment(study=study, annotator=person)
        make_session(assignment=task, state="submitted", revisions=[(60_000, "- Six. [1]")])


@pytest.mark.parametrize(
    ("name", "most"),
    [("study", 20), ("study-assignments", 20), ("study-annotators", 17), ("study-settings", 20)],
)
def test_pages_of_a_study_ask_no_more_with_more_people(ada, as_ada, ben, name: str, most: int) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    url = reverse(f"annotation:{name}", args=[study.uid])
    grow(study, 12)
    assert cost_of(as_ada, url) <= most


def test_a_long_list_of_studies_comes_in_pages(ada, as_ada) -> None:
    Study.objects.bulk_create(
        Study(name=f"No. {n:03}", kind="writing", created_at=NOW, created_by=ada) for n in range(101)
    )
    address = reverse("annotation:studies")
    first, second = as_ada.get(address).text, as_ada.get(address + "?page=2").text
    assert "Page 1 of 2" in first
    assert "No. 000" not in first
    assert "No. 000" in second
    assert "No. 001" not in second


def test_the_overview_counts_time_and_cost_per_person(ada, as_ada, ben, cleo) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    make_session(
        assignment=make_assignment(study=study, annotator=ben, state="done"), state="submitted", acc_ms=5_400_000
    )
    make_session(
        assignment=make_assignment(study=study, annotator=cleo, state="withdrawn"), state="voided", acc_ms=60_000
    )
    text = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    assert "1 h 30 min" in text
    assert "37.50 USD" in text
    assert "0.42 USD" in text
    assert "37.92 USD" in text


def test_assigning_by_page_shows_first_and_gives_then(ada, as_ada, ben, cleo) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    url = reverse("annotation:study-assign", args=[study.uid])
    assert "Assign these 2 tasks" in as_ada.get(url).text
    assert not Assignment.objects.exists()
    as_ada.post(url)
    assert Assignment.objects.count() == 2
    assert "Too few annotators are eligible for these" in as_ada.get(url).text
    assert "1 or more." in as_ada.get(url + "?max_tasks=-1").text


def test_the_assignments_page_says_why_somebody_is_not_eligible(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    ben.groups.add(Group.objects.get(name="researcher"))
    page = as_ada.get(reverse("annotation:study-assignments", args=[study.uid])).text
    assert "Has a research role" in page
    assert "All subtopics." in page
    data = {"annotator": annotator_of(ben).pk, "subtopic": study.writing_plan.subtopics.first().pk}
    refused = as_ada.post(reverse("annotation:study-assign-one", args=[study.uid]), data)
    assert refused.status_code == 422
    assert "The task was not assigned" in refused.text
    assert not Assignment.objects.exists()


def test_a_task_is_given_and_withdrawn_by_hand_on_the_page(ada, as_ada, ben, cleo) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    data = {"annotator": annotator_of(ben).pk, "subtopic": study.writing_plan.subtopics.first().pk}
    assert as_ada.post(reverse("annotation:study-assign-one", args=[study.uid]), data).status_code == 302
    url = reverse("annotation:assignment-withdraw", args=[Assignment.objects.get().uid])
    assert as_ada.post(url, {"reason": ""}).status_code == 422
    as_ada.post(url, {"reason": "ill", "to": annotator_of(cleo).pk})
    assert Assignment.objects.live().get().annotator == annotator_of(cleo)


def test_new_guidelines_can_be_looked_at_before_they_are_saved(ada, as_ada, now: datetime) -> None:
    study = make_writing_study(researcher=ada)
    url = reverse("annotation:study-guidelines-edit", args=[study.uid])
    assert "<strong>two</strong>" in as_ada.post(url, {"body": "Now **two**", "preview": "1"}).text
    assert study.guidelines.count() == 1
    as_ada.post(url, {"body": "Now **two**"})
    assert study.guidelines.order_by("-version").first().body == "Now **two**\n"
    old = as_ada.get(reverse("annotation:study-guidelines-version", args=[study.uid, 1])).text
    assert "Report what repeats." in old


@pytest.mark.parametrize("text", ["guidelines", "consent"])
def test_a_version_that_somebody_saved_meanwhile_is_not_replaced_unseen(text: str, ada, as_ada, as_eve) -> None:
    study = make_writing_study(researcher=ada)
    url = reverse("annotation:consent-edit")
    if text == "guidelines":
        url = reverse("annotation:study-guidelines-edit", args=[study.uid])
    pattern = r'name="seen" value="(\d+)"'
    opened = re.search(pattern, as_ada.get(url).text)
    as_eve.post(url, {"body": "By eve", "seen": opened[1]})
    for more in ({"preview": "1"}, {}):
        refused = as_ada.post(url, {"body": "By **ada**", "seen": opened[1], **more})
        page = refused.text
        assert refused.status_code == 409
        assert "Somebody saved version" in page
        assert "By **ada**" in page
    assert as_ada.post(url, {"body": "By **ada**", "seen": re.search(pattern, page)[1]}).status_code == 302


def test_people_are_added_limited_and_removed_on_the_pages(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada)
    person = annotator_of(ben)
    as_ada.post(reverse("annotation:study-annotators", args=[study.uid]), {"annotators": [person.pk]})
    member = study.memberships.get()
    limit = reverse("annotation:annotator-limit", args=[study.uid, person.uid])
    assert as_ada.post(limit, {"limit_minutes": "-3"}).status_code == 422
    as_ada.post(limit, {"limit_minutes": "1.5"})
    member.refresh_from_db()
    assert member.limit_ms == 90_000
    as_ada.post(reverse("annotation:annotator-remove", args=[study.uid, person.uid]), {"reason": "moved"})
    member.refresh_from_db()
    assert member.left_at is not None


def test_names_and_reasons_are_escaped(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], name="<script>x</script>")
    page = as_ada.get(reverse("annotation:study-assignments", args=[study.uid])).text
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_a_haystack_without_documents_is_not_offered_for_writing(as_ada) -> None:
    ferry, bare = make_haystack(), make_haystack(key="bare", title="Only summaries", n_documents=0, golds=[[[]]])
    new = reverse("annotation:study-create")
    assert [group["haystack"] for group in as_ada.get(new).context["form"].corpora] == [ferry]
    assert as_ada.post(new, form_data(haystacks=[bare.pk])).status_code == 422
    assert not Study.objects.exists()
    for haystack, is_offered in ((ferry, True), (bare, False)):
        page = as_ada.get(reverse("benchmarks:haystack-detail", args=[haystack.uid])).text
        assert (reverse("annotation:study-create", args=["writing"]) in page) is is_offered
