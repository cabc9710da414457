"""Load the demo: corpora of our own, a person for every role, and past sessions played through the real verbs.

Nothing is written to tables directly, so that what the demo shows is what the program does.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson
from django.db import transaction

from annotation.leaderboard import positions
from annotation.models import Annotator, Assignment, Session, Study
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.writing import afterwards, assigning, planning, scoring, sessions
from annotation.writing.drafting import save
from annotation.writing.wire import Draft, Event, Message
from benchmarks.demo.haystack import DEMO_TOKEN_BUDGET, demo_topic, practice_topic
from benchmarks.demo.questions import demo_questions
from benchmarks.demo.sessions import demo_drafts
from benchmarks.engine import judging, retrieving
from benchmarks.engine.scopes import Scope
from benchmarks.io.haystacks import import_topic
from benchmarks.io.questions import import_questions
from benchmarks.io.schemas import long2rag, summhay
from benchmarks.models import Haystack, Subtopic
from benchmarks.retrieval.registry import OFFLINE, make
from summhay_site import (
    accounts,
    demo_linking,
    demo_rating,
    demo_recall,
    demo_sources,
    demo_summaries,
    demo_validation,
    demo_verification,
)
from summhay_site.models import User
from summhay_site.roles import ADMIN, ANNOTATOR, RESEARCHER

PASSWORD = "island-ferry"  # noqa: S105 - printed by the demo, which refuses to load where HTTPS is on
STUDY = "Island ferry: people against the clock"
QUESTIONS = "demo"
TAB = "demo"
DAY = timedelta(days=1)
LOGINS = (
    ("eve", "Eve Adair", ADMIN),
    ("ada", "Ada Lind", RESEARCHER),
    ("ben", "Ben Ortiz", ANNOTATOR),
    ("cleo", "Cleo Marsh", ANNOTATOR),
    ("jon", "Jon Birk", ANNOTATOR),
)
PAST_WRITERS = (
    "Dana Voss",
    "Emil Hart",
    "Fern Okoye",
    "Gus Renn",
    "Hana Sato",
    "Ivo Lund",
    "Jana Prok",
    "Kofi Mensah",
    "Lena Brandt",
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Cast:
    """The people of the demo."""

    admin: User
    researcher: User
    annotators: tuple[Annotator, ...]
    linker: Annotator
    past_writers: tuple[Annotator, ...]


def login_table() -> str:
    """The logins of the demo, a line each."""
    rows = (f"  {role:<11} {username:<5} password {PASSWORD}" for username, _name, role in LOGINS)
    return "\n".join(rows)


def is_loaded() -> bool:
    """Tell whether the demo is there."""
    return Study.objects.filter(name=STUDY).exists()


@transaction.atomic
def load(*, now: datetime, say: Say) -> None:
    """Load everything, or nothing when something fails; a second call does nothing."""
    if is_loaded():
        return
    start = now - 20 * DAY
    say("people")
    cast = _make_people(now=start)
    say("corpora")
    _import_corpora(actor=cast.researcher, now=start)
    say("a study with nine past sessions")
    study = _make_study(cast, now=start)
    _write_past_sessions(study, cast, since=start)
    _give_open_tasks(study, cast, now=now)
    say("scores by the offline judge")
    _score(now=now)
    _judge_systems(now=now)
    demo_recall.load(dataset="demo", now=now)
    say("scores of documents by the offline retrievers")
    _retrieve(now=now)
    say("a study of what summaries cover, with labels")
    demo_linking.load(
        haystack=Haystack.objects.get(key=demo_topic()["topic_id"]),
        linkers=[*cast.past_writers[2:4], cast.linker],
        researcher=cast.researcher,
        now=now,
    )
    say("a study of key points, with answers")
    ben, cleo = cast.annotators
    demo_verification.load(
        verifiers=[*cast.past_writers[:2], cast.past_writers[4], cleo],
        newcomer=ben,
        questions=QUESTIONS,
        researcher=cast.researcher,
        now=now,
    )
    say("a study of the offline judge, with answers")
    demo_validation.load(
        validators=cast.past_writers[:2],
        newcomer=cast.linker,
        dataset=QUESTIONS,
        researcher=cast.researcher,
        now=now,
    )
    say("a study of how good summaries are, with ratings")
    demo_rating.load(
        haystack=Haystack.objects.get(key=demo_topic()["topic_id"]),
        raters=cast.past_writers[5:7],
        newcomer=cast.linker,
        researcher=cast.researcher,
        now=now,
    )
    say("sources, and experiments on the position of what is relevant")
    demo_sources.load(researcher=cast.researcher, now=now - timedelta(hours=1))
    say("summaries and responses by the offline baseline, judged")
    demo_summaries.load(haystack=Haystack.objects.get(key=demo_topic()["topic_id"]), now=now)
    demo_recall.respond(dataset=QUESTIONS, now=now)
    say("where summaries take their content from")
    positions.place_missing()


def _make_people(*, now: datetime) -> Cast:
    users: dict[str, User] = {}
    for username, name, role in LOGINS:
        user = accounts.create_account(
            actor=None, row=accounts.NewAccount(username=username, name=name), role=role, now=now
        )
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
        users[username] = user
    rows = [accounts.NewAccount(username=name.split()[0].lower(), name=name) for name in PAST_WRITERS]
    past = accounts.create_accounts(actor=users["eve"], rows=rows, role=ANNOTATOR, now=now)
    return Cast(
        admin=users["eve"],
        researcher=users["ada"],
        annotators=(users["ben"].annotator, users["cleo"].annotator),
        linker=users["jon"].annotator,
        past_writers=tuple(user.annotator for user in past),
    )


def _import_corpora(*, actor: User, now: datetime) -> None:
    for topic, is_practice in ((demo_topic(), False), (practice_topic(), True)):
        parsed = summhay.parse(io.BytesIO(orjson.dumps(topic)), name="demo")
        import_topic(parsed, actor=actor, now=now, dataset="demo", judge_name="example-judge")
        Haystack.objects.filter(key=topic["topic_id"]).update(is_practice=is_practice)
    import_questions(long2rag.parse(demo_questions()), dataset=QUESTIONS, actor=actor, now=now)


def _make_study(cast: Cast, *, now: datetime) -> Study:
    haystack = Haystack.objects.get(key=demo_topic()["topic_id"])
    study = planning.create_study(
        details=lifecycle.Details(
            name=STUDY,
            description="Timed summaries of the ferry haystack: how far do people get in two hours?",
            contact="ada@example.org",
        ),
        plan=planning.PlanValues(token_budget=DEMO_TOKEN_BUDGET),
        subtopics=haystack.subtopics.all(),
        guidelines=default_guidelines(Study.Kind.WRITING),
        by=cast.researcher,
        now=now,
        annotators=[*cast.past_writers, *cast.annotators],
    )
    return lifecycle.open_study(study=study, by=cast.researcher, now=now)


def _write_past_sessions(study: Study, cast: Cast, *, since: datetime) -> None:
    for number, (writer, past) in enumerate(zip(cast.past_writers, demo_drafts(), strict=True)):
        began = since + (2 + 2 * number) * DAY
        _get_ready(writer, now=began - timedelta(hours=2))
        subtopic = Subtopic.objects.get(key=past["subtopic_id"])
        task = assigning.assign_one(
            study=study, annotator=writer, subtopic=subtopic, by=cast.researcher, now=began - timedelta(hours=1)
        )
        _write(task, past, began=began)


def _score(*, now: datetime) -> None:
    runs = scoring.score_snapshots(now=now)
    while scoring.check_copying(now=now):
        pass
    for run in runs:
        judging.run_pending(run=run, clock=lambda: now)


def _get_ready(annotator: Annotator, *, now: datetime) -> None:
    """Consent, and five minutes of practice."""
    text = consent.ensure_default_consent(now=now)
    consent.give(annotator=annotator, version=text.version, now=now)
    task = assigning.practice_assignment(annotator=annotator, now=now)
    if task is None:
        return
    drafts = [(40_000, "- Repairs are free"), (110_000, "- Repairs are free, parts are paid for [1, 3]")]
    _write(task, {"drafts": drafts, "pauses": []}, began=now)


def _give_open_tasks(study: Study, cast: Cast, *, now: datetime) -> None:
    """Ben begins from nothing; Cleo has agreed and practised."""
    subtopics = list(study.writing_plan.subtopics.order_by("number"))
    _get_ready(cast.annotators[1], now=now - DAY)
    for annotator, subtopic in zip(cast.annotators, (subtopics[-1], subtopics[0]), strict=True):
        assigning.assign_one(
            study=study, annotator=annotator, subtopic=subtopic, by=cast.researcher, now=now - DAY
        )


@dataclass
class _Player:
    """Plays a session's past: wall-clock time is active time plus the pauses so far."""

    session: Session
    began: datetime
    paused_ms: int = 0
    rev: int = 0
    seq: int = 0

    def at(self, active_ms: int) -> datetime:
        return self.began + timedelta(milliseconds=active_ms + self.paused_ms)

    def message(self, text: str | None, *events: tuple[str, dict[str, Any]]) -> Message:
        self.seq += len(events)
        sent = tuple(
            Event(seq=self.seq - len(events) + offset, type=kind, payload=payload)
            for offset, (kind, payload) in enumerate(events, 1)
        )
        draft = None
        if text is not None:
            op_id = str(uuid5(NAMESPACE_URL, f"{self.session.uid}/{self.rev}/{self.seq}"))
            draft = Draft(op_id=op_id, base_rev=self.rev, text=text)
        return Message(tab_id=TAB, draft=draft, events=sent)

    def save(self, active_ms: int, text: str, *events: tuple[str, dict[str, Any]]) -> None:
        status = save(session=self.session, message=self.message(text, *events), now=self.at(active_ms))
        self.rev = status.rev or self.rev

    def pause(self, active_ms: int, duration_ms: int) -> None:
        sessions.pause(session=self.session, message=self.message(None), now=self.at(active_ms))
        self.paused_ms += duration_ms
        sessions.resume(session=self.session, message=self.message(None), now=self.at(active_ms))


