"""Pages of key point recall: what they show and mark, files, runs, checks, and versions of key points."""

import csv
import io
import re
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Study
from annotation.verification import datasets
from benchmarks.engine import judging, versions
from benchmarks.models import (
    AuditEvent,
    Judge,
    JudgeRun,
    PointVerdict,
    Question,
    Response,
    ResponsePointCheck,
    System,
)
from benchmarks.recall import views
from benchmarks.results.sheet import Cards
from tests.conftest import make_user
from tests.makers import flat, url
from tests.makers_recall import NOW, extract, make_judge, make_response, say, support
from tests.makers_verification import make_questions, make_verification_study, say_all
from tests.running import json_of

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]
RECALL = "/questions/recall/"
RUN = "/questions/recall/run/"


@pytest.fixture
def judge(db: None) -> Judge:
    """heron has 2 of 2, wren 1 of 2, jay 0 of 2 in one category; heron alone in another."""
    judge = make_judge("owl")
    for system, answers, letters in (
        ("heron", ["yes", "yes"], "yy"),
        ("wren", ["yes", "no"], "yn"),
        ("jay", ["no", ""], "nn"),
    ):
        response = make_response("a", system=system, category="causal", domain="history", n_points=2)
        say(judge, response, answers)
        support(judge, extract(judge, response, 2), documents=letters, key_points="nn")
    say(judge, make_response("b", system="heron", category="factual", n_points=1, n_words=90), ["no"])
    return judge


def body(client: Client, address: str, **headers) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return answer.text


def test_the_best_and_the_second_of_a_column_are_marked_and_said(judge: Judge, as_ada) -> None:
    html = flat(body(as_ada, RECALL + "?questions=all"))
    table = html.partition('id="systems-category"')[2].partition("</table>")[0]
    rows = {
        name: re.sub(r"<[^>]+>", "", cells)
        for name, cells in re.findall(r'<th scope="row">(\w+) ?</th>(.*?)</tr>', table, re.DOTALL)
    }
    assert "100.0 (best)" in rows["heron"]
    assert "50.0 (second)" in rows["wren"] or "50.0 (best)" in rows["wren"]
    assert "0.0" in rows["jay"]
    assert "–" in rows["jay"], "jay answered nothing factual"
    assert '<strong class="is-best">' in table
    assert '<span class="is-second">' in table
    assert "the only" not in table


def test_figures_follow_the_filter_and_a_fragment_has_no_frame(judge: Judge, as_ada) -> None:
    html = body(as_ada, RECALL + "?system=wren", HX_Request="true")
    assert "<html" not in html
    assert "heron" not in html
    assert '<div class="figure-value"><span title="key point recall, macro; n = 1' in html
    assert ">50.0</span>" in html


def test_a_judge_can_be_chosen_and_the_one_with_most_responses_is_shown_first(judge: Judge, as_ada) -> None:
    say(make_judge("tern"), Response.objects.get(system__key="jay"), ["yes", "yes"])
    assert "judge owl" in body(as_ada, RECALL)
    chosen = body(as_ada, RECALL + "?judge=tern")
    assert "judge tern" in chosen
    assert "3 responses have no verdict" in chosen


def test_filters_that_leave_no_response_are_named_and_not_the_import(judge: Judge, as_ada) -> None:
    for query in ("?category=factual&domain=history", "?domain=nowhere"):
        shown = flat(body(as_ada, RECALL + query))
        assert "No response has all that is chosen above." in shown
        assert "import_dataset" not in shown


def test_without_verdicts_or_responses_the_page_says_what_to_do(as_ada) -> None:
    assert "import_dataset long2rag" in body(as_ada, RECALL)
    make_response("z", system="heron", n_points=1)
    assert "run_judge --task recall" in body(as_ada, RECALL)


