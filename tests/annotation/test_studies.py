"""Writing studies: what can change until when, their states, putting away, copies and guidelines."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Assignment, Study, WritingPlan
from annotation.studies import consent, kind, lifecycle, members
from annotation.studies.guidelines import publish_guideline
from annotation.studies.lifecycle import Details
from annotation.writing import planning
from annotation.writing.documentsets import Rule, preview
from benchmarks.models import AuditEvent
from benchmarks.web.pages import render_markdown
from tests.annotation.writing_study import new_study, update_plan
from tests.makers import (
    annotator_of,
    flat,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)


def test_a_study_is_a_draft_first_opens_closes_and_goes_to_the_archive_and_back(ada, ben, now: datetime) -> None:
    study = new_study(ada, annotators=[annotator_of(ben)])
    assert study.state == "draft"
    assert list(study.researchers.all()) == [ada]
    assert study.guidelines.get().version == 1
    assert study.memberships.get().pseudonym == "annotator1"
    assert AuditEvent.objects.filter(action="study.create", actor=ada).count() == 1
    member = study.memberships.get()
    plan, person = study.writing_plan, member.annotator
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 7_200_000
    person.limit_factor = Decimal("1.5")
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 10_800_000
    planning.set_member_limit(membership=member, limit_ms=600_000, by=ada, now=now)
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 600_000
    assert lifecycle.open_study(study=study, by=ada, now=now).state == "open"
    assert lifecycle.close_study(study=study, by=ada, now=now).state == "closed"
    assert lifecycle.archive_study(study=study, by=ada, now=now).state == "archived"
    with pytest.raises(kind.NotReady, match="restore it first"):
        lifecycle.open_study(study=study, by=ada, now=now)
    assert lifecycle.restore_study(study=study, by=ada, now=now).state == "closed"
    assert AuditEvent.objects.filter(action__startswith="study.").count() >= 5


@pytest.mark.parametrize(
    "change",
    [
        {"limit_ms": 1_000_000},
        {"setting": "full"},
        {"token_budget": 10},
        {"mark_every_ms": 60_000},
        {"paste_policy": "flag"},
        {"disconnect_policy": "auto_pause"},
        {"preset": "paper"},
        {"click_to_cite": False},
    ],
)
def test_the_first_session_freezes_the_plan(ada, ben, now: datetime, change: dict[str, Any]) -> None:
    study = new_study(ada)
    make_session(assignment=make_assignment(study=study, annotator=ben), state="running")
    with pytest.raises(kind.Frozen) as refused:
        update_plan(study=study, plan=WritingPlan(**change), by=ada, now=now)
    assert set(change) <= set(refused.value.names)
    study.writing_plan.refresh_from_db()
    assert study.writing_plan.limit_ms == 7_200_000


def test_the_rate_freezes_too_but_names_dates_and_numbers_of_sessions_do_not(ada, ben, now: datetime) -> None:
    study = new_study(ada)
    make_session(assignment=make_assignment(study=study, annotator=ben))
    values: dict[str, Any] = {
        "study": study,
        "subtopics": study.writing_plan.subtopics.all(),
        "by": ada,
        "now": now,
    }
    with pytest.raises(kind.Frozen, match="hourly_rate"):
        planning.update_study(details=Details(name="Ferry", hourly_rate=Decimal(30)), plan=WritingPlan(), **values)
    details = Details(name="Renamed", due_at=now + timedelta(days=3), contact="a@example.org")
    changed = planning.update_study(details=details, plan=WritingPlan(sessions_per_subtopic=5), **values)
    assert (changed.name, changed.writing_plan.sessions_per_subtopic) == ("Renamed", 5)


def test_tasks_nobody_has_begun_follow_a_change_of_the_documents(ada, ben, now: datetime) -> None:
    study = new_study(ada)
    task = make_assignment(study=study, annotator=ben, document_numbers=[1], due_at=None)
    update_plan(study=study, plan=WritingPlan(setting="full"), by=ada, now=now)
    task.refresh_from_db()
    assert sorted(task.document_numbers) == [1, 2, 3, 4, 5, 6]
    assert task.ceiling["recall"] == 1.0
    others = study.writing_plan.subtopics.exclude(pk=task.subtopic.pk)
    with pytest.raises(kind.NotReady, match="Subtopic 1"):
        planning.update_study(
            study=study, details=Details(name="Ferry"), plan=WritingPlan(), subtopics=others, by=ada, now=now
        )
    assert study.writing_plan.subtopics.count() == 2


def test_opening_says_all_that_is_missing(ada, now: datetime) -> None:
    study = new_study(ada, plan=WritingPlan(setting="ranking", retriever="bm25"))
    with pytest.raises(kind.NotReady) as refused:
        lifecycle.open_study(study=study, by=ada, now=now)
    assert len(refused.value.problems) == 3
    assert "at least one annotator" in str(refused.value)
    assert "no ranking by “bm25”" in str(refused.value)


def test_no_study_opens_without_a_consent_text(ada, ben, now: datetime) -> None:
    lifecycle.open_study(study=new_study(ada, annotators=[annotator_of(ben)]), by=ada, now=now)
    assert not consent.is_given(annotator_of(ben))


def test_a_study_with_a_session_under_way_is_not_archived(ada, ben, now: datetime) -> None:
    study = new_study(ada)
    make_session(assignment=make_assignment(study=study, annotator=ben), state="paused")
    with pytest.raises(kind.NotReady, match="1 session has not ended"):
        lifecycle.archive_study(study=study, by=ada, now=now)


def test_only_a_study_without_work_is_deleted(ada, ben, now: datetime) -> None:
    study = new_study(ada)
    session = make_session(assignment=make_assignment(study=study, annotator=ben), state="submitted")
    with pytest.raises(kind.NotReady, match="archive the study instead"):
        lifecycle.delete_study(study=study, by=ada, now=now)
    session.periods.all().delete()
    session.delete()
    lifecycle.delete_study(study=study, by=ada, now=now)
    assert not Study.objects.exists()
    assert not Assignment.objects.exists()
    assert AuditEvent.objects.get(action="study.delete").object_name == "Ferry"


def test_a_copy_has_the_settings_and_newest_guidelines_but_no_tasks(ada, ben, now: datetime) -> None:
    study = new_study(ada, annotators=[annotator_of(ben)], plan=WritingPlan(limit_ms=90_000))
    make_assignment(study=study, annotator=ben)
    publish_guideline(study=study, body="Second.", by=ada, now=now)
    copy = lifecycle.clone_study(study=study, name="Again", by=ada, now=now, with_annotators=True)
    assert copy.state == "draft"
    assert copy.writing_plan.limit_ms == 90_000
    assert copy.guidelines.get().body == "Second."
    assert set(copy.writing_plan.subtopics.all()) == set(study.writing_plan.subtopics.all())
    assert copy.memberships.count() == 1
    assert not copy.assignments.exists()


def test_who_comes_back_keeps_the_pseudonym_and_who_left_loses_only_waiting_tasks(
    ada, ben, cleo, now: datetime
) -> None:
    study = new_study(ada, annotators=[annotator_of(ben), annotator_of(cleo)])
    first, second = study.writing_plan.subtopics.order_by("number")
    waiting = make_assignment(study=study, annotator=cleo, subtopic=first)
    begun = make_assignment(study=study, annotator=cleo, subtopic=second, state="started")
    left = members.remove_annotator(
        study=study, annotator=annotator_of(cleo), reason="moved away", by=ada, now=now
    )
    assert left == (1, 1)
    waiting.refresh_from_db()
    begun.refresh_from_db()
    assert (waiting.state, begun.state) == ("withdrawn", "started")
    assert members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now) == 1
    assert members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now) == 0
    member = study.memberships.get(annotator__user=cleo)
    assert (member.number, member.left_at) == (2, None)


def test_the_same_words_make_no_new_version_of_the_guidelines(ada, now: datetime) -> None:
    study = new_study(ada)
    assert publish_guideline(study=study, body="Report what repeats.", by=ada, now=now).version == 1
    assert publish_guideline(study=study, body="Cite more.", by=ada, now=now).version == 2
    assert study.guidelines.count() == 2


def test_markdown_is_safe_html() -> None:
    html = render_markdown(
        "# Top\n<script>alert(1)</script> <b onclick=x>\n[a](javascript:alert(1)) ![i](http://x/y.png) [ok](https://x)"
    )
    assert "<h2>Top</h2>" in html
    assert "<script" not in html
    assert "<b " not in html
    assert 'href="javascript' not in html
    assert "<img" not in html
    assert 'href="https://x" rel="noopener noreferrer"' in html


@pytest.mark.django_db
def test_reading_time_is_held_against_the_limit() -> None:
    haystack = make_haystack(n_documents=3, words_per_document=4000, golds=[[[1, 2, 3]]])
    subtopics = list(haystack.subtopics.select_related("haystack"))
    paper = preview(subtopics=subtopics, rule=Rule(), limit_ms=7_200_000)
    assert paper.rows[0].minutes == 60.0
    assert not paper.too_long
    assert not paper.tight
    assert preview(subtopics=subtopics, rule=Rule(), limit_ms=3_540_000).too_long == paper.rows
    assert preview(subtopics=subtopics, rule=Rule(), limit_ms=6_000_000).tight == paper.rows


@pytest.mark.django_db
def test_the_ceiling_of_a_setting_is_the_mean_over_its_insights() -> None:
    haystack = make_haystack(n_documents=4, words_per_document=100, golds=[[[1], [1, 2]], [[3, 4]]])
    subtopics = list(haystack.subtopics.select_related("haystack"))
    found = preview(subtopics=subtopics, rule=Rule(token_budget=100), limit_ms=7_200_000)
    assert found.ceiling["recall"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert found.ceiling["f1"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert preview(subtopics=[], rule=Rule(), limit_ms=60_000).ceiling is None


def test_an_open_study_is_archived_after_a_question_and_comes_back_closed(ada, as_ada, ben) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    state = reverse("annotation:study-state", args=[study.uid])
    asked = as_ada.post(state, {"action": "archive"}, follow=True)
    assert "annotators can no longer work on the 4 tasks that are not done" in flat(asked.text)
    assert "Restored from the archive it is closed" in flat(asked.text)
    study.refresh_from_db()
    assert study.state == "open"
    as_ada.post(state, {"action": "archive", "sure": "1"})
    study.refresh_from_db()
    assert study.state == "archived"
    page = as_ada.get(reverse("annotation:study", args=[study.uid]))
    assert "It is closed then; you can open it again." in page.text
    as_ada.post(state, {"action": "restore"})
    study.refresh_from_db()
    assert study.state == "closed"
    as_ada.post(state, {"action": "archive"})  # nobody can work in it, so nothing is asked
    study.refresh_from_db()
    assert study.state == "archived"


def test_nothing_is_assigned_in_an_archived_study(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben], people_per_item=2, state="archived")
    for name in ("study", "study-annotators"):
        page = as_ada.get(reverse(f"annotation:{name}", args=[study.uid]))
        assert "Assign what is missing" not in page.text
        assert "Add and assign" not in page.text
    people = reverse("annotation:study-annotators", args=[study.uid])
    for data in ({"action": "deal"}, {"action": "people", "annotators": [annotator_of(cleo).pk]}):
        page = as_ada.post(people, data, follow=True)
        assert "The study is archived; restore it first." in page.text
    assert study.memberships.count() == 1
    assert study.label_tasks.count() == 4


def test_no_session_is_assigned_in_an_archived_study(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], state="archived")
    page = as_ada.get(reverse("annotation:study-assignments", args=[study.uid]))
    assert "Assign one task by hand" not in page.text
    assert "Assign open slots" not in page.text
    subtopic = study.writing_plan.subtopics.first()
    one = {"annotator": annotator_of(ben).pk, "subtopic": subtopic.pk}
    for name, data in (("study-assign", {}), ("study-assign-one", one)):
        answer = as_ada.post(reverse(f"annotation:{name}", args=[study.uid]), data, follow=True)
        assert "The study is archived; restore it first." in answer.text
    assert not study.assignments.exists()
