"""Plays the acts of `data/acts.json`, each by the function of its name, at so many days before now.

Nothing is written to tables directly, so what the demo shows is what the program does. Every load gives the same
labels, verdicts and figures. People open one task after the other and answer what a judge says, or what is known
of the demo's material, with errors that follow from names and positions alone. Models are the offline judge,
retrievers, baselines, and an invented rater by batch file; nothing leaves the machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction

from annotation.kinds import kind_named
from annotation.labelling import handling
from annotation.labelling.recording import record
from annotation.labelling.simulating import Played, Rates
from annotation.leaderboard.positions import place_missing
from annotation.models import Annotator, Assignment, LabelTask, Session, SessionReport, Study
from annotation.studies import lifecycle
from annotation.writing import assigning, drafting, scoring, sessions
from annotation.writing.drafting import Draft, Event, Message
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
from summhay_site.demo import cast
from summhay_site.demo.cast import agree, annotators, haystack_of, read, user_of

CONTACT = "ada@example.org"
REASON = "demo"
RESPONSE_TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)


# What people do


def set_up(
    *,
    kind: str,
    name: str,
    description: str,
    plan: Mapping[str, Any],
    about: Mapping[str, Any],
    people: Sequence[str],
    now: datetime,
) -> None:
    """Make a study with its people and tasks, and open it; `about` is what its kind takes to find its items."""
    of_kind: Any = kind_named(kind)
    study = of_kind.demo_study(
        dict(plan),
        **about,
        details=lifecycle.Details(name=name, description=description, contact=CONTACT),
        annotators=annotators(people),
        by=user_of(),
        now=now,
    )
    lifecycle.open_study(study=study, by=user_of(), now=now)


def begin_with_trial(*, study: str, now: datetime) -> None:
    """Let those who have not begun yet in a study start with a trial."""
    row = Study.objects.get(name=study)
    details = lifecycle.Details(**{**lifecycle.details_of(row), "has_trial": True})
    lifecycle.update_details(study=row, details=details, by=user_of(), now=now)


def played(study: Study, known: str = "") -> Played:
    """How people answer in a study; `known` is the file with what is known of its material."""
    kind: Any = kind_named(study.kind)
    answers: Played = kind.simulated.played(study, read(known) if known else {})
    return answers


def label(*, study: str, people: Mapping[str, Mapping[str, Any]], known: str = "", now: datetime) -> None:
    """Let people work in a study, each at rates of their own, on all or the first tasks; some remark on one."""
    row = Study.objects.get(name=study)
    answers = played(row, known)
    for annotator, work in zip(annotators(people), people.values(), strict=True):
        agree(annotator, now=now)
        rates = Rates(work["first"], work.get("second", 0.0), work["seconds"])
        tasks = row.label_tasks.filter(annotator=annotator).select_related("item__summary__subtopic")
        at = now
        for task in tasks.order_by("position")[: work.get("n_tasks")]:
            dice = random.Random(f"{study}/{annotator.label}/{task.position}")  # noqa: S311  invented work
            at = _work(task, answers, rates, dice, at=at)
        if remark := work.get("remark"):
            about = tasks.filter(position=remark["position"])
            handling.remark(tasks=about, is_flagged=True, comment=remark["text"], now=at)


def _work(task: LabelTask, answers: Played, rates: Rates, dice: random.Random, *, at: datetime) -> datetime:
    """Open a task and answer what it asks, each after some seconds; returns when that was over."""
    tasks = LabelTask.objects.filter(pk=task.pk)
    handling.contact(tasks=tasks, now=at)
    for number, said in enumerate(answers(task.item, rates, dice)):
        at += timedelta(seconds=rates.seconds * dice.lognormvariate(0, 0.4))
        record(
            kind=said.kind,
            tasks=tasks,
            answer=said.answer,
            question=said.question,
            op_id=f"demo-{number}",
            now=at,
        )
    return at


TAB = "demo"
SUBMITTED_AFTER = 15_000
TIME_WAS_ENOUGH = 100 * 60_000
"""Milliseconds after the last draft, and of active time."""


def write_past_sessions(*, study: str, file: str, now: datetime) -> None:
    """Let people write the sessions of a file, one every other day."""
    row, past = Study.objects.get(name=study), read(file)
    for number, session in enumerate(past["sessions"]):
        began = now + timedelta(days=2 + 2 * number)
        [writer] = annotators([session["writer"]])
        _get_ready(writer, past["practice"], now=began - timedelta(hours=2))
        subtopic = Subtopic.objects.get(key=session["subtopic"])
        task = _assign(row, writer, subtopic, now=began - timedelta(hours=1))
        _write(task, session, began=began)


def give_open_tasks(*, study: str, tasks: Mapping[str, int], ready: Sequence[str], now: datetime) -> None:
    """Give people one subtopic each, by number; those who are ready have agreed and practised."""
    row = Study.objects.get(name=study)
    for annotator in annotators(ready):
        _get_ready(annotator, read("sessions.json")["practice"], now=now)
    for annotator, number in zip(annotators(tasks), tasks.values(), strict=True):
        _assign(row, annotator, row.writing_plan.subtopics.get(number=number), now=now)


def _assign(study: Study, annotator: Annotator, subtopic: Subtopic, *, now: datetime) -> Assignment:
    return assigning.assign_one(study=study, annotator=annotator, subtopic=subtopic, by=user_of(), now=now)


def _get_ready(annotator: Annotator, practice: Mapping[str, Any], *, now: datetime) -> None:
    """Consent, and five minutes of practice."""
    agree(annotator, now=now)
    task = assigning.practice_assignment(annotator=annotator, now=now)
    if task is not None:
        _write(task, practice, began=now)


@dataclass
class _Browser:
    """Plays a session: wall-clock time is active time plus the pauses so far."""

    session: Session
    began: datetime
    paused_ms: int = 0
    rev: int = 0
    seq: int = 0

    def at(self, active_ms: int) -> datetime:
        return self.began + timedelta(milliseconds=active_ms + self.paused_ms)

    def message(self, text: str | None = None, search: Mapping[str, Any] | None = None) -> Message:
        if text is None:
            return Message(tab_id=TAB, draft=None, events=())
        self.seq += 1
        events = (Event(seq=self.seq, type="search", payload=dict(search)),) if search else ()
        draft = Draft(op_id=f"{TAB}-{self.seq}", base_rev=self.rev, text=text)
        return Message(tab_id=TAB, draft=draft, events=events)

    def save(self, active_ms: int, text: str, line: str | None) -> None:
        message = self.message(text, _search(line or ""))
        status = drafting.save(session=self.session, message=message, now=self.at(active_ms))
        self.rev = status.rev or self.rev

    def pause(self, active_ms: int, duration_ms: int) -> None:
        sessions.pause(session=self.session, message=self.message(), now=self.at(active_ms))
        self.paused_ms += duration_ms
        sessions.resume(session=self.session, message=self.message(), now=self.at(active_ms))


def _write(task: Assignment, past: Mapping[str, Any], *, began: datetime) -> None:
    """Each edit is a time, the number of a line, and the line, which is None where it goes."""
    session = sessions.start(assignment=task, attested=True, now=began)
    browser = _Browser(session=session, began=began)
    sessions.claim_tab(session=session, message=browser.message(), now=began)
    pauses, lines, end_ms = list(past["pauses"]), list[str](), 0
    for active_ms, number, line in past["edits"]:
        while pauses and pauses[0][0] <= active_ms:
            browser.pause(*pauses.pop(0))
        lines[number : number + 1] = [] if line is None else [line]
        browser.save(active_ms, "\n".join(lines), line)
        end_ms = active_ms + SUBMITTED_AFTER
    sessions.submit(session=session, message=browser.message(), now=browser.at(end_ms))
    SessionReport.objects.create(
        session=session,
        time_was_enough=end_ms < TIME_WAS_ENOUGH,
        used_no_model=True,
        comment="",
        at=browser.at(end_ms + 60_000),
    )


def _search(line: str) -> dict[str, Any] | None:
    """Somebody who adds a citation has looked for the words of that line."""
    words = [word.strip(".,;:()") for word in line.split("[")[0].split() if len(word) > 6]
    if "[" not in line or not words:
        return None
    return {"query": words[0].lower(), "hits": len(line) % 17 + 1, "case": False}


# What models do


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
    rater = versions.save_model(name=judge, config=config, note=note, by=None, now=now)
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
    "study": set_up,
    "trial": begin_with_trial,
    "sessions": write_past_sessions,
    "tasks": give_open_tasks,
    "score": score_sessions,
    "judge": judge_summaries,
    "judge responses": judge_responses,
    "retrieve": retrieve,
    "labels": label,
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
