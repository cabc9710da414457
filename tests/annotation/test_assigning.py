"""Who is given which subtopic, with which documents, and why somebody is not."""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotation.models import Annotator, Assignment, Exposure, Membership, Study
from annotation.studies import consent
from annotation.studies.scope import record_exposure
from annotation.writing import assigning
from annotation.writing.documentsets import Material, NoDocuments, Rule, choose
from annotation.writing.eligibility import Code, NotEligible
from benchmarks.models import RetrieverRanking
from benchmarks.scoring.summhay import reading_minutes
from benchmarks.scoring.text import lines_from_list
from tests.makers import NOW, annotator_of, make_assignment, make_haystack, make_session, make_writing_study

MATERIAL = Material(
    subtopic_id=1,
    name="Fares",
    documents=((1, 400), (2, 400), (3, 400), (4, 400)),
    golds=(frozenset({2, 3}), frozenset({3}), frozenset({4})),
)


def codes(study: Study, person, number: int = 1) -> set[Code]:
    table = assigning.eligibility(study)
    subtopic = study.writing_plan.subtopics.get(number=number)
    return {obstacle.code for obstacle in table.obstacles[annotator_of(person).pk, subtopic.pk]}


def test_the_oracle_shows_documents_with_insights_up_to_the_budget() -> None:
    chosen = choose(MATERIAL, Rule(token_budget=1000))
    assert chosen.numbers == (2, 3)
    assert (chosen.n_words, chosen.n_insights_present, chosen.n_insights) == (800, 2, 3)
    assert chosen.ceiling["n_absent"] == 1
    assert chosen.ceiling["recall"] == pytest.approx(2 / 3)


def test_zero_insight_documents_come_when_asked_for_and_the_full_haystack_knows_no_budget() -> None:
    assert choose(MATERIAL, Rule()).numbers == (2, 3, 4)
    assert choose(MATERIAL, Rule(include_zero_insight=True)).numbers == (1, 2, 3, 4)
    assert choose(MATERIAL, Rule(setting="full", token_budget=1)).numbers == (1, 2, 3, 4)


def test_a_ranking_goes_by_score_then_number_within_the_budget() -> None:
    ranked = Material(
        1, "Fares", MATERIAL.documents, MATERIAL.golds, {"bm25": {1: 0.2, 2: 0.9, 3: 0.2, 4: 0.0, 99: 5.0}}
    )
    assert choose(ranked, Rule(setting="ranking", retriever="bm25", token_budget=501)).numbers == (1, 2)


def test_a_set_without_documents_says_why() -> None:
    with pytest.raises(NoDocuments, match=r"“Fares” has no ranking by “bm25”"):
        choose(MATERIAL, Rule(setting="ranking", retriever="bm25"))
    with pytest.raises(NoDocuments, match="none holds an insight"):
        choose(Material(1, "Fares", MATERIAL.documents, ()), Rule())


@pytest.mark.every_database
def test_documents_are_shuffled_once_by_a_stored_seed_and_keep_their_numbers(ben, ada, now: datetime) -> None:
    haystack = make_haystack(n_documents=20, golds=[[list(range(1, 21))]])
    study = make_writing_study(haystack=haystack, annotators=[ben])
    (assignment,) = assigning.assign(study=study, by=ada, now=now)
    assert assignment.document_numbers != sorted(assignment.document_numbers)
    assert assignment.document_numbers == assigning.shuffled(range(1, 21), assignment.seed)
    assert assignment.n_words == sum(haystack.documents.values_list("n_words", flat=True))
    assert assignment.n_insights_present == 1
    assert assignment.ceiling["recall"] == 1.0


def test_two_studies_with_one_seed_deal_alike(ben, cleo, dot) -> None:
    haystack = make_haystack(golds=[[[1]], [[2]], [[3]], [[4]]])
    people = [ben, cleo, dot]
    one = make_writing_study(haystack=haystack, name="one", annotators=people, allow_second_on_haystack=True)
    two = make_writing_study(haystack=haystack, name="two", annotators=people, allow_second_on_haystack=True)
    assert [(pair.annotator, pair.subtopic) for pair in assigning.propose(one).pairs] == [
        (pair.annotator, pair.subtopic) for pair in assigning.propose(two).pairs
    ]


@pytest.mark.parametrize("reason", [reason for reason in Exposure.Reason if reason != "writing"])
def test_whoever_has_seen_insights_gets_no_task_and_the_reason_is_said(
    ben, cleo, ada, now: datetime, reason: str
) -> None:
    study = make_writing_study(annotators=[ben, cleo])
    haystack = study.writing_plan.subtopics.first().haystack
    record_exposure(user=ben, haystack=haystack, reason=reason, now=now)
    assert codes(study, ben) == {Code.EXPOSED}
    made = assigning.assign(study=study, by=ada, now=now)
    assert {assignment.annotator.user for assignment in made} == {cleo}


