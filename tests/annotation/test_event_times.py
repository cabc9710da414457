"""Events carry the time at which they happened, beside the one at which the server heard of them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from annotation.models import ActivePeriod, SessionEvent
from annotation.writing import late
from tests.annotation.test_session_endpoints import Browser
from tests.annotation.writer import after, start_session
from tests.makers import NOW


def at(ms: int) -> int:
    return int(after(ms).timestamp() * 1000)


@pytest.fixture
def browser(ben, as_ben, time_machine) -> Browser:
    session = start_session(ben)
    time_machine.move_to(after(20_000), tick=False)
    return Browser(as_ben, session)


@pytest.mark.django_db
def test_two_events_of_one_message_keep_their_distance(browser: Browser, ada, as_ada) -> None:
    events = [
        {"seq": 1, "type": "search", "at": at(3_000), "payload": {"query": "pier"}},
        {"seq": 2, "type": "paste", "at": at(17_000)},
    ]
    assert browser.post("pause", events=events).status_code == 200
    rows = list(SessionEvent.objects.order_by("client_seq"))
    assert [row.happened_at for row in rows] == [after(3_000), after(17_000)]
    assert [(row.at_server, row.active_ms) for row in rows] == [(after(20_000), 20_000)] * 2

    study = browser.session.assignment.study
    study.researchers.add(ada)
    told = as_ada.get(f"/studies/{study.uid}/files/events.jsonl").getvalue()
    assert [json.loads(line)["happened_at"] for line in told.splitlines()] == [
        "2026-03-02T09:00:03+00:00",
        "2026-03-02T09:00:17+00:00",
    ]
    shown = as_ada.get(f"/sessions/{browser.session.uid}/").text
    assert "<td>09:00:03</td>" in shown
    assert "<td>09:00:17</td>" in shown


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("claimed", "stored"),
    [
        (at(-60_000), after(0)),
        (at(60_000), after(20_000)),
        (-1, None),
        (True, None),
        ("soon", None),
        (2**60, None),
        (None, None),
    ],
)
def test_the_browsers_time_lies_between_the_start_and_the_receipt(
    browser: Browser, claimed, stored: datetime | None
) -> None:
    assert browser.post("events", events=[{"seq": 1, "type": "blur", "at": claimed}]).status_code == 200
    assert SessionEvent.objects.get().happened_at == stored


def test_the_timeline_places_events_where_they_happened() -> None:
    periods = [
        ActivePeriod(started_at=NOW, ended_at=NOW + timedelta(seconds=10), acc_before_ms=0, end_reason="pause"),
        ActivePeriod(started_at=NOW + timedelta(seconds=100), acc_before_ms=10_000),
    ]
    points = [
        late.Point("search", 90_000, "in the first period", NOW + timedelta(seconds=4)),
        late.Point("paste", 90_000, "in the pause", NOW + timedelta(seconds=50)),
        late.Point("search", 90_000, "in the second", NOW + timedelta(seconds=120)),
        late.Point("search", 90_000, "unknown"),
        late.Point("search", 20_000, "never after the receipt", datetime(2030, 1, 1, tzinfo=UTC)),
    ]
    built = late.build(limit_ms=100_000, active_ms=90_000, periods=periods, points=points)
    assert {mark.label: mark.per_mille for mark in built.marks} == {
        "in the first period": 40,
        "in the pause": 100,
        "in the second": 300,
        "never after the receipt": 200,
        "unknown": 900,
    }
