"""Storing the two judgments on a key point: append-only, whole answers, undo, replay, time, what is refused."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.labelling.handling import OwnTask, TaskRefused
from annotation.labelling.recording import record, undo
from annotation.models import Guideline, LabelItem, LabelTask, PointLabel, Study
from annotation.verification.answers import POINT, Judgments
from tests.annotation.points import make_points_study
from tests.makers import annotator_of, label_task

SECOND = timedelta(seconds=1)
YES, NO = Judgments("yes"), Judgments("no")
KEY = Judgments("yes", "agree")


@pytest.fixture
def task(ben) -> LabelTask:
    return label_task(make_points_study(annotators=[ben]), ben)


def say(task: LabelTask, choice: Judgments, *, now: datetime, **more):
    values: dict[str, Any] = {"op_id": uuid4().hex, **more}
    return record(kind=POINT, tasks=LabelTask.objects.filter(pk=task.pk), answer=choice, now=now, **values)


def current(task: LabelTask) -> PointLabel:
    return PointLabel.objects.get(task=task, is_current=True)


def test_a_yes_alone_is_kept_and_counts_for_nothing_yet(task: LabelTask, now: datetime) -> None:
    half = say(task, YES, now=now)
    assert (half.task.state, half.task.n_answered, half.answer.is_complete) == ("begun", 0, False)
    assert not PointLabel.objects.for_figures().exists()
    whole = say(task, KEY, now=now + SECOND)
    assert (whole.task.state, whole.task.n_answered) == ("done", 1)
    assert list(PointLabel.objects.for_figures()) == [current(task)]


def test_a_no_is_a_whole_answer_and_keeps_no_keyness(task: LabelTask, now: datetime) -> None:
    say(task, KEY, now=now)
    outcome = say(task, Judgments("no", "agree", is_unsure=True), now=now)
    assert outcome.answer == Judgments("no", "", is_unsure=True)
    assert (outcome.task.state, current(task).keyness, current(task).is_complete) == ("done", "", True)
    say(task, YES, now=now)
    assert (current(task).grounded, current(task).keyness) == ("yes", "")


def test_a_cleared_answer_opens_the_task_again(task: LabelTask, now: datetime) -> None:
    say(task, NO, now=now)
    outcome = say(task, Judgments("", "", is_unsure=True), now=now)
    assert (outcome.answer, outcome.task.state, outcome.task.n_answered) == (Judgments(), "begun", 0)
    assert (current(task).grounded, current(task).is_complete) == ("", False)


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (Judgments("perhaps"), "invalid"),
        (Judgments("yes", "much"), "invalid"),
        (Judgments("", "agree"), "yes_first"),
    ],
)
def test_what_cannot_be_meant_is_refused(task: LabelTask, now: datetime, choice: Judgments, code: str) -> None:
    with pytest.raises(TaskRefused) as refused:
        say(task, choice, now=now)
    assert refused.value.code == code
    assert not PointLabel.objects.exists()


def test_a_closed_study_takes_nothing(task: LabelTask, now: datetime) -> None:
    say(task, YES, now=now)
    Study.objects.update(state="closed")
    own = LabelTask.objects.filter(pk=task.pk)
    for act in (lambda: say(task, NO, now=now), lambda: undo(kinds=[POINT], tasks=own, op_id="x", now=now)):
        with pytest.raises(TaskRefused) as refused:
            act()
        assert refused.value.code == "closed"
    assert PointLabel.objects.count() == 1


def test_the_version_of_the_guidelines_on_screen_is_kept(task: LabelTask, now: datetime) -> None:
    Guideline.objects.create(study=task.study, version=2, body="New words.", created_at=now)
    say(task, YES, now=now, guideline_version=1)
    assert current(task).guideline.version == 1
    say(task, NO, now=now, guideline_version=99)
    assert current(task).guideline.version == 2


def test_answers_to_attention_checks_are_marked_and_enter_no_figure(task: LabelTask, now: datetime) -> None:
    LabelItem.objects.filter(pk=task.item_id).update(role=LabelItem.Role.GOLD, is_overlap=True)
    say(task, KEY, now=now)
    assert current(task).is_check
    assert not PointLabel.objects.for_figures().exists()


@pytest.mark.every_database
@pytest.mark.parametrize(
    "row",
    [
        {"grounded": "no", "keyness": "agree", "is_complete": True},
        {"grounded": "yes", "keyness": "", "is_complete": True},
        {"grounded": "no", "keyness": "", "is_complete": False},
    ],
)
def test_the_database_refuses_half_answers_that_count(task: LabelTask, now: datetime, row: dict[str, Any]) -> None:
    say(task, YES, now=now)
    with pytest.raises(IntegrityError), transaction.atomic():
        PointLabel.objects.update(**row)


def test_storing_takes_the_same_few_queries_whatever_the_history(
    task: LabelTask, ben, now: datetime, django_assert_num_queries
) -> None:
    own = OwnTask(annotator_of(ben).user_id or 0, task.uid)
    for n in range(6):
        record(kind=POINT, tasks=own, answer=(YES, NO)[n % 2], op_id=f"warm-{n}", now=now)
    with CaptureQueriesContext(connection) as queries:
        record(kind=POINT, tasks=own, answer=KEY, op_id="measured", now=now)
    kinds = [query["sql"].split(" ", 1)[0] for query in queries if query["sql"].split(" ")[0].isupper()]
    assert (kinds.count("SELECT"), kinds.count("UPDATE"), kinds.count("INSERT")) == (2, 2, 1)