def test_reading_the_insights_of_another_haystack_does_no_harm(ben, now: datetime) -> None:
    study = make_writing_study(annotators=[ben])
    record_exposure(user=ben, haystack=make_haystack(key="other"), reason="linking", now=now)
    assert codes(study, ben) == set()
    haystack = study.writing_plan.subtopics.first().haystack
    record_exposure(user=ben, haystack=haystack, reason="writing", now=now)
    assert codes(study, ben) == {Code.SECOND_ON_HAYSTACK}
    # A voided session still means that somebody has written
    make_session(assignment=make_assignment(study=study, annotator=ben, state="withdrawn"), state="voided")
    assert codes(study, ben, number=1) == {Code.SAME_SUBTOPIC}
    assert codes(study, ben, number=2) == {Code.SECOND_ON_HAYSTACK}


def test_a_research_role_bars_from_writing_however_it_was_given(ben, cleo, dot) -> None:
    study = make_writing_study(annotators=[ben, cleo, dot])
    ben.groups.add(Group.objects.get(name="researcher"))
    cleo.is_superuser = True
    cleo.save()
    assert codes(study, ben) == {Code.RESEARCH_ROLE}
    assert codes(study, cleo) == {Code.RESEARCH_ROLE}
    assert codes(study, dot) == set()


def test_nobody_writes_twice_on_one_haystack_unless_the_study_allows_it(ben, ada, now: datetime) -> None:
    haystack = make_haystack()
    strict = make_writing_study(haystack=haystack, name="strict", annotators=[ben])
    assert len(assigning.assign(study=strict, by=ada, now=now)) == 1
    assert assigning.assign(study=strict, by=ada, now=now) == ()
    generous = make_writing_study(
        haystack=haystack, name="generous", annotators=[ben], allow_second_on_haystack=True
    )
    assert len(assigning.assign(study=generous, by=ada, now=now)) == 1
    assert Assignment.objects.filter(annotator__user=ben).values("subtopic").distinct().count() == 2


def test_inactive_people_and_those_who_left_get_nothing(ben, cleo, now: datetime) -> None:
    study = make_writing_study(annotators=[ben, cleo])
    Annotator.objects.filter(user=ben).update(is_active=False)
    Membership.objects.filter(annotator__user=cleo).update(left_at=now)
    assert codes(study, ben) == {Code.INACTIVE}
    subtopic = study.writing_plan.subtopics.first()
    with pytest.raises(NotEligible) as refused:
        assigning.check_eligible(annotator=annotator_of(cleo), subtopic=subtopic, study=study, now=now)
    assert refused.value.codes == {Code.NOT_MEMBER}


def test_one_person_can_be_given_one_subtopic_by_hand_under_the_same_rule(ben, ada, now: datetime) -> None:
    study = make_writing_study(annotators=[ben])
    first, second = study.writing_plan.subtopics.order_by("number")
    task = assigning.assign_one(study=study, annotator=annotator_of(ben), subtopic=second, by=ada, now=now)
    assert (task.subtopic, task.state) == (second, "assigned")
    with pytest.raises(NotEligible) as refused:
        assigning.assign_one(study=study, annotator=annotator_of(ben), subtopic=first, by=ada, now=now)
    assert refused.value.codes == {Code.SECOND_ON_HAYSTACK}
    elsewhere = make_haystack(key="other").subtopics.first()
    with pytest.raises(NotEligible) as refused:
        assigning.assign_one(study=study, annotator=annotator_of(ben), subtopic=elsewhere, by=ada, now=now)
    assert refused.value.codes == {Code.NOT_IN_STUDY}


def test_a_withdrawn_task_can_go_to_somebody_else_and_back(ben, cleo, ada, now: datetime) -> None:
    study = make_writing_study(annotators=[ben, cleo])
    task = make_assignment(study=study, annotator=ben)
    other = assigning.reassign(assignment=task, to=annotator_of(cleo), reason="on leave", by=ada, now=now)
    task.refresh_from_db()
    assert (task.state, task.withdrawn_reason, task.withdrawn_at) == ("withdrawn", "on leave", now)
    assert (other.annotator.user, other.subtopic) == (cleo, task.subtopic)
    assert codes(study, ben) == set()


