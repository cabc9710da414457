"""After a withdrawal nothing that an annotator sends is stored, at any address; agreeing again opens the gate."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import CoverageLabel, DraftRevision, EntailmentLabel, LabelTask, PointLabel
from annotation.studies import consent
from summhay_site.accounts.models import ANNOTATOR
from tests.annotation.points import make_points_study
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.annotation.writer import start_session
from tests.audit.addresses import ADDRESSES, Address, is_allowed
from tests.makers import (
    NOW,
    annotator_of,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)

JSON = {"Accept": "application/json"}
STAYS_OPEN = {"consent", "consent-decline", "consent-withdraw", "study-leave"}
"""Agreeing or not, withdrawing again and leaving a study."""
NO_WORK = {
    *("logout", "profile", "password-change", "preferences", "prefer", "own-keys"),
    *("fewer-read", "label-read", "replies"),
    "own-data",
}
"""What an annotator sends that is no work: the account, how they like to work, that a notice was read, and asking
for what is held of them."""

UNTOUCHED = {"django_session", "annotation_consent", "benchmarks_auditevent"}
"""Tables that a refused request may write: the web session, with the message for the next page."""


class Work:
    """One person with a task of every kind, and a good form or message for each address that takes one."""

    def __init__(self, person, client: Client) -> None:
        self.person, self.client = person, client
        linking = make_linking_study(annotators=[person], haystack=make_haystack(key="linked"))
        points = make_points_study(annotators=[person])
        pairs = make_validation([person], make_judged(n=2), n=6, people_per_item=1)
        self.link, self.point, self.pair = (label_task(study, person) for study in (linking, points, pairs))
        self.session = start_session(person)
        haystack, more = make_haystack(key="written"), {"name": "More", "allow_second_on_haystack": True}
        writing = make_writing_study(annotators=[person], haystack=haystack, **more)
        first, second = writing.writing_plan.subtopics.order_by("number")[:2]
        done = make_assignment(annotator=person, study=writing, subtopic=first, state="done")
        self.over = make_session(assignment=done, state="submitted")
        self.task = make_assignment(annotator=person, study=writing, subtopic=second)

    def requests(self) -> dict[str, tuple[list[Any], dict[str, Any], bool]]:
        """Name of an address (and what tells two apart) → arguments, fields, whether they go as JSON."""
        insight = self.link.item.summary.subtopic.insights.first().uid
        text = {"op_id": "op", "base_rev": 0, "text": "typed after all"}
        events = {"events": [{"seq": 1, "type": "search", "payload": {"query": "x"}}]}
        forms: dict[str, tuple[list[Any], dict[str, Any], bool]] = {
            "label-choice linking": (["linking", self.link.uid], {"question": insight, "coverage": "none"}, False),
            "label-choice verification": (["verification", self.point.uid], {"grounded": "no"}, False),
            "label-choice validation": (["validation", self.pair.uid], {"answer": "no"}, False),
            "trial-act": ([self.link.study.uid, 1, "choice"], {"coverage": "none"}, False),
            "trial-again": ([self.link.study.uid], {}, False),
            "label-seen": ([self.point.uid], {}, False),
            "label-skip": ([self.point.uid], {"reason": "odd"}, False),
            "label-remark": ([self.point.uid], {"flag": "1", "comment": "a remark"}, False),
            "practice": ([], {}, False),
            "session-start": ([self.task.uid], {"promise": "on", "attested": "on"}, False),
            "session-after": ([self.over.uid], {"time_was_enough": "yes", "used_no_model": "yes"}, False),
            "session-own": ([self.over.uid], {"reason": "the line broke", "minutes": "5"}, False),
        }
        for kind, task in (("linking", self.link), ("verification", self.point), ("validation", self.pair)):
            forms[f"label-undo {kind}"] = ([kind, task.uid], {"op_id": "undo"}, False)
        for name in ("draft", "pause", "submit"):
            forms[f"session-{name}"] = ([self.session.uid], text | {"op_id": name} | events, True)
        forms["session-resolve"] = ([self.session.uid], text | {"op_id": "r", "replaces_sha256": "0" * 64}, True)
        for name in ("heartbeat", "resume", "claim", "events"):
            forms[f"session-{name}"] = ([self.session.uid], events, True)
        forms["session-notes"] = ([self.session.uid], {"text": "a note"}, True)
        forms["session-read"] = ([self.session.uid], {"documents": [1]}, True)
        forms["session-marks"] = ([self.session.uid], {"passages": [[1, 0, 4, 0]]}, True)
        return forms

    def send(self, name: str):
        arguments, fields, is_json = self.requests()[name]
        address = reverse(f"annotation:{name.split()[0]}", args=arguments)
        if is_json:
            body = json.dumps({"tab_id": "tab", **fields})
            return self.client.post(address, body, content_type="application/json", headers=JSON)
        return self.client.post(address, fields, headers=JSON)


def takes_posts(address: Address) -> bool:
    """Whether an annotator may send something there that is work."""
    is_own = address.access and is_allowed(ANNOTATOR, address.access)
    return bool(is_own) and address.path.startswith("/work/") and address.name not in STAYS_OPEN


def rows() -> dict[str, list[Any]]:
    """Everything that is stored, table by table."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names()) - UNTOUCHED):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            found[table] = sorted(map(repr, cursor.fetchall()))
    return found


