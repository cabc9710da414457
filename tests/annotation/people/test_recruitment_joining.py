"""Who may join by a link: ids of the panel's form and on its list, few from one address. Others read the truth."""

import re
from datetime import datetime, timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from annotation.models import JoinedFrom, LabelItem, LabelTask, Participant, RecruitmentLink, Study, TurnedAway
from annotation.people.recruitment.links import BadPattern, check_pattern
from summhay_site.accounts.logins import purge_failed_logins
from summhay_site.models import User
from tests.annotation.people.test_recruitment import PID, address, make_link
from tests.annotation.people.test_recruitment_outcomes import CODES, at, join, paid, words
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.makers import make_haystack, make_linking_study, make_writing_study
from tests.makers_verification import make_verification_study

OTHER = "b" * 24
PROLIFIC = "[0-9a-f]{24}"


@pytest.fixture
def link(study: Study, ada, now: datetime) -> RecruitmentLink:
    return make_link(study, by=ada, now=now, max_tasks=1, id_pattern=PROLIFIC, **CODES)


@pytest.mark.parametrize("pid", ["FAKE0", "fake0", PID.upper(), PID[:-1], PID + "0", "g" * 24])
def test_an_id_without_the_form_of_the_panel_takes_no_place(
    pid: str, link: RecruitmentLink, client: Client
) -> None:
    for send in (client.get, client.post):
        page = send(address(link, pid))
        assert page.status_code == 400
        assert "participant id is not valid" in words(page)
    assert not User.objects.filter(is_recruited=True).exists()


@pytest.mark.every_database
def test_ids_that_differ_in_case_only_are_one_person(study: Study, now: datetime) -> None:
    link = make_link(study, now=now, max_tasks=1)
    client = join(link, "FAKE0")
    refused = Client().post(address(link, "fake0"))
    assert refused.status_code == 409
    assert "Use the browser you started in" in refused.content.decode()
    assert client.post(address(link, "fake0")).headers["Location"] == "/work/"
    assert [row.panel_id for row in Participant.objects.all()] == ["FAKE0"]


@pytest.mark.parametrize(("max_tasks", "n", "is_said"), [(1, 2, True), (None, 4, False)])
def test_the_link_says_what_the_page_of_consent_says_where_others_take_none_of_it(
    study: Study, now: datetime, max_tasks: int | None, n: int, is_said: bool
) -> None:
    LabelItem.objects.filter(pk=LabelItem.objects.earliest("pk").pk).update(is_overlap=True)
    Study.objects.update(has_trial=True)
    link = make_link(study, now=now, max_tasks=max_tasks)
    pages = [words(page) for page in (Client().get(address(link)), join(link).get("/work/consent/"))]
    for each in (f"{n} summaries, about {4 * n} min", f"about {n * 100 / 60:.2f} USD", "a trial of about two"):
        assert [each in page for page in pages] == [is_said, True]


def test_a_link_to_writing_says_how_long_and_for_what_money_at_most(db: None, now: datetime) -> None:
    page = words(Client().get(address(make_link(make_writing_study(), now=now))))
    assert re.search("a summary, up to 2 h 00 min.*up to 50.00 USD", page)


def test_a_page_that_names_the_contact_below_has_one(study: Study, now: datetime) -> None:
    link = make_link(study, now=now, max_tasks=1)
    join(link, "FAKE0")
    elsewhere = "by a message on the panel"
    assert elsewhere not in words(Client().post(address(link, "FAKE0")))
    Study.objects.update(contact="")
    refused = words(Client().post(address(link, "FAKE0")))
    assert "write to the contact below" in refused
    assert elsewhere in refused
    assert elsewhere not in words(Client().get(address(link, "FAKE1")))


@pytest.mark.every_database
def test_two_who_joined_before_under_ids_that_differ_in_case_stay_two(study: Study, now: datetime) -> None:
    link = make_link(study, now=now, max_tasks=1)
    browsers = {pid: join(link, name) for name, pid in (("a", "FAKE0"), ("b", "fake0"), ("c", "Other"))}
    for name, pid in (("a", "FAKE0"), ("b", "fake0"), ("c", "Other")):
        key = pid if pid == "FAKE0" else pid.lower()
        Participant.objects.filter(panel_id=name).update(panel_id=pid, panel_key=key)
    for pid, browser in browsers.items():
        assert browser.post(address(link, pid)).headers["Location"] == "/work/"
    assert browsers["Other"].post(address(link, "OTHER")).headers["Location"] == "/work/"


