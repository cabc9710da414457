"""Scores of texts on sources, from the file to the table, with ratings of people and models beside them."""

from datetime import datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmarks.leaderboard import sampling
from benchmarks.models import AuditEvent, Haystack, SourceSample, Summary
from tests.annotation.rated import judge_all, make_rating_study, rate
from tests.running import json_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
PAGE = "/leaderboard/sources/"
REFERENCE = "Boats leave at six in the morning."
FILLING = "Nobody here says anything of interest about harbours or weather. " * 150


def source(
    key: str, *, is_late: bool = False, gull: str = REFERENCE, heron: str = "Boats leave."
) -> dict[str, Any]:
    document = f"{FILLING if is_late else ''}{REFERENCE} A cat sleeps."
    texts = [
        {"system": "gull", "text": gull, "scores": {"bertscore": 80.0 + len(key)}},
        {"system": "heron", "text": heron},
    ]
    return {"key": key, "documents": [document], "reference": REFERENCE, "summaries": texts}


def take(now: datetime, dataset: str, *lines: dict[str, Any]) -> None:
    import_sources(lines, now=now, dataset=dataset)


@pytest.fixture
def _two_datasets(now: datetime) -> None:
    take(now, "news", *(source(f"n{at}", heron="Boats leave at six." if at % 2 else "Boats.") for at in range(6)))
    take(now, "law", *(source(f"l{at}", gull="Boats leave at six in winter.") for at in range(4)))


def report(*arguments: str) -> dict[str, Any]:
    return json_of("report", "sources", *arguments)


def row_of(found: dict[str, Any], system: str, dataset: str) -> dict[str, Any]:
    (row,) = [one for one in found["rows"] if (one["system"], one["dataset"]) == (system, dataset)]
    return dict(row)


@pytest.mark.usefixtures("_two_datasets")
def test_means_stand_by_dataset_and_over_all_with_differences_on_the_same_sources() -> None:
    found = report()
    gull_news, gull_law = row_of(found, "gull", "news"), row_of(found, "gull", "law")
    assert (gull_news["rouge1"], gull_news["n"]) == (1.0, 6)
    # “boats leave at six in winter” and “boats leave at six in the morning”: 5 of 6 and 7 words
    assert gull_law["rouge1"] == pytest.approx(10 / 13)
    assert gull_law["rouge2"] == pytest.approx(8 / 11)
    assert row_of(found, "gull", "all sources")["rouge1"] == pytest.approx((6 + 4 * 10 / 13) / 10)
    assert row_of(found, "gull", "mean of datasets")["rouge1"] == pytest.approx((1 + 10 / 13) / 2)
    heron = row_of(found, "heron", "news")
    assert heron["rouge1"] == pytest.approx((2 / 8 + 8 / 11) / 2)
    assert heron["bertscore"] is None
    assert gull_news["bertscore"] == 82.0
    assert row_of(found, "heron", "law")["words"] == 2.0
    apart = {one["dataset"]: one for one in found["differences"]}
    assert apart["news"]["rouge1"] == pytest.approx(1 - heron["rouge1"])
    assert apart["news"]["intervals"]["rouge1"]["low"] < apart["news"]["rouge1"]
    assert apart["news"]["reasons"]["bertscore"] == "no source in common"
    assert [one["dataset"] for one in report("--dataset", "law")["rows"]] == ["law", "law"]
    with pytest.raises(CommandError, match="no dataset of sources “sea”"):
        report("--dataset", "sea")


@pytest.mark.every_database
@pytest.mark.usefixtures("_two_datasets")
def test_ratings_of_people_and_models_are_measures_too(ben, cleo) -> None:
    gulls = list(Summary.objects.filter(system__summarizer="gull", haystack__dataset="law").order_by("pk"))
    study = make_rating_study(annotators=[ben, cleo], summaries=gulls[:2])
    for task in study.label_tasks.all():
        rate(task, [5 if task.annotator.user == ben else 2] * 5)
    judge_all(study, "owl", [[4] * 5] * 2)
    row = row_of(report("--dataset", "law"), "gull", "law")
    assert row["overall (people)"] == 3.5
    assert row["coherence (owl)"] == 4.0
    assert "overall (people)" not in row_of(report("--dataset", "news"), "gull", "news")


