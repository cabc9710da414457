"""Verification studies are dealt by whole questions, with a control group, and keep what was begun."""

import time
from collections import Counter, defaultdict
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotation.labelling.handling import OwnTask
from annotation.labelling.recording import record
from annotation.models import LabelItem, LabelTask, Study, VerificationPlan
from annotation.studies import lifecycle, members
from annotation.studies.kind import work_of
from annotation.studies.lifecycle import Details
from annotation.verification import items
from annotation.verification.answers import POINT, Judgments
from annotation.verification.items import NoRoomForChecks
from benchmarks.models import KeyPoint, Question
from tests.makers import annotator_of
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db


def make(people, questions, now: datetime, *, by=None, **plan) -> Study:
    study = items.create_study(
        details=Details(name=f"Verify {Study.objects.count()}"),
        plan=VerificationPlan(**plan),
        questions=questions,
        guidelines="Read.",
        annotators=[annotator_of(person) for person in people],
        by=by,
        now=now,
        seed=7,
    )
    return lifecycle.open_study(study=study, by=by, now=now)


def holdings(study: Study) -> dict[int, set[int]]:
    """{question: people who have all of its items}."""
    sizes = Counter(study.label_items.values_list("question", flat=True))
    held: Counter[tuple[int, int]] = Counter(study.label_tasks.values_list("annotator", "item__question"))
    found: dict[int, set[int]] = defaultdict(set)
    for (person, question), n in held.items():
        assert n == sizes[question], "a part of a question was dealt"
        found[question].add(person)
    return found


def begin(study: Study, person, now: datetime, *, at: int = 0) -> LabelTask:
    task: LabelTask = study.label_tasks.filter(annotator__user=person).order_by("position")[at]
    own = OwnTask(person.pk, task.uid)
    record(kind=POINT, tasks=own, answer=Judgments("no"), op_id=str(task.uid), now=now)
    return task


def test_everyone_gets_the_control_group_and_the_rest_is_shared(ada, ben, cleo, now: datetime) -> None:
    study = make([ben, cleo], make_questions(20, n_points=3), now, by=ada)
    held = holdings(study)
    control = {item.question_id for item in study.label_items.filter(is_overlap=True)}
    assert len(control) == 2
    assert all(len(held[question]) == (2 if question in control else 1) for question in held)
    assert sorted(Counter(study.label_tasks.values_list("annotator", flat=True)).values()) == [33, 33]
    for person in (ben, cleo):
        rows = list(
            study.label_tasks.filter(annotator__user=person)
            .order_by("position")
            .values_list("position", "item__question", "item__key_point__number")
        )
        assert [row[0] for row in rows] == list(range(1, 34))
        assert [row[2] for row in rows] == [1, 2, 3] * 11
        assert len({tuple(row[1] for row in rows[at : at + 3]) for at in range(0, 33, 3)}) == 11


def test_control_questions_stand_anywhere_in_the_order(ben, cleo, dot, now: datetime) -> None:
    study = make([ben, cleo, dot], make_questions(30, n_points=1), now, control_share=Decimal("0.3"))
    places = study.label_tasks.filter(item__is_overlap=True).values_list("position", flat=True)
    assert min(places) < 5 < 11 < max(places)


def test_what_somebody_left_unfinished_goes_whole_to_somebody_else(ben, cleo, now: datetime) -> None:
    study = make([ben, cleo], make_questions(10, n_points=3), now, control_share=Decimal(0))
    task = begin(study, ben, now)
    members.remove_annotator(study=study, annotator=annotator_of(ben), reason="moved", by=None, now=now)
    assert study.label_tasks.filter(annotator__user=ben).count() == 1
    assert work_of(study).gaps(study).n_short() > 0
    work_of(study).deal(study=study, by=None, now=now)
    assert study.label_tasks.filter(annotator__user=cleo).count() == 30
    assert study.label_tasks.filter(annotator__user=ben).get() == task
    assert work_of(study).gaps(study).n_short() == 0


def test_who_comes_back_gets_the_rest_of_the_control_group(ben, cleo, now: datetime) -> None:
    study = make([ben, cleo], make_questions(3, n_points=3), now, control_share=Decimal(1))
    begin(study, ben, now)
    members.remove_annotator(study=study, annotator=annotator_of(ben), reason="ill", by=None, now=now)
    members.add_annotators(study=study, annotators=[annotator_of(ben)], by=None, now=now)
    work_of(study).deal(study=study, by=None, now=now)
    places = study.label_tasks.filter(annotator__user=ben).order_by("position").values_list("position", flat=True)
    assert list(places) == list(range(1, 10))
    assert work_of(study).gaps(study).n_short() == 0


