"""The strip of the last fourteen days on the page of earnings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils.timezone import localdate

from annotation.people.earnings import N_DAYS, earned_by, last_days
from tests.annotation.points import make_points_study
from tests.makers import annotator_of, make_assignment, make_session, make_writing_study

pytestmark = pytest.mark.django_db
HOUR = 3_600_000


def test_each_day_has_the_time_and_money_of_what_was_worked_on_it_in_all_kinds(
    ben: Any, login: Any, now: Any
) -> None:
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


def test_what_is_older_than_the_strip_is_in_the_total_only(ben: Any, login: Any, now: Any) -> None:
    study = make_points_study(annotators=[ben])
    long_ago = now - timedelta(days=N_DAYS)
    study.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=HOUR, begun_at=long_ago)
    person = annotator_of(ben)
    earned = earned_by(person, now)
    assert earned.worked_ms
    assert not any(day.worked_ms for day in last_days(person, earned, now=now))
    assert login(ben).get(reverse("annotation:earnings")).status_code == 200