def test_a_sample_is_the_same_for_the_same_seed_and_holds_only_what_the_rule_allows(now: datetime) -> None:
    take(now, "law", *(source(f"l{at}", is_late=at % 2 == 0) for at in range(12)))
    first = [
        sampling.draw(sample=sampling.request_sample(**of(name, rule="late", n=4, seed=seed)), now=now)
        for name, seed in (("one", 1), ("two", 1), ("three", 2))
    ]
    members = [sorted(sample.members.values_list("title", flat=True)) for sample in first]
    assert members[0] == members[1] != members[2]
    assert all(int(title[1:]) % 2 == 0 for own in members for title in own)
    assert sampling.draw(sample=first[0], now=now).members.count() == 4
    few = sampling.draw(sample=sampling.request_sample(**of("few", rule="late", n=7)), now=now)
    assert (few.members.count(), few.problem) == (
        0,
        "Of “law” only 6 sources have their content late enough; 7 were asked for.",
    )
    any_of_them = sampling.draw(sample=sampling.request_sample(**of("any", rule="any", n=12)), now=now)
    assert any_of_them.members.count() == 12
    assert AuditEvent.objects.filter(action="sample.drawn").count() == 5
    for wrong in (of("one"), of("law"), of("x", n=13), of("y", n=0)):
        with pytest.raises(sampling.BadSample):
            sampling.request_sample(**wrong)


def of(name: str, *, rule: str = "any", n: int = 1, seed: int = 1) -> dict[str, Any]:
    return {"name": name, "parts": {"law": n}, "rule": rule, "seed": seed, "by": None, "now": timezone.now()}


