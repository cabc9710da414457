"""Judges in the browser: made, tried, estimated, run, paused and read; by researchers only."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Exposure
from benchmarks.engine import judging, overview, runs, versions
from benchmarks.engine.sending import CallFailed
from benchmarks.models import (
    AuditEvent,
    Judge,
    JudgeCall,
    JudgeRun,
    KeyPoint,
    ModelPrice,
    Summary,
    Verdict,
)
from tests.benchmarks.engine.asking import price, remarks, request, work
from tests.fake_openai import MODEL, Answer, FakeServer, failing
from tests.makers import flat, make_haystack, make_summary, url
from tests.makers_recall import make_response

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]


@pytest.fixture
def summary(db: None) -> Summary:
    return make_summary(subtopic=make_haystack().subtopics.get(number=1), text="- Nothing happened.")


def fields(server: FakeServer, **more) -> dict[str, Any]:
    values = {"name": "sparrow", "base_url": server.address, "model": MODEL, "protocol": "one", "temperature": "0"}
    return {**values, "max_tokens": "400", "timeout_s": "60", "prompt": "", **more}


def made(client: Client, server: FakeServer) -> Judge:
    assert client.post(url("judge-new"), fields(server)).status_code == 302
    return Judge.objects.get(name="sparrow")


NUMBERS = {"concurrency": "4", "repeats": "1"}


def test_a_judge_is_made_and_edited_as_a_new_version(as_ada, server: FakeServer) -> None:
    first = made(as_ada, server)
    assert "numbered bullets" in first.config["prompt"]
    assert "numbered bullets" in as_ada.get(url("judge-edit", first.uid)).text
    as_ada.post(url("judge-edit", first.uid), fields(server, prompt="Say none."))
    assert list(Judge.objects.order_by("version").values_list("version", "config__prompt"))[1] == (2, "Say none.")
    assert AuditEvent.objects.filter(action="judge.saved").count() == 2
    assert "version 1" in as_ada.get(url("judge-detail", Judge.objects.get(version=2).uid)).text


def test_a_server_that_knows_another_name_of_the_limit_gets_it(as_ada, server: FakeServer) -> None:
    usual = made(as_ada, server)
    assert as_ada.post(url("judge-edit", usual.uid), fields(server, limit_name="max_tokens")).status_code == 302
    other = Judge.objects.get(version=2)
    assert (usual.config.get("limit_name"), other.config["limit_name"]) == (None, "max_tokens")
    assert '<option value="max_tokens" selected>' in as_ada.get(url("judge-edit", other.uid)).text
    assert as_ada.post(url("judge-edit", other.uid), fields(server, limit_name="most")).status_code == 422


def test_only_addresses_of_the_settings_and_free_names_are_taken(as_ada, server: FakeServer) -> None:
    response = as_ada.post(url("judge-new"), fields(server, base_url="https://elsewhere.example/v1"))
    assert response.status_code == 422
    response = as_ada.post(url("judge-new"), fields(server, name="lexical"))
    assert "another kind already has this name" in response.text
    assert Judge.objects.count() == 0


def test_the_estimate_comes_before_the_run_and_sends_nothing(
    as_ada, server: FakeServer, summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = made(as_ada, server)
    assert "there is no price for this model" in as_ada.get(url("judge-detail", judge.uid), NUMBERS).text
    values = {"model": MODEL, "base_url": "", "valid_from": "2020-01-01", "input_per_million": "2"}
    as_ada.post(url("prices"), {**values, "output_per_million": "8"})
    assert ModelPrice.objects.get().cached_per_million is None
    shown = as_ada.get(url("judge-detail", judge.uid), NUMBERS)
    assert (shown.context["estimate"].n_subjects, shown.context["estimate"].n_paid) == (1, 3)
    assert "up to $" in shown.text
    make_haystack(key="other", dataset="others")
    shown = as_ada.get(url("judge-detail", judge.uid), {**NUMBERS, "dataset": "others"})
    assert shown.context["estimate"].n_calls == 0
    assert server.n_asked == 0
    # An estimate of many summaries looks at some of them
    remarks(summary.subtopic, 6)
    whole = as_ada.get(url("judge-detail", judge.uid), NUMBERS).context["estimate"]
    assert (whole.n_subjects, whole.n_calls, whole.is_of_a_part) == (7, 21, False)
    monkeypatch.setattr(overview, "MOST_LOOKED_AT", 4)
    shown = as_ada.get(url("judge-detail", judge.uid), NUMBERS)
    part = shown.context["estimate"]
    assert (part.n_subjects, part.n_calls, part.is_of_a_part) == (7, 21, True)
    assert part.prompt_tokens == pytest.approx(whole.prompt_tokens, rel=0.05)
    assert "even sample" in shown.text


@pytest.mark.django_db(transaction=True)
def test_a_run_is_started_and_read_when_it_is_over(ada, as_ada, server: FakeServer, summary: Summary) -> None:
    judge = made(as_ada, server)
    response = as_ada.post(url("judge-start", judge.uid), NUMBERS)
    run = JudgeRun.objects.get()
    assert response["Location"] == url("judge-run", run.uid)
    assert (run.state, run.requested_by, server.n_asked) == (JudgeRun.State.DONE, ada, 3)
    assert "1 of 1 summaries judged" in as_ada.get(url("judge-run", run.uid)).text
    polled = as_ada.get(url("judge-run", run.uid), headers={"HX-Request": "true"})
    assert polled.status_code == 286
    assert "<h1" not in polled.text
    assert "sparrow" in as_ada.get(url("judges")).text
    assert not Exposure.objects.exists()
    tried = as_ada.get(url("judge-try", judge.uid, summary.uid)).text
    assert Exposure.objects.contaminating().get().user == ada
    assert "json_schema" in tried
    assert "sparrow-1-0301" in tried
    assert "Nothing is missing" in as_ada.get(url("judge-detail", judge.uid), NUMBERS).text


def test_a_run_is_paused_and_cancelled_by_hand(ada, as_ada, server: FakeServer, summary: Summary) -> None:
    run = judging.request_run(
        judge=made(as_ada, server),
        subjects=[summary],
        reason="test",
        now=timezone.now() - timedelta(hours=1),
        requested_by=ada,
    )
    page = as_ada.get(url("judge-run", run.uid), headers={"HX-Request": "true"})
    assert (page.status_code, 'hx-trigger="every 1s"' in page.text) == (200, True)
    as_ada.post(url("judge-run-pause", run.uid))
    assert JudgeRun.objects.get().state == JudgeRun.State.PAUSED
    as_ada.post(url("judge-run-cancel", run.uid))
    assert JudgeRun.objects.get().state == JudgeRun.State.CANCELLED


@pytest.mark.django_db(transaction=True)
def test_a_run_that_its_budget_stopped_goes_on_with_a_larger_one(
    ada, as_ada, server: FakeServer, summary: Summary
) -> None:
    judge = made(as_ada, server)
    price(input_per_million=0, cached_per_million=None, output_per_million=100_000)
    as_ada.post(url("judge-start", judge.uid), {**NUMBERS, "concurrency": "1", "budget": "41"})
    run = JudgeRun.objects.get()
    assert (run.state, server.n_asked) == (JudgeRun.State.PAUSED, 2)
    shown = as_ada.get(url("judge-run", run.uid)).text
    assert 'name="budget"' in shown
    assert 'value="41.0000"' in shown
    for refused, said in (("2", "The run has spent $2.0000 already."), ("much", "Enter US dollars")):
        assert said in as_ada.post(url("judge-run-resume", run.uid), {"budget": refused}, follow=True).text
    run.refresh_from_db()
    assert (run.state, str(run.budget), server.n_asked) == (JudgeRun.State.PAUSED, "41.0000", 2)
    as_ada.post(url("judge-run-resume", run.uid), {"budget": "100"})
    run.refresh_from_db()
    assert (run.state, str(run.budget), server.n_asked) == (JudgeRun.State.DONE, "100.0000", 3)
    assert AuditEvent.objects.get(action="run.budget_changed").actor == ada
    assert "Only a paused run" in as_ada.post(url("judge-run-resume", run.uid), {"budget": ""}, follow=True).text


def test_the_summary_to_try_is_chosen_and_the_insight_to_look_at(
    as_ada, server: FakeServer, summary: Summary
) -> None:
    judge = made(as_ada, server)
    near = make_summary(subtopic=summary.subtopic, text="- Other.", system="near")
    elsewhere = make_summary(subtopic=summary.haystack.subtopics.get(number=2), text="- Far.", system="far")
    here = url("judge-try", judge.uid, summary.uid)
    shown = as_ada.get(here).text
    assert str(near.uid) in shown
    assert str(elsewhere.uid) in shown
    assert shown.partition("<main")[2].count("<details") == 3
    assert as_ada.get(here, {"summary": str(near.uid)})["Location"] == url("judge-try", judge.uid, near.uid)
    insight = summary.subtopic.insights.get(number=2)
    one = as_ada.get(here, {"summary": str(summary.uid), "insight": str(insight.uid)}).text.partition("<main")[2]
    assert (one.count("<details"), one.count("selected")) == (1, 2)
    assert as_ada.get(here, {"summary": "nonsense"}).status_code == 200


def test_a_judges_page_reads_only_what_its_newest_verdicts_are_about(
    as_ada, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Responses that this judge has not judged are not read, and of many verdicts only the newest are compared."""
    judge = made(as_ada, server)
    for n in range(6):
        make_response(f"q{n}", system="heron", n_points=2, text=f"Alpha {n} holds.")
    work(request(judge, "recall", concurrency=1))
    for n in range(20):
        make_response(f"other{n}", system="wren", n_points=1, text="Never judged, never read.")
    KeyPoint.objects.filter(question__key="q0").update(text="Another claim.")

    def opened(**query: str) -> tuple[str, int, list[Any]]:
        with CaptureQueriesContext(connection) as found:
            text = as_ada.get(url("judge-detail", judge.uid), query).text
        reads = [one["sql"] for one in found if 'FROM "benchmarks_response"' in one["sql"]]
        return text, len(found), reads

    text, n_queries, reads = opened()
    assert "2 verdicts on key points are stale:" in text
    assert "Compare all" not in text
    assert len(reads) == 1
    assert " IN (" in reads[0]
    assert n_queries <= 32
    monkeypatch.setattr(overview, "COMPARED_AT_ONCE", 4)
    text, n_bounded, reads = opened()
    assert "stale:" not in text
    assert "The newest 4 verdicts were compared" in text
    assert n_bounded <= n_queries + 1
    assert "2 verdicts on key points are stale" in opened(stale="all")[0]


