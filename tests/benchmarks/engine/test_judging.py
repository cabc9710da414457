"""Runs of a judge: asked once, resumed by anyone, never doubled, and honest about what failed."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.engine import judging, runs, texts, versions
from benchmarks.engine.tasks import coverage
from benchmarks.judges.lexical_expected import ExpectedConfig
from benchmarks.models import Haystack, Insight, Judge, JudgeRun, JudgeRunItem, Subtopic, Summary, System, Verdict
from tests.makers import NOW, make_haystack

pytestmark = pytest.mark.django_db

SAID = "- In part 1, the ferry leaves at six in the morning [1].\n- Nothing else happened on the island [2]."


def clock() -> datetime:
    return NOW


def make_summary(
    subtopic: Subtopic, text: str = SAID, *, origin: str = "imported", now: datetime = NOW
) -> Summary:
    number = Summary.objects.count()
    system = System.objects.create(key=f"s{number}", summarizer=f"model {number}")
    return Summary.objects.create(
        subtopic=subtopic,
        haystack=subtopic.haystack,
        system=system,
        origin=origin,
        text=text,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        created_at=now,
    )


@pytest.fixture
def subtopic(db: None) -> Subtopic:
    return Subtopic.objects.get(haystack=make_haystack(content_sha256="ab" * 32), number=1)


@pytest.fixture
def judge(db: None) -> Judge:
    return versions.default_judge(now=NOW)


@pytest.fixture(autouse=True)
def _forget_backgrounds() -> None:
    texts._of_documents.cache_clear()


def request(judge: Judge, summaries: Sequence[Summary] | None = None) -> JudgeRun:
    return judging.request_run(judge=judge, subjects=summaries or Summary.objects.all(), reason="test", now=NOW)


def judged() -> dict[int, int]:
    found: dict[int, int] = {}
    for pk in Verdict.objects.values_list("summary", flat=True):
        found[pk] = found.get(pk, 0) + 1
    return found


def failing_on(bad: Callable[[Summary], bool], error: BaseException):
    real = coverage.judge_summaries

    def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]):
        if any(bad(summary) for summary in summaries):
            raise error
        return real(judge=judge, summaries=summaries)

    return judge_summaries


# Judges and what they are asked


def test_the_same_configuration_is_the_same_judge_whatever_the_order_of_its_keys() -> None:
    first = versions.ensure_judge(name="a", kind="lexical", config={"x": 1, "y": 2}, now=NOW)
    assert versions.ensure_judge(name="a", kind="lexical", config={"y": 2, "x": 1}, now=NOW) == first


def test_another_configuration_is_a_new_version_and_judges_for_itself(subtopic: Subtopic, judge: Judge) -> None:
    make_summary(subtopic, "- Every morning at six, the ferry leaves the old quay for the market.")
    judging.run_pending(run=request(judge), clock=clock)
    strict = ExpectedConfig(partial_from=0.99, full_from=1.0).as_mapping()
    second = versions.ensure_judge(name="lexical-2", kind="lexical", config=strict, now=NOW)
    assert (second.version, str(second)) == (2, "lexical-2 v2")
    judging.run_pending(run=request(second), clock=clock)
    assert judge.verdicts.get(insight__number=1).coverage != "none"
    assert set(second.verdicts.values_list("coverage", flat=True)) == {"none"}


def test_an_imported_judge_cannot_be_asked(subtopic: Subtopic) -> None:
    imported = versions.ensure_judge(name="published", kind="imported", config={}, now=NOW)
    make_summary(subtopic)
    with pytest.raises(judging.JudgeUnavailable, match="published"):
        request(imported)


def test_a_verdict_names_the_line_and_what_it_was_given_on(subtopic: Subtopic, judge: Judge) -> None:
    summary = make_summary(subtopic)
    judging.run_pending(run=request(judge), clock=clock)
    verdict = judge.verdicts.get(insight__number=1)
    assert (verdict.lines, verdict.is_linked, verdict.coverage) == ([1], True, "full")
    assert len(verdict.input_sha256) == 64
    same = coverage.judge_summaries(judge=judge, summaries=[summary])
    assert {given.input_sha256 for given in same} == {verdict.input_sha256}
    Haystack.objects.update(content_sha256="cd" * 32)
    Insight.objects.filter(number=3, subtopic__number=1).update(text="In part 1, gulls took the lunch.")
    after = coverage.judge_summaries(judge=judge, summaries=[summary])
    assert verdict.input_sha256 not in {given.input_sha256 for given in after}
    # A new insight is judged and old verdicts stay
    before = set(Verdict.objects.values_list("pk", flat=True))
    Insight.objects.create(subtopic=subtopic, number=9, key="late", text="Late it was.", gold_documents=[1])
    judging.run_pending(run=request(judge), clock=clock)
    assert before < set(Verdict.objects.values_list("pk", flat=True))
    assert judged() == {summary.pk: 4}


# Runs


def test_what_was_judged_is_not_asked_again(subtopic: Subtopic, judge: Judge) -> None:
    first = make_summary(subtopic)
    judging.run_pending(run=request(judge), clock=clock)
    assert judging.request_run(judge=judge, subjects=[first], reason="test", now=NOW) is None
    second = make_summary(subtopic)
    assert list(request(judge).items.values_list("summary", flat=True)) == [second.pk]


def test_what_is_already_queued_is_not_queued_again(subtopic: Subtopic, judge: Judge) -> None:
    make_summary(subtopic)
    request(judge)
    assert judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="test", now=NOW) is None


def test_a_cancelled_run_stops_after_the_batch_in_flight_and_keeps_what_it_has(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BATCH", 2)
    for _ in range(5):
        make_summary(subtopic)
    run = request(judge)

    def cancel(_: runs.RunProgress) -> None:
        runs.cancel_run(run=run, now=NOW)

    done = judging.run_pending(run=run, clock=clock, progress=cancel)
    assert (done.n_done, done.n_pending) == (2, 3)
    assert (run.state, run.finished_at) == (JudgeRun.State.CANCELLED, NOW)
    assert not runs.cancel_run(run=run, now=NOW)
    assert runs.unfinished_runs(now=NOW) == []
    again = request(judge)
    assert again.items.count() == 3
    judging.run_pending(run=again, clock=clock)
    assert set(judged().values()) == {3}


def test_two_workers_on_one_run_share_it_and_ask_nothing_twice(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BATCH", 2)
    for _ in range(6):
        make_summary(subtopic)
    run, real, asked = request(judge), coverage.judge_summaries, list[int]()
    second_worker = iter([True])

    def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]):
        asked.extend(summary.pk for summary in summaries)
        if next(second_worker, False):
            judging.run_pending(run=JudgeRun.objects.get(pk=run.pk), clock=clock)
        return real(judge=judge, summaries=summaries)

    monkeypatch.setattr(coverage, "judge_summaries", judge_summaries)
    done = judging.run_pending(run=run, clock=clock)
    assert sorted(asked) == sorted(Summary.objects.values_list("pk", flat=True))
    assert (done.n_done, run.state) == (6, JudgeRun.State.DONE)
    assert set(judged().values()) == {3}


def test_a_slow_worker_that_lost_its_lease_stores_nothing_twice(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_summary(subtopic)
    run, real = request(judge), coverage.judge_summaries
    later = NOW + runs.LEASE.length + timedelta(seconds=1)
    first_time = iter([True])

    def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]):
        if next(first_time, False):
            judging.run_pending(run=JudgeRun.objects.get(pk=run.pk), clock=lambda: later)
        return real(judge=judge, summaries=summaries)

    monkeypatch.setattr(coverage, "judge_summaries", judge_summaries)
    judging.run_pending(run=run, clock=clock)
    assert set(judged().values()) == {3}
    assert set(Verdict.objects.values_list("created_at", flat=True)) == {later}


def test_a_slow_worker_that_goes_on_keeps_what_it_has_claimed(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_summary(subtopic)
    make_summary(subtopic)
    run, real, times = request(judge), coverage.judge_summaries, iter(range(1, 100))
    stolen: list[Any] = []

    def slow_clock() -> datetime:
        return NOW + next(times) * runs.LEASE.length / 2

    def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> Iterator[Verdict]:
        for row in real(judge=judge, summaries=summaries):
            yield row
            stolen.append(min(JudgeRunItem.objects.filter(run=run).values_list("claimed_at", flat=True)))

    monkeypatch.setattr(coverage, "judge_summaries", judge_summaries)
    judging.run_pending(run=run, clock=slow_clock)
    assert len(set(stolen)) == len(stolen) > 2


def test_a_summary_that_the_judge_fails_on_costs_no_other(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = make_summary(subtopic, "- bad")
    good = [make_summary(subtopic) for _ in range(3)]
    run = request(judge)
    with monkeypatch.context() as patch:
        patch.setattr(
            coverage, "judge_summaries", failing_on(lambda summary: summary == bad, RuntimeError("too odd"))
        )
        for attempt in range(1, runs.MAX_ATTEMPTS + 1):
            with pytest.raises(RuntimeError, match="too odd"):
                judging.run_pending(run=run, clock=clock)
            assert set(judged()) == {summary.pk for summary in good}
            assert run.items.get(summary=bad).attempts == attempt
        done = judging.run_pending(run=run, clock=clock)
    assert (done.n_done, done.n_failed, run.state) == (3, 1, JudgeRun.State.DONE)
    assert run.items.get(summary=bad).error == "RuntimeError: too odd"
    judging.run_pending(run=request(judge), clock=clock)
    assert set(judged()) == {bad.pk, *(summary.pk for summary in good)}


def test_an_interrupted_batch_is_free_at_once_and_costs_no_attempt(
    subtopic: Subtopic, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_summary(subtopic)
    run = request(judge)
    with monkeypatch.context() as patch:
        patch.setattr(coverage, "judge_summaries", failing_on(lambda _: True, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            judging.run_pending(run=run, clock=clock)
    item = run.items.get()
    assert (item.state, item.claimed_at, item.attempts) == (JudgeRunItem.State.PENDING, None, 0)
    assert judging.run_pending(run=run, clock=clock).n_done == 1


def test_a_run_whose_worker_died_after_the_last_batch_is_closed_by_the_sweep(
    subtopic: Subtopic, judge: Judge
) -> None:
    make_summary(subtopic)
    run = request(judge)
    judging.run_pending(run=run, clock=clock)
    JudgeRun.objects.update(state=JudgeRun.State.RUNNING, finished_at=None)
    assert runs.unfinished_runs(now=NOW) == [run.uid]
    judging.run_pending(run=run, clock=clock)
    assert run.state == JudgeRun.State.DONE
    assert runs.unfinished_runs(now=NOW) == []


def test_a_batch_takes_as_many_queries_for_many_summaries_as_for_one(
    subtopic: Subtopic, judge: Judge, django_assert_num_queries
) -> None:
    make_summary(subtopic)
    first, run = CaptureQueriesContext(connection), request(judge)
    with first:
        judging.run_pending(run=run, clock=clock)
    assert any("benchmarks_document" in query["sql"] for query in first)
    for _ in range(12):
        make_summary(subtopic)
    run = request(judge)
    with django_assert_num_queries(len(first) - 2) as second:
        judging.run_pending(run=run, clock=clock)
    assert not any("benchmarks_document" in query["sql"] for query in second)


# What a judge knows of a haystack


def test_the_background_is_documents_and_insights_and_is_read_again_when_they_change(subtopic: Subtopic) -> None:
    haystack = subtopic.haystack
    before = texts.of_haystack(haystack.pk)
    assert (len(before.texts), len(before.insights)) == (6, 5)
    assert texts.of_haystack(haystack.pk) is before
    Insight.objects.create(subtopic=subtopic, number=9, key="late", text="Late it was.", gold_documents=[1])
    Haystack.objects.update(content_sha256="cd" * 32)
    assert "Late it was." in texts.of_haystack(haystack.pk).insights


def test_without_documents_imported_summaries_stand_in_and_texts_of_sessions_never_do() -> None:
    haystack = make_haystack(n_documents=0, golds=[[[]]], content_sha256="ab" * 32)
    subtopic = haystack.subtopics.get()
    make_summary(subtopic, "- one")
    make_summary(subtopic, "- written by hand", origin="session")
    assert texts.of_haystack(haystack.pk).texts == ("- one",)
    make_summary(subtopic, "- two")
    assert set(texts.of_haystack(haystack.pk).texts) == {"- one", "- two"}