def _write(task: Assignment, past: dict[str, Any], *, began: datetime) -> None:
    session = sessions.start(assignment=task, attested=True, now=began)
    player = _Player(session=session, began=began)
    sessions.claim_tab(session=session, message=player.message(None), now=began)
    pauses = sorted(past["pauses"])
    written = ""
    for active_ms, text in past["drafts"]:
        while pauses and pauses[0][0] <= active_ms:
            player.pause(*pauses.pop(0))
        player.save(active_ms, text, *_searches(written, text))
        written = text
    end_ms = past["drafts"][-1][0] + 15_000
    sessions.submit(session=session, message=player.message(None), now=player.at(end_ms))
    afterwards.report(
        session=session,
        time_was_enough=end_ms < 100 * 60_000,
        used_no_model=True,
        comment="",
        now=player.at(end_ms + 60_000),
    )


def _searches(before: str, after: str) -> list[tuple[str, dict[str, Any]]]:
    """Somebody who adds a citation has looked for the words of that line."""
    old = set(before.splitlines())
    for line in after.splitlines():
        if line not in old and "[" in line:
            words = [word.strip(".,;:()") for word in line.split("[")[0].split() if len(word) > 6]
            if words:
                return [("search", {"query": words[0].lower(), "hits": len(line) % 17 + 1, "case": False})]
    return []


def _retrieve(*, now: datetime) -> None:
    """Run every retriever that needs no server on the documents."""
    haystack = Haystack.objects.get(key=demo_topic()["topic_id"])
    for name in OFFLINE:
        row = retrieving.request(haystack=haystack, retriever=make(name, {}), now=now, wake=False)
        retrieving.advance(uid=row.uid, clock=lambda: now)


def _judge_systems(*, now: datetime) -> None:
    """Run the offline judge on the summaries of the systems too."""
    haystack = Haystack.objects.get(key=demo_topic()["topic_id"])
    run = judging.request_run(
        judge=judging.default_judge(now=now),
        subjects=haystack.summaries.of_systems(),
        reason="demo",
        now=now,
        scope=Scope(haystack=haystack.title).as_json(),
    )
    if run is not None:
        judging.run_pending(run=run, clock=lambda: now)
