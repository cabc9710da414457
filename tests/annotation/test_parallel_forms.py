"""Parallel forms of writing studies: who writes on what in which order, and what is shown of it."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Assignment, Study
from annotation.studies.kind import NotReady, work_of
from annotation.studies.lifecycle import Details, details_of
from annotation.studies.scope import record_exposure
from annotation.work.tasklist import board
from annotation.writing import assigning, planning, scoring
from annotation.writing.assigning import SessionGaps
from annotation.writing.eligibility import Code, Forms, NotEligible, Task, apart, deal_forms, forms_of
from benchmarks.engine import judging
from benchmarks.models import Haystack, JudgeRun
from benchmarks.results.sheet import Section
from tests.annotation.leaderboard.board import report, written
from tests.makers import NOW, annotator_of, flat, make_haystack, make_writing_study
from tests.synthesis.worlds import pack

HALVES = Forms(
    (1, 2, 3, 4),
    (11, 12, 13, 14),
    frozenset({*product((1, 2), (13, 14)), *product((3, 4), (11, 12))}),
)
"""Two halves with nothing in common, as packs make them: the same number stands for the same place."""


def by_person(tasks: tuple[Task, ...]) -> dict[int, list[int]]:
    mine: dict[int, list[int]] = defaultdict(list)
    for person, subtopic in tasks:
        mine[person].append(subtopic)
    return mine


def test_subtopics_are_apart_where_nothing_is_met_twice_even_through_a_neighbour() -> None:
    met_a = {1: {1, 2}, 2: {1, 2}, 3: {3}}
    met_b = {11: {1, 2}, 12: {2, 1}, 13: {3, 2}}
    assert apart(met_a, met_b) == {(3, 11), (3, 12)}, "13 meets 2, which stands in the documents of 1 and 2"


@given(st.integers(0, 20), st.integers(1, 4), st.integers(0, 99))
def test_everybody_gets_one_of_each_form_in_balanced_order_and_shares_nothing(
    n: int, wanted: int, seed: int
) -> None:
    dealt = deal_forms(HALVES, range(n), wanted=wanted, seed=str(seed))
    mine = by_person(dealt)
    for first, second in mine.values():
        assert tuple(sorted((first, second))) in HALVES.apart
    assert len(mine) == min(n, 4 * wanted), "as many people as there are places"
    assert all(n_of <= wanted for n_of in Counter(subtopic for _person, subtopic in dealt).values())
    assert abs(2 * sum(first in HALVES.a for first, _second in mine.values()) - len(mine)) <= 1
    assert dealt == deal_forms(HALVES, range(n), wanted=wanted, seed=str(seed))


@given(
    st.sets(st.tuples(st.sampled_from(HALVES.a), st.sampled_from(HALVES.b))),
    st.sets(st.tuples(st.integers(0, 6), st.sampled_from(HALVES.a + HALVES.b))),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_nothing_barred_nor_joined_is_given_and_nobody_is_left_with_one(
    pairs: set[tuple[int, int]], barred: set[Task], wanted: int, seed: int
) -> None:
    forms = Forms(HALVES.a, HALVES.b, frozenset(pairs))
    dealt = deal_forms(forms, range(7), wanted=wanted, seed=str(seed), barred=barred)
    assert not barred & set(dealt)
    assert all(tuple(sorted(subtopics)) in pairs for subtopics in by_person(dealt).values())


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 99))
def test_people_who_join_later_keep_the_order_balanced(joining: list[int], seed: int) -> None:
    have: tuple[Task, ...] = ()
    for at in range(len(joining)):
        have += deal_forms(HALVES, range(sum(joining[: at + 1])), wanted=50, seed=str(seed), have=have)
        firsts = [subtopics[0] in HALVES.a for subtopics in by_person(have).values()]
        assert abs(2 * sum(firsts) - len(firsts)) <= 1
    assert all(len(subtopics) == 2 for subtopics in by_person(have).values())


def test_who_has_a_task_gets_the_other_form_after_it_and_counts_for_the_balance() -> None:
    mine = by_person(deal_forms(HALVES, [1, 2], wanted=2, seed="7", have=[(1, 1)]))
    assert [(1, second) in HALVES.apart for second in mine[1]] == [True]
    assert mine[2][0] in HALVES.b, "the first person begins with form A"


def test_nobody_gets_half_of_a_pair_where_one_form_is_full() -> None:
    full = [(person, subtopic) for person, subtopic in enumerate(HALVES.b, 50)]
    assert deal_forms(HALVES, [1, 2], wanted=1, seed="7", have=full) == ()


GOLDS = [[[1, 2, 3], [2, 3]], [[4, 5], [5, 6]]]
HALF = "- In part {0}, every day the ferry leaves at six in the morning [1]"
WHOLE = HALF + "\n- In part {0}, as planned the new pier opens in the spring of 2031 [2]"


@pytest.fixture
def forms_study(ada, ben, cleo, dot) -> Study:
    """Three people on two forms of two subtopics that share no document."""
    return make_forms_study(researcher=ada, annotators=[ben, cleo, dot])


def make_forms_study(*, golds=GOLDS, annotators, **fields) -> Study:
    first, second = (make_haystack(key=key, title=key.title(), golds=golds) for key in ("tide", "ebb"))
    study = make_writing_study(haystack=first, annotators=annotators, parallel_forms=True, **fields)
    study.writing_plan.subtopics.add(*second.subtopics.all())
    return study


def test_each_person_gets_one_task_of_each_form_on_other_subtopics(forms_study: Study, ada, now: datetime) -> None:
    made = assigning.assign(study=forms_study, by=ada, now=now, max_tasks=1)
    mine: dict[Any, list[Assignment]] = defaultdict(list)
    for task in sorted(made, key=lambda task: task.pk):
        mine[task.annotator].append(task)
    assert [len(tasks) for tasks in mine.values()] == [2, 2, 2]
    for tasks in mine.values():
        assert {task.subtopic.haystack.title for task in tasks} == {"Tide", "Ebb"}
        assert {task.subtopic.number for task in tasks} == {1, 2}
    assert sorted(Counter(tasks[0].subtopic.haystack.title for tasks in mine.values()).values()) == [1, 2]
    assert assigning.assign(study=forms_study, by=ada, now=now) == ()


def test_a_task_that_shares_insights_with_the_other_form_is_refused_by_hand(
    forms_study: Study, ada, ben, now: datetime
) -> None:
    one, same = forms_study.writing_plan.subtopics.filter(number=1).order_by("haystack_id")
    other = forms_study.writing_plan.subtopics.get(number=2, haystack=same.haystack)
    give = {"study": forms_study, "annotator": annotator_of(ben), "by": ada, "now": now}
    assigning.assign_one(subtopic=one, **give)
    with pytest.raises(NotEligible) as refused:
        assigning.assign_one(subtopic=same, **give)
    assert refused.value.codes == {Code.NOT_APART}
    assert assigning.assign_one(subtopic=other, **give).subtopic == other


def test_the_second_form_opens_when_the_first_is_done_and_says_so_in_both_languages(
    forms_study: Study, ada, ben, now: datetime
) -> None:
    assigning.assign(study=forms_study, by=ada, now=now)
    first, second = forms_study.assignments.filter(annotator=annotator_of(ben)).order_by("pk")
    assert Code.OTHER_FORM_FIRST not in {one.code for one in assigning.what_stands_in_the_way(first)}
    assert [one.code for one in assigning.what_stands_in_the_way(second)] == [Code.OTHER_FORM_FIRST]
    page = board(annotator_of(ben), now)
    assert [row.assignment for row in page.rows] == [first]
    [blocked] = page.blocked
    assert (blocked.assignment, blocked.blocked) == (
        second,
        "You write two summaries in this study, in a fixed order. This task opens after the other one.",
    )
    with translation.override("de"):
        [blocked] = board(annotator_of(ben), now).blocked
        assert "in fester Reihenfolge" in blocked.blocked
    Assignment.objects.filter(pk=first.pk).update(state=Assignment.State.DONE)
    assert assigning.what_stands_in_the_way(second) == ()
    assert [row.assignment for row in board(annotator_of(ben), now).rows] == [second]


def test_a_study_whose_forms_are_not_apart_cannot_open_and_says_why(ada, ben) -> None:
    joined = make_forms_study(golds=[[[1, 2]], [[2, 3]]], annotators=[ben])
    [problem] = work_of(joined).opening_problems(joined)
    assert "shares insights with every subtopic of the other" in problem
    assert assigning.propose(joined).pairs == ()
    joined.writing_plan.subtopics.set(joined.writing_plan.subtopics.filter(haystack__key="tide"))
    assert work_of(joined).opening_problems(joined) == [
        "Parallel forms need subtopics of two haystacks, no more and no fewer."
    ]


def test_all_documents_of_a_haystack_leave_nothing_apart(forms_study: Study) -> None:
    forms = forms_of(forms_study)
    assert len(forms.apart) == 2
    forms_study.writing_plan.setting = "full"
    forms = forms_of(forms_study)
    assert forms.apart == frozenset()


def test_who_may_see_one_form_only_is_blocked_with_the_reason(forms_study: Study, ben, now: datetime) -> None:
    haystack = forms_study.writing_plan.subtopics.first().haystack
    record_exposure(user=ben, haystack=haystack, reason="linking", now=now)
    [blocked] = SessionGaps(forms_study).blocked()
    assert blocked.annotator == annotator_of(ben)
    assert "Has seen reference insights of this haystack" in str(blocked.reasons)
    assert annotator_of(ben) not in {pair.annotator for pair in assigning.propose(forms_study).pairs}


def test_there_is_room_for_people_who_join_with_both_forms(forms_study: Study) -> None:
    assert assigning.shares_of_newcomers(study=forms_study, n=5, max_tasks=1) == [2], "of four places"


def test_results_are_paired_by_person(forms_study: Study, as_ada, ben, cleo, dot) -> None:
    """Coverage on A and B: ben .5, 1, dot 1, 1 (both A first), cleo 1, 1 (B first).

    The means of B minus A are .25 and 0, so the forms differ by .125 and the second text from the first by .125.
    Squares .125 over 1 degree of freedom; standard error .353553 / 2 * sqrt(1/2 + 1) = .216506; t(1) = 12.7062.
    """
    tide, ebb = forms_study.writing_plan.subtopics.filter(number=1).order_by("haystack_id")
    later = forms_study.writing_plan.subtopics.get(number=2, haystack=ebb.haystack)
    for person, text, in_order in ((ben, HALF, True), (dot, WHOLE, True), (cleo, WHOLE, False)):
        started = [NOW, NOW + timedelta(hours=3)][:: 1 if in_order else -1]
        written(person, forms_study, text.format(1), now=NOW, subtopic=tide, started_at=started[0])
        written(person, forms_study, WHOLE.format(2), now=NOW, subtopic=later, started_at=started[1])
    scoring.score_snapshots(now=NOW)
    for run in JudgeRun.objects.exclude(state=JudgeRun.State.DONE):
        judging.run_pending(run=run, clock=lambda: NOW)
    sheet = as_ada.get(reverse("annotation:study-results", args=[forms_study.uid])).context["sheet"]
    table = sheet.table("forms")
    form_a, form_b, difference, order = (row.value("coverage") for row in table.rows)
    assert [row.names[0] for row in table.rows[:2]] == ["Form A: Tide", "Form B: Ebb"]
    assert (form_a.value, form_a.n_items) == (pytest.approx(250 / 3), 3)
    assert (form_b.value, form_b.n_items) == (pytest.approx(100), 3)
    for stat in (difference, order):
        assert (stat.value, stat.n_pairs) == (pytest.approx(12.5), 3)
        half = 100 * 12.7062 * 0.216506
        assert (stat.low, stat.high) == pytest.approx((12.5 - half, 12.5 + half), abs=0.01)
    [section] = [part for part in sheet.walk() if isinstance(part, Section) and part.key == "forms-part"]
    assert "2 began with form A and 1 with form B" in section.about
    forms = report("results", "--study", forms_study.name)["forms"]
    assert forms["b_minus_a"]["coverage"] == pytest.approx(0.125)
    assert forms["n_people"] == {"a_first": 2, "b_first": 1}


def test_one_person_gives_no_difference_and_the_page_says_why(forms_study: Study, as_ada, ben) -> None:
    tide = forms_study.writing_plan.subtopics.order_by("haystack_id", "number").first()
    written(ben, forms_study, WHOLE.format(1), now=NOW, subtopic=tide)
    page = as_ada.get(reverse("annotation:study-results", args=[forms_study.uid]))
    difference = page.context["sheet"].table("forms").rows[2].value("coverage")
    assert difference.undefined_reason == "fewer than two people with a score on both forms"


def test_the_form_of_a_study_wants_two_haystacks(as_ada) -> None:
    haystacks = [make_haystack(key=key, golds=GOLDS).pk for key in ("tide", "ebb", "neap")]
    sent = {
        "name": "Forms",
        "hourly_rate": "25",
        "currency": "USD",
        "guidelines": "Read.",
        "setting": "oracle",
        "token_budget": 5000,
        "limit_minutes": "30",
        "mark_minutes": "5",
        "sessions_per_subtopic": 2,
        "preset": "paper",
        "paste_policy": "block",
        "disconnect_policy": "keep_running",
        "parallel_forms": True,
        "allow_second_on_haystack": True,
    }
    address = reverse("annotation:study-create", args=["writing"])
    refused = as_ada.post(address, sent | {"haystacks": haystacks})
    assert refused.status_code == 422
    assert "Choose subtopics of two haystacks, no more and no fewer." in flat(refused.text)
    assert as_ada.post(address, sent | {"haystacks": haystacks[:2]}).status_code == 302
    plan = Study.objects.get(name="Forms").writing_plan
    assert (plan.parallel_forms, plan.allow_second_on_haystack) == (True, False)


def test_forms_are_not_switched_while_there_are_tasks(forms_study: Study, ada, now: datetime) -> None:
    assigning.assign(study=forms_study, by=ada, now=now)
    plan = Study.objects.get(pk=forms_study.pk).writing_plan
    plan.parallel_forms = False
    with pytest.raises(NotReady, match="Withdraw the tasks first"):
        planning.update_study(
            study=forms_study,
            details=Details(**details_of(forms_study)),
            plan=plan,
            subtopics=plan.subtopics.all(),
            by=ada,
            now=now,
        )


@pytest.mark.django_db
@pytest.mark.needs("synthesis")
def test_each_subtopic_of_a_half_of_a_pack_is_apart_from_each_of_the_other(tmp_path: Path, ben) -> None:
    for seed, unlike in ((1, ()), (2, ("--unlike=1",))):
        made = tmp_path / f"{seed}.json"
        call_command("synthesize", "pack", "baths", f"--seed={seed}", *unlike, f"--out={made}", stdout=StringIO())
        call_command("import_dataset", "summhay", str(made), stdout=StringIO(), stderr=StringIO())
    first, second = Haystack.objects.order_by("pk")
    study = make_writing_study(haystack=first, annotators=[ben], parallel_forms=True)
    study.writing_plan.subtopics.add(*second.subtopics.all())
    forms = forms_of(study)
    number = dict(study.writing_plan.subtopics.values_list("pk", "number"))
    half = {place: subtopic.form for place, subtopic in enumerate(pack().subtopics, 1)}
    assert {(number[a], number[b]) for a, b in forms.apart} == {
        (a, b) for a in half for b in half if half[a] != half[b]
    }
