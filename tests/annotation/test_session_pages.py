"""The pages of a writing session: who sees them, what they hold in which state, how the pane gets into them."""

import gzip
import json
import os
import re
import zlib
from datetime import timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation import pane
from annotation.models import Consent, ConsentText, CreditRequest, Session, SessionReport
from annotation.pane import compress, joined_crc32, pane_for, stitch
from annotation.studies import scope
from tests import makers
from tests.annotation.points import make_points_question, make_points_study
from tests.queries import cost_of

FACT = "the ferry leaves at six in the morning"
PAGES = ("session", "session-after", "session-own")


@pytest.fixture(autouse=True)
def panes(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / "panes"


def page_of(client: Client, session: Session, name: str = "session"):
    return client.get(reverse(f"annotation:{name}", args=[session.uid]))


def config_of(response) -> dict[str, Any]:
    [found] = re.findall(r'data-config="([^"]*)"', response.text)
    return dict(json.loads(unescape(found)))


def running(person, **fields) -> Session:
    return makers.make_session(annotator=person, state="running", now=timezone.now(), **fields)


# Who sees what


def test_documents_are_served_while_the_session_runs_and_never_else(ben, as_ben) -> None:
    session = running(ben, revisions=[(0, "My own words")])
    assert FACT in page_of(as_ben, session).text
    for state in ("paused", "submitted", "expired", "voided"):
        Session.objects.filter(pk=session.pk).update(
            state=state, run_started_at=None, ended_at=None if state == "paused" else timezone.now()
        )
        for name in PAGES:
            shown = as_ben.get(reverse(f"annotation:{name}", args=[session.uid]), follow=True)
            assert shown.status_code == 200
            assert FACT not in shown.text


def test_the_tour_shows_the_page_before_the_clock_runs_with_sample_documents(ben, as_ben, as_cleo) -> None:
    task = makers.make_assignment(annotator=ben)
    url = reverse("annotation:session-tour", args=[task.uid])
    start = reverse("annotation:session-start", args=[task.uid])
    assert url in as_ben.get(start).text
    shown = as_ben.get(url).text
    assert task.subtopic.query in shown
    assert "The clock is not running" in shown
    assert "This one says that fares rise in May." in shown
    assert FACT not in shown
    assert "js/session/main.js" not in shown
    assert f'data-leads="{start}"' in shown
    assert shown.count("data-tour-step=") == 9
    assert not Session.objects.exists()
    assert as_cleo.get(url).status_code == 404


def test_a_page_on_the_clock_offers_no_tour_and_is_kept_by_no_browser(ben, as_ben) -> None:
    response = page_of(as_ben, running(ben))
    assert "data-tour-offer" not in response.text
    assert response.text.count("data-tour-start") == 1
    assert "The clock keeps running meanwhile." in response.text
    assert "no-store" in response.headers["Cache-Control"]
    assert "Accept-Encoding" in response.headers["Vary"]


def test_a_lapsed_session_is_settled_before_its_page_is_shown(ben, as_ben) -> None:
    session = makers.make_session(
        annotator=ben, state="running", now=timezone.now() - timedelta(hours=9), revisions=[(0, "- Mine [1]")]
    )
    response = page_of(as_ben, session)
    assert response.headers["Location"] == reverse("annotation:session-after", args=[session.uid])
    session.refresh_from_db()
    assert (session.state, session.acc_ms) == ("expired", session.limit_ms)


def test_the_page_says_how_a_silent_session_came_to_its_pause(ben, as_ben) -> None:
    study = makers.make_writing_study(annotators=[ben], disconnect_policy="auto_pause")
    task = makers.make_assignment(annotator=ben, study=study)
    long_ago = timezone.now() - timedelta(minutes=30)
    session = makers.make_session(
        assignment=task,
        state="running",
        now=long_ago,
        last_seen_at=long_ago,
        disconnect_policy="auto_pause",
        lease_ms=180_000,
    )
    assert "paused automatically" in page_of(as_ben, session).text


# What the work page holds


def test_documents_come_in_their_frozen_order_with_their_own_numbers(ben, as_ben) -> None:
    session = running(ben, document_numbers=[5, 2, 6])
    html = page_of(as_ben, session).text
    assert re.findall(r'<article class="doc" id="doc-(\d+)"', html) == ["5", "2", "6"]
    assert re.findall(r'data-jump="(\d+)"', html) == ["5", "2", "6"]
    assert config_of(page_of(as_ben, session))["numbers"] == [5, 2, 6]


def test_text_of_documents_is_escaped(ben, as_ben) -> None:
    session = running(ben)
    session.assignment.haystack.documents.filter(number=1).update(text="<script>alert(1)</script> <!--pane-->")
    html = page_of(as_ben, session).text
    assert "<script>alert" not in html
    assert "&lt;!--pane--&gt;" in html


def test_the_insights_are_counted_and_never_shown(ben, as_ben) -> None:
    session = running(ben, document_numbers=[6])
    html = page_of(as_ben, session).text
    assert f"{session.assignment.n_insights_present} insight" in html
    assert session.assignment.subtopic.query in html
    assert FACT not in html


def test_the_page_carries_the_text_its_revision_and_the_time_left(ben, as_ben) -> None:
    session = running(ben, revisions=[(0, "\n- First <b>\n- Second &amp; last")], notes_text="look at [3]")
    response = page_of(as_ben, session)
    config = config_of(response)
    assert config["rev"] == 1
    assert 0 < config["remaining_ms"] <= session.limit_ms
    html = response.text
    assert "\n\n- First &lt;b&gt;\n- Second &amp;amp; last</textarea>" in html
    assert "look at [3]</textarea>" in html


def test_aids_follow_the_frozen_settings(ben, as_ben) -> None:
    session = running(ben, config={"click_to_cite": True, "show_counters": True})
    response = page_of(as_ben, session)
    assert config_of(response)["aids"] == {
        "show_hit_counts": False,
        "click_to_cite": True,
        "live_citation_check": False,
        "show_counters": True,
        "list_hits": False,
    }
    assert 'data-cite="1"' in response.text
    assert ("<dt><kbd>c</kbd>" in response.text, "<dt><kbd>F8</kbd>" in response.text) == (True, False)
    Session.objects.filter(pk=session.pk).update(config={})
    assert "data-cite=" not in page_of(as_ben, session).text


def test_the_number_of_queries_does_not_grow_with_the_documents(ben, cleo, login) -> None:
    for person, n_documents in ((ben, 2), (cleo, 40)):
        haystack = makers.make_haystack(key=f"h{n_documents}", n_documents=n_documents, golds=(((1, 2),),))
        study = makers.make_writing_study(haystack=haystack, annotators=[person], name=f"S{n_documents}")
        session = running(person, assignment=makers.make_assignment(annotator=person, study=study))
        assert cost_of(login(person), reverse("annotation:session", args=[session.uid])) <= 5


# Before and after


def test_starting_takes_the_promise_and_leads_to_the_documents(ben, as_ben) -> None:
    task = makers.make_assignment(annotator=ben)
    makers.give_consent(ben)
    url = reverse("annotation:session-start", args=[task.uid])
    shown = as_ben.get(url).text
    assert task.subtopic.query in shown
    assert FACT not in shown
    refused = as_ben.post(url)
    assert refused.status_code == 422
    assert "confirm this before you start" in refused.text
    assert not Session.objects.exists()
    assert FACT in as_ben.post(url, {"no_model": "on"}, follow=True).text
    session = Session.objects.get()
    assert session.state == "running"
    assert as_ben.get(url).headers["Location"] == reverse("annotation:session", args=[session.uid])


def test_consent_comes_first(ben, as_ben, now) -> None:
    task = makers.make_assignment(annotator=ben)
    ConsentText.objects.create(version=99, body="New terms.", created_at=now)
    url = reverse("annotation:session-start", args=[task.uid])
    assert reverse("annotation:consent") in as_ben.get(url).text
    assert as_ben.post(url, {"no_model": "on"}).status_code == 200
    assert not Session.objects.exists()


def test_practice_comes_before_the_first_timed_session(ben, as_ben) -> None:
    makers.make_haystack(key="practice", title="Practice", is_practice=True)
    task = makers.make_assignment(annotator=ben)
    makers.give_consent(ben)
    shown = as_ben.get(reverse("annotation:session-start", args=[task.uid])).text
    assert reverse("annotation:practice") in shown
    assert "Start the clock" not in shown


def test_who_starts_while_another_clock_runs_is_led_to_that_session(ben, as_ben) -> None:
    other = running(ben)
    task = makers.make_assignment(
        annotator=ben,
        study=makers.make_writing_study(
            haystack=makers.make_haystack(key="other"), name="Other", annotators=[ben]
        ),
    )
    start = reverse("annotation:session-start", args=[task.uid])
    page = as_ben.post(start, {"no_model": "on"}).text
    assert "Your clock is running in another session." in page
    assert reverse("annotation:session", args=[other.uid]) in page


def test_it_is_said_how_often_the_text_of_this_session_is_copied(ben, as_ben) -> None:

    def start_of(**fields) -> str:
        task = makers.make_assignment(annotator=ben, **fields)
        return as_ben.get(reverse("annotation:session-start", args=[task.uid])).text

    assert "A copy of the text every 10 min of work, and the final text." in start_of()
    assert "A copy of the text every 1 min of work, and the final text." in start_of(is_practice=True)
    short = makers.make_writing_study(
        haystack=makers.make_haystack(key="short"), name="Short", limit_ms=300_000, annotators=[ben]
    )
    assert "A copy of the final text." in start_of(study=short)


def test_words_are_counted_with_separators_on_every_page(ben, as_ben) -> None:
    study = makers.make_writing_study(
        haystack=makers.make_haystack(words_per_document=1234, golds=[[[1]]]), annotators=[ben]
    )
    text = "- " + "word " * 1234
    session = running(ben, assignment=makers.make_assignment(annotator=ben, study=study), revisions=[(1000, text)])
    assert "1,234 words" in makers.flat(page_of(as_ben, session).text)
    Session.objects.update(state="paused", run_started_at=None)
    assert "1,234 words" in makers.flat(page_of(as_ben, session).text)
    Session.objects.update(state="submitted", ended_at=timezone.now())
    assert "1,234 words" in makers.flat(page_of(as_ben, session, "session-after").text)
    texts = ["word " * 1234]
    points = make_points_study(
        annotators=[ben], questions=[make_points_question(texts=texts, quotes=["word word"] * 3)]
    )
    page = as_ben.get(makers.label_url("label-task", makers.label_task(points, ben))).text
    assert "1,234 words" in makers.flat(page)


def test_a_session_of_practice_says_that_it_is_practice(ben, as_ben) -> None:
    badge = '<strong class="badge">Practice</strong>'
    assert badge not in page_of(as_ben, running(ben)).text
    Session.objects.update(state="submitted", run_started_at=None, ended_at=timezone.now())
    practice = makers.make_assignment(annotator=ben, is_practice=True)
    assert badge in page_of(as_ben, running(ben, assignment=practice)).text


def test_who_has_seen_the_insights_is_told_kindly_and_does_not_start(ben, as_ben, now) -> None:
    task = makers.make_assignment(annotator=ben)
    makers.give_consent(ben)
    scope.record_exposure(user=ben, haystack=task.haystack, reason="linking", now=now)
    url = reverse("annotation:session-start", args=[task.uid])
    assert "You did nothing wrong" in as_ben.post(url, {"no_model": "on"}).text
    assert not Session.objects.exists()


def test_the_questions_after_a_session_are_answered_once(ben, as_ben) -> None:
    session = makers.make_session(annotator=ben, state="submitted", revisions=[(60_000, "- Mine [1]")])
    url = reverse("annotation:session-after", args=[session.uid])
    assert as_ben.get(url).status_code == 200
    assert as_ben.post(url, {"time_was_enough": "yes"}).status_code == 422
    answers = {"time_was_enough": "no", "used_no_model": "yes", "comment": "A bit short"}
    assert as_ben.post(url, answers).headers["Location"] == reverse("annotation:work")
    report = SessionReport.objects.get()
    assert (report.time_was_enough, report.used_no_model, report.comment) == (False, True, "A bit short")
    own = as_ben.post(url, answers | {"comment": "changed"})
    assert own.headers["Location"] == reverse("annotation:session-own", args=[session.uid])
    assert SessionReport.objects.get().comment == "A bit short"


def test_the_end_says_what_was_earned_and_what_is_next(ben, as_ben) -> None:
    study = makers.make_writing_study(annotators=[ben])
    study.hourly_rate = Decimal(24)
    study.save()
    session = makers.make_session(
        assignment=makers.make_assignment(annotator=ben, study=study, state="done"),
        state="submitted",
        acc_ms=3_600_000,
    )
    name = "session-after"
    page = page_of(as_ben, session, name).text
    assert "24.00 USD" in page
    still_open = "Only questions about what you wrote are open."
    work = reverse("annotation:work")
    for text in (page, as_ben.get(work).text):
        assert still_open in makers.flat(text)
        assert "All done" not in text
        assert "All your tasks are done" not in text
    as_ben.post(reverse("annotation:session-after", args=[session.uid]), {"decline": "1"})
    assert "All done" in as_ben.get(work).text
    assert "All your tasks are done" in page_of(as_ben, session, "session-own").text
    Session.objects.update(questions_declined_at=None)
    elsewhere = makers.make_writing_study(
        annotators=[ben], name="Elsewhere", haystack=makers.make_haystack(key="other")
    )
    other = makers.make_assignment(annotator=ben, study=elsewhere)
    assert reverse("annotation:session-start", args=[other.uid]) in page_of(as_ben, session, name).text
    Consent.objects.update(withdrawn_at=timezone.now())
    assert "No task can be opened now" in page_of(as_ben, session, name).text
    study.hourly_rate = Decimal(0)
    study.save()
    assert "Earned" not in page_of(as_ben, session, name).text


@pytest.mark.parametrize("is_practice", [True, False])
def test_nobody_is_told_to_keep_what_was_not_earned(is_practice: bool, ben, as_ben) -> None:
    study = (
        None
        if is_practice
        else makers.make_writing_study(annotators=[ben], study_fields={"hourly_rate": Decimal(20)})
    )
    task = makers.make_assignment(annotator=ben, study=study, is_practice=is_practice)
    kept = "keep what you have earned"
    start = as_ben.get(reverse("annotation:session-start", args=[task.uid])).text
    assert "You may stop at any time" in start
    assert (kept in start) is not is_practice
    for state in ("running", "paused"):
        Session.objects.filter(assignment=task).delete()
        session = makers.make_session(assignment=task, state=state, now=timezone.now())
        page = page_of(as_ben, session).text
        assert "You may stop at any time" in page
        assert (kept in page) is not is_practice, state


def test_practice_asks_nothing_afterwards(ben, as_ben) -> None:
    task = makers.make_assignment(annotator=ben, is_practice=True)
    session = makers.make_session(assignment=task, state="submitted")
    practised = reverse("annotation:session-practised", args=[session.uid])
    assert page_of(as_ben, session, "session-after").headers["Location"] == practised


def test_own_work_is_there_to_read_and_takes_remarks_on_the_time(ben, as_ben) -> None:
    session = makers.make_session(annotator=ben, state="expired", revisions=[(60_000, "- Mine <1> [1]")])
    url = reverse("annotation:session-own", args=[session.uid])
    assert "- Mine &lt;1&gt; [1]" in as_ben.get(url).text
    assert as_ben.post(url, {"reason": "Power cut", "minutes": "-3"}).status_code == 422
    assert as_ben.post(url, {"reason": "Power cut", "minutes": "12"}).status_code == 302
    assert as_ben.post(url, {"reason": "Only a remark"}).status_code == 302
    assert list(CreditRequest.objects.values_list("reason", "minutes").order_by("pk")) == [
        ("Power cut", 12),
        ("Only a remark", None),
    ]
    assert "12 minutes requested" in as_ben.get(url).text


# The pane


def test_a_compressed_page_is_the_same_page(ben, as_ben) -> None:
    url = reverse("annotation:session", args=[running(ben).uid])
    plain = as_ben.get(url)
    packed = as_ben.get(url, headers={"accept-encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    documents = re.compile(rb'<nav class="rail".*</article>', re.DOTALL)
    assert documents.findall(gzip.decompress(packed.content)) == documents.findall(plain.content)
    assert int(packed.headers["Content-Length"]) == len(packed.content)


def test_a_pane_is_made_once_and_anew_where_its_file_is_gone_or_torn(
    ben, panes: Path, django_assert_num_queries
) -> None:
    haystack = makers.make_haystack()
    first = pane_for(haystack, [3, 1], click_to_cite=True)
    with django_assert_num_queries(0):
        assert pane_for(haystack, [3, 1], click_to_cite=True) == first
    assert pane_for(haystack, [1, 3], click_to_cite=True) != first
    assert pane_for(haystack, [3, 1], click_to_cite=False) != first
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:20])):
        for path in panes.iterdir():
            damage(path)
        assert pane_for(haystack, [3, 1], click_to_cite=True) == first