@pytest.mark.every_database
def test_a_list_of_ids_lets_nobody_else_join(link: RecruitmentLink, as_ada) -> None:
    form = {"panel": "prolific", "max_places": "3", "max_tasks": "1", "completion_code": "X", "id_form": "panel"}
    refused = as_ada.post(at(link, "link"), {**form, "allowed_ids": f"{PID}\nFAKE0"})
    assert refused.status_code == 422
    assert "FAKE0" in refused.content.decode()
    as_ada.post(at(link, "link"), {**form, "allowed_ids": f"{PID}, {'c' * 24}"})
    assert "2 listed ids only" in words(as_ada.get(at(link)))
    refused = Client().post(address(link, OTHER))
    assert refused.status_code == 403
    assert "is not on the list" in refused.content.decode()
    join(link, PID)
    as_ada.post(at(link, "link"), {**form, "allowed_ids": ""})
    join(link, OTHER)


def test_without_a_limit_nothing_of_an_address_is_kept(link: RecruitmentLink) -> None:
    assert "digest" not in words(Client().get(address(link)))
    join(link)
    assert not JoinedFrom.objects.exists()


def test_few_join_from_one_network_and_its_address_is_stored_nowhere(link: RecruitmentLink, now: datetime) -> None:
    RecruitmentLink.objects.update(max_per_address=1, max_places=9)
    start = datetime.now().astimezone()
    told = Client(REMOTE_ADDR="203.0.113.9").get(address(link))
    assert "a digest of your network address, which does not show the address, is kept for one day" in words(told)
    for ip, pid, status in (
        ("203.0.113.9", "1" * 24, 302),
        ("203.0.113.9", "2" * 24, 429),
        ("203.0.113.10", "3" * 24, 302),
        ("2001:db8:1:2::3", "4" * 24, 302),
        ("2001:db8:1:2:ffff::4", "5" * 24, 429),
    ):
        assert Client(REMOTE_ADDR=ip).post(address(link, pid)).status_code == status, ip
    assert Client(REMOTE_ADDR="203.0.113.9").get(address(link, "2" * 24)).status_code == 429
    rows = list(JoinedFrom.objects.values())
    assert not any(part in str(rows) for part in ("203.0.113", "2001:db8"))
    with time_machine.travel(start + timedelta(hours=25)):
        assert Client(REMOTE_ADDR="203.0.113.9").get(address(link, "2" * 24)).status_code == 200
    assert purge_failed_logins(now=start + timedelta(hours=23)) == 0
    assert purge_failed_logins(now=start + timedelta(hours=25)) == 3
    assert not JoinedFrom.objects.exists()


def _studies(ada, ben) -> list[Study]:
    """A study of each kind with a task for one person."""
    return [
        make_linking_study(researcher=ada, haystack=make_haystack(key="linked", title="Linked")),
        make_writing_study(researcher=ada, haystack=make_haystack(key="written", title="Written")),
        make_verification_study(researcher=ada, n_control=0),
        make_validation([ben], make_judged(n=1), n=1, by=ada, people_per_item=2),
        make_rating_study(annotators=[ben], researcher=ada, people_per_item=2),
    ]


def test_every_kind_of_study_tells_people_before_they_join_that_no_task_is_left(
    ada, as_ada, ben, now: datetime
) -> None:
    for study in _studies(ada, ben):
        link = make_link(study, by=ada, now=now, max_tasks=100, max_places=100)
        n = 0
        while Client().get(address(link, f"{study.kind}{n}")).status_code == 200:
            assert "for nobody" not in words(as_ada.get(at(link))), study.kind
            assert Client().post(address(link, f"{study.kind}{n}")).status_code == 302, study.kind
            n += 1
            assert n < 20, study.kind
        assert n, study.kind
        page = Client().get(address(link, "late"))
        assert page.status_code == 410
        assert "No task is left in this study" in words(page), study.kind
        assert "No task is left for anyone else" in words(as_ada.get(at(link))), study.kind
        assert Client().post(address(link, "late")).status_code == 410, study.kind
    assert not Participant.objects.filter(panel_id="late").exists()


def test_who_finds_no_task_gets_the_code_for_that_and_is_in_the_list(link: RecruitmentLink, as_ada) -> None:
    LabelTask.objects.all().delete()
    link.study.label_items.all().delete()
    client = Client()
    page = client.get(address(link, SESSION_ID="t1"))
    assert page.status_code == 410
    assert "SCREENED-3" not in page.content.decode()
    assert not TurnedAway.objects.exists(), "looking stores nothing"
    for page in (client.post(address(link, PID, SESSION_ID="t1")), client.get(address(link, PID))):
        assert "No task is left" in words(page)
        assert "SCREENED-3" in page.content.decode()
        assert "complete?cc=SCREENED-3" in page.content.decode()
    assert not User.objects.filter(is_recruited=True).exists()
    [row] = paid(link, as_ada)
    assert (row["participant_id"], row["submission_id"], row["outcome"]) == (PID, "t1", "screened_out")
    assert (row["tasks"], row["minutes"], row["amount"], row["is_complete"]) == ("0", "0.0", "0", "False")
    page = words(as_ada.get(at(link)))
    assert "0 of 3 taken" in page
    assert "screened out: 1" in page
    assert "No task is left for anyone else" in page


