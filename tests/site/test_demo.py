"""The whole demo loads, says who can log in, and loading it again changes nothing."""

import io
import socket
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.models import Session, Study
from annotation.studies.kind import work_of
from annotation.validation.results import results_of
from annotation.verification.kind import overview_of
from benchmarks.models import Batch, Haystack, Judge, Question, Verdict
from extensions.synthesis.models import Synthesis
from summhay_site.demo import player
from summhay_site.demo.cast import FOLDER
from summhay_site.management.commands import demo
from summhay_site.models import User
from tests import makers
from tests.queries import cost_of

SECOND = "extractive-400"


@pytest.mark.django_db
def test_the_demo_loads_once_with_past_work_of_several_people_and_always_the_same_figures(
    client, settings
) -> None:
    makers.make_haystack().delete()
    User.objects.create_user(username="somebody").delete()  # now no primary key is what it is in an empty database
    said = io.StringIO()
    call_command("load_demo", stdout=said)
    counts = [model.objects.count() for model in (Haystack, Study, Session, Question, Verdict)]
    assert all(counts)
    assert Session.objects.filter(assignment__is_practice=False, state="submitted").count() == 9
    verification = Study.objects.get(kind="verification")
    overview = overview_of(verification)
    rows = {row.member.annotator.label: row for row in overview.people}
    assert overview.n_gold == 1
    assert [row.n_done for row in rows.values()].count(0) == 1
    assert rows["Ben Ortiz"].n_done == 0 < rows["Ben Ortiz"].n_tasks
    assert 0 < rows["Cleo Marsh"].n_done < rows["Cleo Marsh"].n_tasks
    assert [name for name, row in rows.items() if row.speed and row.speed.is_notable] == ["Hana Sato"]
    assert work_of(verification).gaps(verification).n_short() == 0
    client.force_login(User.objects.get(username="ada"))
    autods = client.get(f"/studies/{verification.uid}/points/autods/").context["shown"].figures.autods
    assert {name: round(stat.value, 4) for name, stat in autods.mean.items()} == {
        "retention": 0.8831,
        "false_positive_rate": 0.6875,
        "false_discovery_rate": 0.3189,
        "false_omission_rate": 0.1667,
    }
    settings.RESULTS_AT_ONCE = False
    pages = [kind_named(study.kind).results_page for study in Study.objects.all()]
    looks = [reverse(page, args=[study.uid]) for page, study in zip(pages, Study.objects.all(), strict=True)]
    looks += ["/leaderboard/", "/leaderboard/position/", "/questions/recall/"]
    assert [look for look in looks if "These figures are being computed" in client.get(look).text] == []
    settings.RESULTS_AT_ONCE = True
    validation = results_of(Study.objects.get(kind="validation"))
    assert (validation.n_answered, validation.is_shown) == (24, False)
    assert [one.name for one in validation.evaluation.people] == ["Dana Voss", "Emil Hart"]
    assert round(validation.evaluation.mean["accuracy"].value or 0, 4) == 0.8333
    assert validation.disputed
    writing, linking = Study.objects.get(kind="writing"), Study.objects.get(kind="linking")
    people = client.get("/leaderboard/").context["board"].people
    assert (people.row.n_summaries, len(set(writing.writing_plan.subtopics.all()))) == (9, 6)
    assert all(stat.low is not None for stat in people.row.stats.values() if stat.value is not None)
    report = client.get(f"/studies/{linking.uid}/figures/").context["shown"].figures.judges
    assert report.n_clusters == 6
    assert {row.name for row in report.rows} == {"example-judge", "lexical-2"}
    correlations = [row.stats["pearson"] for row in (report.ceiling, *report.rows)]
    assert [round(stat.value, 4) for stat in correlations] == [0.8663, 0.9277, 0.8089]
    assert all(stat.low is not None for stat in correlations)
    rating = Study.objects.get(kind="rating")
    ratings = client.get(f"/studies/{rating.uid}/figures/").context["shown"].figures
    assert ratings.n_invalid == {"example-rater": 0}
    studies, judges = ([row.uid for row in model.objects.all()] for model in (Study, Judge))
    assert max(cost_of(client, f"/studies/{uid}/") for uid in studies) <= 20
    urls = ["/", "/questions/recall/run/?judge=lexical-2&task=recall&repeats=1&concurrency=1"]
    urls += [f"/studies/{uid}/{part}/" for uid in studies for part in ("report-card", "archive")]
    assert max(cost_of(client, url) for url in (*urls, *(f"/judges/{uid}/" for uid in judges))) <= 25
    batch = Batch.objects.get(run__task="ratings")
    assert (batch.state, batch.run.state, batch.n_requests) == ("closed", "done", 8)
    synthesis = Synthesis.objects.get()
    made = {step.name: (step.state, step.counts.get("flagged")) for step in synthesis.steps.all()}
    assert made["screening"] == ("closed", {"belongs elsewhere": 1})
    assert made["documents"] == ("stale", {"leaks an insight": 1})
    documents = synthesis.parts.filter(kind="document").order_by("number")
    assert {part.number: part.data["n_repairs"] for part in documents if part.data["n_repairs"]} == {
        2: 1, 4: 1, 6: 2, 9: 5,
    }  # fmt: skip
    assert {part.state for part in documents} == {"clear", "accepted", "flagged", "stale"}
    page = client.get(f"/corpora/synthesis/{synthesis.uid}/").content.decode()
    assert "is-leaked" in page
    assert "Make the stale ones again" in page
    conditions = client.get("/questions/recall/").context["sheet"].table("by-condition")
    assert [row.names for row in conditions.rows] == [("extractive", "cut-128"), ("extractive", "full")]
    experiments = client.get("/leaderboard/position/experiments/").context["sheet"]
    assert [chart.name for chart in experiments.charts] == ["places-5"]
    found = {name: experiments.table(f"{name}-scores").rows for name in ("infilling", "position")}
    assert {(row.names[0], name): row.value("n") for name, rows in found.items() for row in rows} == {
        (system, name): 10 for system in ("extractive", SECOND) for name in ("infilling", "position")
    }
    scores = [row.number("rouge1") for row in found["position"] if row.names[0] == SECOND]
    first, *_others, last, chance = scores
    assert first > last
    assert last == pytest.approx(chance, abs=0.03)  # it has not read so far
    with (FOLDER / "named-points.csv").open("rb") as file:
        sheet = client.post("/questions/recall/extraction/", {"points": file, "dataset": "demo"}).context["sheet"]
    extraction = sheet.table("extraction")
    people, lexical = extraction.rows
    assert extraction.about.startswith("6 questions")
    assert people.value("n") == 36
    assert 0.5 < lexical.number("micro") < people.number("micro") < 1
    assert people.value("micro").low is not None
    sources = client.get("/leaderboard/position/?dataset=demo-passages").context["sheet"]
    assert {row.value("n") for row in sources.table("all-rows").rows} == {10}
    client.logout()
    for one in player.logins():
        assert one["username"] in said.getvalue()
        answer = client.post("/login/", {"username": one["username"], "password": player.PASSWORD})
        assert answer.headers["Location"] == "/"
    call_command("load_demo", stdout=io.StringIO())
    assert [model.objects.count() for model in (Haystack, Study, Session, Question, Verdict)] == counts


@pytest.mark.django_db
def test_the_demo_is_not_loaded_where_https_is_on(settings) -> None:
    settings.HTTPS = True
    with pytest.raises(CommandError, match="passwords that everybody knows"):
        call_command("load_demo", stdout=io.StringIO())
    assert not Study.objects.exists()


def test_a_second_demo_on_the_same_data_is_refused_before_anything_is_changed(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    with demo.only_one(8123), pytest.raises(CommandError, match=r"http://127\.0\.0\.1:8123/"):
        call_command("demo", "--port", "9177")
    with demo.only_one(8124):
        assert (tmp_path / "demo.lock").read_text() == "8124"


def test_a_port_that_is_taken_is_named_beside_the_one_that_is_used() -> None:
    out = io.StringIO()
    command = demo.Command(stdout=out)
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        assert command.free_port(taken) > taken
    assert f"Port {taken} is taken by another program" in out.getvalue()