def test_attention_checks_sit_in_the_control_group_and_look_alike(ben, now: datetime) -> None:
    study = make([ben], make_questions(10, n_points=2), now, control_share=Decimal("0.2"), n_attention_checks=3)
    checks = study.label_items.filter(role=LabelItem.Role.GOLD).select_related("key_point", "highlight_of")
    assert len(checks) == 3
    for check in checks:
        shown, foreign = check.question, check.key_point.question
        assert shown.pk != foreign.pk
        assert shown.domain != foreign.domain
        assert check.is_overlap
        assert check.highlight_of.question_id == shown.pk
    ordinary = study.label_items.filter(role=LabelItem.Role.ORDINARY)
    assert {item.key_point_id for item in ordinary} == {item.highlight_of_id for item in ordinary}
    assert begin(study, ben, now).pointlabels.get().is_check in {True, False}


def test_attention_checks_need_a_control_group(ben, now: datetime) -> None:
    with pytest.raises(NoRoomForChecks):
        make([ben], make_questions(3), now, control_share=Decimal(0), n_attention_checks=1)


def test_a_share_of_the_points_has_no_highlight(ben, now: datetime) -> None:
    study = make([ben], make_questions(10, n_points=2), now, share_without_highlight=Decimal("0.25"))
    assert study.label_items.filter(highlight_of=None).count() == 5


def test_questions_are_added_once_and_questions_without_points_never(ben, now: datetime) -> None:
    questions = make_questions(12)
    study = make([ben], questions[:10], now)
    questions[11].key_points.all().delete()
    assert items.add_questions(study=study, questions=questions, by=None, now=now) == 1
    assert items.add_questions(study=study, questions=questions, by=None, now=now) == 0
    work_of(study).deal(study=study, by=None, now=now)
    assert study.label_tasks.count() == 22


def test_a_sample_of_questions_is_stratified_and_repeatable(now: datetime) -> None:
    questions = make_questions(24)
    drawn = items.draw_questions(questions, 8, seed=3)
    assert drawn == items.draw_questions(questions, 8, seed=3)
    assert set(Counter(row.category for row in drawn).values()) == {2}


@example(n=3, per_question=2, share="0", steps=["join", "rebalance"])
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(1, 12),
    per_question=st.integers(1, 3),
    share=st.sampled_from(["0", "0.1", "0.5", "1"]),
    steps=st.lists(st.sampled_from(["join", "leave", "work", "deal", "rebalance"]), max_size=6),
)
def test_whatever_happens_work_stays_and_questions_go_whole(
    ben, cleo, dot, now: datetime, n: int, per_question: int, share: str, steps: list[str]
) -> None:
    questions = make_questions(n, dataset=f"set-{Study.objects.count()}")
    study = make([ben, cleo], questions, now, people_per_question=per_question, control_share=Decimal(share))
    answered: set[int] = set()
    for step in steps:
        if step == "join":
            members.add_annotators(study=study, annotators=[annotator_of(dot)], by=None, now=now)
        elif step == "leave":
            members.remove_annotator(study=study, annotator=annotator_of(ben), reason="x", by=None, now=now)
        elif step == "work" and (row := study.label_tasks.filter(state="todo", annotator__user=cleo).first()):
            own = OwnTask(cleo.pk, row.uid)
            record(kind=POINT, tasks=own, answer=Judgments("no"), op_id=str(row.uid), now=now)
            answered.add(row.pk)
        else:
            work_of(study).deal(study=study, by=None, now=now, rebalance=step == "rebalance")
    work_of(study).deal(study=study, by=None, now=now)
    assert answered <= set(study.label_tasks.values_list("pk", flat=True))
    people = set(study.memberships.current().values_list("annotator", flat=True))
    shared = set(study.label_items.filter(is_overlap=True).values_list("question", flat=True))
    for question, holders in holdings(study).items():
        present = holders & people
        assert present == people if question in shared else len(present) >= min(per_question, len(people))
    for person in people:
        places = study.label_tasks.filter(annotator=person).order_by("position").values_list("position", flat=True)
        assert list(places) == list(range(1, len(places) + 1))


def test_a_large_study_is_dealt_in_seconds(ben, cleo, dot, now: datetime) -> None:
    questions = Question.objects.bulk_create(
        Question(dataset="large", key=f"q{at}", text="?", category=str(at % 8), created_at=now)
        for at in range(560)
    )
    KeyPoint.objects.bulk_create(
        KeyPoint(question=row, number=number, key=f"k{number}", text="…")
        for row in questions
        for number in range(1, 16)
    )
    began = time.perf_counter()
    study = make([ben, cleo, dot], questions, now)
    assert time.perf_counter() - began < 20
    assert study.label_items.count() == 8400