def test_the_page_of_a_run_of_autods_scores_counts_key_points(
    as_ada, server: FakeServer, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    judge = made(as_ada, server)
    make_response("alpha", system="heron", n_points=3)
    tops = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -3.0}]
    listing = Answer("yes", logprobs={"content": [{"top_logprobs": tops}]})
    server.behaviour = lambda n, body: {1: listing, 2: Answer("yes")}.get(n) or failing(400, "no such field")
    run = request(judge, "autods", concurrency=1)
    for _ in range(runs.MAX_ATTEMPTS):
        with pytest.raises(CallFailed):
            work(run)
    work(run)
    with django_assert_max_num_queries(22):
        text = flat(as_ada.get(url("judge-run", run.uid)).text)
    assert "AutoDS scores: 2 of 3 key points asked about" in text
    assert re.search(r"Without a score</dt><dd>1 ", text)
    assert re.search(r"Failed key points</dt><dd>1<", text)
    assert f'href="/questions/{KeyPoint.objects.get(number=3).question.uid}/">alpha 3.</a>' in text
    assert "AutoDS scores of key points" in as_ada.get(url("judge-detail", judge.uid)).text


def test_the_page_of_a_run_says_how_many_verdicts_count(summary: Summary, as_ada) -> None:
    judge = Judge.objects.create(name="wren", kind="imported", config_sha256="w", created_at=timezone.now())
    run = JudgeRun.objects.create(judge=judge, state="done", created_at=timezone.now())
    insights = list(summary.subtopic.insights.order_by("number"))
    for insight in insights:
        said: dict[str, Any] = {"coverage": "none"} if insight != insights[0] else {"is_valid": False}
        where = {"summary": summary, "insight": insight, "run": run, "created_at": timezone.now()}
        Verdict.objects.create(judge=judge, is_linked=False, **where, **said)

    def shown() -> str:
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", as_ada.get(url("judge-run", run.uid)).text))

    assert "Verdicts 3 of which 2 count in figures Invalid answers 1 of the 3, left out of all figures" in shown()
    Verdict.objects.filter(is_valid=False).delete()
    assert "Verdicts 2 Invalid answers 0 Failed" in shown()


