"""Consent: versions, agreeing, being asked again, withdrawing; the page and its editor."""

import hashlib
import re
from datetime import datetime, timedelta

import pytest
from django.urls import reverse

from annotation.models import ConsentText
from annotation.studies import consent
from tests.annotation.points import make_points_study
from tests.makers import annotator_of, give_consent, make_assignment, make_session, make_writing_study


def test_the_default_text_is_made_once(db: None, now: datetime) -> None:
    assert consent.ensure_default_consent(now=now).version == 1
    assert consent.ensure_default_consent(now=now + timedelta(days=1)).created_at == now
    assert ConsentText.objects.count() == 1


def test_nothing_is_asked_where_there_is_no_text(ben) -> None:
    ConsentText.objects.all().delete()
    assert consent.is_given(annotator_of(ben))


def test_a_new_version_asks_everybody_again(ben, ada, now: datetime) -> None:
    text = consent.ensure_default_consent(now=now)
    consent.give(annotator=annotator_of(ben), version=text.version, now=now)
    assert consent.is_given(annotator_of(ben))
    assert consent.publish(body=text.body, by=ada, now=now) == text
    assert consent.publish(body="We also record the weather.", by=ada, now=now).version == 2
    assert not consent.is_given(annotator_of(ben))


def test_agreeing_twice_is_one_consent(ben, now: datetime) -> None:
    text = consent.ensure_default_consent(now=now)
    first = consent.give(annotator=annotator_of(ben), version=text.version, now=now)
    assert consent.give(annotator=annotator_of(ben), version=text.version, now=now) == first


def test_withdrawing_keeps_the_row_and_one_may_agree_again(ben, now: datetime) -> None:
    person = annotator_of(ben)
    give_consent(ben)
    assert consent.withdraw(annotator=person, by=ben, now=now) == 1
    assert consent.withdraw(annotator=person, by=ben, now=now) == 0
    assert not consent.is_given(person)
    consent.give(annotator=person, version=consent.current_text().version, now=now)
    assert consent.is_given(person)
    assert person.consents.count() == 2


def test_the_page_takes_an_answer_and_gives_the_work_free(ben, as_ben, now: datetime) -> None:
    make_assignment(annotator=ben, with_consent=False)
    text = consent.ensure_default_consent(now=now)
    url = reverse("annotation:consent")
    work = reverse("annotation:work")
    assert "after you agree" in as_ben.get(work).text
    assert "What is recorded" in as_ben.get(url).text
    refused = as_ben.post(url, {"version": text.version})
    assert refused.status_code == 422
    assert re.search("<input[^>]*autofocus[^>]*>", refused.text), (
        "the reason stands at the tick, which is in focus"
    )
    assert not consent.is_given(annotator_of(ben))
    assert as_ben.post(url, {"version": text.version, "agree": "on"}).headers["Location"] == work
    assert consent.is_given(annotator_of(ben))
    assert "after you agree" not in as_ben.get(work).text


def test_an_answer_to_an_old_page_leads_to_the_new_text(as_ben, ada, now: datetime) -> None:
    consent.ensure_default_consent(now=now)
    consent.publish(body="Newer.", by=ada, now=now)
    url = reverse("annotation:consent")
    page = as_ben.post(url, {"version": "1", "agree": "on"}, follow=True).text
    assert "changed meanwhile" in page
    assert "Newer." in page


def test_what_is_offered_stands_above_the_text_and_a_withdrawal_is_asked_first_and_remembered(
    ada, ben, as_ben, cleo, now: datetime
) -> None:
    study = make_points_study(annotators=(ben, cleo))
    study.state, study.contact = "open", "lab@example.org"
    study.save()
    text = consent.ensure_default_consent(now=now)
    annotator_of(ben).consents.all().delete()
    n = study.label_tasks.filter(annotator=annotator_of(ben)).count()
    url = reverse("annotation:consent")
    page = words(re.sub("<[^>]*>", " ", as_ben.get(url).text))
    assert f"{n} key points, about {n} min" in page
    assert f"about {n * 25 / 60:.2f} USD run by lab@example.org" in page
    assert f"Full text, version {text.version} of" in page
    as_ben.post(url, {"version": text.version, "agree": "on"})
    page = as_ben.get(url).text
    assert page.index("Withdraw my consent…") < page.index("Yes, withdraw my consent")
    after = words(as_ben.post(reverse("annotation:consent-withdraw"), follow=True).text)
    assert "You withdrew your consent on" in after
    assert "The text has changed" not in after
    as_ben.post(url, {"version": text.version, "agree": "on"})
    consent.publish(body="Newer.", by=ada, now=now)
    assert "The text has changed since you agreed to version 1." in words(as_ben.get(url).text)


