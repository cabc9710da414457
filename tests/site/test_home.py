"""The home page of each role: how things stand, and the next step."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotation.models import Study
from summhay_site.home import read_researcher
from summhay_site.operations import system
from tests.makers import (
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)
from tests.makers_verification import make_questions


def _home(client: Client) -> str:
    return client.get("/", follow=True).content.decode()


def test_an_annotator_is_led_to_the_one_page_of_their_work(ben: Any, login: Any) -> None:
    client = login(ben)
    assert client.get("/").headers["Location"] == "/work/"
    assert "No task is waiting for you yet" in client.get("/", follow=True).content.decode()


def test_a_researcher_is_led_step_by_step_until_a_study_is_open(ada: Any, ben: Any, login: Any) -> None:
    page = _home(login(ada))
    assert "Next step" in page
    assert page.count("is-done") == 1
    assert re.search(r'<a class="button primary"\s+href="/corpora/import/', page)
    study = make_writing_study(researcher=ada, state="draft")
    page = _home(login(ada))
    assert page.count("is-done") == 2
    assert "1 draft" in page
    Study.objects.filter(pk=study.pk).update(state="open")
    assert "Next step" not in _home(login(ada))


def test_a_researcher_counts_only_studies_of_ones_own(ada: Any, eve: Any, ben: Any) -> None:
    make_session(annotator=ben, state="running")
    mine, all_of_them = read_researcher(ada), read_researcher(eve)
    counts = ("studies", "tasks", "sessions_running")
    assert [mine[name] for name in counts] == [0, 0, 0]
    assert [all_of_them[name] for name in counts] == [1, 1, 1]


def test_an_admin_is_warned_when_no_worker_speaks(eve: Any, login: Any) -> None:
    client = login(eve)
    assert "No worker has reported yet" in _home(client)
    system.record_heartbeat(name="one", now=timezone.now() - timedelta(minutes=5))
    assert "The worker has been silent for 5" in _home(client)
    system.record_heartbeat(name="two", now=timezone.now())
    page = _home(client)
    assert "silent" not in page
    assert "No worker" not in page


def test_only_admins_are_warned(ada: Any, ben: Any, login: Any) -> None:
    for user in (ada, ben):
        assert "worker" not in _home(login(user)).lower()


def test_an_admin_is_warned_when_the_disk_fills(eve: Any, login: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(system, "read_disk", lambda _folder: system.Disk(total=1000, free=49))
    assert "The disk is almost full" in _home(login(eve))
    monkeypatch.setattr(system, "read_disk", lambda _folder: system.Disk(total=1000, free=50))
    assert "The disk is almost full" not in _home(login(eve))


def test_who_has_no_role_is_told_whom_to_ask(db: None, login: Any) -> None:
    nobody = get_user_model().objects.create_user(username="nobody")
    assert "no role yet" in _home(login(nobody))


def test_every_link_of_the_page_leads_somewhere(ada: Any, ben: Any, eve: Any, login: Any) -> None:
    for user in (ada, ben, eve):
        client = login(user)
        links = set(re.findall(r'<a\b[^>]*href="([^"]*)"', _home(client))) - {"#main"}
        assert len(links) >= 4
        assert {client.get(link, follow=True).status_code for link in links} == {200}


def test_each_home_takes_few_queries(
    ada: Any, ben: Any, eve: Any, login: Any, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    make_session(annotator=ben, state="running")
    for user, most in ((ben, 4), (ada, 18), (eve, 20)):
        client = login(user)
        with django_assert_max_num_queries(most):
            client.get("/")


def test_a_researchers_counts_are_those_of_the_lists(ada: Any, ben: Any, login: Any) -> None:
    writing = make_writing_study(researcher=ada)
    make_assignment(study=writing, annotator=ben, state="done")
    make_assignment(study=writing, annotator=ben, subtopic=writing.writing_plan.subtopics.last())
    linking = make_linking_study(annotators=[ben], haystack=make_haystack(key="second"), researcher=ada)
    first = linking.label_tasks.first()
    assert first is not None
    type(first).objects.filter(pk=first.pk).update(state="done", n_answered=F("n_questions"))
    make_haystack(key="practice", is_practice=True)
    make_questions(2)
    seen = read_researcher(ada)
    assert (seen["tasks"], seen["tasks_done"]) == (6, 2)
    client = login(ada)
    listed = [row.record for row in client.get("/studies/").context["table"].rows]
    assert (sum(row.n_tasks for row in listed), sum(row.n_done for row in listed)) == (6, 2)
    assert seen["haystacks"] == len(client.get("/corpora/").context["table"].rows) == 3
    assert "and 1 question set" in _home(client)
