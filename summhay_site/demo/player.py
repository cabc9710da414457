"""Plays the acts of `data/acts.json`, each by the function of its name, at so many days before now.

Nothing is written to tables directly, so what the demo shows is what the program does. Every load gives the same
labels, verdicts and figures. Models are the offline judge, retrievers, baselines, and an invented rater by batch
file; nothing leaves the machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction

from annotation.labelling.simulating import Rates
from annotation.leaderboard.positions import place_missing
from annotation.models import Study
from annotation.writing import scoring
from benchmarks.engine import batches, judging, retrieving, summarizing, versions
from benchmarks.engine.arranging import InTurn
from benchmarks.engine.responding import Documents
from benchmarks.engine.scopes import Scope
from benchmarks.engine.summarizing import Source
from benchmarks.judges.questions import ModelConfig
from benchmarks.models import Judge, JudgeRun, Question, Response, Subtopic
from benchmarks.retrieval.registry import OFFLINE, make
from benchmarks.summarizers.conditions import CUT, FULL, Condition
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig
from summhay_site.demo import cast, studies
from summhay_site.demo.cast import haystack_of, read
from summhay_site.demo.studies import played

REASON = "demo"
RESPONSE_TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)


def score_sessions(*, now: datetime) -> None:
    """Let the offline judge judge what people wrote, at every mark."""
    runs = scoring.score_snapshots(now=now)
    while scoring.check_copying(now=now):
        pass
    for run in runs:
        judging.run_pending(run=run, clock=lambda: now)


def judge_summaries(*, dataset: str, now: datetime) -> None:
    """Let the offline judge judge what systems wrote on a haystack and it has not judged yet."""
    haystack = haystack_of(dataset)
    scope = Scope(haystack=haystack.title).as_json()
    _run(versions.default_judge(now=now), haystack.summaries.of_systems(), now=now, scope=scope)


def judge_responses(*, dataset: str, now: datetime) -> None:
    """Judge what responses recall, split them into points, and look for what supports these."""
    responses = list(Response.objects.filter(question__dataset=dataset).order_by("pk"))
    for task in RESPONSE_TASKS:
        _run(versions.default_judge(now=now), responses, task=task, now=now)


def retrieve(*, dataset: str, now: datetime) -> None:
    """Run every retriever that needs no server on the documents."""
    for name in OFFLINE:
        retriever = make(name, {})
        row = retrieving.request(haystack=haystack_of(dataset), retriever=retriever, now=now, wake=False)
        retrieving.advance(uid=row.uid, clock=lambda: now)


def summarize(*, dataset: str, shown: Sequence[Mapping[str, str]], cut: int = 0, now: datetime) -> None:
    """Let the offline baseline, or one that reads a beginning only, summarize what it is shown in each way."""
    writer = _reading_a_beginning(cut, now=now) if cut else versions.extractive(now=now)
    rows = Subtopic.objects.filter(haystack__dataset=dataset, haystack__is_practice=False)
    subtopics = list(rows.select_related("haystack").order_by("haystack", "number"))
    name = dataset if subtopics[0].haystack.is_source else subtopics[0].haystack.title
    for source in map(_source, shown):
        drafts = summarizing.drafted(judge=writer, subjects=source.fitting(subtopics), shown=source, now=now)
        _run(writer, drafts, task=summarizing.TASK, now=now, scope=source.scope(name, writer))


def respond(*, dataset: str, cuts: Sequence[int], now: datetime) -> None:
    """Let the offline baseline answer questions from documents that are cut so; 0 leaves them whole."""
    writer = versions.extractive(now=now)
    questions = list(Question.objects.filter(dataset=dataset).order_by("pk"))
    for tokens in cuts:
        shown = Documents(Condition(CUT if tokens else FULL, tokens=tokens))
        drafts = summarizing.drafted(judge=writer, subjects=questions, shown=shown, now=now)
        _run(writer, drafts, task=shown.task, now=now, scope=shown.scope(dataset, writer))


def rate_by_file(*, study: str, judge: str, model: str, rate: float, now: datetime) -> None:
    """Let a model rate the summaries of a study: requests go to a file, and invented replies are read from one."""
    row = Study.objects.get(name=study)
    items = row.label_items.select_related("summary").order_by("pk")
    values = {"base_url": settings.OPENAI_BASE_URLS[0], "model": model, "protocol": "all"}
    note = "Invented for the demo; its ratings came by a batch file."
    config = ModelConfig.from_mapping(values)
    rater = versions.save_judge(name=judge, config=config, note=note, by=None, now=now)
    summaries = [item.summary for item in items if item.summary is not None]
    run = judging.request_run(judge=rater, subjects=summaries, task=JudgeRun.Task.RATINGS, reason=REASON, now=now)
    if run is None:
        raise RuntimeError("the demo is loaded once")
    answers = played(row)

    def said(body: Mapping[str, Any]) -> dict[str, Any]:
        """Ratings that people would give at such a rate of errors."""
        question = body["messages"][-1]["content"]
        item = next(item for item in items if f"Summary:\n{item.summary.text}\n" in question)
        dice = random.Random(f"{body['model']}/{item.summary.text}")  # noqa: S311 - the same demo every time
        *_, last = answers(item, Rates(rate), dice)
        return dict(last.answer.ratings)

    answer_by_file(run, said, now=now)


def answer_by_file(
    run: JudgeRun, said: Callable[[Mapping[str, Any]], dict[str, Any]], *, with_usage: bool = False, now: datetime
) -> None:
    """Write the requests of a run to batch files, and read invented replies: what is `said` to each, as JSON."""
    with TemporaryDirectory(prefix="batch-") as name:
        folder, replies = Path(name), list[bytes]()
        batches.write(run=run, folder=folder, clock=lambda: now)
        for path in sorted(folder.glob(f"{batches.REQUESTS}*")):
            for request in map(orjson.loads, path.read_bytes().splitlines()):
                body, content = request["body"], orjson.dumps(said(request["body"])).decode()
                choices = [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]
                completion = {"object": "chat.completion", "model": body["model"], "choices": choices}
                if with_usage:
                    n_letters = sum(len(row["content"]) for row in body["messages"])
                    completion["usage"] = {
                        "prompt_tokens": n_letters // 4,
                        "completion_tokens": len(content) // 4,
                    }
                response = {"status_code": 200, "body": completion}
                reply = {"custom_id": request["custom_id"], "response": response, "error": None}
                replies.append(orjson.dumps(reply))
        (folder / "replies.jsonl").write_bytes(b"\n".join(replies))
        batches.read(folder=folder, clock=lambda: now)


def _source(shown: Mapping[str, str]) -> Source:
    """Find the documents shown: those of a `retriever`, all in an `order`, or arranged by an `experiment`."""
    if "experiment" in shown:
        return InTurn(order=shown["experiment"])
    return Source.named(shown["retriever"]) if "retriever" in shown else Source(**shown)


def _reading_a_beginning(cut: int, *, now: datetime) -> Judge:
    return versions.ensure_judge(
        name=f"{EXTRACTIVE}-{cut}",
        kind=Judge.Kind.LEXICAL,
        config=ExtractiveConfig(truncate_to=cut).as_mapping(),
        note=f"Reads the first {cut} tokens.",
        now=now,
        role=Judge.Role.SUMMARIZER,
    )


def _run(judge: Judge, subjects: Iterable[Any], *, now: datetime, **about: Any) -> None:
    """Work through a run of what is missing, if anything is."""
    run = judging.request_run(judge=judge, subjects=subjects, reason=REASON, now=now, **about)
    if run is not None:
        judging.run_pending(run=run, clock=lambda: now)


PASSWORD = cast.PASSWORD
ACTS: dict[str, Callable[..., object]] = {
    "people": cast.join,
    "import": cast.take_in,
    "study": studies.set_up,
    "trial": studies.begin_with_trial,
    "sessions": studies.write_past_sessions,
    "tasks": studies.give_open_tasks,
    "score": score_sessions,
    "judge": judge_summaries,
    "judge responses": judge_responses,
    "retrieve": retrieve,
    "labels": studies.label,
    "ratings by file": rate_by_file,
    "summarize": summarize,
    "respond": respond,
    "place": lambda *, now: place_missing(clock=lambda: now),
}
"""Acts that can be played, by name; extensions add theirs, and what nobody can play is left out."""


def is_loaded() -> bool:
    first = next(act for act in read("acts.json") if act["act"] == "study")
    return Study.objects.filter(name=first["name"]).exists()


@transaction.atomic
def load(*, now: datetime, say: Callable[[str], object]) -> None:
    """Load everything, or nothing when something fails; a second call does nothing."""
    if is_loaded():
        return
    for act in read("acts.json"):
        if act["act"] not in ACTS:
            continue
        if says := act.pop("says", ""):
            say(says)
        play(**act, now=now)


def play(act: str, *, days_ago: float = 0, now: datetime, **values: Any) -> None:
    """Play one act as it was so many days ago."""
    ACTS[act](**values, now=now - timedelta(days=days_ago))


def logins() -> list[dict[str, str]]:
    """Who can log in: name, user name and role of each."""
    people: list[dict[str, str]] = next(act["logins"] for act in read("acts.json") if act["act"] == "people")
    return people


def login_table() -> str:
    rows = (f"  {login['role']:<11} {login['username']:<5} password {PASSWORD}" for login in logins())
    return "\n".join(rows)