def test_a_sample_is_drawn_by_command_or_refused(now: datetime) -> None:
    take(now, "law", *(source(f"l{at}", is_late=at % 2 == 0) for at in range(8)))
    found = json_of("draw_sample", "middle", "--part", "law=3", "--late", "--seed", "5")
    assert (found["parts"], found["rule"], found["seed"]) == ({"law": 3}, "late", 5)
    assert found["sources"] == sorted(SourceSample.objects.get().members.values_list("key", flat=True))
    for wrong, message in (
        (["middle", "--part", "law=1"], "already"),
        (["other", "--part", "law=5", "--late"], "only 4 sources"),
        (["other", "--part", "law=x"], "DATASET=N"),
        (["o" * 81, "--part", "law=1"], "at most 80 characters"),
        (["other", "--part", "law=1", "--seed", "-1"], "greater than or equal to 0"),
        (["", "--part", "law=1"], "cannot be blank"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("draw_sample", *wrong)
    assert SourceSample.objects.count() == 1


def test_a_sample_says_that_a_source_of_it_was_deleted(now: datetime, as_eve) -> None:
    take(now, "law", *(source(f"l{at}") for at in range(3)))
    sample = sampling.draw(sample=sampling.request_sample(**of("middle", n=2)), now=now)
    page = reverse("benchmarks:samples")
    assert "were deleted" not in as_eve.get(page).text
    deletion = reverse("benchmarks:haystack-delete", args=[sample.members.all()[0].uid])
    assert "would be missing there: middle" in " ".join(as_eve.get(deletion).text.split())
    as_eve.post(deletion)
    assert "1 of 2 left: the others were deleted" in " ".join(as_eve.get(page).text.split())


def test_scores_on_a_sample_stand_beside_random_subsets(now: datetime) -> None:
    lines = [source(f"l{at}", is_late=at < 6, gull=REFERENCE if at >= 6 else "Boats.") for at in range(14)]
    take(now, "law", *lines)
    sampling.draw(sample=sampling.request_sample(**of("middle", rule="late", n=6)), now=now)
    found = report("--sample", "middle")
    assert {row["n"] for row in found["rows"]} == {6}
    (beside,) = [one for one in found["sample"] if (one["system"], one["measure"]) == ("gull", "rouge1")]
    assert (beside["value"], beside["n"], beside["n_all"]) == (pytest.approx(0.25), 6, 14)
    assert beside["expected"] == pytest.approx((6 * 0.25 + 8) / 14)
    assert beside["low"] > beside["value"]
    assert beside["share_below"] < 0.01
    with pytest.raises(CommandError, match="There is no sample “x”"):
        report("--sample", "x")


@pytest.mark.usefixtures("_two_datasets")
def test_the_page_shows_a_measure_over_datasets_and_draws_a_sample(as_ada) -> None:
    shown = as_ada.get(PAGE, {"measure": "rouge1"})
    table = shown.context["sheet"].table("scores-by-dataset")
    assert [one.key for one in table.measures] == ["law", "news", "all sources", "mean of datasets"]
    assert [row.names[0] for row in table.rows] == ["gull", "heron"]
    assert table.rows[0].cell("news").place == 1
    assert (
        as_ada.get(PAGE, {"measure": "nothing", "corpus": "<script>"}).context["form"].data["measure"] == "rouge1"
    )
    assert as_ada.get(f"{PAGE}files/all-scores.csv").status_code == 200
    assert as_ada.get(f"{PAGE}files/figures.json").json()["rows"] == report()["rows"]
    assert as_ada.get(f"{PAGE}files/source-scores.svg")["Content-Type"] == "image/svg+xml"
    page = as_ada.get("/corpora/samples/")
    fields = [name for name in page.context["form"].fields if name.startswith("n_")]
    data = {"name": "some", "rule": "any", "seed": "3", fields[0]: "2", fields[1]: "3"}
    assert as_ada.post("/corpora/samples/", data | {fields[0]: "9"}).status_code == 422
    assert as_ada.post("/corpora/samples/", data).status_code == 302
    assert sampling.draw_pending(clock=timezone.now) == 1
    sample = SourceSample.objects.get()
    assert sample.parts == {"law": 2, "news": 3}
    assert Haystack.objects.in_corpus("some").count() == 5
    shown = as_ada.get(PAGE, {"corpus": "some"})
    assert {row.n for row in shown.context["shown"].figures.rows} == {2, 3, 5}
    assert as_ada.post(f"/corpora/samples/{sample.uid}/delete/").status_code == 302
    assert not SourceSample.objects.exists()


def test_how_much_of_a_source_fits_into_a_window(now: datetime) -> None:
    take(
        now,
        "law",
        {"key": "a", "documents": "word " * 3277, "reference": "word."},
        {"key": "b", "documents": "word", "reference": "word."},
    )
    (found,) = report()["visible"]
    assert found["shares"]["2048"] == pytest.approx((2048 / (1.25 * 3277) + 1) / 2)
    assert found["shares"]["4096"] == pytest.approx(1, abs=0.001)
    assert (found["n"], found["mean_words"]) == (2, 1639)


def test_without_sources_the_page_says_how_to_come_by_them(as_ada) -> None:
    assert "Import documents with reference summaries" in as_ada.get(PAGE).text
    assert "no documents with reference summaries yet" in as_ada.get("/corpora/samples/").text


@pytest.mark.usefixtures("_two_datasets")
def test_a_rating_study_takes_summaries_of_sources(as_ada) -> None:
    page = as_ada.get(reverse("annotation:study-create", args=["rating"]))
    assert [name for name, _title in page.context["form"].fields["corpora"].choices] == ["law", "news"]
    counted = as_ada.post(
        reverse("annotation:study-takes", args=["rating"]),
        {"corpora": "law", "with_systems": "on", "way": "all", "systems": "gull"},
    )
    assert "All 4 matching summaries of law" in counted.text
