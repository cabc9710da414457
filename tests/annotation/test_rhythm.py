"""The quiet line of label work and of My work, the strip of days on the page of earnings, and active time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.timezone import localdate
from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.handling import Told, worked_ms
from annotation.models import LabelTask, Study
from annotation.people.earnings import N_DAYS, earned_by, last_days
from annotation.studies.rhythm import Preferences, day_of, goal_of, items_an_hour, prefer
from tests.annotation.points import make_points_question, make_points_study
from tests.annotation.test_label_acts import KINDS, Desk, desk
from tests.makers import (
    annotator_of,
    flat,
    label_task,
    label_url,
    make_assignment,
    make_session,
    make_writing_study,
)

pytestmark = pytest.mark.django_db

__all__ = ["desk"]
MINUTE = 60_000


@pytest.fixture
def study(ben) -> Study:
    """Six key points of one study for ben."""
    return make_points_study(annotators=[ben], questions=[make_points_question(key=key) for key in ("one", "two")])


def work_on(study: Study, person, *minutes: float, at: datetime) -> None:
    """Do the first tasks, each begun at the same moment and so many minutes long."""
    for position, each in enumerate(minutes, 1):
        task = label_task(study, person, position=position)
        LabelTask.objects.filter(pk=task.pk).update(
            state="done",
            n_answered=task.n_questions,
            begun_at=at,
            done_at=at,
            last_seen_at=at,
            active_ms=int(each * MINUTE),
        )


def test_a_day_has_the_time_that_was_begun_on_it_and_the_pay_for_that(ben, study: Study) -> None:
    now = datetime(2026, 5, 5, 15, tzinfo=timezone.get_current_timezone())
    work_on(study, ben, 12, 6, at=now)
    earlier = label_task(study, ben, position=3)
    LabelTask.objects.filter(pk=earlier.pk).update(begun_at=now - timedelta(days=1), active_ms=40 * MINUTE)
    make_session(annotator=ben, state="submitted", started_at=now - timedelta(hours=3))
    day = day_of(annotator_of(ben), now)
    assert day.worked_ms == 18 * MINUTE + annotator_of(ben).sessions.get().acc_ms
    assert day.n_items == 3
    assert dict(day.earned)["USD"] >= Decimal("7.50")
    assert day_of(annotator_of(ben), now + timedelta(days=1)).worked_ms == 0


def test_today_is_what_is_earned_so_far_also_while_a_clock_runs_and_in_several_studies(
    ben, study: Study, now: datetime
) -> None:
    """Rounded by study, as everywhere."""
    other = make_points_study(annotators=[ben], name="Other", questions=[make_points_question(key="three")])
    for each in (study, other):
        Study.objects.filter(pk=each.pk).update(hourly_rate=10)
        work_on(each, ben, 0.1, at=now)
    make_session(annotator=ben, state="running", now=now - timedelta(minutes=30))
    day, earned = day_of(annotator_of(ben), now), earned_by(annotator_of(ben), now)
    assert day.worked_ms == 30 * MINUTE + 12_000
    assert day.worked_ms == earned.worked_ms
    assert list(day.earned) == earned.totals
    assert last_days(annotator_of(ben), earned, now=now)[-1].amounts == earned.totals


def test_practice_is_no_work_of_the_day(ben, now: datetime) -> None:
    make_session(assignment=make_assignment(annotator=ben, is_practice=True, state="done"), state="submitted")
    assert day_of(annotator_of(ben), now).n_items == 0


def test_the_pace_is_the_own_median_and_needs_five_items(ben, as_ben, study: Study, now: datetime) -> None:
    page = label_url("label-task", label_task(study, ben))
    work_on(study, ben, 1, 1, 2, 30, at=now)
    assert items_an_hour(annotator_of(ben), study) is None
    work_on(study, ben, 1, 1, 2, 30, 2, at=now)
    assert items_an_hour(annotator_of(ben), study) == 30
    assert "about 30 items an hour" in flat(as_ben.get(page).text)
    work_on(study, ben, 1, 1, 1, 1, 1, at=now)
    assert "items an hour" not in flat(as_ben.get(page).text), "after five minutes in all"


def test_the_end_of_a_study_shows_the_own_pace_over_time_once_ten_are_done(ben, as_ben, now: datetime) -> None:
    questions = [make_points_question(key=key) for key in ("one", "two", "three", "four")]
    study = make_points_study(annotators=[ben], questions=questions)
    minutes = [4, 4, 4, 4, 4, 1, 1, 1, 1, 1]
    work_on(study, ben, *minutes[:9], at=now)
    end = reverse("annotation:label-finished", args=[study.uid])
    assert "Your pace" not in as_ben.get(end).text
    work_on(study, ben, *minutes, at=now)
    for task in study.label_tasks.filter(state="done"):
        task.done_at = now + timedelta(minutes=task.position)
        task.save()
    page = as_ben.get(end).text
    assert "Your pace: 4 min for each of the first tasks, 1 min for each of the last" in flat(page)
    assert page.count("<rect") == 2


@pytest.mark.parametrize(
    ("chosen", "done", "is_reached"),
    [({"goal_items": 2}, 2, True), ({"goal_items": 3}, 2, False), ({"goal_minutes": 10}, 18, True)],
)
def test_a_goal_is_of_items_or_of_minutes(
    ben, study: Study, now: datetime, chosen: dict[str, int], done: int, is_reached: bool
) -> None:
    work_on(study, ben, 12, 6, at=now)
    goal = goal_of(Preferences(**chosen), day_of(annotator_of(ben), now))
    assert (goal.done, goal.is_reached) == (done, is_reached)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_label_work_has_the_line(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    work_on(at.study, at.person, 6, at=timezone.now())
    task = at.task(2)
    shown = flat(at.client.get(label_url("label-task", task)).text)
    n = LabelTask.objects.filter(study=at.study).count() - 1
    assert f"{n} left" in shown
    assert "2.50 USD today" in shown
    assert "2.50 USD in this study" in shown
    newer = flat(at.client.get(reverse("annotation:label-rhythm", args=[task.uid])).text)
    assert "2.50 USD today" in newer
    assert "<html" not in newer


def test_whoever_hides_the_line_has_none_on_any_page(ben, as_ben, study: Study) -> None:
    work_on(study, ben, 6, at=timezone.now())
    pages = [reverse("annotation:work"), label_url("label-task", label_task(study, ben, position=2))]
    assert all("2.50 USD" in as_ben.get(page).text for page in pages)
    prefer(annotator=annotator_of(ben), shows_pace=False, goal_items=5)
    assert "of 5 items today" not in as_ben.get(pages[0]).text
    assert "2.50 USD today" not in flat(as_ben.get(pages[1]).text)


NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@given(st.lists(st.integers(1, 400_000), max_size=30))
def test_time_is_the_sum_of_gaps_of_at_most_two_minutes(gaps: list[int]) -> None:
    at, total = NOW, 0
    for gap in gaps:
        then = at + timedelta(milliseconds=gap)
        total += worked_ms(since=at, now=then)
        at = then
    assert total == sum(gap for gap in gaps if gap <= 120_000)


def test_a_clock_that_steps_back_counts_nothing() -> None:
    assert worked_ms(since=NOW, now=NOW - timedelta(seconds=5)) == 0
    assert worked_ms(since=None, now=NOW) == 0


def test_no_gap_counts_how_long_the_clock_stood() -> None:
    def counted(gap_s: int, *, worked_s: int, stood_s: int) -> int:
        told = Told(worked_ms=worked_s * 1000, stood_ms=stood_s * 1000)
        return worked_ms(since=NOW, now=NOW + timedelta(seconds=gap_s), told=told)

    assert counted(60, worked_s=15, stood_s=45) == 15_000
    assert counted(60, worked_s=0, stood_s=90) == 0
    assert counted(60, worked_s=60, stood_s=-90) == 60_000
    assert counted(300, worked_s=20, stood_s=280) == 20_000
    assert counted(300, worked_s=250, stood_s=280) == 20_000


HOUR = 3_600_000


def test_each_day_has_the_time_and_money_of_what_was_worked_on_it_in_all_kinds(ben, login, now) -> None:
    points = make_points_study(annotators=[ben])
    yesterday = now - timedelta(days=1)
    points.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=HOUR // 6, begun_at=yesterday)
    session = make_session(
        assignment=make_assignment(annotator=ben, study=make_writing_study(annotators=[ben]), state="done"),
        state="submitted",
        acc_ms=HOUR,
    )
    type(session).objects.update(started_at=now)
    person = annotator_of(ben)
    earned = earned_by(person, now)
    days = {day.on: day for day in last_days(person, earned, now=now)}
    assert len(days) == N_DAYS
    today, before = days[localdate(now)], days[localdate(yesterday)]
    assert (today.worked_ms, today.height, [str(amount) for _, amount in today.amounts]) == (HOUR, 100, ["25.00"])
    assert (before.worked_ms, before.height) == (3 * HOUR // 6, 50)
    assert [str(amount) for _, amount in before.amounts] == ["12.50"]
    assert sum(day.worked_ms for day in days.values()) == earned.worked_ms


def test_what_is_older_than_the_strip_is_in_the_total_only(ben, as_ben, now) -> None:
    study = make_points_study(annotators=[ben])
    long_ago = now - timedelta(days=N_DAYS)
    study.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=HOUR, begun_at=long_ago)
    person = annotator_of(ben)
    earned = earned_by(person, now)
    assert earned.worked_ms
    assert not any(day.worked_ms for day in last_days(person, earned, now=now))
    assert as_ben.get(reverse("annotation:earnings")).status_code == 200
