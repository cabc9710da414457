"""The whole demo loads, says who can log in, and loading it again changes nothing."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Session, Study
from annotation.validation.results import results_of
from annotation.verification import planning
from annotation.verification.overview import overview_of
from benchmarks.demo import texts
from benchmarks.models import Batch, Haystack, Question, Verdict
from summhay_site import (
    demo,
    demo_batch,
    demo_linking,
    demo_rating,
    demo_sources,
    demo_validation,
    demo_verification,
)
from summhay_site.models import User

SECOND = f"extractive-{demo_sources.CUT}"


@pytest.mark.django_db
def test_the_demo_loads_once_with_past_work_of_several_people(client: Any) -> None:
    said = io.StringIO()
    call_command("load_demo", stdout=said)
    counts = [model.objects.count() for model in (Haystack, Study, Session, Question, Verdict)]
    assert all(counts)
    assert Session.objects.filter(assignment__is_practice=False, state="submitted").count() == 9
    verification = Study.objects.get(name=demo_verification.NAME)
    overview = overview_of(verification)
    rows = {row.member.annotator.label: row for row in overview.people}
    assert overview.n_gold == 1
    assert [row.n_done for row in rows.values()].count(0) == 1
    assert rows["Ben Ortiz"].n_done == 0 < rows["Ben Ortiz"].n_tasks
    assert 0 < rows["Cleo Marsh"].n_done < rows["Cleo Marsh"].n_tasks
    assert [name for name, row in rows.items() if row.speed and row.speed.is_notable] == ["Hana Sato"]
    assert planning.n_short(verification) == 0
    client.force_login(User.objects.get(username="ada"))
    autods = client.get(f"/studies/{verification.uid}/points/autods/").context["found"]
    assert 0.5 < autods.mean["retention"].value < 1
    # the former was 0 in one load; test_demo_corpus asks of the data that a key point is left out wrongly
    assert autods.mean["false_omission_rate"].value < autods.mean["retention"].value
    validation = results_of(Study.objects.get(name=demo_validation.NAME))
    assert (validation.n_answered, validation.is_shown) == (demo_validation.N_VERDICTS, False)
    assert [one.name for one in validation.evaluation.people] == ["Dana Voss", "Emil Hart"]
    assert 0.5 < (validation.evaluation.mean["accuracy"].value or 0) < 1
    assert validation.disputed
    writing, linking = Study.objects.get(name=demo.STUDY), Study.objects.get(name=demo_linking.NAME)
    people = client.get("/leaderboard/").context["board"].people
    assert (people.row.n_summaries, len(set(writing.writing_plan.subtopics.all()))) == (9, 6)
    assert all(stat.low is not None for stat in people.row.stats.values() if stat.value is not None)
    report = client.get(f"/studies/{linking.uid}/agreement/").context["report"]
    assert report.n_clusters == 6
    assert {row.name for row in report.rows} == {"example-judge", "lexical"}
    for row in (report.ceiling, *report.rows):
        assert row.stats["pearson"].low is not None, row.name
    rating = Study.objects.get(name=demo_rating.NAME)
    assert client.get(f"/studies/{rating.uid}/ratings/results/").context["results"].n_invalid == {
        demo_batch.NAME: 0
    }
    batch = Batch.objects.get()
    assert (batch.state, batch.run.state, batch.n_requests) == ("closed", "done", 8)
    conditions = client.get("/questions/recall/").context["found"].conditions
    assert (conditions.columns, [model for model, _cells in conditions.rows]) == (
        ("cut-128", "full"),
        ["extractive"],
    )
    experiments = client.get("/leaderboard/position/experiments/").context
    assert [name for name, _plot, _svg in experiments["plots"]] == ["places-5"]
    found = {(table["experiment"].system, table["experiment"].name): table for table in experiments["tables"]}
    assert {key: table["experiment"].n for key, table in found.items()} == {
        (system, name): 10 for system in ("extractive", SECOND) for name in ("infilling", "position")
    }
    first, *_others, last, chance = [cells[0].value for _name, cells, _share in found[SECOND, "position"]["rows"]]
    assert first > last
    assert last == pytest.approx(chance, abs=0.03)  # it has not read so far
    with (texts.ROOT / "named-points.csv").open("rb") as file:
        extraction = client.post("/questions/recall/extraction/", {"points": file, "dataset": "demo"}).context[
            "found"
        ]
    assert (extraction.n_questions, extraction.n_labelled) == (6, 36)
    assert 0.5 < extraction.lexical["micro"].value < extraction.people["micro"].value < 1
    assert extraction.people["micro"].low is not None
    sources = client.get("/leaderboard/position/?dataset=demo-passages").context
    assert {cells["n"] for cells in sources["table"].rows} == {10}
    client.logout()
    for username, _name, _role in demo.LOGINS:
        assert username in said.getvalue()
        answer = client.post("/login/", {"username": username, "password": demo.PASSWORD})
        assert answer.headers["Location"] == "/"
    call_command("load_demo", stdout=io.StringIO())
    assert [model.objects.count() for model in (Haystack, Study, Session, Question, Verdict)] == counts


@pytest.mark.django_db
def test_the_demo_is_not_loaded_where_https_is_on(settings: Any) -> None:
    settings.HTTPS = True
    with pytest.raises(CommandError, match="passwords that everybody knows"):
        call_command("load_demo", stdout=io.StringIO())
    assert not Study.objects.exists()
