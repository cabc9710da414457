"""A new kind of model work is one class and one line of registration: everything else is the engine's.

The toy shortens summaries: a question whose answer is a text that is stored as a summary.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from benchmarks.engine import costs, judging, overview, runs
from benchmarks.engine.task import Counts, Labels, Origin, Task
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import AuditEvent, Judge, JudgeRun, JudgeRunItem, Subtopic, Summary, System
from tests.benchmarks.engine.asking import make_judge, price, remarks, work
from tests.fake_openai import Answer, FakeServer, failing
from tests.makers import url

pytestmark = pytest.mark.django_db

# The task


@dataclass(frozen=True, kw_only=True)
class ShortenQuestion(Question):
    text: str

    task = "shorten"

    def prompt(self, config: ModelConfig) -> str:
        return "Shorten the summary to one bullet."

    def user_text(self) -> str:
        return f"Summary:\n{self.text}\nShortened:"

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, str | Problem]:
        return {self.subject_key: reply.strip() or Problem("The text is empty.")}


class ShortenTask(Task):
    name = "shorten"
    subject = "summary"
    subjects = "summaries"
    related = "summary__system"
    order_by = "summary__haystack"
    labels = Labels(progress="%(done)s of %(total)s summaries shortened", answers="Shortened summaries")

    def read(self, keys: Sequence[int]) -> QuerySet[Summary, Summary]:
        return Summary.objects.filter(pk__in=keys).select_related("system")

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        there = set(Summary.objects.filter(system__summarizer=judge.name).values_list("system__key", flat=True))
        return {one.pk: Counts(1, int(_key(judge, one) in there)) for one in subjects}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[ShortenQuestion]]:
        done = self._counts(judge=judge, subjects=[item.summary for item in items], repeats=repeats)
        return {
            item.pk: [ShortenQuestion(subject_key=str(item.summary_id), text=item.summary.text)]
            if not done[item.summary_id].n_there
            else []
            for item in items
        }

    def store(self, question: ShortenQuestion, answers: Mapping[str, str | Problem], origin: Origin) -> None:
        for key, text in answers.items():
            if isinstance(text, str):
                of, judge = Summary.objects.get(pk=int(key)), origin.run.judge
                Summary.objects.create(
                    subtopic_id=of.subtopic_id,
                    haystack_id=of.haystack_id,
                    system=System.objects.create(key=_key(judge, of), summarizer=judge.name),
                    origin=Summary.Origin.GENERATED,
                    text=text,
                    text_sha256=hashlib.sha256(text.encode()).hexdigest(),
                    created_at=origin.now,
                )


def _key(judge: Judge, summary: Summary) -> str:
    return f"{judge} {summary.pk}"


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of registration."""
    monkeypatch.setitem(TASKS, "shorten", ShortenTask())


# At work


@pytest.fixture
def judge(server: FakeServer) -> Judge:
    server.behaviour = lambda number, body: Answer("- Short.")
    return make_judge(server, "shortener")


@pytest.fixture
def summaries(subtopic: Subtopic) -> list[Summary]:
    return remarks(subtopic, 3)


def request(judge: Judge, summaries: Sequence[Summary], by=None) -> JudgeRun:
    return judging.request_run(
        judge=judge, task="shorten", subjects=summaries, reason="test", now=timezone.now(), requested_by=by,
        options=judging.ModelOptions(concurrency=1),
    )  # fmt: skip


def test_texts_are_asked_for_stored_paid_and_never_asked_for_twice(
    server: FakeServer, judge: Judge, summaries: list[Summary], ada
) -> None:
    price(output_per_million=8)
    asked: dict[str, Any] = {"judge": judge, "task": "shorten", "subjects": summaries, "repeats": 5}
    estimate = overview.estimate(**asked, now=timezone.now())
    assert (estimate.n_subjects, estimate.n_paid, server.n_asked) == (3, 3, 0)
    run = request(judge, summaries, by=ada)
    assert AuditEvent.objects.get(action="run.requested").detail == {"task": "shorten", "summaries": 3}
    done = work(run)
    assert (done.n_done, run.state, server.n_asked) == (3, JudgeRun.State.DONE, 3)
    assert list(Summary.objects.filter(origin="generated").values_list("text", flat=True)) == ["- Short."] * 3
    body = server.bodies[0]
    assert body["messages"][1]["content"] == "Summary:\n- Remark 0.\nShortened:"
    assert "response_format" not in body
    assert costs.cost_of(run.calls.all()).dollars == 3 * Decimal("0.00024")
    assert judging.missing(judge=judge, task="shorten", subjects=summaries) == []
    state = overview.task_state(judge=judge, task="shorten", subjects=summaries[:1])
    assert (state["n_asked"], state["n_there"], state["n_missing"]) == (1, 1, 0)


def test_its_run_is_shown_paused_and_resumed_like_any_other(
    server: FakeServer, judge: Judge, summaries: list[Summary], as_ada
) -> None:
    server.behaviour = lambda number, body: Answer("- Short.") if number == 1 else failing(401, "Wrong key.")
    run = request(judge, summaries)
    address = url("judge-run", run.uid)
    work(run)
    assert run.state == JudgeRun.State.PAUSED
    shown = as_ada.get(address).text
    assert "1 of 3 summaries shortened" in shown
    assert "Shortened summaries</dt><dd>1<" in shown
    assert "401: Wrong key." in shown
    server.behaviour = lambda number, body: Answer("- Short.")
    assert runs.resume_run(run=run)
    assert runs.pause_run(run=run, now=timezone.now())
    assert work(run).n_done == 1
    assert runs.resume_run(run=run)
    work(run)
    assert "3 of 3 summaries shortened" in as_ada.get(address).text
    assert Summary.objects.filter(origin="generated").count() == 3
