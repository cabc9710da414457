"""A link brings people of a panel into a study; their id is no credential, and the code comes at the end."""

from datetime import datetime
from typing import Any

import pytest
from django.db import DataError, IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.linking import items as linking
from annotation.models import LabelTask, Participant, RecruitmentLink, Study
from annotation.people.recruitment import links
from annotation.people.recruitment.outcomes import endings
from annotation.studies import lifecycle, members
from annotation.studies.kind import NotReady, work_of
from summhay_site.accounts import accounts
from summhay_site.accounts.accounts import may_make_link
from summhay_site.models import User
from summhay_site.operations import erasing
from tests.makers import annotator_of, make_haystack, make_linking_study, make_writing_study
from tests.running import csv_rows

CODE = "C0DE-42"
PID = "5f1e00000000000000000001"
BACK = "https://app.prolific.com/submissions/complete?cc=C0DE-42"


def make_link(study: Study, *, by=None, now: datetime, **fields) -> RecruitmentLink:
    values = {"panel": "prolific", "id_parameter": "PROLIFIC_PID", "max_places": 3, "completion_code": CODE}
    link = links.create_link(study=study, values={**values, **fields}, by=by, now=now)
    links.set_open(link=link, is_open=True, by=by, now=now)
    return link


@pytest.fixture
def link(study: Study, ada, now: datetime) -> RecruitmentLink:
    return make_link(study, by=ada, now=now, max_tasks=2, return_url=BACK)


def address(link: RecruitmentLink, pid: str = PID, **more: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in {link.id_parameter: pid, **more}.items())
    return f"/join/{link.key}/?{query}"


def test_a_participant_joins_with_tasks_and_a_pseudonymous_account(
    link: RecruitmentLink, client: Client, ada, eve
) -> None:
    assert client.get(address(link)).status_code == 200
    assert not Participant.objects.exists(), "looking makes nothing"
    sent = client.post(address(link, STUDY_ID="s1", SESSION_ID="t1"))
    assert sent.headers["Location"] == "/work/consent/"
    user = User.objects.get(is_recruited=True)
    assert not user.has_usable_password()
    assert "5f1e" not in f"{user.username} {user.name} {annotator_of(user).label}"
    assert client.get("/work/").status_code == 200
    assert LabelTask.objects.filter(annotator__user=user).count() == 2
    assert link.recruitments.get().references == {"STUDY_ID": "s1", "SESSION_ID": "t1"}
    assert not any(may_make_link(actor, user=user) for actor in (ada, eve, None))


@pytest.mark.every_database
@pytest.mark.parametrize(
    ("name", "is_stored"),
    [
        ("PROLIFIC_PID", True),
        ("w.-_9", True),
        ("x" * 40, True),
        ("x" * 41, False),
        ("", False),
        ("9w", False),
        ("_w", False),
        ("a b", False),
        ("a&b", False),
        ("é", False),
        ("aé", False),
        ("a\n", False),
    ],
)
def test_the_database_takes_only_names_for_the_parameter(
    name: str, is_stored: bool, link: RecruitmentLink
) -> None:
    rows = RecruitmentLink.objects.filter(pk=link.pk)
    if is_stored:
        rows.update(id_parameter=name)
        return
    with pytest.raises((IntegrityError, DataError)), transaction.atomic():
        rows.update(id_parameter=name)


def test_an_id_never_opens_an_account_from_another_browser(link: RecruitmentLink, client: Client) -> None:
    client.post(address(link))
    for method in ("get", "post"):
        other = Client()
        refused = getattr(other, method)(address(link))
        assert refused.status_code == 409
        assert "same browser" in " ".join(refused.content.decode().split())
        assert "study@example.org" in refused.content.decode()
        assert "_auth_user_id" not in other.session
    stolen = Client()
    stolen.cookies["participant"] = client.cookies["participant"].value[:-2] + "xx"
    assert stolen.post(address(link)).status_code == 409
    client.post("/logout/")
    assert client.post(address(link)).headers["Location"] == "/work/", "its own browser comes back"
    assert Participant.objects.count() == 1


def test_who_logs_out_gets_back_and_one_browser_takes_part_under_one_id(
    link: RecruitmentLink, client: Client
) -> None:
    client.post(address(link))
    page = client.post(reverse("logout"), follow=True)
    assert "If you came from a panel, open the study from there again" in page.content.decode()
    assert client.post(address(link)).headers["Location"] == "/work/"
    assert client.get("/work/").status_code == 200
    assert client.post(address(link, "another")).status_code == 409
    assert Participant.objects.count() == 1


