"""How long people take to a share of a system's joint score, and systems across the curves of people."""

import json
from datetime import datetime
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Study
from tests.annotation.leaderboard.board import BOTH, FIRST, PAGE, judged, written
from tests.makers import make_haystack, make_writing_study
from tests.running import csv_rows, output_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(ada, ben, cleo, now: datetime) -> Study:
    """Ben stops after 25 minutes with half of what a system has; Cleo has all of it then."""
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, text in ((ben, FIRST), (cleo, BOTH)):
        written(person, study, text, now=now)
    judged(study, now=now)
    return study


def report(*arguments: str) -> str:
    return output_of("report", "leaderboard", "--judge", "lexical-2", "--people", *arguments)


def test_who_ends_below_the_level_is_censored_and_not_taken_for_slow(people: Study) -> None:
    rows = {row["system"]: row for row in json.loads(report("--intervals", "--json"))}
    wren = rows["wren"]["time_to_score"]["90"]
    assert (wren["value"], wren["n_reached"], wren["n_censored"]) == (10, 2, 0), "both have it at the first mark"
    heron = rows["heron"]["time_to_score"]["90"]
    assert (heron["n_reached"], heron["n_censored"], heron["n_writers"]) == (1, 1, 2)
    assert heron["steps"] == [[25, 0.5]]
    assert heron["value"] == 25 + 0.5 * (heron["limit"] - 25)
    assert (heron["low"], heron["only_these"]) == (None, 2)
    assert heron["reason"] == "no interval under 4 sessions"
    assert rows["people"]["time_to_score"] is None


def test_all_ways_of_reading_it_say_the_same(people: Study, as_ada) -> None:
    rows = json.loads(report("--intervals", "--json"))
    expected = next(row for row in rows if row["system"] == "heron")["time_to_score"]["90"]["value"]
    assert as_ada.get(f"{PAGE}files/leaderboard.json").json() == rows
    table = as_ada.get(PAGE).context["sheet"].table("time-to-score")
    [row] = [row for row in table.rows if row.names[0] == "heron"]
    assert (row.number("minutes_to_90"), row.value("reached_90"), row.value("n")) == (expected, 1, 2)
    assert f"{expected:.0f}" in report()
    table = csv_rows(as_ada.get(f"{PAGE}figures/time-to-score.csv").getvalue())
    cells = {one["system"]: one["minutes_to_90"] for one in table}
    assert float(cells["heron"]) == expected
    table = csv_rows(as_ada.get(f"{PAGE}files/leaderboard.csv").getvalue())
    [long] = [one for one in table if (one["system"], one["figure"]) == ("heron", "minutes_to_90")]
    assert float(long["value"]) == expected


def survival(page) -> list[Any]:
    """Charts of a page that show when people reach the score of a system."""
    return [chart for chart in page.context["sheet"].charts if chart.name == "survival"]


def test_the_curves_of_a_system_stand_where_it_is_compared_with_people(people: Study, as_ada) -> None:
    [row] = [
        row for row in as_ada.get(PAGE).context["sheet"].table("time-to-score").rows if row.names[0] == "heron"
    ]
    page = as_ada.get(row.url.removesuffix("#time"))
    [chart] = survival(page)
    assert 'id="time"' in page.text
    assert "heron" in chart.title
    [sessions] = {point.url for point in chart.points}
    address = sessions.removesuffix("#sessions")
    assert address != sessions
    assert as_ada.get(address).context["study"] == people
    assert 'id="sessions"' in as_ada.get(address).text
    level = [one for one in chart.rows if one["series"] == "90 % of its score"]
    assert [(one["x"], one["value"]) for one in level] == [(0, 100), (25, 50), (120, 50), (25, 50)], (
        "Ben's end last"
    )
    svg = as_ada.get(
        page.context["files_url"] + "survival.svg" + "?" + row.url.split("?")[1].removesuffix("#time")
    )
    assert svg["Content-Type"] == "image/svg+xml"
    alone = as_ada.get(row.url.removesuffix("#time").replace("&b=", "&c="))
    assert survival(alone) == []


def test_the_best_system_stands_across_the_curves_with_the_minute_that_people_reach_it(
    ada, as_ada, ben, cleo, now: datetime
) -> None:
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    written(ben, study, BOTH, now=now)
    written(cleo, study, BOTH, now=now)
    address = reverse("annotation:study-results", args=[study.uid])
    [chart] = as_ada.get(address).context["sheet"].charts
    assert not [row for row in chart.rows if row.get("group") == "system"], "no system has been judged"
    judged(study, now=now)
    [chart] = as_ada.get(address).context["sheet"].charts
    lines = {row["panel"]: row for row in chart.rows if row.get("group") == "system"}
    assert {row["series"] for row in lines.values()} == {"heron"}
    assert "heron · all documents: joint score reached at 30 min" in chart.subtitle
    heron = as_ada.get("/leaderboard/").context["board"].line("heron", "full-ctxt")
    first = {row["system"]: row for row in as_ada.get(address + "figures.json").json()["systems"]}
    assert 100 * first["heron"]["joint"] == pytest.approx(lines["Joint"]["value"])
    assert 0 < lines["Joint"]["value"] <= 100
    assert first["heron"]["reached_at"]["joint"] == pytest.approx(heron.minutes.value)
    assert "joint score reached at 30 min" in chart.subtitle