def test_who_finds_no_place_gets_that_code_too_and_may_come_when_there_is_one(link: RecruitmentLink) -> None:
    RecruitmentLink.objects.update(max_places=1)
    join(link, PID)
    page = Client().post(address(link, OTHER))
    assert "All places are taken" in page.content.decode()
    assert "SCREENED-3" in page.content.decode()
    RecruitmentLink.objects.update(max_places=2)
    join(link, OTHER)
    assert not TurnedAway.objects.exists()
    RecruitmentLink.objects.update(screened_out_code="")
    page = Client().post(address(link, "c" * 24))
    assert "Please return the task" in words(page)
    assert not TurnedAway.objects.exists()


def test_a_researcher_reads_for_how_many_there_are_tasks(link: RecruitmentLink, as_ada) -> None:
    RecruitmentLink.objects.update(max_places=20)  # four summaries for one person each
    page = words(as_ada.get(at(link)))
    assert "There are tasks for 4 more people only" in page
    RecruitmentLink.objects.update(max_places=4)
    page = words(as_ada.get(at(link)))
    assert "for 4 more people" in page
    assert "more people only" not in page


@pytest.mark.parametrize(
    ("panel", "id_form", "pattern", "stored"),
    [
        ("prolific", "panel", "", PROLIFIC),
        ("mturk", "panel", "", "A[0-9A-Z]{1,63}"),
        ("other", "panel", "", ""),
        ("prolific", "any", "", ""),
        ("other", "pattern", "R_[A-Za-z0-9]{15,17}", "R_[A-Za-z0-9]{15,17}"),
    ],
)
def test_the_form_of_ids_is_that_of_the_panel_or_what_a_researcher_says(
    panel: str, id_form: str, pattern: str, stored: str, study: Study, as_ada
) -> None:
    form = {"panel": panel, "max_places": "5", "completion_code": "X"}
    as_ada.post(
        reverse("annotation:recruitment", args=[study.uid]), {**form, "id_form": id_form, "id_pattern": pattern}
    )
    link = RecruitmentLink.objects.get()
    assert link.id_pattern == stored
    page = as_ada.get(at(link, "link")).content.decode()
    assert re.search(rf'value="{id_form}"[^>]* checked', page) or stored == ""


@pytest.mark.parametrize(
    "pattern",
    ["", "(a+)+", "a*", "[a-z]+", "[z-a]", "a{5,2}", "[^a]", "x{1,9}y{1,9}z{1,9}", "a|b", ".{24}", "a{24"],
)
def test_patterns_that_could_be_slow_or_mean_nothing_are_refused(pattern: str, study: Study, as_ada) -> None:
    with pytest.raises(BadPattern):
        check_pattern(pattern)
    form = {
        "panel": "other",
        "max_places": "5",
        "completion_code": "X",
        "id_form": "pattern",
        "id_pattern": pattern,
    }
    assert as_ada.post(reverse("annotation:recruitment", args=[study.uid]), form).status_code == 422


def test_codes_that_cannot_be_told_apart_are_refused(study: Study, as_ada) -> None:
    place = reverse("annotation:recruitment", args=[study.uid])
    form = {"panel": "prolific", "max_places": "5", "completion_code": "X"}
    for more in ({"no_consent_code": "X"}, {"failed_checks_code": "Y"}, {"min_checks_percent": "50"}):
        assert as_ada.post(place, {**form, **more}).status_code == 422, more
    as_ada.post(place, {**form, "no_consent_code": "Y", "failed_checks_code": "Z", "min_checks_percent": "50"})
    link = RecruitmentLink.objects.get()
    assert (link.no_consent_code, link.failed_checks_code, link.min_done_percent) == ("Y", "Z", 100)


def test_a_link_can_be_changed_and_keeps_its_address(link: RecruitmentLink, as_ada) -> None:
    assert f'value="{CODES["completion_code"]}"' in as_ada.get(at(link, "link")).content.decode()
    form = {
        "panel": "mturk",
        "max_places": "7",
        "completion_code": "NEW",
        "min_done_percent": "80",
        "id_form": "any",
    }
    as_ada.post(at(link, "link"), form)
    changed = RecruitmentLink.objects.get()
    assert (changed.key, changed.panel, changed.max_places) == (link.key, "prolific", 7)
    assert (changed.completion_code, changed.min_done_percent, changed.id_pattern) == ("NEW", 80, "")
