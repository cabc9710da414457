"""Studies: setting up, freezing, opening, taking part, and the pages for it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from annotation.models import Annotator, Assignment, Membership, Study, WritingPlan
from annotation.studies import consent, kind, lifecycle, members
from annotation.studies.guidelines import publish_guideline, render_markdown
from annotation.studies.lifecycle import Details
from annotation.writing import planning
from annotation.writing.documentsets import Rule, preview
from benchmarks.models import AuditEvent, RetrieverRanking
from tests.makers import NOW, annotator_of, make_assignment, make_haystack, make_session, make_writing_study


def new_study(by: Any, **changes: Any) -> Study:
    haystack = changes.pop("haystack", None) or make_haystack()
    values: dict[str, Any] = {
        "details": Details(name="Ferry"),
        "plan": WritingPlan(),
        "subtopics": haystack.subtopics.all(),
        "guidelines": "Report what repeats.",
        "by": by,
        "now": NOW,
    }
    return planning.create_study(**{**values, **changes})


def update_plan(*, study: Study, plan: WritingPlan, by: Any, now: datetime) -> Study:
    """Change only the plan."""
    details = Details(**lifecycle.details_of(study))
    subtopics = list(study.writing_plan.subtopics.all())
    return planning.update_study(study=study, details=details, plan=plan, subtopics=subtopics, by=by, now=now)


def form_data(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "Ferry",
        "setting": "oracle",
        "token_budget": "15000",
        "limit_minutes": "120",
        "mark_minutes": "10",
        "sessions_per_subtopic": "2",
        "preset": "assisted",
        "show_hit_counts": "on",
        "paste_policy": "block",
        "disconnect_policy": "keep_running",
        "hourly_rate": "25",
        "currency": "USD",
        "guidelines": "Report\r\nwhat repeats.",
    }
    return {**data, **changes}


def test_a_new_study_is_a_draft_of_its_maker_with_first_guidelines(ada: Any, ben: Any) -> None:
    study = new_study(ada, annotators=[annotator_of(ben)])
    assert study.state == "draft"
    assert list(study.researchers.all()) == [ada]
    assert study.guidelines.get().version == 1
    assert study.memberships.get().pseudonym == "annotator1"
    assert AuditEvent.objects.filter(action="study.create", actor=ada).count() == 1


def test_the_paper_protocol_has_no_aids_whatever_was_ticked(ada: Any) -> None:
    plan = new_study(ada, plan=WritingPlan(preset="paper", show_counters=True)).writing_plan
    assert not any([plan.show_hit_counts, plan.click_to_cite, plan.live_citation_check, plan.show_counters])


def test_before_the_first_session_everything_can_change(ada: Any, now: datetime) -> None:
    study = new_study(ada)
    update_plan(study=study, plan=WritingPlan(limit_ms=60_000, setting="full"), by=ada, now=now)
    study.writing_plan.refresh_from_db()
    assert (study.writing_plan.limit_ms, study.writing_plan.setting) == (60_000, "full")


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
def test_the_first_session_freezes_the_plan(ada: Any, ben: Any, now: datetime, change: dict[str, Any]) -> None:
    study = new_study(ada)
    make_session(assignment=make_assignment(study=study, annotator=ben), state="running")
    with pytest.raises(kind.Frozen) as refused:
        update_plan(study=study, plan=WritingPlan(**change), by=ada, now=now)
    assert set(change) <= set(refused.value.names)
    study.writing_plan.refresh_from_db()
    assert study.writing_plan.limit_ms == 7_200_000


def test_the_rate_freezes_too_but_names_dates_and_numbers_of_sessions_do_not(
    ada: Any, ben: Any, now: datetime
) -> None:
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


def test_tasks_nobody_has_begun_follow_a_change_of_the_documents(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada)
    task = make_assignment(study=study, annotator=ben, document_numbers=[1], due_at=None)
    update_plan(study=study, plan=WritingPlan(setting="full"), by=ada, now=now)
    task.refresh_from_db()
    assert sorted(task.document_numbers) == [1, 2, 3, 4, 5, 6]
    assert task.ceiling["recall"] == 1.0


def test_a_subtopic_with_tasks_stays_in_its_study(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada)
    task = make_assignment(study=study, annotator=ben)
    others = study.writing_plan.subtopics.exclude(pk=task.subtopic.pk)
    with pytest.raises(kind.NotReady, match="Subtopic 1"):
        planning.update_study(
            study=study, details=Details(name="Ferry"), plan=WritingPlan(), subtopics=others, by=ada, now=now
        )
    assert study.writing_plan.subtopics.count() == 2


def test_opening_says_all_that_is_missing(ada: Any, now: datetime) -> None:
    study = new_study(ada, plan=WritingPlan(setting="ranking", retriever="bm25"))
    with pytest.raises(kind.NotReady) as refused:
        lifecycle.open_study(study=study, by=ada, now=now)
    assert len(refused.value.problems) == 3
    assert "at least one annotator" in str(refused.value)
    assert "no ranking by “bm25”" in str(refused.value)


def test_a_study_opens_closes_and_goes_to_the_archive_and_back(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada, annotators=[annotator_of(ben)])
    assert lifecycle.open_study(study=study, by=ada, now=now).state == "open"
    assert lifecycle.close_study(study=study, by=ada, now=now).state == "closed"
    assert lifecycle.archive_study(study=study, by=ada, now=now).state == "archived"
    with pytest.raises(kind.NotReady, match="restore it first"):
        lifecycle.open_study(study=study, by=ada, now=now)
    assert lifecycle.restore_study(study=study, by=ada, now=now).state == "closed"
    assert AuditEvent.objects.filter(action__startswith="study.").count() >= 5


def test_no_study_opens_without_a_consent_text(ada: Any, ben: Any, now: datetime) -> None:
    lifecycle.open_study(study=new_study(ada, annotators=[annotator_of(ben)]), by=ada, now=now)
    assert not consent.is_given(annotator_of(ben))


def test_a_study_with_a_session_under_way_is_not_archived(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada)
    make_session(assignment=make_assignment(study=study, annotator=ben), state="paused")
    with pytest.raises(kind.NotReady, match="1 session has not ended"):
        lifecycle.archive_study(study=study, by=ada, now=now)


def test_only_a_study_without_work_is_deleted(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada)
    task = make_assignment(study=study, annotator=ben)
    session = make_session(assignment=task, state="submitted")
    with pytest.raises(kind.NotReady, match="archive the study instead"):
        lifecycle.delete_study(study=study, by=ada, now=now)
    session.periods.all().delete()
    session.delete()
    lifecycle.delete_study(study=study, by=ada, now=now)
    assert not Study.objects.exists()
    assert not Assignment.objects.exists()
    assert AuditEvent.objects.get(action="study.delete").object_name == "Ferry"


def test_a_copy_has_the_settings_and_newest_guidelines_but_no_tasks(ada: Any, ben: Any, now: datetime) -> None:
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
    ada: Any, ben: Any, cleo: Any, now: datetime
) -> None:
    study = new_study(ada, annotators=[annotator_of(ben), annotator_of(cleo)])
    first, second = study.writing_plan.subtopics.order_by("number")
    waiting = make_assignment(study=study, annotator=cleo, subtopic=first)
    begun = make_assignment(study=study, annotator=cleo, subtopic=second, state="started")
    removal = members.remove_annotator(
        study=study, annotator=annotator_of(cleo), reason="moved away", by=ada, now=now
    )
    assert (removal.n_withdrawn, removal.n_begun) == (1, 1)
    waiting.refresh_from_db()
    begun.refresh_from_db()
    assert (waiting.state, begun.state) == ("withdrawn", "started")
    assert members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now) == 1
    assert members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now) == 0
    member = study.memberships.get(annotator__user=cleo)
    assert (member.number, member.left_at) == (2, None)


def test_a_limit_of_ones_own_beats_the_factor_and_the_factor_the_study(ada: Any, ben: Any, now: datetime) -> None:
    study = new_study(ada, annotators=[annotator_of(ben)])
    member = study.memberships.get()
    plan, person = study.writing_plan, member.annotator
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 7_200_000
    person.limit_factor = Decimal("1.5")
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 10_800_000
    planning.set_member_limit(membership=member, limit_ms=600_000, by=ada, now=now)
    assert planning.limit_ms_of(plan=plan, annotator=person, membership=member) == 600_000


def test_the_same_words_make_no_new_version_of_the_guidelines(ada: Any, now: datetime) -> None:
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
    assert found.ceiling is not None
    assert found.ceiling["recall"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert found.ceiling["f1"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert preview(subtopics=[], rule=Rule(), limit_ms=60_000).ceiling is None


# The pages


def test_a_researcher_sets_up_a_study_by_form(ada: Any, ben: Any, login: Any) -> None:
    haystack = make_haystack()
    data = form_data(haystacks=[haystack.pk], annotators=[annotator_of(ben).pk])
    response = login(ada).post(reverse("annotation:study-create"), data)
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
        ({"setting": "ranking"}, "Choose a retriever."),
        ({"contact": "nowhere"}, "An email address, such as"),
        ({"name": ""}, "Fill this in."),
    ],
)
def test_wrong_settings_get_a_sentence_and_change_nothing(
    ada: Any, login: Any, change: dict[str, Any], message: str
) -> None:
    haystack = make_haystack()
    data = form_data(**{"haystacks": [haystack.pk], **change})
    response = login(ada).post(reverse("annotation:study-create"), data)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not Study.objects.exists()


def test_a_new_study_starts_with_the_paper_protocol_on_the_haystack_it_comes_from(ada: Any, login: Any) -> None:
    ferry, _other = make_haystack(), make_haystack(key="mole", title="The mole")
    client, new = login(ada), reverse("annotation:study-create")
    found = client.get(new, {"haystack": str(ferry.uid)}).context["form"]
    chosen = {field.name: field.value() for field in found if field.name not in {"guidelines", "contact"}}
    assert (chosen["preset"], chosen["haystacks"], chosen["name"]) == (
        "paper",
        [ferry.pk],
        f"Timed writing: {ferry.title}",
    )
    Study.objects.create(name=chosen["name"], kind="writing", created_at=NOW)
    again = client.get(new, {"haystack": str(ferry.uid)}).context["form"]
    assert again["name"].value() == f"Timed writing: {ferry.title} (2)"
    assert client.get(new).context["form"]["haystacks"].value() is None, "two to choose from"
    assert client.get(new, {"haystack": "x"}).status_code == 404
    sent = {name: value for name, value in chosen.items() if value not in (None, False)}
    client.post(new, {**sent, "name": "As it came", "guidelines": "Write.", "subtopics": []})
    plan = Study.objects.get(name="As it came").writing_plan
    paper = WritingPlan(preset="paper", **dict.fromkeys(planning.AIDS, False))
    assert all(getattr(plan, name) == getattr(paper, name) for name in planning.SETTINGS)


def test_a_study_is_set_up_assigned_and_opened_with_one_button(ada: Any, ben: Any, login: Any) -> None:
    haystack = make_haystack()
    sent = form_data(haystacks=[haystack.pk], annotators=[annotator_of(ben).pk], assign_now="on", then="open")
    answer = login(ada).post(reverse("annotation:study-create"), sent, follow=True)
    study = Study.objects.get()
    assert (study.state, study.assignments.count()) == ("open", 1)
    assert "The study is open." in answer.content.decode()
    assert "Nobody has a task yet" not in answer.content.decode()
    again = form_data(
        haystacks=[haystack.pk], annotators=[annotator_of(ben).pk], assign_now="on", then="open", name="Again"
    )
    answer = login(ada).post(reverse("annotation:study-create"), again, follow=True)
    assert "Nobody has a task yet" in answer.content.decode()
    assert "Why not" in answer.content.decode()
    nobody = form_data(haystacks=[haystack.pk], assign_now="on", then="open", name="Nobody")
    answer = login(ada).post(reverse("annotation:study-create"), nobody, follow=True)
    assert (Study.objects.get(name="Nobody").state, "not open yet" in answer.content.decode()) == ("draft", True)


def test_a_folded_part_is_open_where_a_field_in_it_is_wrong(ada: Any, login: Any) -> None:
    make_haystack()
    client, new = login(ada), reverse("annotation:study-create")
    folded = client.get(new).content.decode()
    assert (folded.count('<details class="fold">'), folded.count('<details class="fold" open>')) == (5, 0)
    wrong = client.post(new, form_data(token_budget="0", currency="euro")).content.decode()
    assert (wrong.count('<details class="fold">'), wrong.count('<details class="fold" open>')) == (3, 2)


def test_retrievers_to_choose_are_those_with_rankings_and_gaps_are_named(ada: Any, login: Any) -> None:
    haystack, _other = make_haystack(), make_haystack(key="mole", title="The mole")
    RetrieverRanking.objects.create(subtopic=haystack.subtopics.get(number=1), retriever="bm25", scores={"1": 1.0})
    client = login(ada)
    assert b'<option value="bm25">' in client.get(reverse("annotation:study-create")).content
    data = form_data(haystacks=[haystack.pk], setting="ranking", retriever="bm25")
    response = client.post(reverse("annotation:study-create"), data)
    assert "no ranking for: Subtopic 2" in response.content.decode()


def test_only_retrievers_that_ranked_every_chosen_subtopic_are_offered(ada: Any, login: Any) -> None:
    ferry, other = make_haystack(), make_haystack(key="mole", title="The mole")
    for haystack, name in ((ferry, "bm25"), (ferry, "random"), (other, "random"), (other, "vector")):
        for subtopic in haystack.subtopics.all():
            RetrieverRanking.objects.create(subtopic=subtopic, retriever=name, scores={"1": 1.0})
    RetrieverRanking.objects.create(subtopic=ferry.subtopics.get(number=1), retriever="partly", scores={"1": 1.0})
    client, url = login(ada), reverse("annotation:study-retrievers")

    def offered(**chosen: Any) -> list[str]:
        answer = client.post(url, form_data(**chosen), headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in answer
        return re.findall(r'<option value="(\w+)"', answer)

    first, second = ferry.subtopics.order_by("number")
    assert offered() == ["bm25", "partly", "random", "vector"]
    assert offered(haystacks=[ferry.pk]) == ["bm25", "random"]
    assert offered(subtopics=[first.pk]) == ["bm25", "partly", "random"]
    assert offered(haystacks=[other.pk], subtopics=[second.pk]) == ["random"]
    chosen = form_data(haystacks=[ferry.pk], retriever="bm25")
    fragment = client.post(url, chosen, headers={"HX-Request": "true"}).content.decode()
    assert '<option value="bm25" selected>' in fragment
    assert 'role="alert"' not in fragment
    RetrieverRanking.objects.filter(retriever="random").delete()
    answer = client.post(url, form_data(haystacks=[ferry.pk, other.pk]), headers={"HX-Request": "true"})
    assert "No retriever has ranked every chosen subtopic." in answer.content.decode()


@pytest.mark.parametrize("retriever", ["vector", "unheard-of"])
def test_a_retriever_that_the_haystack_lacks_is_refused_and_not_offered_again(
    retriever: str, ada: Any, login: Any
) -> None:
    ferry, other = make_haystack(), make_haystack(key="mole", title="The mole")
    for haystack, name in ((ferry, "bm25"), (other, "vector")):
        for subtopic in haystack.subtopics.all():
            RetrieverRanking.objects.create(subtopic=subtopic, retriever=name, scores={"1": 1.0})
    data = form_data(haystacks=[ferry.pk], setting="ranking", retriever=retriever)
    response = login(ada).post(reverse("annotation:study-create"), data)
    assert response.status_code == 422
    assert not Study.objects.exists()
    page = response.content.decode()
    assert retriever in re.findall(r'<p class="error">([^<]*)', page)[0]
    assert '<option value="bm25">' in page
    assert f'<option value="{retriever}"' not in page


def test_a_frozen_study_keeps_showing_its_retriever(ada: Any, ben: Any, login: Any) -> None:
    haystack = make_haystack()
    first, second = haystack.subtopics.order_by("number")
    RetrieverRanking.objects.create(subtopic=first, retriever="bm25", scores={"1": 1.0})
    study = make_writing_study(
        haystack=haystack, researcher=ada, annotators=[ben], setting="ranking", retriever="bm25"
    )
    make_session(assignment=make_assignment(study=study, annotator=ben))
    client = login(ada)
    shown = client.get(reverse("annotation:study-settings", args=[study.uid])).content.decode()
    url = f"{reverse('annotation:study-retrievers')}?study={study.uid}"
    fragment = client.post(url, {"subtopics": [first.pk, second.pk]}, headers={"HX-Request": "true"})
    for page in (shown, fragment.content.decode()):
        assert '<option value="bm25" selected>' in page


def test_the_preview_answers_htmx_with_a_fragment_and_a_plain_post_with_the_page(ada: Any, login: Any) -> None:
    haystack = make_haystack(n_documents=3, words_per_document=4000, golds=[[[1, 2, 3]]])
    data = form_data(name="", haystacks=[haystack.pk], limit_minutes="50")
    client, url = login(ada), reverse("annotation:study-preview")
    fragment = client.post(url, data, headers={"HX-Request": "true"}).content.decode()
    assert "Not enough time" in fragment
    assert "1 h 00 min" in fragment
    assert "<html" not in fragment
    whole = client.post(url, data).content.decode()
    assert "Not enough time" in whole
    assert "<form" in whole
    assert not Study.objects.exists()


def test_the_preview_waits_until_its_own_fields_are_right(ada: Any, login: Any) -> None:
    data = form_data(haystacks=[make_haystack().pk], token_budget="many")
    response = login(ada).post(reverse("annotation:study-preview"), data, headers={"HX-Request": "true"})
    assert "Choose subtopics" in response.content.decode()


def test_frozen_settings_cannot_be_posted(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    make_session(assignment=make_assignment(study=study, annotator=ben))
    subtopics = [subtopic.pk for subtopic in study.writing_plan.subtopics.all()]
    data = form_data(name="Renamed", subtopics=subtopics, limit_minutes="5", hourly_rate="99")
    client, url = login(ada), reverse("annotation:study-settings", args=[study.uid])
    assert "are frozen" in client.get(url).content.decode()
    assert client.post(url, data).status_code == 302
    study.refresh_from_db()
    study.writing_plan.refresh_from_db()
    assert (study.name, study.hourly_rate, study.writing_plan.limit_ms) == ("Renamed", Decimal(25), 7_200_000)


def test_saving_the_settings_keeps_oneself_as_researcher(ada: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada)
    subtopics = [subtopic.pk for subtopic in study.writing_plan.subtopics.all()]
    login(ada).post(
        reverse("annotation:study-settings", args=[study.uid]), form_data(name="Renamed", subtopics=subtopics)
    )
    assert list(study.researchers.all()) == [ada]


def every_page(study: Study) -> list[str]:
    person = study.memberships.get(number=1).annotator
    names = ["study", "study-settings", "study-delete", "study-clone", "study-annotators", "study-assignments"]
    names += ["study-assign", "study-guidelines-edit"]
    urls = [reverse(f"annotation:{name}", args=[study.uid]) for name in names]
    urls += [
        reverse(f"annotation:{name}", args=[study.uid, person.uid])
        for name in ("annotator-remove", "annotator-limit")
    ]
    urls.append(reverse("annotation:study-guidelines-version", args=[study.uid, 1]))
    urls += [reverse("annotation:assignment-withdraw", args=[task.uid]) for task in study.assignments.all()]
    return urls


def test_a_study_is_there_for_its_researchers_and_admins_only(ada: Any, ben: Any, eve: Any, login: Any) -> None:
    from tests.conftest import make_user

    study = make_writing_study(researcher=ada, annotators=[ben])
    make_assignment(study=study, annotator=ben)
    other = make_user("finn", "researcher")
    for url in every_page(study):
        assert login(ada).get(url).status_code == 200, url
        assert login(eve).get(url).status_code == 200, url
        assert login(other).get(url).status_code == 404, url
        assert login(ben).get(url).status_code == 403, url
    study.researchers.add(other)
    assert login(other).get(reverse("annotation:study", args=[study.uid])).status_code == 200


def test_the_list_shows_own_studies_and_to_admins_all(ada: Any, eve: Any, ben: Any, login: Any) -> None:
    haystack = make_haystack()
    make_writing_study(haystack=haystack, name="Mine", researcher=ada)
    make_writing_study(haystack=haystack, name="Hers")
    make_writing_study(haystack=haystack, name="Old", researcher=ada, state="archived")
    url = reverse("annotation:studies")
    seen = login(ada).get(url).content.decode()
    assert "Mine" in seen
    assert "Hers" not in seen
    assert "Old" not in seen
    assert "Old" in login(ada).get(url + "?state=archived").content.decode()
    assert "Hers" in login(eve).get(url).content.decode()
    assert login(ben).get(url).status_code == 403


def grow(study: Study, n: int) -> None:
    for number in range(2, n + 2):
        person = Annotator.objects.create(label=f"Writer {number}", created_at=NOW)
        Membership.objects.create(study=study, annotator=person, number=number, joined_at=NOW)
        task = make_assignment(study=study, annotator=person)
        make_session(assignment=task, state="submitted", revisions=[(60_000, "- Six. [1]")])


@pytest.mark.parametrize(
    ("name", "most"),
    [("study", 22), ("study-assignments", 18), ("study-annotators", 17), ("study-settings", 20)],
)
def test_pages_of_a_study_ask_no_more_with_more_people(
    ada: Any, ben: Any, login: Any, name: str, most: int, django_assert_max_num_queries: Any
) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    client, url = login(ada), reverse(f"annotation:{name}", args=[study.uid])
    client.get(url)
    grow(study, 12)
    with django_assert_max_num_queries(most):
        assert client.get(url).status_code == 200


def test_the_list_of_studies_asks_no_more_with_more_studies(
    ada: Any, login: Any, django_assert_max_num_queries: Any
) -> None:
    haystack = make_haystack()
    for number in range(8):
        make_writing_study(haystack=haystack, name=f"Study {number}", researcher=ada)
    client = login(ada)
    with django_assert_max_num_queries(9):
        client.get(reverse("annotation:studies"))


def test_a_long_list_of_studies_comes_in_pages(ada: Any, login: Any) -> None:
    Study.objects.bulk_create(
        Study(name=f"No. {n:03}", kind="writing", created_at=NOW, created_by=ada) for n in range(101)
    )
    client, address = login(ada), reverse("annotation:studies")
    first, second = client.get(address).text, client.get(address + "?page=2").text
    assert "Page 1 of 2" in first
    assert "No. 000" not in first
    assert "No. 000" in second
    assert "No. 001" not in second


def test_the_overview_counts_time_and_cost_per_person(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    make_session(
        assignment=make_assignment(study=study, annotator=ben, state="done"), state="submitted", acc_ms=5_400_000
    )
    make_session(
        assignment=make_assignment(study=study, annotator=cleo, state="withdrawn"), state="voided", acc_ms=60_000
    )
    text = login(ada).get(reverse("annotation:study", args=[study.uid])).content.decode()
    assert "1 h 30 min" in text
    assert "37.50 USD" in text
    assert "0.42 USD" in text
    assert "37.92 USD" in text


def test_assigning_by_page_shows_first_and_gives_then(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    client, url = login(ada), reverse("annotation:study-assign", args=[study.uid])
    assert "Assign these 2 tasks" in client.get(url).content.decode()
    assert not Assignment.objects.exists()
    client.post(url)
    assert Assignment.objects.count() == 2
    assert "Too few annotators are eligible for these" in client.get(url).content.decode()
    assert "1 or more." in client.get(url + "?max_tasks=-1").content.decode()


def test_the_assignments_page_says_why_somebody_is_not_eligible(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    ben.groups.add(Group.objects.get(name="researcher"))
    client = login(ada)
    page = client.get(reverse("annotation:study-assignments", args=[study.uid])).content.decode()
    assert "Has a research role" in page
    assert "All subtopics." in page
    data = {"annotator": annotator_of(ben).pk, "subtopic": study.writing_plan.subtopics.first().pk}
    refused = client.post(reverse("annotation:study-assign-one", args=[study.uid]), data)
    assert refused.status_code == 422
    assert "The task was not assigned" in refused.content.decode()
    assert not Assignment.objects.exists()


def test_a_task_is_given_and_withdrawn_by_hand_on_the_page(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    client = login(ada)
    data = {"annotator": annotator_of(ben).pk, "subtopic": study.writing_plan.subtopics.first().pk}
    assert client.post(reverse("annotation:study-assign-one", args=[study.uid]), data).status_code == 302
    task = Assignment.objects.get()
    url = reverse("annotation:assignment-withdraw", args=[task.uid])
    assert client.post(url, {"reason": ""}).status_code == 422
    client.post(url, {"reason": "ill", "to": annotator_of(cleo).pk})
    assert Assignment.objects.live().get().annotator == annotator_of(cleo)


def test_a_study_is_opened_and_deleted_on_its_pages(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], state="draft")
    client = login(ada)
    client.post(reverse("annotation:study-state", args=[study.uid]), {"action": "open"})
    study.refresh_from_db()
    assert study.state == "open"
    client.post(reverse("annotation:study-state", args=[study.uid]), {"action": "burn"})
    client.post(reverse("annotation:study-delete", args=[study.uid]))
    assert not Study.objects.exists()


def test_new_guidelines_can_be_looked_at_before_they_are_saved(ada: Any, login: Any, now: datetime) -> None:
    study = make_writing_study(researcher=ada)
    client, url = login(ada), reverse("annotation:study-guidelines-edit", args=[study.uid])
    assert "<strong>two</strong>" in client.post(url, {"body": "Now **two**", "preview": "1"}).content.decode()
    assert study.guidelines.count() == 1
    client.post(url, {"body": "Now **two**"})
    assert study.guidelines.order_by("-version").first().body == "Now **two**\n"
    old = client.get(reverse("annotation:study-guidelines-version", args=[study.uid, 1])).content.decode()
    assert "Report what repeats." in old


def test_people_are_added_limited_and_removed_on_the_pages(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada)
    client, person = login(ada), annotator_of(ben)
    client.post(reverse("annotation:study-annotators", args=[study.uid]), {"annotators": [person.pk]})
    member = study.memberships.get()
    limit = reverse("annotation:annotator-limit", args=[study.uid, person.uid])
    assert client.post(limit, {"limit_minutes": "-3"}).status_code == 422
    client.post(limit, {"limit_minutes": "1.5"})
    member.refresh_from_db()
    assert member.limit_ms == 90_000
    client.post(reverse("annotation:annotator-remove", args=[study.uid, person.uid]), {"reason": "moved"})
    member.refresh_from_db()
    assert member.left_at is not None


def test_names_and_reasons_are_escaped(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], name="<script>x</script>")
    page = login(ada).get(reverse("annotation:study-assignments", args=[study.uid])).content.decode()
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_a_haystack_without_documents_is_not_offered_for_writing(ada: Any, login: Any) -> None:
    ferry, bare = make_haystack(), make_haystack(key="bare", title="Only summaries", n_documents=0, golds=[[[]]])
    client, new = login(ada), reverse("annotation:study-create")
    assert [group["haystack"] for group in client.get(new).context["form"].corpora] == [ferry]
    assert client.post(new, form_data(haystacks=[bare.pk])).status_code == 422
    assert not Study.objects.exists()
    for haystack, is_offered in ((ferry, True), (bare, False)):
        page = client.get(reverse("benchmarks:haystack-detail", args=[haystack.uid])).text
        assert (reverse("annotation:study-create", args=["writing"]) in page) is is_offered