@pytest.fixture
def work(ben, as_ben, time_machine) -> Work:
    time_machine.move_to(NOW, tick=False)
    consent.ensure_default_consent(now=NOW)
    return Work(ben, as_ben)


def test_every_address_of_an_annotator_is_known_here(work: Work, client: Client) -> None:
    known = {name.split()[0] for name in work.requests()}
    unknown = []
    for address in ADDRESSES:
        if address.access == "public" or address.name in NO_WORK or not takes_posts(address):
            continue
        answered = work.client.post(address.path, headers=JSON)
        if answered.status_code != 405 and address.name not in known:
            unknown.append(address.name)
    assert unknown == [], "these take what annotators send: say in Work.requests what"


def test_with_consent_each_of_them_stores_something(work: Work) -> None:
    choices = [f"label-choice {kind}" for kind in ("linking", "verification", "validation")]
    for name in (*choices, "label-remark", "session-draft"):
        before = rows()
        assert work.send(name).status_code == 200, name
        assert rows() != before, name
    assert work.send("session-own").status_code == 302
    assert work.over.credit_requests.exists()


def test_after_a_withdrawal_no_address_stores_anything_but_refused_texts(work: Work) -> None:
    consent.withdraw(annotator=annotator_of(work.person), by=work.person, now=NOW)
    before = rows()
    texts = {"session-draft", "session-pause", "session-submit", "session-resolve"}
    for name in work.requests():
        told = work.send(name)
        assert (told.status_code, told.json()["code"]) == (409, "consent"), name
        after = rows()
        changed = {table for table in after if after[table] != before[table]}
        # The clock of a session that runs is settled when a text comes: that is no work of the person
        assert changed <= ({"annotation_draftrevision", "annotation_session"} if name in texts else set()), name
        before = after
    kept = DraftRevision.objects.filter(session=work.session)
    assert {(row.text, row.accepted, row.reject_code) for row in kept} == {("typed after all", False, "consent")}
    assert kept.count() == len(texts)
    work.session.refresh_from_db()
    assert (work.session.draft_text, work.session.draft_rev, work.session.state) == ("", 0, "running")
    assert not any(model.objects.exists() for model in (CoverageLabel, PointLabel, EntailmentLabel))
    assert not LabelTask.objects.exclude(begun_at=None).exists()


def test_a_refused_text_that_comes_again_is_kept_once(work: Work) -> None:
    consent.withdraw(annotator=annotator_of(work.person), by=work.person, now=NOW)
    assert work.send("session-draft").json() == work.send("session-draft").json()
    assert DraftRevision.objects.count() == 1


def test_without_scripts_one_is_led_to_the_consent_page_with_the_reason(work: Work) -> None:
    consent.withdraw(annotator=annotator_of(work.person), by=work.person, now=NOW)
    address = reverse("annotation:label-choice", args=["verification", work.point.uid])
    response = work.client.post(address, {"grounded": "no"}, follow=True)
    assert response.redirect_chain[-1][0] == reverse("annotation:consent")
    assert "Nothing is stored while" in response.text
    page = work.client.get(reverse("annotation:session", args=[work.session.uid]))
    assert page.headers["Location"] == reverse("annotation:consent")
    home = work.client.get(reverse("annotation:work")).text
    assert ("You withdrew your consent" in home, "no longer open" in home) == (True, False)


def test_agreeing_again_opens_the_gate_and_a_new_text_does_not_shut_it(work: Work, ada) -> None:
    person, now = annotator_of(work.person), NOW
    consent.withdraw(annotator=person, by=work.person, now=now)
    assert work.send("label-choice verification").status_code == 409
    consent.give(annotator=person, version=consent.current_text().version, now=now)
    consent.publish(body="A newer text.", by=ada, now=now)
    assert work.send("label-choice verification").status_code == 200


def test_leaving_a_study_stays_possible(work: Work) -> None:
    consent.withdraw(annotator=annotator_of(work.person), by=work.person, now=NOW)
    study = work.point.study
    work.client.post(reverse("annotation:study-leave", args=[study.uid]), {"reason": "enough"})
    assert not study.memberships.current().exists()


def test_researchers_are_not_asked(ada, as_ada, ben) -> None:
    consent.ensure_default_consent(now=NOW)
    study = make_points_study(annotators=[ben], researcher=ada)
    consent.withdraw(annotator=annotator_of(ben), by=ben, now=NOW)
    as_ada.post(reverse("annotation:study-state", args=[study.uid]), {"action": "close"})
    study.refresh_from_db()
    assert study.state == "closed"