def test_the_same_person_joins_a_second_study_with_the_same_account(
    link: RecruitmentLink, ada, client: Client, now: datetime
) -> None:
    client.post(address(link))
    second = make_writing_study(
        researcher=ada, haystack=make_haystack(key="second", title="Second"), name="Second"
    )
    other = make_link(second, by=ada, now=now)
    assert client.post(address(other)).headers["Location"] == "/work/consent/"
    assert Participant.objects.count() == 1
    assert second.assignments.count() == 1
    assert Client().post(address(other)).status_code == 409
    with pytest.raises(NotReady, match="1 participant joined by a link"):
        lifecycle.delete_study(study=link.study, by=ada, now=now)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"is_open": False}, 410, "is not accepting new participants"),
        ({"max_places": 1}, 410, "All places are taken"),
        ({"id_parameter": "worker"}, 400, "participant id is missing"),
    ],
)
def test_a_link_can_be_closed_and_has_places(
    change: dict[str, Any], status: int, words: str, link: RecruitmentLink
) -> None:
    Client().post(address(link, "first"))
    RecruitmentLink.objects.filter(pk=link.pk).update(**change)
    got = Client().post(address(link))
    assert got.status_code == status
    assert words in got.content.decode()
    assert Participant.objects.count() == 1


@pytest.mark.every_database
@pytest.mark.parametrize("pid", ["", "a b", "x" * 101, "<script>", "%00"])
def test_an_odd_id_makes_no_account(pid: str, link: RecruitmentLink, client: Client) -> None:
    assert client.post(address(link, pid)).status_code == 400
    assert not User.objects.filter(is_recruited=True).exists()


def test_who_only_looks_at_mechanical_turk_makes_no_account(study: Study, now: datetime, client: Client) -> None:
    link = make_link(study, now=now, panel="mturk", id_parameter="workerId")
    look = address(link, "W1", assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId="h")
    assert client.get(look).status_code == 400
    assert client.post(address(link, "W1", assignmentId="a", hitId="h")).status_code == 302