def test_withdrawing_on_the_page_keeps_what_was_earned(ben, as_ben) -> None:
    make_session(assignment=make_assignment(annotator=ben), state="submitted", acc_ms=3_600_000)
    as_ben.post(reverse("annotation:consent-withdraw"))
    assert not consent.is_given(annotator_of(ben))
    assert "25.00 USD" in as_ben.get(reverse("annotation:earnings")).text


def test_the_editor_is_for_researchers_and_shows_before_it_publishes(ada, as_ada, as_eve, now: datetime) -> None:
    first = consent.ensure_default_consent(now=now)
    url = reverse("annotation:consent-edit")
    assert as_eve.get(url).status_code == 200
    assert "<em>new</em>" in as_ada.post(url, {"body": "A *new* one", "preview": "1"}).text
    assert consent.current_text() == first
    as_ada.post(url, {"body": "A *new* one"})
    assert ConsentText.objects.get(version=first.version + 1).created_by == ada
    old = as_ada.get(reverse("annotation:consent-version", args=[first.version])).text
    assert "What is recorded" in old


def test_a_default_that_was_only_reworded_keeps_its_translation(
    ben, as_ben, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = ConsentText.objects.create(version=1, body="The same in other words.", created_at=now)
    make_assignment(annotator=ben, with_consent=False)
    url = reverse("annotation:consent")
    german = "Was aufgezeichnet wird"
    assert german not in as_ben.get(url, headers={"accept-language": "de"}).text
    monkeypatch.setattr(consent, "REWORDED", {hashlib.sha256(former.body.encode()).hexdigest()})
    shown = as_ben.get(url, headers={"accept-language": "de"}).text
    assert german in shown
    assert former.body in shown


def words(html: str) -> str:
    return " ".join(html.split())


def test_the_default_text_promises_what_the_pages_do(ada, as_ada, as_eve, ben, now: datetime) -> None:
    """The consent, the page that deletes a study and the one that erases a person say the same."""
    text = consent.ensure_default_consent(now=now)
    assert "You choose whether your texts and labels are deleted too" in words(text.body)
    task = make_assignment(study=make_writing_study(researcher=ada), annotator=ben, state="done")
    make_session(assignment=task, state="submitted", revisions=[(1000, "- Boats. [1]")])
    page = as_ada.get(reverse("annotation:study-delete", args=[task.study.uid])).text
    assert "What people wrote cannot be deleted" in page
    page = words(as_eve.get(reverse("person-erase", args=[ben.uid])).text)
    for choice in ("Keep, without a name", "Delete"):
        assert f"</label>{choice}" in page or f"{choice}</label>" in page or f"> {choice}" in page
    assert 'writing sessions, with their times</th><td class="num">1<' in page


def test_a_former_default_stays_as_agreed_and_the_new_wording_is_offered(
    as_ada, ben, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = ConsentText.objects.create(version=1, body="We delete your work on request.", created_at=now)
    digest = hashlib.sha256(former.body.encode()).hexdigest()
    address = reverse("annotation:consent-edit")
    assert "earlier wording" not in as_ada.get(address).text
    monkeypatch.setattr(consent, "FORMER_DEFAULTS", {digest})
    consent.give(annotator=annotator_of(ben), version=1, now=now)
    page = as_ada.get(address)
    assert "is our earlier wording" in page.text
    assert page.context["form"].initial["body"] == consent.DEFAULT_BODY
    as_ada.post(address, {"body": consent.DEFAULT_BODY})
    former.refresh_from_db()
    assert former.body == "We delete your work on request."
    assert annotator_of(ben).consents.get().text == former
    assert ConsentText.objects.first().version == 2
    assert "earlier wording" not in as_ada.get(address).text
