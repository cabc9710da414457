"""The rows of two years; the app makes once what it can: haystacks by its import, sessions by its verbs."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db.models import Model

from annotation.models import (
    ActivePeriod,
    Annotator,
    Assignment,
    CopyCheck,
    CoverageLabel,
    DraftRevision,
    EntailmentLabel,
    Exposure,
    ExternalLabel,
    GrowthCheck,
    Guideline,
    LabelItem,
    LabelTask,
    LinkingPlan,
    Membership,
    PointLabel,
    RatingLabel,
    RatingPlan,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    Study,
    ValidationPlan,
    VerificationPlan,
    WritingPlan,
)
from annotation.writing import drafting, scoring, sessions
from annotation.writing.drafting import Draft, Event, Message
from bench.world import PASSWORD, WORDS, accounts, import_made_up, people
from benchmarks.engine import versions
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import (
    AuditEvent,
    Insight,
    JudgeRun,
    JudgeRunItem,
    KeyPoint,
    PointVerdict,
    Question,
    QuestionDocument,
    Response,
    Span,
    Subtopic,
    Summary,
    System,
    Verdict,
)

DAYS, BATCH = 730, 2_000
ACTIONS = ("session.exclude", "session.credit", "study.assign", "file.exported", "run.requested", "study.update")
MEMBERS, EACH = 40, 4
"""People in a study of label work, and people an item."""
LINKING, VERIFICATION, VALIDATION, RATING, EXTERNAL, WRITING = 16, 8, 6, 6, 4, 20
"""Studies of each kind."""
SESSIONS, N_SAVES, N_EVENTS, N_TEMPLATES, WRITERS = 5_000, 200, 1_000, 6, 50
OPEN = 300
"""The number of the study, an open one, whose sessions are written; all others are copies of these."""
LENGTH_MS = 118 * 60_000
EVENTS = ("search", "document", "blur", "focus")


def luck(*keys: int) -> int:
    """A number below 100 that follows from these."""
    mixed = sum(key * prime for key, prime in zip(keys, (7919, 104_729, 1_299_709), strict=False))
    return mixed % 1_000_003 * 2_654_435 % 999_983 % 100


def among(number: int, *shares: tuple[str, int]) -> str:
    """The first of these values whose bound is above the number."""
    return next(value for value, bound in shares if number < bound)


def store(model: type[Any], rows: Iterable[Any]) -> list[Any]:
    made: list[Any] = model._default_manager.bulk_create(list(rows), batch_size=BATCH)
    return made


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

    def sentence(self, n: int = 18) -> str:
        """Invented words."""
        return " ".join(self.dice.choices(WORDS, k=n)).capitalize() + "."

    def study(self, kind: str, number: int, members: int) -> Study:
        """A study with its researcher, guidelines and members; every third is open."""
        by, made = self.researchers[number % len(self.researchers)], self.day()
        state = Study.State.OPEN if number % 3 == 0 else Study.State.CLOSED
        about = {"name": f"{kind.capitalize()} {number + 1}", "contact": "load@example.org", "seed": number}
        row = Study.objects.create(kind=kind, state=state, created_at=made, created_by=by, **about)
        row.researchers.add(by)
        Guideline.objects.create(study=row, version=1, body=self.sentence(200), created_at=made)
        n, start = len(self.people), number * 13
        team = [self.people[(start + at) % n] for at in range(min(members, n))]
        store(Membership, (
            Membership(study=row, annotator=person, number=at, joined_at=made) for at, person in enumerate(team, 1)
        ))  # fmt: skip
        return row

    # -- people and corpora

    def corpora(self) -> None:
        """People, haystacks, questions with what judges say of responses to them, and events of the audit log."""
        accounts("admin", "admin", 1, PASSWORD)
        self.researchers = accounts("researcher", "researcher", self.many(10, 6), PASSWORD)
        self.people: list[Annotator] = people("annotator", self.many(200, 6))
        Annotator.objects.update(created_at=self.begun)
        for at in range(self.many(5)):
            import_made_up(f"load{at}", at)
        self.judge = versions.default_judge(now=self.now)
        self._questions()
        store(AuditEvent, (
            AuditEvent(at=self.day(), actor=self.dice.choice(self.researchers), action=ACTIONS[at % len(ACTIONS)],
                       object_type="study", object_name=f"Study {at % 60}", detail={"reason": "of the load"})
            for at in range(self.many(100_000))
        ))  # fmt: skip

    def _questions(self) -> None:
        """Questions with three documents, ten key points, ten responses and the judge's verdicts on them."""
        made, numbers = {"created_at": self.begun}, range(self.many(1000))
        questions = store(Question, (
            Question(dataset="load", key=f"q{at}", text=self.sentence(), category=f"Category {at % 10}",
                     domain=f"Domain {at % 4}", n_words=900, **made) for at in numbers
        ))  # fmt: skip
        documents = store(QuestionDocument, (
            QuestionDocument(question=row, number=n, key=f"d{n}", title=f"Report {n}", n_words=300,
                             text=self.sentence(300)) for row in questions for n in (1, 2, 3)
        ))  # fmt: skip
        first = {row.question_id: row for row in documents if row.number == 1}
        points = store(KeyPoint, (
            KeyPoint(question=row, number=n, key=f"p{n}", text=self.sentence(12), autods=self.dice.random())
            for row in questions for n in range(1, 11)
        ))  # fmt: skip
        passages = ((row, first[row.question_id], row.number * 90) for row in points)
        store(Span, (
            Span(key_point=row, number=1, document=document, quote=document.text[start : start + 60], start=start,
                 end=start + 60, match_ratio=1, is_exact=True) for row, document, start in passages
        ))  # fmt: skip
        systems = [System.objects.create(key=f"load-answers-{n}", summarizer=f"answers-{n}") for n in range(10)]
        responses = store(Response, (
            Response(question=row, system=system, text=self.sentence(200), n_words=200,
                     text_sha256=f"{row.pk:032x}{system.pk:032x}", **made)
            for row in questions for system in systems
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
        """Some 250,000 labels of all kinds."""
        systems = Summary.objects.exclude(origin="session")
        texts = list(systems.order_by("subtopic", "system").values_list("pk", "subtopic"))
        points = list(KeyPoint.objects.order_by("question", "number").values_list("pk", "question"))
        answers = list(Response.objects.order_by("question", "system").values_list("pk", "question"))
        insights = _grouped(Insight.objects.values_list("subtopic", "pk"))
        subtopics, by_question = dict(texts), _grouped((question, pk) for pk, question in points)

        def linked(of: _Said, item: LabelItem) -> Iterator[dict[str, Any]]:
            for pk in insights[subtopics[item.summary_id or 0]]:
                said = of(item.summary_id, pk)
                coverage = among(said, ("none", 50), ("partial", 70), ("full", 100))
                covered = {"coverage": coverage, "lines": [1] if said >= 50 else [], "is_linked": said >= 50}
                yield {"summary_id": item.summary_id, "insight_id": pk, "op_id": f"op-{pk}", **covered}

        def verified(of: _Said, item: LabelItem) -> Iterator[dict[str, Any]]:
            said = of(item.key_point_id, 7)
            keyness = among(said, ("agree", 55), ("neutral", 70), ("disagree", 85), ("", 100))
            yield {"key_point_id": item.key_point_id, "grounded": "yes" if keyness else "no", "keyness": keyness}

        def validated(of: _Said, item: LabelItem) -> Iterator[dict[str, Any]]:
            answer = among(of(item.key_point_id, item.response_id), ("yes", 45), ("no", 90), ("neutral", 100))
            yield {"key_point_id": item.key_point_id, "response_id": item.response_id, "answer": answer}

        def rated(of: _Said, item: LabelItem) -> Iterator[dict[str, Any]]:
            marks = {aspect: 1 + of(item.summary_id, at) * 5 // 100 for at, aspect in enumerate(ASPECTS)}
            yield {"summary_id": item.summary_id, "ratings": marks}

        for number in range(LINKING):
            study = self.study("linking", number, MEMBERS)
            LinkingPlan.objects.create(study=study, people_per_item=EACH)
            self._answered(study, CoverageLabel, linked, self._some(texts, 312), n_questions=7)
        for number in range(VERIFICATION):
            study = self.study("verification", number, MEMBERS)
            VerificationPlan.objects.create(study=study, people_per_question=EACH)
            self._answered(study, PointLabel, verified, [
                {"key_point_id": pk, "highlight_of_id": pk, "question_id": of, "block": f"question-{of}"}
                for pk, of in self._run_of(points, 1250, number)
            ])  # fmt: skip
        for number in range(VALIDATION):
            study = self.study("validation", number, MEMBERS)
            ValidationPlan.objects.create(study=study, judge=self.judge, people_per_item=EACH)
            self._answered(study, EntailmentLabel, validated, [
                {"response_id": pk, "key_point_id": point, "block": f"response-{pk}"}
                for pk, of in self._run_of(answers, 150, number) for point in by_question[of]
            ])  # fmt: skip
        for number in range(RATING):
            study = self.study("rating", number, MEMBERS)
            RatingPlan.objects.create(study=study, people_per_item=EACH)
            self._answered(study, RatingLabel, rated, self._some(texts, 625))
        for number in range(EXTERNAL):
            self._external(self.study("external", number, 4))

    def _some(self, texts: Sequence[tuple[int, int]], number: int) -> list[dict[str, Any]]:
        drawn = self.dice.sample(texts, min(self.many(number), len(texts)))
        return [{"summary_id": pk, "block": f"subtopic-{of}"} for of, pk in sorted((of, pk) for pk, of in drawn)]

    def _run_of(self, rows: Sequence[tuple[int, int]], number: int, at: int) -> Sequence[tuple[int, int]]:
        wanted = self.many(number)
        start = at * wanted % max(len(rows) - wanted, 1)
        return rows[start : start + wanted]

    def _answered(
        self, study: Study, model: type[Any], answers: _Answers, subjects: Sequence[Any], n_questions: int = 1
    ) -> None:
        """Items for four people each, and what they answer: mostly the same, each with faults of their own.

        In open studies the last tenth of everybody's tasks waits.
        """
        base: dict[str, Any] = {"study": study, "n_questions": n_questions}
        made = study.created_at
        items = store(LabelItem, (LabelItem(**base, added_at=made, **subject) for subject in subjects))
        team = [member.annotator_id for member in study.memberships.all()]
        step = 7 if len(team) > EACH * 7 else 1
        dealt: dict[int, list[LabelItem]] = {person: [] for person in team}
        for at, item in enumerate(items):
            for n in range(min(EACH, len(team))):
                dealt[team[(at + n * step) % len(team)]].append(item)

        def tasks() -> Iterator[LabelTask]:
            for person, theirs in dealt.items():
                for position, item in enumerate(theirs, 1):
                    row = LabelTask(**base, annotator_id=person, item=item, position=position, created_at=made)
                    if study.state == Study.State.CLOSED or position <= len(theirs) * 0.9:
                        row.state, row.n_answered, row.active_ms = LabelTask.State.DONE, n_questions, 60_000
                        row.begun_at = row.last_seen_at = row.done_at = made + timedelta(minutes=3 * position)
                        row.revision = n_questions
                    yield row

        def said(person: int) -> _Said:
            """A number below 100 of an item, or where this person errs another of their own."""
            return lambda *keys: luck(*((person, *keys) if luck(*keys, person) < person * 37 % 25 else keys))

        done = [task for task in store(LabelTask, tasks()) if task.state == LabelTask.State.DONE]
        store(model, (
            model(**{"study": study, "annotator_id": task.annotator_id, "task": task, "made_at": task.done_at,
                     "is_complete": True, "op_id": "op", **answer})
            for task in done for answer in answers(said(task.annotator_id), task.item)
        ))  # fmt: skip

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
        rows = [_Rows(row) for row in templates]
        for at, task in enumerate(tasks):
            self._copy(rows[at % len(rows)], task, at)
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
            lines[-1] += " ".join(self.sentence(2).split()[:2]).lower() + " "
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

    def _copy(self, template: _Rows, task: Assignment, at: int) -> None:
        """The session of this task: every row of the template some days later, with a line of its own."""
        days, tail = (
            self.dice.randint(0, DAYS - 2),
            f"\n- So say reports of reader {at} [{at % 99 + 1}, {at % 37 + 2}]",
        )
        session = template.session(
            days, uid=UUID(int=self.dice.getrandbits(128)), assignment_id=task.pk, annotator_id=task.annotator_id,
            guideline_id=None, document_numbers=task.document_numbers,
            draft_text=template.row.draft_text + tail,
        )  # fmt: skip
        session.save(force_insert=True)

        def copies(model: type[Any]) -> list[Any]:
            return [_later(values, model, days, session_id=session.pk) for values in template.rows[model]]

        store(ActivePeriod, copies(ActivePeriod))
        store(SessionEvent, copies(SessionEvent))
        revisions, snapshots = copies(DraftRevision), copies(Snapshot)
        for row in revisions:
            row.text += tail
            row.sha256 = _sha(row.text)
        new = dict(zip(template.revisions, store(DraftRevision, revisions), strict=True))
        for row in snapshots:
            row.text += tail
            row.revision = new[row.revision_id]
        store(Snapshot, self._with_summaries(snapshots, task.subtopic))

    def _with_summaries(self, snapshots: list[Snapshot], subtopic: Subtopic) -> list[Snapshot]:
        system = scoring.people_system()
        about = {"subtopic": subtopic, "haystack_id": subtopic.haystack_id, "system": system, "origin": "session"}
        summaries = store(Summary, (
            Summary(text=row.text, text_sha256=_sha(row.text), created_at=self.now, **about) for row in snapshots
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


class _Rows:
    """A session that was written, and the values of all rows that belong to it."""

    def __init__(self, row: Session) -> None:
        self.row, self.values = row, _values(row)
        models: tuple[type[Any], ...] = (ActivePeriod, SessionEvent, DraftRevision, Snapshot)
        kept = {model: list(model.objects.filter(session=row).order_by("pk")) for model in models}
        self.revisions = [each.pk for each in kept[DraftRevision]]
        self.rows = {model: [_values(each) for each in rows] for model, rows in kept.items()}

    def session(self, days: int, **changed: Any) -> Session:
        session: Session = _later(self.values, Session, days, **changed)
        return session


def _values(row: Model) -> dict[str, Any]:
    names = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    return {name: getattr(row, name) for name in names}


def _later(values: dict[str, Any], model: type[Any], days: int, **changed: Any) -> Any:
    later = timedelta(days=days)
    moments = {name: value + later for name, value in values.items() if isinstance(value, datetime)}
    return model(**{**values, **moments, **changed})


def _grouped(pairs: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    groups = defaultdict[int, list[Any]](list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


_Said = Callable[..., int]
_Answers = Callable[[_Said, LabelItem], Iterable[dict[str, Any]]]