def test_the_cost_is_of_the_day_in_utc_wherever_the_reader_is(
    ada, as_ada, eve, login: Login, server: FakeServer, summary: Summary
) -> None:
    """Half past eleven in the evening is the next day in Berlin and the same in New York."""
    judge = made(as_ada, server)
    run = request(judge)
    work(run)
    JudgeCall.objects.update(answered_at=datetime(2026, 3, 2, 23, 30, tzinfo=UTC))
    for day, dollars in ((date(2026, 3, 1), 10), (date(2026, 3, 2), 20), (date(2026, 3, 3), 1000)):
        price(valid_from=day, input_per_million=dollars, cached_per_million=None, output_per_million=dollars)
    for person, zone in ((ada, "Europe/Berlin"), (eve, "America/New_York")):
        type(person).objects.filter(pk=person.pk).update(time_zone=zone)
        assert "0.0066" in login(person).get(url("judge-run", run.uid)).text, zone


def test_the_list_takes_a_fixed_number_of_queries(
    as_ada, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(30):
        versions.ensure_judge(name=f"published {n}", kind="imported", config={}, now=timezone.now())
        versions.ensure_judge(name=f"model {n}", kind="openai", config={}, now=timezone.now())
    with django_assert_max_num_queries(12):
        assert as_ada.get(url("judges")).status_code == 200
