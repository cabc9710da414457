"""The charts of an overview: tasks a day by person, what is left, and a fan of what is expected."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelTask, Study
from annotation.studies.progress import Pace, ahead
from tests.makers import make_haystack, make_linking_study, make_summary, make_writing_study
from tests.queries import cost_of

TODAY = date(2026, 3, 2)


def pace_of(counts: list[int], *, n_open: int) -> Pace:
    """So many tasks done on each of the last days, today last."""
    by_day = {TODAY - timedelta(days=at): n for at, n in enumerate(reversed(counts)) if n}
    return Pace(n_tasks=n_open + sum(counts), n_done=sum(counts), n_open=n_open, by_day=by_day, today=TODAY)


def test_an_even_pace_has_a_fan_of_no_width() -> None:
    fan = ahead(pace_of([5, 5, 5, 5], n_open=12))
    assert [(one.left, one.low, one.high) for one in fan] == [(12, 12, 12), (7, 7, 7), (2, 2, 2), (0, 0, 0)]
    assert fan[-1].day == pace_of([5, 5, 5, 5], n_open=12).finish == TODAY + timedelta(days=3)


def test_an_uneven_pace_ends_later_in_the_worst_case_and_never_with_more_than_there_are() -> None:
    fan = ahead(pace_of([3, 7, 4, 6, 5, 6, 4], n_open=40))
    assert all(one.low <= one.left <= one.high <= 40 for one in fan)
    assert fan[-1].high == 0
    first_low = next(one.day for one in fan if one.low == 0)
    first_left = next(one.day for one in fan if one.left == 0)
    assert first_low < first_left < fan[-1].day


def test_nothing_is_expected_of_a_single_day_or_where_nothing_is_left() -> None:
    assert ahead(pace_of([6], n_open=12)) == []
    assert ahead(pace_of([1, 1], n_open=12)) == [], "too few were done for a pace"
    assert ahead(pace_of([3, 3], n_open=0)) == []


def test_the_fan_holds_what_will_be_left_in_about_95_of_100_cases() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _case in range(600):
        counts = [int(n) for n in rng.poisson(20, 7)]
        day = ahead(pace_of(counts, n_open=300))[6]
        held += day.low <= 300 - int(rng.poisson(20, 6).sum()) <= day.high
    assert 0.93 <= held / 600 <= 0.98


@pytest.fixture
def labelled(ada: Any, ben: Any, cleo: Any) -> Study:
    """Ben did tasks on two days, Cleo on one; the others are left."""
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    now = timezone.now()
    for person, days in ((ben, (0, 3)), (cleo, (1,))):
        tasks = study.label_tasks.filter(annotator=person.annotator).order_by("position")
        for task, day in zip(tasks, days, strict=False):
            done_at = now - timedelta(days=day)
            LabelTask.objects.filter(pk=task.pk).update(
                state=LabelTask.State.DONE, done_at=done_at, n_answered=task.n_questions
            )
    return study


@pytest.mark.django_db
def test_the_overview_shows_who_did_how_much_and_what_is_left(
    labelled: Study, ada: Any, ben: Any, login: Any
) -> None:
    client = login(ada)
    page = client.get(reverse("annotation:study", args=[labelled.uid]))
    people, left = page.context["charts"]
    rows = [(row["series"], row["value"]) for row in people.rows]
    name = labelled.memberships.get(annotator=ben.annotator).pseudonym
    assert [row for row in rows if row[0] == name] == [(name, 1)] * 2
    assert len(rows) == 3
    n_open = labelled.label_tasks.exclude(state=LabelTask.State.DONE).count()
    before = [row["value"] for row in left.rows if row["series"] == "left"]
    assert (before[0], before[-1]) == (n_open + 3, n_open)
    assert any(row["series"] == "expected" and row["high"] > 0 for row in left.rows)
    assert 'id="done-by-day"' in page.text
    rows_url = people.points[0].url
    table = client.get(rows_url).context["table"]
    assert {task.annotator for task in table.data} == {ben.annotator}
    csv = client.get(reverse("annotation:study-progress", args=[labelled.uid, "left-by-day.csv"]))
    assert b"expected" in b"".join(csv.streaming_content)  # type: ignore[attr-defined]


@pytest.mark.django_db
def test_a_closed_study_expects_nothing_and_one_without_work_has_no_charts(
    labelled: Study, ada: Any, ben: Any, login: Any, now: datetime
) -> None:
    Study.objects.filter(pk=labelled.pk).update(state=Study.State.CLOSED)
    page = login(ada).get(reverse("annotation:study", args=[labelled.uid]))
    assert {row["series"] for row in page.context["charts"][1].rows} == {"left"}
    other = make_writing_study(haystack=make_haystack(key="pier"), annotators=[ben], researcher=ada)
    assert login(ada).get(reverse("annotation:study", args=[other.uid])).context["charts"] == []


def test_the_overview_of_label_work_asks_no_more_with_more_people(
    ada: Any, ben: Any, cleo: Any, dot: Any, login: Any
) -> None:
    texts = [make_summary(subtopic=one, text=f"- {one.number}") for one in make_haystack().subtopics.all()]
    few = make_linking_study(annotators=[ben], researcher=ada, summaries=texts, name="few")
    many = make_linking_study(
        annotators=[ben, cleo, dot], researcher=ada, summaries=texts, name="many", people_per_item=3
    )
    LabelTask.objects.update(state="done", done_at=timezone.now(), n_answered=F("n_questions"))
    of_few, of_many = (cost_of(login(ada), reverse("annotation:study", args=[study.uid])) for study in (few, many))
    assert of_many <= of_few <= 20