def test_too_many_at_once_wait(link: RecruitmentLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.people.recruitment.links.IN_A_MINUTE", 1)
    assert Client().post(address(link, "one")).status_code == 302
    refused = Client().post(address(link, "two"))
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "60"


def test_somebody_with_an_account_of_their_own_does_not_join(link: RecruitmentLink, ben, ada, login) -> None:
    for person in (ben, ada):
        assert login(person).post(address(link)).status_code == 409
    assert not Participant.objects.exists()


@pytest.mark.every_database
def test_a_promoted_or_switched_off_account_is_not_opened_by_its_cookie(
    link: RecruitmentLink, client: Client, eve, now: datetime
) -> None:
    client.post(address(link))
    user = User.objects.get(is_recruited=True)
    accounts.change_role(actor=eve, user=user, role="researcher", now=now)
    assert client.post(address(link)).status_code == 409
    accounts.change_role(actor=eve, user=user, role="annotator", now=now)
    assert client.post(address(link)).status_code == 409


def test_the_code_comes_when_all_tasks_are_done_and_the_list_is_for_paying(
    link: RecruitmentLink, client: Client, as_ada, now: datetime
) -> None:
    client.post(address(link, STUDY_ID="s1", SESSION_ID="t1"))
    annotator = annotator_of(User.objects.get(is_recruited=True))
    assert endings(annotator, now=now) == []
    first, second = LabelTask.objects.filter(annotator=annotator).order_by("pk")
    for task in (first, second):
        task.state, task.n_answered, task.active_ms = LabelTask.State.DONE, task.n_questions, 60_000
        assert CODE not in client.get("/work/").content.decode()
        task.save()
    page = client.get("/work/").content.decode()
    assert CODE in page
    assert f'href="{BACK}"' in page
    at = reverse("annotation:recruitment-file", args=[link.study.uid, link.uid])
    [row] = csv_rows(as_ada.get(at).getvalue())
    assert row | {"joined_at": "", "ended_at": ""} == {
        "participant_id": PID,
        "submission_id": "t1",
        "references": "STUDY_ID=s1 SESSION_ID=t1",
        "joined_at": "",
        "outcome": "completed",
        "ended_at": "",
        "tasks": "2",
        "tasks_done": "2",
        "tasks_skipped": "0",
        "checks": "0",
        "checks_right": "0",
        "minutes": "2.0",
        "amount": "0.83",
        "currency": "USD",
        "is_complete": "True",
    }


def test_ids_are_seen_by_researchers_of_the_study_only_and_go_with_the_person(
    link: RecruitmentLink, client: Client, as_ada, eve, login, now: datetime
) -> None:
    client.post(address(link))
    at = reverse("annotation:recruitment-file", args=[link.study.uid, link.uid])
    stranger = User.objects.create_user(username="sam", password="correct horse")
    accounts.change_role(actor=eve, user=stranger, role="researcher", now=now)
    assert login(stranger).get(at).status_code == 404
    for name in ("study", "study-annotators", "study-archive"):
        assert "5f1e" not in as_ada.get(reverse(f"annotation:{name}", args=[link.study.uid])).content.decode()
    erasing.erase(actor=eve, user=User.objects.get(is_recruited=True), now=now)
    assert not Participant.objects.exists()
    assert b"5f1e" not in as_ada.get(at).getvalue()


def test_a_researcher_makes_opens_and_closes_a_link(study: Study, as_ada) -> None:
    at = reverse("annotation:recruitment", args=[study.uid])
    form = {"panel": "prolific", "max_places": "5", "max_tasks": "2", "completion_code": "X"}
    for bad in ("http://x.test/", "javascript:alert(1)", "//x.test"):
        refused = as_ada.post(at, {**form, "return_url": bad})
        assert refused.status_code == 422
        assert "starts with https://" in refused.content.decode()
    as_ada.post(at, {**form, "return_url": BACK})
    link = RecruitmentLink.objects.get()
    assert (link.is_open, link.id_parameter) == (False, "PROLIFIC_PID")
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in as_ada.get(at).content.decode()
    state = reverse("annotation:recruitment-state", args=[study.uid, link.uid])
    as_ada.post(state, {"open": "1"})
    assert Client().get(address(link)).status_code == 200
    as_ada.post(state, {"open": "0"})
    assert Client().get(address(link)).status_code == 410


def test_a_study_with_an_open_link_opens_without_annotators(ada, now: datetime) -> None:
    label, writing = (
        make_linking_study(researcher=ada, state="draft"),
        make_writing_study(researcher=ada, haystack=make_haystack(key="second", title="Second"), state="draft"),
    )
    for study in (label, writing):
        with pytest.raises(NotReady):
            lifecycle.open_study(study=study, by=ada, now=now)
        make_link(study, by=ada, now=now)
        assert lifecycle.open_study(study=study, by=ada, now=now).state == "open"
    assert work_of(writing).opening_problems(writing) == []


def test_a_participant_gets_no_more_than_the_link_said_after_it_is_closed(
    client: Client, ada, ben, now: datetime
) -> None:
    study = make_linking_study(researcher=ada, people_per_item=2)
    link = make_link(study, by=ada, now=now, max_tasks=2)
    client.post(address(link))
    links.set_open(link=link, is_open=False, by=ada, now=now)
    members.add_annotators(study=study, annotators=[annotator_of(ben)], by=ada, now=now)
    linking.deal(study=study, by=ada, now=now, rebalance=True)
    tasks = study.label_tasks
    assert tasks.filter(annotator__user__is_recruited=True).count() == 2
    assert tasks.filter(annotator=annotator_of(ben)).count() == 4


def test_people_of_a_panel_are_offered_to_no_study_but_those_that_they_joined(
    link: RecruitmentLink, client: Client, ada, as_ada, ben, now: datetime
) -> None:
    client.post(address(link))
    person = Participant.objects.get().annotator
    other = make_writing_study(researcher=ada, haystack=make_haystack(key="second", title="Second"))

    def offered(study: Study) -> set[str]:
        page = as_ada.get(reverse("annotation:study-annotators", args=[study.uid]))
        return {one.label for one in page.context["people"].fields["annotators"].queryset}

    people = {annotator_of(ben).label}
    assert offered(other) == people
    new = as_ada.get("/studies/linking/new/").context["form"].fields["annotators"].queryset
    assert {one.label for one in new} == people
    refused = as_ada.post(reverse("annotation:study-annotators", args=[other.uid]), {"annotators": [person.pk]})
    assert (refused.status_code, other.memberships.count()) == (422, 0)
    copy = lifecycle.clone_study(study=link.study, name="Copy", by=ada, now=now, with_annotators=True)
    assert not copy.memberships.exists()
    assert offered(link.study) == people, "a member already"
    members.remove_annotator(study=link.study, annotator=person, reason="ill", by=ada, now=now)
    assert offered(link.study) == people | {person.label}