def test_a_refused_reassignment_leaves_the_task_where_it_was(ben, cleo, ada, now: datetime) -> None:
    task = make_assignment(study=make_writing_study(annotators=[ben, cleo]), annotator=ben)
    record_exposure(user=cleo, haystack=task.haystack, reason="page", now=now)
    with pytest.raises(NotEligible):
        assigning.reassign(assignment=task, to=annotator_of(cleo), reason="", by=ada, now=now)
    task.refresh_from_db()
    assert task.state == "assigned"


@pytest.mark.every_database
@pytest.mark.parametrize("state", ["started", "done"])
def test_work_that_has_begun_is_not_taken_back(ben, ada, now: datetime, state: str) -> None:
    task = make_assignment(annotator=ben, state=state)
    with pytest.raises(assigning.NotWithdrawable):
        assigning.withdraw(assignment=task, reason="", by=ada, now=now)


def test_the_rule_is_asked_again_when_a_session_starts(ben, now: datetime) -> None:
    task = make_assignment(annotator=ben)
    assigning.ensure_still_eligible(assignment=task, now=now)
    record_exposure(user=ben, haystack=task.haystack, reason="linking", now=now)
    with pytest.raises(NotEligible) as refused:
        assigning.ensure_still_eligible(assignment=task, now=now)
    assert refused.value.codes == {Code.EXPOSED}


def test_a_task_never_stands_in_its_own_way_even_after_it_began(ben, now: datetime) -> None:
    task = make_assignment(annotator=ben, state="started")
    make_session(assignment=task, state="running")
    record_exposure(user=ben, haystack=task.haystack, reason="writing", now=now)
    assigning.ensure_still_eligible(assignment=Assignment.objects.get(pk=task.pk), now=now)


def test_of_two_waiting_tasks_on_a_haystack_the_first_to_start_blocks_the_other(ben, now: datetime) -> None:
    first = make_assignment(annotator=ben)
    study = first.study
    second = make_assignment(study=study, annotator=ben, subtopic=study.writing_plan.subtopics.get(number=2))
    assigning.ensure_still_eligible(assignment=second, now=now)
    make_session(assignment=first, state="running")
    with pytest.raises(NotEligible) as refused:
        assigning.ensure_still_eligible(assignment=second, now=now)
    assert refused.value.codes == {Code.SECOND_ON_HAYSTACK}


def test_a_closed_study_a_withdrawn_task_and_missing_consent_stop_a_start(ben, now: datetime) -> None:
    task = make_assignment(annotator=ben, state="withdrawn", with_consent=False)
    consent.ensure_default_consent(now=now)
    Study.objects.update(state="closed")
    with pytest.raises(NotEligible) as refused:
        assigning.ensure_still_eligible(assignment=Assignment.objects.get(pk=task.pk), now=now)
    assert refused.value.codes == {Code.WITHDRAWN, Code.STUDY_CLOSED, Code.NO_CONSENT}


def test_practice_comes_first_where_there_is_a_practice_corpus(ben, now: datetime) -> None:
    task = make_assignment(annotator=ben)
    make_haystack(key="tryout", is_practice=True)
    with pytest.raises(NotEligible) as refused:
        assigning.ensure_still_eligible(assignment=task, now=now)
    assert refused.value.codes == {Code.NO_PRACTICE}
    practice = assigning.practice_assignment(annotator=annotator_of(ben), now=now)
    assert practice == assigning.practice_assignment(annotator=annotator_of(ben), now=now)
    assigning.ensure_still_eligible(assignment=practice, now=now)
    Assignment.objects.filter(pk=practice.pk).update(state="done")
    assigning.ensure_still_eligible(assignment=task, now=now)


def test_a_practice_task_shows_what_three_minutes_suffice_to_read(ben, now: datetime) -> None:
    assert assigning.practice_assignment(annotator=annotator_of(ben), now=now) is None
    make_haystack(
        key="tryout", is_practice=True, n_documents=8, words_per_document=200, golds=[[list(range(1, 9))]]
    )
    assert assigning.practice_assignment(annotator=annotator_of(ben), now=now).n_words == 400


def test_a_ranking_study_shows_what_the_retriever_found(ben, ada, now: datetime) -> None:
    study = make_writing_study(
        annotators=[ben], setting="ranking", retriever="bm25", token_budget=100, sessions_per_subtopic=1
    )
    for subtopic in study.writing_plan.subtopics.all():
        RetrieverRanking.objects.create(subtopic=subtopic, retriever="bm25", scores={"6": 0.9, "5": 0.8, "1": 0.1})
    (task,) = assigning.assign(study=study, by=ada, now=now)
    assert sorted(task.document_numbers) == [5, 6]


