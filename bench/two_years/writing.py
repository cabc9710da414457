"""Sessions: some are written through the app's verbs, the others are their copies with words of their own."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from annotation.models import (
    ActivePeriod,
    Assignment,
    CopyCheck,
    DraftRevision,
    Exposure,
    GrowthCheck,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    Study,
    WritingPlan,
)
from annotation.writing import drafting, scoring, sessions
from annotation.writing.wire import Draft, Event, Message
from bench.two_years import sql
from bench.two_years.scene import DAYS, Scene, subtopics
from benchmarks.models import Insight, JudgeRun, JudgeRunItem, Subtopic, Summary, Verdict

STUDIES, SESSIONS, N_SAVES, N_EVENTS, N_TEMPLATES, MEMBERS = 20, 5_000, 200, 1_000, 6, 50
OPEN = 300
"""The number of the study, an open one, whose sessions are written."""
LENGTH_MS = 118 * 60_000
KINDS = ("search", "document", "blur", "focus")
MAP = "bench_copied"
"""Which session is a copy of which, and how many days later it was written."""


def fill(scene: Scene) -> None:
    """Studies, their tasks, sessions, snapshots, summaries and verdicts."""
    begun = scene.now - timedelta(days=DAYS)
    first = _tasks(scene, OPEN, N_TEMPLATES, members=N_TEMPLATES)
    templates = [_write(scene, task, begun + timedelta(hours=3 * at)) for at, task in enumerate(first)]
    n_done = scene.many(SESSIONS) // STUDIES
    _copy(scene, templates, [task for number in range(STUDIES) for task in _tasks(scene, number, n_done)])
    _score(scene)


def _tasks(scene: Scene, number: int, n_done: int, members: int = MEMBERS) -> list[Assignment]:
    """The finished tasks of a study of its own; as many again as a tenth of them wait."""
    topics = subtopics()
    study = scene.study(Study.Kind.WRITING, number, members)
    WritingPlan.objects.create(study=study, setting="full", allow_second_on_haystack=True).subtopics.set(topics)
    team = [member.annotator for member in study.memberships.select_related("annotator__user")]
    shown = {topic.haystack_id: _documents(topic) for topic in topics}

    def task(at: int) -> Assignment:
        topic, person = topics[(at // len(team) + at + number) % len(topics)], team[at % len(team)]
        numbers, n_words = shown[topic.haystack_id]
        return Assignment(
            study=study,
            annotator=person,
            subtopic=topic,
            document_numbers=numbers,
            n_words=n_words,
            n_insights_present=7,
            created_at=study.created_at,
        )

    rows = list(
        {(row.annotator_id, row.subtopic_id): row for row in map(task, range(n_done + n_done // 10))}.values()
    )
    Assignment.objects.bulk_create(rows)
    return rows[:n_done]


def _documents(topic: Subtopic) -> tuple[list[int], int]:
    rows = topic.haystack.documents.order_by("number").values_list("number", "n_words")
    return [number for number, _ in rows], sum(words for _, words in rows)


def _write(scene: Scene, task: Assignment, begun: datetime) -> Session:
    """One session in the app's own words: saves, events, and the end."""
    row, lines, seq = sessions.start(assignment=task, attested=True, now=begun), [""], 0
    for rev in range(N_SAVES):
        if rev % 12 == 0:
            lines.append("- ")
        lines[-1] += " ".join(scene.sentence(2).split()[:2]).lower() + " "
        text = "\n".join(line.strip() + f" [{at % 9 + 1}, {at % 7 + 20}]" for at, line in enumerate(lines[1:]))
        at = begun + timedelta(milliseconds=(rev + 1) * LENGTH_MS // (N_SAVES + 1))
        events = tuple(
            Event(seq + n, KINDS[(seq + n) % 4], {"query": "ferry", "n": n}) for n in range(N_EVENTS // N_SAVES)
        )
        seq += len(events)
        draft = Draft(text=text, op_id=f"op-{rev}", base_rev=rev, client_active_ms=1000 * rev)
        drafting.save(session=row, message=Message("tab", draft, events=events), now=at)
    sessions.submit(session=row, message=Message("tab"), now=begun + timedelta(milliseconds=LENGTH_MS))
    return Session.objects.get(pk=row.pk)


def _copy(scene: Scene, templates: list[Session], tasks: list[Assignment]) -> None:
    """The sessions of these tasks: each has every row of one of the templates, with a line of its own."""
    copies: list[Session] = []
    days: list[int] = []
    for at, task in enumerate(tasks):
        old, day = templates[at % len(templates)], scene.dice.randint(0, DAYS - 2)
        row = Session.objects.get(pk=old.pk) if at < len(templates) else copies[at - len(templates)]
        values = {field.attname: getattr(row, field.attname) for field in Session._meta.concrete_fields}
        moments = {name: getattr(old, name) and getattr(old, name) + timedelta(days=day) for name in _MOMENTS}
        changed: dict[str, Any] = {
            "id": None,
            "uid": _uid(scene),
            "assignment_id": task.pk,
            "annotator_id": task.annotator_id,
            "guideline_id": None,
            "document_numbers": task.document_numbers,
            "draft_text": old.draft_text + _tail(at),
        }
        copies.append(Session(**values | moments | changed))
        days.append(day)
    copies = Session.objects.bulk_create(copies, batch_size=500)
    Assignment.objects.filter(pk__in=[task.pk for task in tasks]).update(state=Assignment.State.DONE)
    _map(copies, templates, days)
    _copy_rows()
    _report_and_check()
    _expose(tasks)


def _copy_rows() -> None:
    """What belongs to a template, for each of its copies."""
    source = f"{MAP} m JOIN {{}} t ON t.session_id = m.template"
    text = "t.text || m.tail"

    def shifted(*names: str) -> dict[str, str]:
        return {name: sql.later(f"t.{name}", "m.days") for name in names}

    session = {"session_id": "m.session"}
    sql.copy(ActivePeriod, source.format(sql.table(ActivePeriod)), **session, **shifted("started_at", "ended_at"))
    sql.copy(
        DraftRevision,
        source.format(sql.table(DraftRevision)),
        **session,
        text=text,
        sha256=sql.sha256(text),
        **shifted("received_at", "typed_at"),
    )
    sql.copy(
        SessionEvent, source.format(sql.table(SessionEvent)), **session, **shifted("at_server", "happened_at")
    )
    saved = f" JOIN {sql.table(DraftRevision)} o ON o.id = t.revision_id"
    saved += f" JOIN {sql.table(DraftRevision)} r ON r.session_id = m.session AND r.rev = o.rev"
    sql.copy(
        Snapshot,
        source.format(sql.table(Snapshot)) + saved,
        **session,
        text=text,
        revision_id="r.id",
        **shifted("created_at"),
    )


def _report_and_check() -> None:
    sql.insert(
        SessionReport,
        f"{sql.table(Session)} s",
        session_id="s.id",
        used_no_model="TRUE",
        at="s.ended_at",
        time_was_enough=f"{sql.dice('s.id')} < 80",
    )
    for model in (CopyCheck, GrowthCheck):
        sql.insert(
            model, f"{sql.table(Snapshot)} t WHERE t.kind = 'final'", snapshot_id="t.id", created_at="t.created_at"
        )


def _expose(tasks: list[Assignment]) -> None:
    """Those who wrote have seen the haystack."""
    Exposure.objects.bulk_create(
        (
            Exposure(
                user_id=task.annotator.user_id or 0,
                haystack_id=task.subtopic.haystack_id,
                reason="writing",
                first_at=task.created_at,
            )
            for task in tasks
        ),
        ignore_conflicts=True,
    )


_MOMENTS = ("clock_hwm", "last_seen_at", "attested_before_at", "created_at", "started_at", "ended_at")


def _uid(scene: Scene) -> Any:
    return f"{scene.dice.getrandbits(128):032x}"


def _tail(at: int) -> str:
    return f"\n- So say reports of reader {at} [{at % 99 + 1}, {at % 37 + 2}]"


def _map(copies: list[Session], templates: list[Session], days: list[int]) -> None:
    sql.execute(f"CREATE TEMPORARY TABLE {MAP} (session bigint, template bigint, days integer, tail text)")
    for start in range(0, len(copies), 500):
        rows = ", ".join(
            f"({row.pk}, {templates[at % len(templates)].pk}, {days[at]}, '{_tail(at)}')"
            for at, row in list(enumerate(copies))[start : start + 500]
        )
        sql.execute(f"INSERT INTO {MAP} VALUES {rows}")  # noqa: S608
    sql.execute(f"CREATE INDEX {MAP}_template ON {MAP} (template)")


def _score(scene: Scene) -> None:
    """A summary for each snapshot, and the verdicts of the offline judge on it, of a run that is done."""
    texts = f"{sql.table(Snapshot)} t JOIN {sql.table(Session)} s ON s.id = t.session_id"
    texts += f" JOIN {sql.table(Assignment)} a ON a.id = s.assignment_id"
    texts += f" JOIN {sql.table(Subtopic)} b ON b.id = a.subtopic_id"
    digest, subtopic = sql.sha256("t.text"), "a.subtopic_id"
    sql.insert(
        Summary,
        f"(SELECT DISTINCT {subtopic} AS subtopic, b.haystack_id AS haystack, t.text AS text FROM {texts}) t",  # noqa: S608
        uid=sql.uid("t.subtopic", "t.text"),
        subtopic_id="t.subtopic",
        haystack_id="t.haystack",
        system_id=str(scoring.people_system().pk),
        origin="'session'",
        text="t.text",
        text_sha256=digest,
        created_at=sql.moment(scene.now),
    )
    sql.execute("ANALYZE")
    written = f"{sql.table(Session)} s JOIN {sql.table(Assignment)} a ON a.id = s.assignment_id"
    written += f" JOIN {sql.table(Summary)} y ON y.origin = 'session' AND y.subtopic_id = a.subtopic_id"
    mine, at = f"{sql.table(Snapshot)}.session_id", f"{sql.table(Snapshot)}.text"
    sql.execute(
        f"UPDATE {sql.table(Snapshot)} SET summary_id = (SELECT y.id FROM {written}"  # noqa: S608
        f" AND y.text_sha256 = {sql.sha256(at)} WHERE s.id = {mine})"
    )
    run = JudgeRun.objects.create(
        judge=scene.judge, state=JudgeRun.State.DONE, reason="session", created_at=scene.now, finished_at=scene.now
    )
    summaries = f"{sql.table(Summary)} y WHERE y.origin = 'session'"
    sql.insert(JudgeRunItem, summaries, run_id=str(run.pk), summary_id="y.id", state="'done'", attempts="1")
    luck = sql.dice("y.id", "i.id")
    sql.insert(
        Verdict,
        f"{sql.table(Summary)} y JOIN {sql.table(Insight)} i ON i.subtopic_id = y.subtopic_id"
        " WHERE y.origin = 'session'",
        judge_id=str(scene.judge.pk),
        summary_id="y.id",
        insight_id="i.id",
        run_id=str(run.pk),
        coverage=sql.among(luck, ("none", 45), ("partial", 70), ("full", 100)),
        lines=sql.as_json(sql.among(luck, ("[]", 45), ("[1]", 100))),
        is_linked=f"{luck} >= 45",
        created_at=sql.moment(scene.now),
    )
