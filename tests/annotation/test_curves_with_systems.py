"""Systems stand across the curves of people, on the same subtopics."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.urls import reverse

from tests.annotation.leaderboard.board import BOTH, judged, written
from tests.makers import make_haystack, make_writing_study

pytestmark = pytest.mark.django_db


def test_the_best_system_stands_across_the_curves_with_the_minute_that_people_reach_it(
    ada: Any, ben: Any, cleo: Any, login: Any, now: datetime
) -> None:
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    written(ben, study, BOTH, now=now)
    written(cleo, study, BOTH, now=now)
    client = login(ada)
    address = reverse("annotation:study-results", args=[study.uid])
    [chart] = client.get(address).context["sheet"].charts
    assert not [row for row in chart.rows if row.get("group") == "system"], "no system has been judged"
    judged(study, now=now)
    sheet = client.get(address).context["sheet"]
    [chart] = sheet.charts
    lines = {row["panel"]: row for row in chart.rows if row.get("group") == "system"}
    assert {row["series"] for row in lines.values()} == {"heron"}
    assert "heron · all documents: joint score reached at 30 min" in chart.subtitle
    board = client.get("/leaderboard/").context["board"]
    heron = board.line("heron", "full-ctxt")
    first = {row["system"]: row for row in client.get(address + "figures.json").json()["systems"]}
    assert 100 * first["heron"]["joint"] == pytest.approx(lines["Joint"]["value"])
    assert 0 < lines["Joint"]["value"] <= 100
    assert first["heron"]["reached_at"]["joint"] == pytest.approx(heron.minutes.value)
    assert "joint score reached at 30 min" in chart.subtitle
