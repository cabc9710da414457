"""Answers of coverage linking: what is stored, what counts, undo, skipping and time."""

import random
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.labelling import handling
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import record, undo
from annotation.linking.answers import LINK, LinkingAnswer
from annotation.models import CoverageLabel, LabelTask
from benchmarks.models import Insight
from tests.annotation.linked import current, insights_of, own, say
from tests.makers import (
    label_task,
    make_linking_study,
)

SECOND = timedelta(seconds=1)


@pytest.fixture
def task(ben) -> LabelTask:
    return label_task(make_linking_study(annotators=[ben]), ben)


def test_a_change_is_a_new_row_and_the_first_answer_stays(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "partial", 4, now=now + SECOND)
    first, second = CoverageLabel.objects.order_by("pk")
    assert (first.coverage, first.lines, first.is_current) == ("full", [3], False)
    assert (second.coverage, second.lines, second.is_current, second.supersedes) == ("partial", [4], True, first)
    assert list(CoverageLabel.objects.for_figures()) == [second]
    assert second.guideline.version == 1


def test_a_repeated_delivery_stores_one_row_and_says_what_holds(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now, op_id="one")
    say(task, "none", now=now, op_id="two")
    assert say(task, "full", 3, now=now, op_id="one").answer == LinkingAnswer("none")
    assert CoverageLabel.objects.count() == 2


def test_covered_without_a_bullet_is_stored_and_counts_for_nothing(task: LabelTask, now: datetime) -> None:
    outcome = say(task, "full", now=now)
    assert (outcome.task.n_answered, outcome.answer.is_complete) == (0, False)
    assert not CoverageLabel.objects.for_figures().exists()
    assert say(task, "full", 5, now=now).task.n_answered == 1
    assert [label.lines for label in CoverageLabel.objects.for_figures()] == [[5]]


def test_none_clears_the_bullet(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "none", 3, now=now)
    assert (current(task).coverage, current(task).lines, current(task).is_linked) == ("none", [], False)


@pytest.mark.parametrize(
    ("coverage", "lines", "code"),
    [
        ("full", [3, 4], "one_line"),
        ("full", [1], "no_such_line"),
        ("full", [2], "no_such_line"),
        ("full", [6], "no_such_line"),
        ("much", [], "invalid"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_stored(
    task: LabelTask, now: datetime, coverage: str, lines: list[int], code: str
) -> None:
    with pytest.raises(TaskRefused) as refused:
        say(task, coverage, *lines, now=now)
    assert refused.value.code == code
    assert not CoverageLabel.objects.exists()


def test_a_study_can_allow_several_bullets(ben, now: datetime) -> None:
    task = label_task(make_linking_study(annotators=[ben], allow_several_lines=True), ben)
    say(task, "full", 4, 3, 4, now=now)
    assert current(task).lines == [3, 4]


def test_an_insight_of_another_subtopic_is_not_asked(task: LabelTask, now: datetime) -> None:
    other = Insight.objects.exclude(subtopic=task.item.summary.subtopic)[0]
    with pytest.raises(TaskRefused) as refused:
        record(kind=LINK, tasks=own(task), question=other.uid, answer=LinkingAnswer("none"), op_id="x", now=now)
    assert refused.value.code == "not_asked"


def test_a_task_is_done_when_all_is_answered_and_open_again_when_not(task: LabelTask, now: datetime) -> None:
    n = len(insights_of(task))
    for at in range(n):
        outcome = say(task, "none", at=at, now=now)
    assert outcome.task.state == "done"
    task.refresh_from_db()
    assert task.done_at == now
    assert say(task, "", at=0, now=now).task.state == "begun"
    task.refresh_from_db()
    assert (task.n_answered, task.done_at) == (n - 1, None)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_one_row_holds_and_the_count_is_right(task: LabelTask, now: datetime, seed: int) -> None:
    dice = random.Random(seed)
    past: list[dict[int, LinkingAnswer]] = []
    holds = {0: LinkingAnswer(""), 1: LinkingAnswer("")}
    for _ in range(14):
        if dice.random() < 0.3:
            undo(kinds=[LINK], tasks=own(task), op_id=uuid4().hex, now=now)
            holds = past.pop() if past else holds
            continue
        at, coverage = dice.randrange(2), dice.choice(["", "none", "partial", "full"])
        lines = dice.choice([(), (3,), (4,)])
        wanted = LinkingAnswer(coverage, lines if coverage in {"partial", "full"} else ())
        if holds[at] != wanted:
            past.append(dict(holds))
        say(task, coverage, *lines, at=at, now=now)
        holds = {**holds, at: wanted}
    rows = CoverageLabel.objects.filter(task=task, is_current=True).values_list(
        "insight__number", "coverage", "lines"
    )
    stored = {number - 1: LinkingAnswer(coverage, tuple(lines)) for number, coverage, lines in rows}
    assert {0: LinkingAnswer(""), 1: LinkingAnswer(""), **stored} == holds
    task.refresh_from_db()
    assert task.n_answered == sum(LINK.counts(answer) for answer in holds.values())


def test_saving_takes_few_queries_whatever_the_history(task: LabelTask, now: datetime) -> None:
    say(task, "none", now=now)
    counts = []
    for number in range(3):
        with CaptureQueriesContext(connection) as queries:
            uids = Insight.objects.filter(subtopic=task.item.summary.subtopic).values_list("uid", flat=True)
            record(
                kind=LINK,
                tasks=own(task),
                question=uids[0],
                answer=(LinkingAnswer("full", (3,)), LinkingAnswer("none"))[number % 2],
                op_id=f"op{number}",
                now=now,
            )
        counts.append(len([query for query in queries if "SAVEPOINT" not in query["sql"]]) - 1)
    assert counts == [6, 6, 6]


def test_skipping_needs_a_reason_and_an_answer_brings_the_task_back(task: LabelTask, now: datetime) -> None:
    with pytest.raises(TaskRefused):
        handling.skip(tasks=own(task), reason="  ", now=now)
    assert handling.skip(tasks=own(task), reason="not English", now=now).state == "skipped"
    assert not LabelTask.objects.filter(pk=task.pk).unfinished().exists()
    assert say(task, "none", now=now).task.state == "begun"
    task.refresh_from_db()
    assert task.skip_reason == ""


def test_time_counts_once_over_all_tasks_of_a_person(ben, now: datetime) -> None:
    study = make_linking_study(annotators=[ben])
    first, second = label_task(study, ben), label_task(study, ben, position=2)
    for task, seconds in ((first, 0), (first, 60), (second, 90), (first, 100), (first, 400), (second, 401)):
        handling.contact(tasks=own(task), now=now + seconds * SECOND)
    times = LabelTask.objects.filter(study=study).order_by("position").values_list("active_ms", flat=True)
    assert list(times)[:2] == [70_000, 31_000]
