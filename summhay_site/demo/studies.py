"""Sets up the studies of the demo, plays past label work, and past sessions of writing by active time with pauses.

A person opens one task after the other, works for a while, and answers: what a judge says, or what is known of the
demo's material, with errors at a rate that differs from person to person. Which errors follows from names and
positions alone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from annotation.kinds import kind_named
from annotation.labelling import handling
from annotation.labelling.recording import record
from annotation.labelling.simulating import Played, Rates
from annotation.models import Annotator, Assignment, LabelTask, Session, Study
from annotation.studies import lifecycle
from annotation.writing import assigning, drafting, pages, sessions
from annotation.writing.drafting import Draft, Event, Message
from benchmarks.models import Subtopic
from summhay_site.demo.cast import agree, annotators, read, user_of

CONTACT = "ada@example.org"


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
    pages.report(
        session=session,
        time_was_enough=end_ms < TIME_WAS_ENOUGH,
        used_no_model=True,
        comment="",
        now=browser.at(end_ms + 60_000),
    )


def _search(line: str) -> dict[str, Any] | None:
    """Somebody who adds a citation has looked for the words of that line."""
    words = [word.strip(".,;:()") for word in line.split("[")[0].split() if len(word) > 6]
    if "[" not in line or not words:
        return None
    return {"query": words[0].lower(), "hits": len(line) % 17 + 1, "case": False}
