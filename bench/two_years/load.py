"""The rows of two years; the app makes once what it can: haystacks by its import, sessions by its verbs."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from annotation.kinds import kind_named
from annotation.labelling.simulating import Chosen, Rates, simulate
from annotation.models import (
    ActivePeriod,
    Annotator,
    Assignment,
    CopyCheck,
    DraftRevision,
    Exposure,
    ExternalLabel,
    GrowthCheck,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    Study,
    WritingPlan,
)
from annotation.writing import drafting, scoring, sessions
from annotation.writing.drafting import Draft, Event, Message
from bench.chaos.checking import sha
from bench.world import (
    PASSWORD,
    accounts,
    import_haystack,
    invented,
    made_up,
    open_study,
    people,
    questions,
    store,
)
from benchmarks.engine import versions
from benchmarks.models import (
    AuditEvent,
    Haystack,
    Insight,
    JudgeRun,
    JudgeRunItem,
    KeyPoint,
    PointVerdict,
    Question,
    Response,
    Subtopic,
    Summary,
    System,
    Verdict,
)

DAYS = 730
ACTIONS = ("session.exclude", "session.credit", "study.assign", "file.exported", "run.requested", "study.update")
MEMBERS, EACH = 40, 4
"""People in a study of label work, and people an item."""
LABELLED = {"linking": (16, 312), "verification": (8, 125), "validation": (6, 1500), "rating": (6, 625)}
"""How many studies, and on how many summaries, questions or verdicts each."""
N_EXTERNAL = 4
WRITING = 20
"""Studies of writing."""
SESSIONS, N_SAVES, N_EVENTS, N_TEMPLATES, WRITERS = 5_000, 200, 1_000, 6, 50
OPEN = 300
"""The number of the study, an open one, whose sessions are written; all others are copies of these."""
LENGTH_MS = 118 * 60_000
EVENTS = ("search", "document", "blur", "focus")
PARTS: tuple[Any, ...] = (ActivePeriod, SessionEvent, DraftRevision, Snapshot)


def luck(*keys: int) -> int:
    """A number below 100 that follows from these."""
    mixed = sum(key * prime for key, prime in zip(keys, (7919, 104_729, 1_299_709), strict=False))
    return mixed % 1_000_003 * 2_654_435 % 999_983 % 100


def among(number: int, *shares: tuple[str, int]) -> str:
    """The first of these values whose bound is above the number."""
    return next(value for value, bound in shares if number < bound)


class Load:
    """Makes everything in order; `share` of 1 is two years."""

    def __init__(self, share: float, seed: int, now: datetime) -> None:
        self.share, self.now, self.dice = share, now, random.Random(seed)  # noqa: S311 - no secret
        self.begun = now - timedelta(days=DAYS)

    def many(self, number: int, least: int = 1) -> int:
        """So many of two years in this share of it."""
        return max(round(number * self.share), least)

    def day(self) -> datetime:
        """Some day of the two years."""
        return self.now - timedelta(days=self.dice.randint(2, DAYS), seconds=self.dice.randint(0, 40_000))

    def of_study(self, number: int, members: int) -> tuple[list[Annotator], Any]:
        """The people of a study, and its researcher."""
        n = len(self.people)
        team = [self.people[(number * 13 + at) % n] for at in range(min(members, n))]
        return team, self.researchers[number % len(self.researchers)]

    def study(self, kind: str, number: int, members: int) -> Study:
        """A study with its researcher, guidelines and members; every third is open."""
        team, by = self.of_study(number, members)
        state = Study.State.OPEN if number % 3 == 0 else Study.State.CLOSED
        about = {"name": f"{kind.capitalize()} {number + 1}", "state": state, "seed": number, "created_by": by}
        row = open_study(kind, team, invented(self.dice, 200), created_at=self.day(), **about)
        row.researchers.add(by)
        return row

    # -- people and corpora

    def corpora(self) -> None:
        """People, haystacks, questions with what judges say of responses to them, and events of the audit log."""
        accounts("admin", "admin", 1, PASSWORD)
        self.researchers = accounts("researcher", "researcher", self.many(10, 6), PASSWORD)
        self.people: list[Annotator] = people("annotator", self.many(200, 6))
        Annotator.objects.update(created_at=self.begun)
        for at in range(self.many(5)):
            import_haystack(made_up(f"load{at}", at))
        self.judge = versions.default_judge(now=self.now)
        self._responses(*questions("load", self.many(1000), self.dice, self.begun))
        store(AuditEvent, (
            AuditEvent(at=self.day(), actor=self.dice.choice(self.researchers), action=ACTIONS[at % len(ACTIONS)],
                       object_type="study", object_name=f"Study {at % 60}", detail={"reason": "of the load"})
            for at in range(self.many(100_000))
        ))  # fmt: skip

    def _responses(self, rows: Sequence[Question], points: Sequence[KeyPoint]) -> None:
        """Ten responses to each question, and the judge's verdicts on them."""
        made = {"created_at": self.begun}
        systems = [System.objects.create(key=f"load-answers-{n}", summarizer=f"answers-{n}") for n in range(10)]
        responses = store(Response, (
            Response(question=row, system=system, text=invented(self.dice, 200), n_words=200,
                     text_sha256=f"{row.pk:032x}{system.pk:032x}", **made)
            for row in rows for system in systems
        ))  # fmt: skip
        run = JudgeRun.objects.create(
            judge=self.judge, task="recall", state="done", finished_at=self.begun, **made
        )
        by_question = _grouped((row.question_id, row) for row in points)
        about = {"judge": self.judge, "run": run, "premise": PointVerdict.Premise.RESPONSE, **made}
        store(PointVerdict, (
            PointVerdict(response=row, key_point=point, **about,
                         answer=among(luck(row.pk, point.pk), ("yes", 45), ("no", 90), ("neutral", 100)))
            for row in responses for point in by_question[row.question_id]
        ))  # fmt: skip

    # -- label work

    def labels(self) -> None:
        """Some 250,000 labels of all kinds, of people whom the app simulates; every third study is open."""
        about: dict[str, Any] = {"haystacks": list(Haystack.objects.all()), "dataset": "load", "judge": self.judge}
        for name, (n_studies, n_items) in LABELLED.items():
            of_kind: Any = kind_named(name)
            for number in range(n_studies):
                team, by = self.of_study(number, MEMBERS)
                study = simulate(
                    kind=of_kind.answers, simulated=of_kind.simulated, name=f"{name.capitalize()} {number + 1}",
                    chosen=Chosen(**about, n_items=self.many(n_items), people_per_item=EACH),
                    people={f"{name} {number} {each.pk}": Rates(each.pk * 37 % 25 / 100, 0.1) for each in team},
                    researchers=[by], seed=number, now=self.day(),
                ).study  # fmt: skip
                labels = of_kind.answers.model.objects.filter(study=study)
                for member, person in zip(study.memberships.all(), team, strict=True):
                    labels.filter(annotator=member.annotator_id).update(annotator=person)
                    study.label_tasks.filter(annotator=member.annotator_id).update(annotator=person)
                    member.annotator = person
                    member.save()
                if number % 3 == 0:
                    self._open(study, labels, team)
        Annotator.objects.filter(user=None).delete()
        for number in range(N_EXTERNAL):
            self._external(self.study("external", number, 4))

    def _open(self, study: Study, labels: QuerySet[Any], team: Sequence[Annotator]) -> None:
        """Let the last tenth of everybody's tasks wait."""
        for person in team:
            tasks = study.label_tasks.filter(annotator=person)
            n_done = tasks.count() * 9 // 10
            waiting = tasks.filter(position__gt=n_done)
            labels.filter(task__in=waiting).delete()
            waiting.update(state="todo", n_answered=0, active_ms=0, begun_at=None, last_seen_at=None, done_at=None)
        Study.objects.filter(pk=study.pk).update(state=Study.State.OPEN)

    def _external(self, study: Study) -> None:
        study.categories = ["no", "partly", "yes"]
        study.save()
        store(ExternalLabel, (
            ExternalLabel(study=study, annotator_id=member.annotator_id, item=f"item {at}",
                          cluster=f"cluster {at % 100}", imported_at=study.created_at,
                          label=study.categories[(at + (self.dice.random() < 0.2)) % 3])
            for at in range(self.many(1250)) for member in study.memberships.all()
        ))  # fmt: skip

    # -- sessions

    def sessions(self) -> None:
        """Studies, their tasks, sessions, snapshots, summaries and verdicts."""
        first = self._assignments(OPEN, N_TEMPLATES, members=N_TEMPLATES)
        templates = [self._write(task, self.begun + timedelta(hours=3 * at)) for at, task in enumerate(first)]
        for row in templates:
            kept = list(Snapshot.objects.filter(session=row))
            Snapshot.objects.bulk_update(self._with_summaries(kept, row.assignment.subtopic), ["summary"])
        n_done = self.many(SESSIONS) // WRITING
        tasks = [task for number in range(WRITING) for task in self._assignments(number, n_done, WRITERS)]
        parts = [
            {model: list(model.objects.filter(session=row).order_by("pk")) for model in PARTS} for row in templates
        ]
        for at, task in enumerate(tasks):
            self._copy(templates[at % N_TEMPLATES], parts[at % N_TEMPLATES], task, at)
        Assignment.objects.filter(pk__in=[task.pk for task in tasks]).update(state=Assignment.State.DONE)
        Exposure.objects.bulk_create((
            Exposure(user_id=task.annotator.user_id or 0, haystack_id=task.subtopic.haystack_id, reason="writing",
                     first_at=task.created_at) for task in tasks
        ), ignore_conflicts=True)  # fmt: skip
        ended: Any = Session.objects.values_list("pk", "ended_at")
        store(SessionReport, (
            SessionReport(session_id=pk, used_no_model=True, at=at, time_was_enough=luck(pk) < 80)
            for pk, at in ended
        ))  # fmt: skip
        final = list(Snapshot.objects.filter(kind="final").values_list("pk", "created_at"))
        for model in (CopyCheck, GrowthCheck):
            store(model, (model(snapshot_id=pk, created_at=at) for pk, at in final))
        self._judge()

    def _assignments(self, number: int, n_done: int, members: int) -> list[Assignment]:
        """The finished tasks of a study of its own; as many again as a tenth of them wait."""
        topics = list(Subtopic.objects.select_related("haystack").order_by("number", "haystack"))
        study = self.study("writing", number, members)
        plan = WritingPlan.objects.create(study=study, setting="full", allow_second_on_haystack=True)
        plan.subtopics.set(topics)
        team = [member.annotator for member in study.memberships.select_related("annotator__user")]
        shown = {
            topic.haystack: list(topic.haystack.documents.order_by("number").values_list("number", "n_words"))
            for topic in topics
        }
        rows: dict[tuple[int, int], Assignment] = {}
        for at in range(n_done + n_done // 10):
            topic, person = topics[(at // len(team) + at + number) % len(topics)], team[at % len(team)]
            documents = shown[topic.haystack]
            rows[person.pk, topic.pk] = Assignment(
                study=study, annotator=person, subtopic=topic, created_at=study.created_at, n_insights_present=7,
                document_numbers=[n for n, _words in documents], n_words=sum(words for _n, words in documents),
            )  # fmt: skip
        return store(Assignment, rows.values())[:n_done]

    def _write(self, task: Assignment, begun: datetime) -> Session:
        """One session in the app's own words: saves, events, and the end."""
        row, lines, seq = sessions.start(assignment=task, attested=True, now=begun), [""], 0
        for rev in range(N_SAVES):
            if rev % 12 == 0:
                lines.append("- ")
            lines[-1] += " ".join(invented(self.dice, 2).split()[:2]).lower() + " "
            text = "\n".join(line.strip() + f" [{at % 9 + 1}, {at % 7 + 20}]" for at, line in enumerate(lines[1:]))
            at = begun + timedelta(milliseconds=(rev + 1) * LENGTH_MS // (N_SAVES + 1))
            events = tuple(
                Event(n, EVENTS[n % 4], {"query": "ferry", "n": n - seq})
                for n in range(seq, seq + N_EVENTS // N_SAVES)
            )
            seq += len(events)
            draft = Draft(text=text, op_id=f"op-{rev}", base_rev=rev, client_active_ms=1000 * rev)
            drafting.save(session=row, message=Message("tab", draft, events=events), now=at)
        sessions.submit(session=row, message=Message("tab"), now=begun + timedelta(milliseconds=LENGTH_MS))
        return Session.objects.get(pk=row.pk)

    def _copy(self, template: Session, parts: dict[Any, list[Any]], task: Assignment, at: int) -> None:
        """The session of this task: every row of the template some days later, with a line of its own."""
        days = self.dice.randint(0, DAYS - 2)
        tail = f"\n- So say reports of reader {at} [{at % 99 + 1}, {at % 37 + 2}]"
        session = later(
            template, days, uid=UUID(int=self.dice.getrandbits(128)), assignment_id=task.pk,
            annotator_id=task.annotator_id, guideline_id=None, document_numbers=task.document_numbers,
            draft_text=template.draft_text + tail,
        )  # fmt: skip
        session.save(force_insert=True)
        copies = {model: [later(row, days, session_id=session.pk) for row in parts[model]] for model in PARTS}
        for row in (*copies[DraftRevision], *copies[Snapshot]):
            row.text += tail
        for row in copies[DraftRevision]:
            row.sha256 = sha(row.text)
        new = dict(zip((row.pk for row in parts[DraftRevision]), copies[DraftRevision], strict=True))
        for model in PARTS[:-1]:
            store(model, copies[model])
        for row in copies[Snapshot]:
            row.revision = new[row.revision_id]
        store(Snapshot, self._with_summaries(copies[Snapshot], task.subtopic))

    def _with_summaries(self, snapshots: list[Snapshot], subtopic: Subtopic) -> list[Snapshot]:
        system = scoring.people_system()
        about = {"subtopic": subtopic, "haystack_id": subtopic.haystack_id, "system": system, "origin": "session"}
        summaries = store(Summary, (
            Summary(text=row.text, text_sha256=sha(row.text), created_at=self.now, **about) for row in snapshots
        ))  # fmt: skip
        for row, summary in zip(snapshots, summaries, strict=True):
            row.summary = summary
        return snapshots

    def _judge(self) -> None:
        """The verdicts of the offline judge on all texts of sessions, of a run that is done."""
        made = {"created_at": self.now}
        run = JudgeRun.objects.create(
            judge=self.judge, state=JudgeRun.State.DONE, reason="session", finished_at=self.now, **made
        )
        texts = list(Summary.objects.filter(origin="session").values_list("pk", "subtopic"))
        insights = _grouped(Insight.objects.values_list("subtopic", "pk"))
        store(JudgeRunItem, (JudgeRunItem(run=run, summary_id=pk, state="done", attempts=1) for pk, _of in texts))
        for pk, subtopic in texts:
            said = [(insight, luck(pk, insight)) for insight in insights[subtopic]]
            store(Verdict, (
                Verdict(judge=self.judge, summary_id=pk, insight_id=insight, run=run, is_linked=n >= 45, **made,
                        coverage=among(n, ("none", 45), ("partial", 70), ("full", 100)),
                        lines=[1] if n >= 45 else []) for insight, n in said
            ))  # fmt: skip


def later(row: Any, days: int, **changed: Any) -> Any:
    """A copy of a row that is not stored yet, with all its times so many days later."""
    values = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key
    }
    moments = {name: value + timedelta(days=days) for name, value in values.items() if isinstance(value, datetime)}
    return type(row)(**{**values, **moments, **changed})


def _grouped(pairs: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    groups = defaultdict[int, list[Any]](list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
