"""The overview: who is at work and when the study ends, and charts of tasks a day and of what is left."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelTask, Study
from annotation.studies.progress import Pace, ahead
from tests.makers import (
    label_task,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)
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
    assert first_low < next(one.day for one in fan if one.left == 0) < fan[-1].day


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
def labelled(ada, ben, cleo) -> Study:
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
def test_the_overview_shows_who_did_how_much_and_what_is_left(labelled: Study, as_ada, ben) -> None:
    page = as_ada.get(reverse("annotation:study", args=[labelled.uid]))
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
    table = as_ada.get(people.points[0].url).context["table"]
    assert {task.annotator for task in table.data} == {ben.annotator}
    csv = as_ada.get(reverse("annotation:study-progress", args=[labelled.uid, "left-by-day.csv"]))
    assert b"expected" in csv.getvalue()


@pytest.mark.django_db
def test_a_closed_study_expects_nothing_and_one_without_work_has_no_charts(
    labelled: Study, ada, as_ada, ben, now: datetime
) -> None:
    Study.objects.filter(pk=labelled.pk).update(state=Study.State.CLOSED)
    page = as_ada.get(reverse("annotation:study", args=[labelled.uid]))
    assert {row["series"] for row in page.context["charts"][1].rows} == {"left"}
    other = make_writing_study(haystack=make_haystack(key="pier"), annotators=[ben], researcher=ada)
    assert as_ada.get(reverse("annotation:study", args=[other.uid])).context["charts"] == []


def test_the_overview_of_label_work_asks_no_more_with_more_people(ada, as_ada, ben, cleo, dot) -> None:
    texts = [make_summary(subtopic=one, text=f"- {one.number}") for one in make_haystack().subtopics.all()]
    few = make_linking_study(annotators=[ben], researcher=ada, summaries=texts, name="few")
    many = make_linking_study(
        annotators=[ben, cleo, dot], researcher=ada, summaries=texts, name="many", people_per_item=3
    )
    LabelTask.objects.update(state="done", done_at=timezone.now(), n_answered=F("n_questions"))
    of_few, of_many = (cost_of(as_ada, reverse("annotation:study", args=[study.uid])) for study in (few, many))
    assert of_many <= of_few <= 20


def test_label_work_says_who_was_seen_just_now(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    now = timezone.now()
    for person, ago in ((ben, 10), (cleo, 300)):
        task = label_task(study, person)
        LabelTask.objects.filter(pk=task.pk).update(last_seen_at=now - timedelta(seconds=ago))
    address = reverse("annotation:study", args=[study.uid])
    shown = as_ada.get(address)
    assert [one.name for one in shown.context["on_now"]] == [label_task(study, ben).annotator.label]
    assert "data-live" in shown.text
    assert "Not enough recent work to estimate" in shown.text
    part = as_ada.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert 'id="live"' in part
    Study.objects.update(state="closed")
    assert "data-live" not in as_ada.get(address, headers={"HX-Request": "true"}).text


def test_nobody_is_at_work_where_answers_are_no_longer_saved(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    study.label_tasks.update(last_seen_at=timezone.now())
    address = reverse("annotation:study", args=[study.uid])
    assert len(as_ada.get(address).context["on_now"]) == 2
    for state in ("closed", "archived", "draft"):
        Study.objects.update(state=state)
        shown = as_ada.get(address)
        assert shown.context["on_now"] == []
        assert "At work now" not in shown.text


def test_sessions_of_a_closed_study_run_on_and_are_shown(ada, as_ada, ben) -> None:
    study = make_session(annotator=ben, state="paused").assignment.study
    study.researchers.add(ada)
    Study.objects.update(state="closed")
    assert "At work now" in as_ada.get(reverse("annotation:study", args=[study.uid])).text
    # Writing says how many minutes are left
    [one] = as_ada.get(reverse("annotation:study", args=[study.uid])).context["on_now"]
    assert "paused" in one.note
    assert "left" in one.note


def test_the_list_of_studies_sorts_and_filters(ada, as_ada, ben) -> None:
    linking = make_linking_study(annotators=[ben], researcher=ada, name="A linking")
    haystack = linking.label_items.get(pk=linking.label_items.first().pk).summary.haystack
    Study.objects.create(name="Z draft", kind="writing", created_by=ada, created_at=timezone.now())

    def names(**query: str) -> list[str]:
        return [study.name for study in as_ada.get(reverse("annotation:studies"), query).context["table"].data]

    assert names(sort="name") == ["A linking", "Z draft"]
    assert names(sort="-name") == ["Z draft", "A linking"]
    assert names(kind="linking") == names(state="open") == names(on=str(haystack.uid)) == ["A linking"]
    assert names(q="draft") == ["Z draft"]
    assert names(on="no such set") == ["Z draft", "A linking"]
    assert "Nothing matches these filters." in as_ada.get(reverse("annotation:studies"), {"q": "xyz"}).text


def test_people_of_an_overview_are_sorted_by_a_column(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    for person, worked in ((ben, 60_000), (cleo, 3_600_000)):
        LabelTask.objects.filter(pk=label_task(study, person).pk).update(active_ms=worked)

    def people(sort: str) -> list[str]:
        shown = as_ada.get(reverse("annotation:study", args=[study.uid]), {"people-sort": sort})
        assert shown.text.count("aria-sort") == 1
        return [member.annotator.user.username for member, _cells in shown.context["tables"][0][3]]

    assert people("-time") == ["cleo", "ben"]
    assert people("time") == ["ben", "cleo"]
    assert people("name") == ["ben", "cleo"]