def test_what_is_missing_is_said_per_subtopic(ben) -> None:
    proposal = assigning.propose(make_writing_study(annotators=[ben], sessions_per_subtopic=2))
    assert len(proposal.pairs) == 1
    assert sorted(n_have for _subtopic, n_have in proposal.shortfalls) == [0, 1]


def test_a_cap_on_tasks_per_person_is_kept(ben, ada, now: datetime) -> None:
    study = make_writing_study(annotators=[ben], allow_second_on_haystack=True)
    assert len(assigning.assign(study=study, by=ada, now=now, max_tasks=1)) == 1


def test_assigning_asks_as_many_questions_for_twenty_people_as_for_two(ben, django_assert_max_num_queries) -> None:
    study = make_writing_study(annotators=[ben], allow_second_on_haystack=True, sessions_per_subtopic=20)
    for number in range(2, 21):
        person = Annotator.objects.create(label=f"Writer {number}", created_at=NOW)
        Membership.objects.create(study=study, annotator=person, number=number, joined_at=NOW)
    with django_assert_max_num_queries(12):
        assigning.propose(study)


class NeverAnExposedPerson(TestCase):
    """Whatever was seen and by whom, automatic assignment keeps to the rule and deals evenly."""

    @given(
        seen=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=6),
        wanted=st.integers(1, 3),
        second=st.booleans(),
    )
    def test_rule_holds(self, seen: set[tuple[int, int]], wanted: int, second: bool) -> None:
        from tests.conftest import make_user

        people = [make_user(f"writer{number}", "annotator") for number in range(4)]
        haystacks = [make_haystack(key=f"h{number}") for number in range(2)]
        study = make_writing_study(
            haystack=haystacks[0], annotators=people, sessions_per_subtopic=wanted, allow_second_on_haystack=second
        )
        study.writing_plan.subtopics.add(*haystacks[1].subtopics.all())
        for person, haystack in seen:
            record_exposure(user=people[person], haystack=haystacks[haystack], reason="page", now=NOW)
        made = assigning.assign(study=study, by=None, now=NOW + timedelta(hours=1))
        barred = {(people[person].pk, haystacks[haystack].pk) for person, haystack in seen}
        assert not {(task.annotator.user_id, task.subtopic.haystack_id) for task in made} & barred
        if not seen:
            load = Counter(task.annotator_id for task in made)
            counts = [load[annotator_of(person).pk] for person in people]
            assert max(counts) - min(counts) <= 1


def _published_material(topic: dict[str, Any], subtopic: dict[str, Any]) -> Material:
    golds = [
        frozenset(
            number
            for number, document in enumerate(topic["documents"], 1)
            if insight["insight_id"] in document["insights_included"]
        )
        for insight in subtopic["insights"]
    ]
    return Material(
        subtopic_id=1,
        name=subtopic["subtopic_name"],
        documents=tuple(
            (number, len(document["document_text"].split()))
            for number, document in enumerate(topic["documents"], 1)
        ),
        golds=tuple(golds),
    )


def _cited_by_two(topic: dict[str, Any], subtopic: dict[str, Any]) -> set[int]:
    """Documents that at least two published summaries of the oracle setting cite."""
    counts: Counter[int] = Counter()
    for key, text in subtopic["summaries"].items():
        if key.startswith("summary_subtopic_oracle_"):
            counts.update({number for line in lines_from_list(text) for number in line.citations})
    return {number for number, n in counts.items() if n >= 2 and 1 <= number <= len(topic["documents"])}


def test_the_attainable_ceiling_of_the_published_haystack_is_that_of_its_insights_together(
    published: Path,
) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    n_insights, total, minutes = 0, 0.0, []
    for subtopic in topic["subtopics"]:
        documents = choose(_published_material(topic, subtopic), Rule())
        n_insights += documents.n_insights
        total += documents.ceiling["f1"] * documents.n_insights
        minutes.append(reading_minutes(documents.n_words))
        assert documents.n_insights_present == documents.n_insights
    assert n_insights == 65
    assert total / n_insights == pytest.approx(0.8461, abs=1e-4)
    assert 45 < min(minutes) <= max(minutes) < 66


def test_the_published_oracle_shows_136_of_the_137_documents_that_its_summaries_cite(published: Path) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    n_cited = n_shown = 0
    for subtopic in topic["subtopics"]:
        shown = set(choose(_published_material(topic, subtopic), Rule(include_zero_insight=True)).numbers)
        cited = _cited_by_two(topic, subtopic)
        n_cited += len(cited)
        n_shown += len(cited & shown)
    assert (n_shown, n_cited) == (136, 137)
