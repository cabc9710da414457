"""An overview says who is at work and when the study ends, and refreshes itself; the list of studies filters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelTask, Study
from tests.makers import label_task, make_linking_study, make_session


def test_label_work_says_who_was_seen_just_now(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    now = timezone.now()
    for person, ago in ((ben, 10), (cleo, 300)):
        task = label_task(study, person)
        LabelTask.objects.filter(pk=task.pk).update(last_seen_at=now - timedelta(seconds=ago))
    client = login(ada)
    address = reverse("annotation:study", args=[study.uid])
    shown = client.get(address)
    assert [one.name for one in shown.context["on_now"]] == [label_task(study, ben).annotator.label]
    assert "data-live" in shown.text
    assert "Not enough recent work to estimate" in shown.text
    part = client.get(address, headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert 'id="live"' in part
    Study.objects.update(state="closed")
    assert "data-live" not in client.get(address, headers={"HX-Request": "true"}).text


def test_nobody_is_at_work_where_answers_are_no_longer_saved(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    study.label_tasks.update(last_seen_at=timezone.now())
    client, address = login(ada), reverse("annotation:study", args=[study.uid])
    assert len(client.get(address).context["on_now"]) == 2
    for state in ("closed", "archived", "draft"):
        Study.objects.update(state=state)
        shown = client.get(address)
        assert shown.context["on_now"] == []
        assert "At work now" not in shown.text


def test_sessions_of_a_closed_study_run_on_and_are_shown(ada: Any, ben: Any, login: Any) -> None:
    study = make_session(annotator=ben, state="paused").assignment.study
    assert study is not None
    study.researchers.add(ada)
    Study.objects.update(state="closed")
    assert "At work now" in login(ada).get(reverse("annotation:study", args=[study.uid])).text


def test_writing_says_how_many_minutes_are_left(ada: Any, ben: Any, login: Any) -> None:
    session = make_session(annotator=ben, state="paused")
    study = session.assignment.study
    assert study is not None
    study.researchers.add(ada)
    [one] = login(ada).get(reverse("annotation:study", args=[study.uid])).context["on_now"]
    assert "paused" in one.note
    assert "left" in one.note


def test_the_list_of_studies_sorts_and_filters(ada: Any, ben: Any, login: Any) -> None:
    linking = make_linking_study(annotators=[ben], researcher=ada, name="A linking")
    haystack = linking.label_items.get(pk=linking.label_items.first().pk).summary.haystack  # type: ignore[union-attr]
    Study.objects.create(name="Z draft", kind="writing", created_by=ada, created_at=timezone.now())
    client = login(ada)

    def names(**query: str) -> list[str]:
        return [study.name for study in client.get(reverse("annotation:studies"), query).context["table"].data]

    assert names(sort="name") == ["A linking", "Z draft"]
    assert names(sort="-name") == ["Z draft", "A linking"]
    assert names(kind="linking") == names(state="open") == names(on=str(haystack.uid)) == ["A linking"]
    assert names(q="draft") == ["Z draft"]
    assert names(on="no such set") == ["Z draft", "A linking"]
    assert "Nothing matches these filters." in client.get(reverse("annotation:studies"), {"q": "xyz"}).text


def test_people_of_an_overview_are_sorted_by_a_column(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada)
    for person, worked in ((ben, 60_000), (cleo, 3_600_000)):
        LabelTask.objects.filter(pk=label_task(study, person).pk).update(active_ms=worked)
    client = login(ada)

    def people(sort: str) -> list[str]:
        shown = client.get(reverse("annotation:study", args=[study.uid]), {"people-sort": sort})
        assert shown.text.count("aria-sort") == 1
        return [member.annotator.user.username for member, _cells in shown.context["tables"][0][3]]

    assert people("-time") == ["cleo", "ben"]
    assert people("time") == ["ben", "cleo"]
    assert people("name") == ["ben", "cleo"]
