"""Runs of a part: a study, subtopics, systems, a sample, a list of ids; by command and in the browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from annotation.writing import scoring
from benchmarks.engine import judging, scopes
from benchmarks.models import Judge, JudgeRun, Summary, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.benchmarks.engine.asking import make_judge
from tests.conftest import make_user
from tests.fake_openai import Answer, FakeServer, failing
from tests.makers import (
    NOW,
    fill_missing,
    flat,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
    url,
)
from tests.makers_recall import make_response
from tests.running import json_of

Login = Callable[..., Client]
MINUTE = 60_000
UNKNOWN = "00000000-0000-4000-8000-000000000000"
pytestmark = pytest.mark.django_db


def run_judge(*args: str):
    return json_of("run_judge", *args)


def judged() -> set[int]:
    return set(Verdict.objects.values_list("summary", flat=True))


@pytest.fixture
def summaries(db: None) -> list[Summary]:
    """Twelve of two systems, two on each of six subtopics, with three insights."""
    return make_summaries()


def test_a_run_is_about_subtopics_systems_and_retrievers(summaries: list[Summary]) -> None:
    assert run_judge("--subtopic", "Part 2", "--subtopic", "ferries-3")["calls"] == 4 * 3
    assert judged() == {summary.pk for summary in summaries[2:6]}
    assert run_judge("--system", "beta", "--subtopic", "Part 1")["calls"] == 3
    assert run_judge("--system", "alpha", "--retriever", "vector")["calls"] == 4 * 3
    scope = JudgeRun.objects.latest("pk").scope
    assert scope == {"systems": ["alpha"], "retrievers": ["vector"]}
    assert scopes.words(scope, seen=()) == "system alpha; retriever vector"


def test_a_sample_is_the_same_for_the_same_seed(summaries: list[Summary]) -> None:
    draws = {seed: [one.pk for one in scopes.Scope(sample=4, seed=seed).summaries()] for seed in (1, 2)}
    assert draws[1] == [one.pk for one in scopes.Scope(sample=4, seed=1).summaries()]
    assert len(draws[1]) == 4
    assert draws[1] != draws[2]
    assert draws[1] == sorted(draws[1])
    assert len(scopes.Scope(sample=100).summaries()) == 12
    assert run_judge("--sample", "4", "--seed", "1")["calls"] == 12
    assert judged() == set(draws[1])
    assert "random sample of 4, seed 1" in scopes.words(JudgeRun.objects.get().scope, seen=())


def test_a_run_is_about_a_study_by_its_name_or_id(summaries: list[Summary]) -> None:
    study = make_labelled_study(summaries=summaries[:3], judges=())
    assert run_judge("--study", "Ferry links")["calls"] == 9
    assert judged() == {summary.pk for summary in summaries[:3]}
    assert run_judge("--study", str(study.uid))["calls"] == 0
    assert run_judge("--study", str(study.uid), "--system", "alpha")["cached"] == 6


@pytest.fixture
def written(ada, ben) -> Study:
    """A writing study of ada with one session of two snapshots, which are not judged yet."""
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben])
    texts = [(5 * MINUTE, "- Boats leave."), (25 * MINUTE, "- The secret <b>draft</b> of ben [1].")]
    session = make_session(
        assignment=make_assignment(annotator=ben, study=study), state="submitted", revisions=texts
    )
    fill_missing(session=session, now=NOW)
    scoring.score_snapshots(now=NOW)
    JudgeRun.objects.all().delete()
    return study


def test_a_writing_study_stands_for_the_texts_of_its_sessions(written: Study, summaries: list[Summary]) -> None:
    texts = Summary.objects.filter(origin="session")
    assert run_judge("--study", written.name)["calls"] == 3 * texts.count() > 3
    assert judged() == set(texts.values_list("pk", flat=True))


def test_a_list_of_ids_is_read_from_a_file(written: Study, summaries: list[Summary], tmp_path: Path) -> None:
    draft = Summary.objects.filter(origin="session")[0]
    path = tmp_path / "ids.txt"
    path.write_text(f"\ufeff{summaries[0].uid}, {draft.uid}\n{summaries[0].uid}\n")
    assert run_judge("--ids", str(path))["calls"] == 6
    assert judged() == {summaries[0].pk, draft.pk}
    assert scopes.words(JudgeRun.objects.get().scope, seen=()) == "a list of 2 ids"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match=r"ids\.txt: the file is not UTF-8 text\.$"):
        run_judge("--ids", str(path))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--study", "Nothing"], "no study with summaries called “Nothing”"),
        (["--subtopic", "Part 99"], "no subtopic called “Part 99”"),
        (["--system", "nobody"], "no system of this name: nobody"),
        (["--sample", "0"], "--sample is at least 1"),
        (["--task", "recall", "--haystack", "ferries"], "choose summaries"),
        (["--ids", "/nowhere/ids.txt"], "ids.txt: No such file or directory."),
    ],
)
def test_a_name_that_means_nothing_is_an_error(args: list[str], said: str, summaries: list[Summary]) -> None:
    with pytest.raises(CommandError, match=said):
        run_judge(*args)
    assert not JudgeRun.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("heron", "“heron” is not a summary id"),
        (str(NOW.year), "not a summary id"),
        (UNKNOWN, "1 id of the list is unknown here"),
    ],
)
def test_a_list_with_anything_else_is_refused(
    content: str, said: str, summaries: list[Summary], tmp_path: Path, ada, login: Login
) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(content)
    with pytest.raises(CommandError, match=said):
        run_judge("--ids", str(path))
    shown = login(ada).post(start_url(offline(login(ada))), {"listed": content, "estimate": "1"})
    assert (shown.status_code, said in flat(shown.text)) == (422, True)


def start_url(judge: Judge) -> str:
    return url("judge-start", judge.uid)


def offline(client: Client) -> Judge:
    """The offline judge as its button leads to it."""
    response = client.post(url("judge-offline"))
    judge = Judge.objects.get(name="lexical-2")
    assert response["Location"] == url("judge-detail", judge.uid) + "#run"
    return judge


@pytest.mark.django_db(transaction=True)
def test_the_offline_judge_runs_from_the_browser_on_a_scope(summaries: list[Summary], ada, as_ada) -> None:
    assert "Run the offline judge" in as_ada.get(url("judges")).text
    judge = offline(as_ada)
    form = {"subtopics": [str(summaries[0].subtopic_id)], "systems": ["alpha", "beta"], "seed": "0"}
    shown = as_ada.post(start_url(judge), {**form, "estimate": "1"})
    text = flat(shown.text)
    assert "subtopic Part 1; systems alpha, beta" in text
    assert "2 to judge of 2" in text
    assert "runs on this server" in text
    assert 'name="concurrency"' not in text
    assert not JudgeRun.objects.exists()
    started = as_ada.post(start_url(judge), dict_of(shown.context["form"].carried()), follow=True)
    run = JudgeRun.objects.get()
    assert (run.state, run.verdicts.count(), run.requested_by) == (JudgeRun.State.DONE, 6, ada)
    assert "subtopic Part 1; systems alpha, beta" in flat(started.text)
    assert "subtopic Part 1; systems alpha, beta" in flat(as_ada.get(url("judges")).text)
    assert "Nothing is missing" in as_ada.post(start_url(judge), {**form, "estimate": "1"}).text


def dict_of(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


@pytest.mark.django_db(transaction=True)
def test_an_uploaded_list_is_carried_from_the_estimate_to_the_run(summaries: list[Summary], as_ada) -> None:
    judge = offline(as_ada)
    file = SimpleUploadedFile("ids.csv", f"{summaries[1].uid}\n{summaries[2].uid}".encode())
    shown = as_ada.post(start_url(judge), {"listed": str(summaries[0].uid), "listed_file": file, "estimate": "1"})
    assert "a list of 3 ids" in flat(shown.text)
    as_ada.post(start_url(judge), dict_of(shown.context["form"].carried()))
    assert judged() == {summary.pk for summary in summaries[:3]}


def test_an_empty_scope_is_told_apart_from_nothing_missing(summaries: list[Summary], as_ada) -> None:
    other = make_haystack(key="mill", title="The mill")
    form = {"haystack": other.pk, "subtopics": [summaries[0].subtopic_id], "estimate": "1"}
    assert "No summary matches" in as_ada.post(start_url(offline(as_ada)), form).text
    for wrong in ({"sample": "0"}, {"sample": "many"}, {"study": UNKNOWN}, {"subtopics": ["x"]}, {"seed": "-1"}):
        assert as_ada.post(start_url(offline(as_ada)), {**wrong, "estimate": "1"}).status_code == 422
        assert as_ada.post(start_url(offline(as_ada)), wrong).status_code == 422
    assert not JudgeRun.objects.exists()
    for content in (b"", b" \n\n", b"\xff\xfe\x00"):
        file = SimpleUploadedFile("ids.csv", content)
        assert as_ada.post(start_url(offline(as_ada)), {"listed_file": file}).status_code == 422, content
    assert not JudgeRun.objects.exists()


def test_studies_of_others_are_no_choice_and_not_named(written: Study, as_ada, login: Login) -> None:
    other = login(make_user("ola", "researcher"))
    judge = offline(other)
    form = {"study": str(written.uid), "estimate": "1"}
    assert other.post(start_url(judge), form).status_code == 422
    assert f"study {written.name}" in flat(as_ada.post(start_url(judge), form).text)
    run_judge("--study", written.name)
    run = JudgeRun.objects.get()
    assert f"study {written.name}" in as_ada.get(url("judge-run", run.uid)).text
    shown = other.get(url("judge-run", run.uid)).text
    assert written.name not in shown
    assert "a study" in shown


def test_the_texts_of_sessions_are_read_by_those_whose_study_it_is(written: Study, as_ada, login: Login) -> None:
    run_judge("--study", written.name)
    draft = Summary.objects.filter(origin="session").latest("pk")
    Verdict.objects.filter(summary=draft).update(coverage="full", lines=[1, 7], is_linked=True)
    answers = url("judge-run-answers", JudgeRun.objects.get().uid)
    assert "The secret &lt;b&gt;draft&lt;/b&gt; of ben" in as_ada.get(answers).text
    others = login(make_user("ola", "researcher")).get(answers)
    assert others.status_code == 200
    assert "secret" not in others.text


@pytest.mark.django_db(transaction=True)
def test_a_run_leads_to_its_answers_and_to_the_invalid_ones(
    server: FakeServer, as_ada, django_assert_max_num_queries
) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    judge = make_judge(server)
    server.behaviour = lambda n, body: Answer("<script>nonsense</script>")
    as_ada.post(start_url(judge), {"concurrency": "1", "repeats": "1"})
    run = JudgeRun.objects.get()
    answers = url("judge-run-answers", run.uid)
    assert f'href="{answers}?only=invalid">3</a>' in flat(as_ada.get(url("judge-run", run.uid)).text)
    with django_assert_max_num_queries(25):
        shown = as_ada.get(answers, {"only": "invalid"}).text
    assert shown.count("&lt;script&gt;nonsense&lt;/script&gt;") >= 3
    assert "<script>nonsense" not in shown
    for text in (*summary.subtopic.insights.values_list("text", flat=True), "model-a", "Subtopic 1"):
        assert text in shown
    assert as_ada.get(answers, {"page": "nonsense"}).status_code == 200
    assert as_ada.get(url("judge-run-answers", UNKNOWN)).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_missing_items_of_a_run_are_asked_again_as_the_run_asked(server: FakeServer, as_ada) -> None:
    subtopic = make_haystack().subtopics.get(number=1)
    for n in range(3):
        make_summary(subtopic=subtopic, system=f"m{n}", text=f"- Text {n}.")
    judge = make_judge(server)
    server.behaviour = lambda n, body: failing(400, "odd") if "Text 1" in json.dumps(body) else None
    as_ada.post(start_url(judge), {"concurrency": "2", "repeats": "1", "budget": "", "sample": "3", "seed": "5"})
    first = JudgeRun.objects.get()
    while first.state != JudgeRun.State.DONE:
        judging.finish_runs(judge=judge, clock=timezone.now, say=str)
        first.refresh_from_db()
    assert first.verdicts.count() == 6
    assert "Run missing items again" in as_ada.get(url("judge-run", first.uid)).text
    server.behaviour = None
    response = as_ada.post(url("judge-run-again", first.uid))
    again = JudgeRun.objects.exclude(pk=first.pk).get()
    assert response["Location"] == url("judge-run", again.uid)
    assert (again.items.count(), again.verdicts.count(), again.concurrency) == (1, 3, 2)
    assert again.scope == first.scope == {"sample": 3, "seed": 5}
    assert "Nothing is missing" in as_ada.post(url("judge-run-again", first.uid), follow=True).text


def test_a_finished_run_leads_to_where_people_labelled_the_same(
    summaries: list[Summary], ada, as_ada, login: Login
) -> None:
    study = make_labelled_study(summaries=summaries[:2], judges=(), researcher=ada)
    make_labelled_study(summaries=summaries[4:6], judges=(), researcher=ada, name="Elsewhere")
    run_judge("--study", study.name)
    run = JudgeRun.objects.get()
    shown = as_ada.get(url("judge-run", run.uid)).text
    there = reverse("annotation:study-figures", args=[study.uid])
    assert f'{there}?judge={run.judge.uid}#judges">Ferry links</a>' in flat(shown)
    assert "Elsewhere" not in shown
    assert study.name not in login(make_user("ola", "researcher")).get(url("judge-run", run.uid)).text


@pytest.mark.django_db(transaction=True)
def test_trying_a_summary_lands_on_its_answers(server: FakeServer, as_ada) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    judge = make_judge(server)
    here = url("judge-try", judge.uid, summary.uid)
    response = as_ada.post(here)
    assert response["Location"] == f"{here}#answers"
    assert 'id="answers"' in as_ada.get(here).text
    assert as_ada.get(here).text.count('class="badge coverage-') == 3
    JudgeRun.objects.update(state=JudgeRun.State.RUNNING)
    polled = as_ada.get(here, headers={"HX-Request": "true"})
    assert (polled.status_code, "<h1" in polled.text, "every 1s" in polled.text) == (200, False, True)
    JudgeRun.objects.update(state=JudgeRun.State.PAUSED, message="The key was refused.")
    polled = as_ada.get(here, headers={"HX-Request": "true"})
    assert (polled.status_code, "The key was refused." in polled.text) == (286, True)


def test_answers_on_responses_are_read_like_those_on_summaries(as_ada, django_assert_max_num_queries) -> None:
    for n in range(4):
        make_response(f"q{n}", system="heron", n_points=3, text=f"Alpha {n} holds. Beta {n} does too, they say.")
    for task in ("recall", "extraction", "support"):
        run_judge("--task", task)
    shown = {}
    for run in JudgeRun.objects.all():
        with django_assert_max_num_queries(25):
            shown[run.task] = flat(as_ada.get(url("judge-run-answers", run.uid)).text)
    assert "q1 1." in shown["recall"]
    assert shown["recall"].count("<tr>") == 12 + 1
    assert ">2 points</span>" in shown["extraction"]
    assert "Beta 3 does too, they say." in shown["support"]
    assert run_judge("--task", "recall", "--system", "heron", "--sample", "2")["responses"] == 2


@pytest.mark.django_db(transaction=True)
def test_a_run_on_responses_is_about_systems_and_a_sample(as_ada) -> None:
    for n in range(5):
        make_response(f"q{n}", system="heron" if n else "wren", n_points=1)
    asked = {
        "judge": "lexical-2",
        "task": "recall",
        "concurrency": 4,
        "repeats": 1,
        "systems": ["heron"],
        "sample": 3,
    }
    assert as_ada.get(url("recall-run"), asked).context["n_responses"] == 3
    as_ada.post(url("recall-run"), asked)
    run = JudgeRun.objects.get()
    assert {item.response.system.key for item in run.items.all()} == {"heron"}
    assert run.items.count() == 3
    assert "a random sample of 3, seed 0; system heron" in flat(as_ada.get(url("judge-run", run.uid)).text)
    assert as_ada.post(url("recall-run"), {**asked, "systems": ["nobody"]}).status_code == 422
