"""Systems side by side: on questions that all answered, in every part, and by several judges."""

import csv
import io
import re
from collections.abc import Callable

import pytest
from django.core.management import CommandError
from django.test import Client

from annotation.models import LabelTask
from benchmarks.models import Judge, Question, Response, System
from benchmarks.recall.figures import ResponseFilter, groups_of, table
from benchmarks.recall.results import FIGURES, figures_of
from benchmarks.recall.sheet import Beside, sheet
from benchmarks.recall.systems import compared, part_chart
from benchmarks.results.stored import forget_all
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import say as answer
from tests.conftest import make_user
from tests.makers import flat
from tests.makers_recall import make_judge, make_response, say
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]
RECALL = "/questions/recall/"
DOMAINS = ("history", "music", "sports")


def report(*args: str):
    return json_of("report", "kpr", *args)


@pytest.fixture(scope="module")
def _world(kept: None) -> None:
    """Three questions that heron, wren and jay answered, and one that heron alone did, and well.

    By owl heron has 2, 2, 1 of 2 (and 2 of 2 alone), wren 1 of 2 each, jay none.
    """
    owl = make_judge("owl")
    for at, domain in enumerate(DOMAINS):
        for system, n_yes, n_words in (("heron", 2 - at // 2, 120), ("wren", 1, 30), ("jay", 0, 30)):
            response = make_response(
                f"q{at}", system=system, category="causal", domain=domain, n_points=2, n_words=n_words
            )
            say(owl, response, ["yes"] * n_yes + ["no"] * (2 - n_yes))
    say(owl, make_response("alone", system="heron", domain="history", n_points=2), ["yes", "yes"])
    client = Client()
    client.force_login(make_user("ada", "researcher"), backend="summhay_site.authentication.AccountBackend")
    client.get(RECALL)


@pytest.fixture
def judge(_world: None, db: None) -> Judge:
    """The judge of that world, which this module keeps with its figures."""
    return Judge.objects.get(name="owl")


def second_judge() -> Judge:
    """It is kinder to wren than to heron."""
    crow = make_judge("crow")
    said = {"heron": ["yes", "no"], "wren": ["yes", "yes"], "jay": ["no", "no"]}
    for response in Response.objects.exclude(question__key="alone"):
        say(crow, response, said[response.system.key])
    return crow


def test_a_system_gains_nothing_by_a_question_that_others_skipped(judge: Judge) -> None:
    found = report("--by", "system")
    systems = found["systems"]
    assert systems["only_common"] is True
    assert (systems["n_questions"], systems["n_judged_questions"]) == ({"owl": 3}, {"owl": 4})
    assert {row["system"]: row["kpr_macro"] for row in systems["all"]} == {
        "heron": pytest.approx(2.5 / 3),
        "wren": 0.5,
        "jay": 0.0,
    }
    assert {row["name"]: row["kpr_macro"] for row in found["by"]["system"]}["heron"] == pytest.approx(3.5 / 4)
    everything = report("--by", "system", "--all-questions")["systems"]
    assert everything["only_common"] is False
    assert {row["system"]: row["n_questions"] for row in everything["all"]} == {"heron": 4, "wren": 3, "jay": 3}
    assert "systems" not in report()


def test_who_leads_is_tested_question_by_question_against_the_next(judge: Judge, as_ada) -> None:
    lead = figures_of(table(ResponseFilter()), only_common=True).systems.leads["owl"]
    assert (lead.value, lead.n_items) == (pytest.approx((0.5 + 0.5 + 0.0) / 3), 3)
    shown = flat(as_ada.get(RECALL).text)
    assert "It is ahead of wren by 33.3 points; there are too few questions to test it." in shown
    for at in range(30):
        for system, said in (("heron", ["yes", "yes"]), ("wren", ["yes", "no"]), ("jay", ["no", "no"])):
            say(judge, make_response(f"more{at}", system=system, n_points=2), said)
    forget_all()
    shown = flat(as_ada.get(RECALL).text)
    assert re.search(r"ahead of wren by 48.5 points \(95 % CI [^)]*\); the difference is significant", shown)


def test_every_part_has_a_row_for_each_system(judge: Judge) -> None:
    systems = report("--by", "system")["systems"]
    heron = {row["name"]: row["kpr_macro"] for row in systems["domain"] if row["system"] == "heron"}
    assert heron == {"history": 1.0, "music": 1.0, "sports": 0.5}
    assert {(row["system"], row["name"]) for row in systems["response_length"]} == {
        ("heron", "100–249"),
        ("wren", "under 50"),
        ("jay", "under 50"),
    }
    assert {row["name"] for row in systems["document_length"]} == {"under 1,000"}
    assert {row["name"] for row in systems["category"]} == {"causal"}
    assert [row["judge"] for row in systems["judge"]] == ["owl"] * 3
    assert systems["ranking"] == []
    assert "Only the 3 of 4 questions that all systems shown answered." in output_of(
        "report", "kpr", "--by", "system"
    )


def test_judges_are_compared_by_how_they_rank_systems_on_common_items(judge: Judge) -> None:
    second_judge()
    systems = report("--by", "system")["systems"]
    assert {(row["system"], row["judge"]): row["kpr_macro"] for row in systems["judge"]} == {
        ("heron", "owl"): pytest.approx(2.5 / 3),
        ("wren", "owl"): 0.5,
        ("jay", "owl"): 0.0,
        ("heron", "crow"): 0.5,
        ("wren", "crow"): 1.0,
        ("jay", "crow"): 0.0,
    }
    (pair,) = systems["ranking"]
    assert (pair["first"], pair["second"], pair["n_systems"], pair["n_questions"]) == ("crow", "owl", 3, 3)
    # Of three pairs one is the other way round; ranks 2, 3, 1 and 3, 2, 1.
    assert (pair["kendall"], pair["spearman"]) == (pytest.approx(1 / 3), pytest.approx(0.5))
    assert pair["swapped"] == [["wren", "heron"]]
    assert pair["means"]["heron"] == {"crow": 0.5, "owl": pytest.approx(2.5 / 3), "n": 3}
    assert "wren and heron" in output_of("report", "kpr", "--by", "system")


def test_ranks_by_each_judge_stand_beside_recall(judge: Judge, ada, login: Login) -> None:
    second_judge()
    shown = sheet(figures_of(table(ResponseFilter()), only_common=True), Beside()).table("systems-by-judge")
    ranks = {row.names[0]: (row.value("rank_owl"), row.value("rank_crow")) for row in shown.rows}
    assert ranks == {"heron": (1, 2), "wren": (2, 1), "jay": (3, 3)}


def test_only_the_systems_shown_have_to_have_answered(judge: Judge) -> None:
    say(judge, make_response("more", system="wren", n_points=2), ["no", "no"])
    say(judge, make_response("more", system="jay", n_points=2), ["no", "no"])
    found = report("--by", "system", "--system", "wren,jay")
    assert found["systems"]["n_questions"] == {"owl": 4}
    assert found["filters"] == {"system": "wren,jay"}
    with pytest.raises(CommandError, match="“crane”"):
        report("--system", "wren,crane")


def test_without_a_common_question_there_are_no_rows_and_the_page_says_why(judge: Judge, as_ada) -> None:
    say(judge, make_response("other", system="magpie", n_points=1), ["yes"])
    systems = report("--by", "system")["systems"]
    assert (systems["n_questions"], systems["all"], systems["domain"]) == ({"owl": 0}, [], [])
    assert "Choose fewer, or" in flat(as_ada.get(RECALL).text)
    assert as_ada.get(RECALL + "files/by-domain.svg").status_code == 404
    assert "Choose fewer, or" not in flat(as_ada.get(RECALL + "?questions=all").text)


def test_the_switch_is_in_the_address_and_named_in_every_caption(judge: Judge, as_ada) -> None:
    shown = flat(as_ada.get(RECALL).text)
    assert "Only the 3 of 4 questions that all systems shown answered." in shown
    assert 'name="questions"' in shown
    everything = flat(as_ada.get(RECALL + "?questions=all").text)
    assert "Only the 3 of 4" not in everything
    assert everything.count("All 4 questions; systems may have answered different ones") >= 4
    assert as_ada.get(RECALL + "?system=wren&system=jay").text.count(" checked>") == 2
    assert as_ada.get(RECALL + "files/recall.json?questions=all").json()["systems"]["only_common"] is False
    rows = list(csv.DictReader(io.StringIO(b"".join(as_ada.get(RECALL + "files/systems.csv")).decode())))
    assert {row["dimension"] for row in rows} == {
        "all", "category", "domain", "document_length", "response_length", "judge"
    }  # fmt: skip
    assert all(row[f"{figure}_reason"] for row in rows for figure in FIGURES if not row[figure])


def test_domains_are_rows_of_dots_and_lengths_are_lines(judge: Judge, as_ada) -> None:
    common, counted = compared(table(ResponseFilter()), only_common=True)
    domains = part_chart("domain", groups_of(common.rows, "domain", by_system=True), counted)
    values = {(row["group"], row["series"]): row["value"] for row in domains.rows}
    assert values == {
        (system, domain): value
        for system, of_system in {"heron": [100.0, 100.0, 50.0], "wren": [50.0] * 3, "jay": [0.0] * 3}.items()
        for domain, value in zip(DOMAINS, of_system, strict=True)
    }
    assert "history · heron: 100.0" in domains.text
    lengths = part_chart("response_length", groups_of(common.rows, "response_length", by_system=True), counted)
    assert {row["place"] for row in lengths.rows} == {"under 50", "100–249"}
    of_heron = [(row["value"], row["reason"]) for row in lengths.rows if row["series"] == "heron"]
    assert of_heron == [(None, "missing"), (83.33333333333334, "")]
    short = groups_of(common.rows, "document_length", by_system=True)
    assert part_chart("document_length", short, counted) is None, "all documents are short"
    assert part_chart("category", groups_of(common.rows, "category", by_system=True), counted) is None
    for file_format, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert as_ada.get(f"{RECALL}files/response_length.{file_format}").content.startswith(start)


def test_names_with_markup_are_text_in_tables_and_charts(judge: Judge, as_ada) -> None:
    System.objects.filter(key="wren").update(key="<script>$x_1</script>")
    Question.objects.filter(domain="music").update(domain="<b>music</b>")
    shown = as_ada.get(RECALL).text
    assert "<script>$x_1" not in shown
    assert "<b>music" not in shown
    assert "&lt;b&gt;music" in shown


def test_the_measured_accuracy_of_a_judge_stands_beside_its_figures(
    judge: Judge, ada, as_ada, ben, login: Login
) -> None:
    assert "No validation study of yours has checked this judge" in flat(as_ada.get(RECALL).text)
    study = make_validation([ben], judge, n=8, by=ada)
    assert report()["validation"] == [], "nobody has answered"
    tasks = list(LabelTask.objects.filter(study=study).order_by("position"))
    for at, task in enumerate(tasks):
        answer(task, "yes", op=f"op-{at}")
    verdicts = [
        judge.point_verdicts.get(response=task.item.response, key_point=task.item.key_point) for task in tasks
    ]
    share = sum(verdict.answer == "yes" for verdict in verdicts) / len(verdicts)
    (found,) = report()["validation"]
    assert (found["judge"], found["study"], found["protocol"]) == ("owl", study.name, "blind")
    assert (found["accuracy"], found["n_answered"]) == (pytest.approx(share), len(verdicts))
    assert f'/studies/{study.uid}/figures/">{study.name}' in flat(as_ada.get(RECALL).text)
    assert study.name not in login(make_user("zoe", "researcher")).get(RECALL).text
