"""The home page of each role: how things stand, what waits, and the next step."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.coverage.collect import coverage_table
from annotation.linking import disputes
from annotation.models import DraftRevision, Study
from annotation.studies.progress import Pace
from benchmarks.engine import versions
from benchmarks.models import JudgeRun, Result
from summhay_site.home import read_researcher, waiting_for
from summhay_site.operations import system
from summhay_site.operations.erasing import erase
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import (
    NOW,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)
from tests.makers_verification import make_questions


def _home(client: Client) -> str:
    return client.get("/", follow=True).content.decode()


def test_an_annotator_is_led_to_the_one_page_of_their_work(as_ben) -> None:
    assert as_ben.get("/").headers["Location"] == "/work/"
    assert "No task is waiting for you yet" in as_ben.get("/", follow=True).content.decode()


def test_a_researcher_is_led_step_by_step_until_a_study_is_open(ada, as_ada, ben) -> None:
    page = _home(as_ada)
    assert "Next step" in page
    assert page.count("is-done") == 1
    assert re.search(r'<a class="button primary"\s+href="/corpora/import/', page)
    study = make_writing_study(researcher=ada, state="draft")
    page = _home(as_ada)
    assert page.count("is-done") == 2
    assert "1 draft" in page
    Study.objects.filter(pk=study.pk).update(state="open")
    assert "Next step" not in _home(as_ada)


def test_a_researcher_counts_only_studies_of_ones_own(ada, eve, ben) -> None:
    make_session(annotator=ben, state="running")
    mine, all_of_them = read_researcher(ada, {}), read_researcher(eve, {})
    counts = ("studies", "tasks", "sessions_running")
    assert [mine[name] for name in counts] == [0, 0, 0]
    assert [all_of_them[name] for name in counts] == [1, 1, 1]


def test_an_admin_is_warned_when_no_worker_speaks(as_eve) -> None:
    assert "No worker has reported yet" in _home(as_eve)
    system.record_heartbeat(name="one", now=timezone.now() - timedelta(minutes=5))
    assert "The worker has been silent for 5" in _home(as_eve)
    system.record_heartbeat(name="two", now=timezone.now())
    page = _home(as_eve)
    assert "silent" not in page
    assert "No worker" not in page


def test_only_admins_are_warned(ada, ben, login) -> None:
    for user in (ada, ben):
        assert "worker" not in _home(login(user)).lower()


def test_an_admin_is_warned_when_the_disk_fills(as_eve, monkeypatch) -> None:
    monkeypatch.setattr(system, "read_disk", lambda _folder: system.Disk(total=1000, free=49))
    assert "The disk is almost full" in _home(as_eve)
    monkeypatch.setattr(system, "read_disk", lambda _folder: system.Disk(total=1000, free=50))
    assert "The disk is almost full" not in _home(as_eve)


def test_who_has_no_role_is_told_whom_to_ask(db: None, login) -> None:
    assert "no role yet" in _home(login(get_user_model().objects.create_user(username="nobody")))


def test_every_link_of_the_page_leads_somewhere(ada, ben, eve, login) -> None:
    for user in (ada, ben, eve):
        client = login(user)
        links = set(re.findall(r'<a\b[^>]*href="([^"]*)"', _home(client))) - {"#main"}
        assert len(links) >= 4
        assert {client.get(link, follow=True).status_code for link in links} == {200}


def test_each_home_takes_few_queries(
    ada, ben, eve, login, settings, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    settings.RESULTS_AT_ONCE = False
    make_session(annotator=ben, state="running")
    for user, most in ((ben, 4), (ada, 18), (eve, 24)):
        client = login(user)
        with django_assert_max_num_queries(most):
            client.get("/")


def test_a_researchers_counts_are_those_of_the_lists(ada, as_ada, ben) -> None:
    writing = make_writing_study(researcher=ada)
    make_assignment(study=writing, annotator=ben, state="done")
    make_assignment(study=writing, annotator=ben, subtopic=writing.writing_plan.subtopics.last())
    linking = make_linking_study(annotators=[ben], haystack=make_haystack(key="second"), researcher=ada)
    first = linking.label_tasks.all()[0]
    type(first).objects.filter(pk=first.pk).update(state="done", n_answered=F("n_questions"))
    make_haystack(key="practice", is_practice=True)
    make_questions(2)
    seen = read_researcher(ada, {})
    assert (seen["tasks"], seen["tasks_done"]) == (6, 2)
    listed = [row.record for row in as_ada.get("/studies/").context["table"].rows]
    assert (sum(row.n_tasks for row in listed), sum(row.n_done for row in listed)) == (6, 2)
    assert seen["haystacks"] == len(as_ada.get("/corpora/").context["table"].rows) == 3
    assert "and 1 question set" in _home(as_ada)


TODAY = date(2026, 3, 2)


def pace(n_open: int, *days_ago: int, n_done: int | None = None) -> Pace:
    by_day = {TODAY - timedelta(days=ago): days_ago.count(ago) for ago in days_ago}
    done = len(days_ago) if n_done is None else n_done
    return Pace(n_tasks=done + n_open, n_done=done, n_open=n_open, by_day=by_day, today=TODAY)


@pytest.mark.parametrize(
    ("found", "per_day", "finish"),
    [
        (pace(10, 0, 0, 0, 0, 0), 5.0, date(2026, 3, 4)),
        (pace(10, 4, 4, 4, 0, 0), 1.0, date(2026, 3, 12)),
        (pace(10, *[8] * 7, 6, 1, 0, 0, 0, 0, 0), 1.0, date(2026, 3, 12)),
        (pace(1, 0, 0, 0), 3.0, date(2026, 3, 3)),
        (pace(0, 0, 0, 0), 3.0, None),
        (pace(10, 0, 0), None, None),
        (pace(10, 9, 9, 9, 9), None, None),
        (pace(10), None, None),
    ],
)
def test_the_finish_is_said_from_the_tasks_of_the_last_days(
    found: Pace, per_day: float | None, finish: date | None
) -> None:
    assert (found.per_day, found.finish) == (per_day, finish)


def waiting(user) -> dict[str, str]:
    studies = {study.pk: study for study in Study.objects.for_user(user)}
    return {one.text: one.about for one in waiting_for(user, studies)}


def test_disagreements_are_counted_as_their_queue_counts_them(ada, dot, now) -> None:
    study = make_labelled_study(summaries=make_summaries(n=3), researcher=ada)
    queue = disputes.queue_of(coverage_table(study.coveragelabels.all()))
    assert waiting(ada) == {f"{len(queue)} disagreements to decide": study.name}
    label = study.coveragelabels.filter(summary=queue[0].key[0], insight=queue[0].key[1])[0]
    disputes.adjudicate(
        study=study, summary=label.summary, insight=label.insight, coverage="none", lines=[], by=ada, now=now
    )
    assert waiting(ada) == {f"{len(queue) - 1} disagreements to decide": study.name}
    assert waiting(dot) == {}


def test_a_late_text_waits_until_it_is_decided(ada, ben, now) -> None:
    session = make_session(annotator=ben, state="submitted")
    study = session.assignment.study
    study.researchers.add(ada)
    assert waiting(ada) == {}
    row = DraftRevision.objects.create(
        session=session,
        op_id="late",
        base_rev=session.draft_rev,
        text="- Late. [1]",
        sha256="f" * 64,
        accepted=False,
        reject_code="closed",
        source="autosave",
        received_at=now,
        active_ms=0,
    )
    assert waiting(ada) == {"1 late text to review": study.name}
    session.late_decisions.create(revision=row, is_accepted=False, reason="too late", by=ada, at=now)
    assert waiting(ada) == {}


def test_what_is_worth_a_look_is_named_until_it_has_been_looked_at(ada, as_ada) -> None:
    people = ("anna", "bert", "cora")
    study = make_labelled_study(summaries=make_summaries(), people=people, researcher=ada, noise=0.1)
    for label in study.coveragelabels.filter(annotator__label="cora"):
        covers = label.coverage == "none"
        label.coverage, label.lines, label.is_linked = ("full", [2], True) if covers else ("none", [], False)
        label.save()
    results = reverse("annotation:study-figures", args=[study.uid])
    assert "Worth a look" in (page := _home(as_ada))
    assert re.search(rf'{results}">cora \(κ \d\.\d\d without them\)', page)
    assert "New figures" not in page
    as_ada.get("/leaderboard/")
    assert re.search(r'href="/approvals/judges/[^"]+">Test (kind|strict)', _home(as_ada))
    as_ada.get(results)
    study.coveragelabels.filter(annotator__label="bert").delete()
    Result.objects.update(checked_at=NOW - timedelta(days=1))
    assert "New figures since you last looked" in _home(as_ada)
    as_ada.get(results)
    assert "New figures" not in _home(as_ada)


def test_a_paused_run_waits_for_somebody(ada, as_ada, now) -> None:
    judge = versions.default_judge(now=now)
    run = JudgeRun.objects.create(judge=judge, state="paused", created_at=now)
    assert waiting(ada) == {"A model run is paused": str(judge)}
    assert str(run.uid) in as_ada.get("/").content.decode()


def test_who_asks_to_be_erased_is_on_the_first_page_of_admins_until_it_is_done(
    ben, as_ben, as_ada, eve, as_eve
) -> None:
    ask = reverse("ask-erasure")
    assert "Ask to be erased…" in as_ben.get(reverse("privacy")).content.decode()
    for work in ("1", "0"):  # the first stays
        assert as_ben.post(ask, {"work": work}).headers["Location"] == reverse("privacy")
    page = as_ben.get(reverse("privacy")).content.decode()
    assert "You asked to be erased on" in page
    assert "Ask to be erased…" not in page
    shown = _home(as_eve)
    assert shown.count("Somebody asks to be erased") == 1
    assert "ben, with texts and labels" in shown
    assert reverse("person-erase", args=[ben.uid]) in shown
    assert "Somebody asks to be erased" not in _home(as_ada)
    erase(actor=eve, user=ben, now=timezone.now())
    assert "Somebody asks to be erased" not in _home(as_eve)
