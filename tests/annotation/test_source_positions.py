"""Position of content in single long documents: planted content of systems, people and references."""

from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from annotation.leaderboard import positions
from benchmarks.models import Haystack, Summary
from tests.annotation.rated import judge_all, make_rating_study, rate
from tests.conftest import make_user
from tests.running import json_of, output_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
PAGE = "/leaderboard/position/"
N_SENTENCES, N_WORDS = 200, 10
N_LATE, N_EARLY = 6, 7


def sentence(source: int, at: int) -> str:
    """Ten words, in all its pairs of words unlike any other sentence."""
    return " ".join(f"s{source}w{at}x{word}" for word in range(N_WORDS - 1)) + " end."


def source(number: int, *, at: int) -> dict[str, Any]:
    """2,000 words, with the content of the reference in one sentence."""
    return {
        "key": f"item-{number}",
        "documents": " ".join(sentence(number, one).capitalize() for one in range(N_SENTENCES)),
        "reference": sentence(number, at),
        "summaries": [
            {"system": "lead", "text": sentence(number, 0), "scores": {"bertscore": number / 100}},
            {"system": "tail", "text": sentence(number, N_SENTENCES - 1)},
            {"system": "short", "text": sentence(number, 40), "visible_words": 500},
            {"person": "ada", "text": sentence(number, 5)},
        ],
    }


@pytest.fixture
def _sources(now: datetime) -> None:
    late = [source(number, at=130 + number) for number in range(N_LATE)]
    early = [source(N_LATE + number, at=20 + number) for number in range(N_EARLY)]
    import_sources([*late, *early], now=now, dataset="long")


def report(*arguments: str) -> dict[str, Any]:
    return {row["system"]: row for row in json_of("report", "context", "--haystack", "long", *arguments)}


def full_bins(row: dict[str, Any], part: str) -> list[int]:
    return [at for at, share in enumerate(row[part]["bins"]) if share]


@pytest.mark.usefixtures("_sources")
def test_planted_content_is_found_for_systems_and_people() -> None:
    rows = report()
    assert {name: full_bins(row, "bigrams") for name, row in rows.items()} == {
        "lead": [0], "tail": [19], "short": [4], "people": [0]
    }  # fmt: skip
    assert {name: full_bins(row, "sentences") for name, row in rows.items()} == {
        "lead": [0], "tail": [9], "short": [8], "people": [0]
    }  # fmt: skip
    assert (rows["people"]["retriever"], rows["people"]["n_summaries"]) == ("full-ctxt", N_LATE + N_EARLY)
    assert rows["lead"]["bigrams"]["people"]["ks"] == pytest.approx(1.0)
    whole = [at * N_WORDS for at in (*range(130, 130 + N_LATE), *range(20, 20 + N_EARLY))]
    assert rows["tail"]["reference_position"] == pytest.approx(sum(whole) / len(whole))
    # Scores that came with the texts are ranked by position
    # positions rank 8…13, then 1…7; scores 1…13: 1 - 6 · (6 · 7² + 7 · 6²) / (13 · (13² - 1))
    assert rows["lead"]["rq3"]["bertscore"]["rho"] == pytest.approx(-0.5)
    assert rows["tail"]["rq3"]["bertscore"]["reason"] == "under 3 texts with both"
    late = rows["lead"]["late"]["bertscore"]
    assert (late["value"], late["expected"]) == (pytest.approx(0.025), pytest.approx(0.06))


@pytest.mark.usefixtures("_sources")
def test_who_saw_only_the_beginning_is_measured_by_that() -> None:
    short = report()["short"]
    assert short["rq3"]["rouge1"]["n"] == N_EARLY  # the others' references lie beyond what was visible
    assert short["reference_position"] == pytest.approx(sum(range(200, 270, 10)) / N_EARLY)
    assert short["late"]["rouge1"]["n"] == N_LATE


@pytest.mark.usefixtures("_sources")
def test_ratings_are_ranked_by_position_and_stand_on_the_page(ben) -> None:
    texts = Summary.objects.filter(system__key="lead").order_by("pk")
    study = make_rating_study(annotators=[ben], summaries=texts)
    by_position = sorted(texts, key=lambda text: int(text.haystack.title.split("-")[1]))
    late = {text.pk for text in by_position[:N_LATE]}
    for task in study.label_tasks.all():
        rate(task, [1 if task.item.summary_id in late else 5, 3, 3, 3, 3])
    judge_all(study, "owl", [[4 if text.pk in late else 2] * 5 for text in texts])
    lead = report()["lead"]
    of_people, of_judge = lead["rq3"]["overall (people)"], lead["rq3"]["overall (owl)"]
    assert of_people["rho"] == pytest.approx(-of_judge["rho"])
    assert of_people["rho"] < -0.8
    assert of_people["is_significant"]
    assert lead["rq3"]["coherence (people)"]["reason"]  # all the same
    assert lead["late"]["overall (people)"]["value"] == 1.0
    client = Client()
    client.force_login(make_user("eve", "admin"))
    table = client.get(f"{PAGE}?dataset=long").context["sheet"].table("all-rows")
    keys = {one.key: one for one in table.measures}
    assert not keys["rho_overall (people)"].is_extra
    assert keys["rho_quality (owl)"].is_extra
    client.force_login(make_user("stan", "researcher"))  # no member of the study: no ratings of its people
    names = {one.key for one in client.get(f"{PAGE}?dataset=long").context["sheet"].table("all-rows").measures}
    assert "rho_overall (owl)" in names
    assert "rho_overall (people)" not in names


@pytest.mark.usefixtures("_sources")
def test_only_texts_whose_content_lies_late() -> None:
    rows = report("--late")
    assert {name: row["n_summaries"] for name, row in rows.items()} == dict.fromkeys(rows, N_LATE)
    assert rows["lead"]["sentences"]["reference_bins"][:6] == [0.0] * 6


@pytest.mark.usefixtures("_sources")
def test_sources_are_counted_only_where_they_are_asked_for() -> None:
    with pytest.raises(Exception, match="There is no such haystack"):
        output_of("report", "context")
    assert not Haystack.objects.for_work().exists()


@pytest.mark.usefixtures("_sources")
def test_the_page_of_a_dataset() -> None:
    assert positions.place_missing() == 4 * (N_LATE + N_EARLY)
    client = Client()
    client.force_login(make_user("ada", "researcher"))
    of_nothing = client.get(PAGE).content
    assert b'<option value="long"' in of_nothing
    assert b'name="setting"' not in of_nothing, "there is nothing to choose from"
    page = client.get(f"{PAGE}?dataset=long")
    assert b'name="setting"' in page.content
    chart, _other = page.context["sheet"].charts
    panels = [*dict.fromkeys(row["panel"] for row in chart.rows)]
    assert panels == [f"{name} · n = 13" for name in ("people", "lead", "short", "tail")]
    of_lead = {row["series"] for row in chart.rows if row["panel"] == panels[1]}
    assert of_lead == {"even spread", "reference", "people", "texts"}
    late = client.get(f"{PAGE}?dataset=long&texts=late")
    assert {row.value("n") for row in late.context["sheet"].table("all-rows").rows} == {N_LATE}
    file = client.get(f"{PAGE}files/position.json?dataset=long&texts=late").json()
    assert {row["system"]: row for row in file} == report("--late")
    assert client.get(f"{PAGE}?dataset=none&texts=odd").status_code == 200
    Summary.objects.filter(system__key="lead").update(scores={"bertscore": 0.5})
    assert client.get(f"{PAGE}files/position.json?dataset=long").json()[0]["rq3"]["bertscore"]["rho"] is None