def test_files_hold_the_figures_the_counts_and_the_chart(judge: Judge, as_ada) -> None:
    assert as_ada.get(RECALL + "files/recall.json").json()["overall"]["judge"] == "owl"
    rows = list(csv.DictReader(io.StringIO(b"".join(as_ada.get(RECALL + "files/recall.csv")).decode())))
    undefined = [row for row in rows if not row["value"] and not row["text"]]
    assert undefined
    assert all(row["reason"] for row in undefined)
    counts = b"".join(as_ada.get(RECALL + "files/responses.csv")).decode()
    jay = next(row for row in csv.DictReader(io.StringIO(counts)) if row["system"] == "jay")
    assert (jay["n_key_points"], jay["n_entailed"], jay["n_unjudged"], jay["n_points"]) == ("1", "0", "1", "2")
    for name, start in (("lengths.svg", b"<svg"), ("lengths.png", b"\x89PNG"), ("lengths.pdf", b"%PDF")):
        assert as_ada.get(RECALL + "files/" + name).content.startswith(start)
    assert as_ada.get(RECALL + "files/other.txt").status_code == 404


def test_a_run_is_looked_at_started_and_followed(ada, as_ada) -> None:
    make_response("z", system="heron", n_points=1, text="z 1. And more of it.")
    asked = {"judge": "lexical-2", "task": "recall", "concurrency": 16, "repeats": 1, "dataset": ""}
    html = body(as_ada, RUN + "?judge=lexical-2&task=recall&concurrency=16&repeats=1&dataset=")
    assert "Start the run" in html
    assert not Judge.objects.exists(), "looking writes nothing"
    started = as_ada.post(RUN, asked)
    run = JudgeRun.objects.get()
    assert started.headers["Location"] == f"/judges/runs/{run.uid}/"
    assert (run.task, run.requested_by, run.items.count()) == ("recall", ada, 1)
    assert AuditEvent.objects.filter(action="run.requested").exists()
    judging.run_pending(run=run, clock=lambda: NOW)
    assert "1 of 1 responses done" in body(as_ada, f"/judges/runs/{run.uid}/")
    assert as_ada.post(RUN, asked).headers["Location"].startswith(RUN), "nothing is lacking"
    assert JudgeRun.objects.count() == 1
    assert as_ada.post(RUN, {**asked, "judge": "nobody"}).status_code == 422


def test_a_models_run_is_estimated_before_it_costs_anything(as_ada, settings) -> None:
    settings.OPENAI_BASE_URLS = ["http://127.0.0.1:9/v1"]
    make_response("z", system="heron", n_points=3)
    config = {"base_url": "http://127.0.0.1:9/v1", "model": "sparrow-1"}
    model = versions.ensure_judge(name="sparrow", kind="openai", config=config, now=NOW)
    address = f"{RUN}?judge={model.uid}&task=recall&concurrency=4&repeats=2&dataset="
    html = flat(body(as_ada, address))
    assert "6, 0 cached or duplicate (free)" in html
    assert "there is no price for this model" in html
    settings.OPENAI_BASE_URLS = []
    refused = body(as_ada, address)
    assert "is not allowed" in refused
    assert "Start the run" not in refused


def test_a_response_shows_verdicts_with_their_evidence_and_escapes_them(judge: Judge, as_ada) -> None:
    response = Response.objects.get(system__key="wren")
    PointVerdict.objects.filter(response=response, answer="yes", premise="response").update(
        raw={"sentence": 4, "evidence": "<b>bold</b>"}
    )
    html = flat(body(as_ada, f"/questions/responses/{response.uid}/"))
    assert "sentence 4:" in html
    assert "&lt;b&gt;bold" in html
    assert html.count(">Wrong<") == 2
    jay = Response.objects.get(system__key="jay")
    assert "unusable answer" in body(as_ada, f"/questions/responses/{jay.uid}/")


def test_a_check_is_kept_as_a_row_and_the_newest_of_each_person_counts(judge: Judge, as_ada, as_eve) -> None:
    first, second = Response.objects.get(system__key="wren").extractions.get().points.order_by("number")
    address = url("point-check", first.uid)
    plain = as_ada.post(address, {"is_right": "no", "note": "Half of it."})
    assert plain.headers["Location"].endswith("#point-1")
    fragment = as_ada.post(address, {"is_right": "yes"}, headers={"HX-Request": "true"})
    fragment = flat(fragment.text)
    assert "<html" not in fragment
    assert "1 right, 0 wrong" in fragment
    as_eve.post(url("point-check", second.uid), {"is_right": "no"})
    assert ResponsePointCheck.objects.count() == 3
    share = views.share_right(judge="owl")
    assert (share.value, share.n_items) == (0.5, 2)
    assert views.share_right(judge="tern").value is None
    assert AuditEvent.objects.filter(action="point.checked").count() == 3
    assert as_ada.post(address, {"is_right": "perhaps"}).status_code == 422
    assert "2 checks" in body(as_ada, RECALL)