def test_a_disk_that_takes_no_pane_does_not_stop_the_page(ben, as_ben, panes: Path) -> None:
    panes.write_text("a file where the folder should be")
    assert FACT in page_of(as_ben, running(ben)).text


@given(st.binary(max_size=300), st.binary(max_size=3000), st.binary(max_size=300))
def test_three_pieces_stitch_to_one_stream(head: bytes, middle: bytes, tail: bytes) -> None:
    assert gzip.decompress(stitch(head, compress(middle), tail)) == head + middle + tail


@given(st.binary(max_size=500), st.binary(max_size=500))
def test_checksums_join_as_if_the_texts_had(first: bytes, second: bytes) -> None:
    assert joined_crc32(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


def test_rendered_documents_of_long_ago_are_swept_away_and_made_anew(panes: Path) -> None:
    now = timezone.now()
    pane.kept(("old",), lambda: b"<p>text</p>")
    [old] = panes.iterdir()
    pane.kept(("new",), lambda: b"<p>text</p>")
    long_ago = (now - pane.KEPT).timestamp() - 1
    os.utime(old, (long_ago, long_ago))
    assert pane.sweep(now=now) == 1
    assert not old.exists()
    assert len(list(panes.iterdir())) == 1
    assert pane.kept(("old",), lambda: b"<p>anew</p>").size == len(b"<p>anew</p>")