def test_pages_cost_the_same_queries_whatever_is_on_them(judge: Judge, as_ada) -> None:
    response = Response.objects.get(system__key="wren")
    addresses = (RECALL, f"/questions/responses/{response.uid}/")

    def costs() -> list[int]:
        found = []
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                body(as_ada, address)
            found.append(sum("benchmarks_" in query["sql"] for query in queries.captured_queries))
        return found

    costs()
    before = costs()
    for number in range(4):
        say(judge, make_response(f"more-{number}", system="heron", category="causal", n_points=2), ["yes", "no"])
    costs()  # figures are computed anew
    assert costs() == before
    assert max(before) <= 17


@pytest.fixture
def verified(ada) -> Study:
    """Two questions of two points; version 1 keeps what anna keeps (3 points), version 2 what both keep (1)."""
    study = make_verification_study(
        annotators=("anna", "bert"), questions=make_questions(2), for_all=True, researcher=ada
    )
    say_all(study, ["AA", "AD", "AD", "DA"])
    people = {person.label: str(person.uid) for person in [m.annotator for m in study.memberships.all()]}
    for chosen in (("anna",), ("anna", "bert")):
        datasets.choose(study=study, annotators=[people[name] for name in chosen], by=ada, now=NOW)
    owl = make_judge("owl")
    system = System.objects.create(key="heron", summarizer="heron")
    for question in Question.objects.all():
        response = Response.objects.create(
            question=question, system=system, text="Words.", text_sha256="0", n_words=1, created_at=NOW
        )
        say(owl, response, ["yes", "no"])
    return study


def test_recall_on_a_version_of_ones_own_key_points(verified: Study, as_ada) -> None:
    name = ("--study", verified.name)
    newest = json_of("report", "kpr", *name)
    assert newest["verified"] == {"study": verified.name, "version": 2, "n_kept": 1}
    assert (newest["overall"]["kpr_micro"], newest["overall"]["n_key_points"]) == (1.0, 1)
    first = json_of("report", "kpr", *name, "--version", "1")
    assert (first["verified"]["version"], first["overall"]["kpr_micro"]) == (1, pytest.approx(2 / 3))
    for wrong in ((*name, "--version", "9"), ("--version", "1")):
        with pytest.raises(CommandError, match="version"):
            call_command("report", "kpr", *wrong)
    offered = as_ada.get(RECALL).text
    assert f'value="{verified.uid}.2"' in offered
    assert f'value="{verified.uid}.1"' in offered
    answer = as_ada.get(f"{RECALL}?points={verified.uid}.1")
    assert f"only the 3 key points kept by “{verified.name}”, version 1" in flat(answer.text)
    (cards,) = (part for part in answer.context["sheet"].parts if isinstance(part, Cards))
    assert cards.cards[0].stat.value == 0.75, "1 of 2 and 1 of 1"
    files = as_ada.get(f"{RECALL}files/recall.json?points={verified.uid}.2").json()
    assert files["overall"]["n_key_points"] == 1


@pytest.mark.parametrize(
    "wrong", ["{uid}.7", "{uid}.", "{uid}.x", "{uid}", "x.1", "<script>", "{uid}.999999999999"]
)
def test_a_version_that_is_none_is_not_found(verified: Study, as_ada, wrong: str) -> None:
    key = wrong.format(uid=verified.uid)
    assert as_ada.get(RECALL, {"points": key}).status_code == 404
    assert as_ada.get(RECALL + "files/recall.json", {"points": key}).status_code == 404


def test_a_stranger_to_a_study_neither_sees_nor_uses_its_versions(verified: Study, login: Login) -> None:
    client = login(make_user("zoe", "researcher"))
    assert str(verified.uid) not in client.get(RECALL).text
    assert client.get(f"{RECALL}?points={verified.uid}.1").status_code == 404
