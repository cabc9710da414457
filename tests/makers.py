"""Rows that many tests need, made straight in the database with plain values: a haystack, a writing study, an
assignment, a session. Everything is deterministic and can be overridden by keyword.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.urls import reverse

from annotation import clock
from annotation.linking import items
from annotation.models import (
    ActivePeriod,
    Annotator,
    Assignment,
    Consent,
    ConsentText,
    DraftRevision,
    Guideline,
    LabelTask,
    LinkingPlan,
    Membership,
    Session,
    Snapshot,
    Study,
    WritingPlan,
)
from annotation.studies.lifecycle import Details
from annotation.writing.locking import FilledBy, locked, materialise
from benchmarks.models import Document, Haystack, Insight, Subtopic, Summary, System

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FACTS = (
    "the ferry leaves at six in the morning",
    "the new pier opens in the spring of 2031",
    "a crossing costs four euros for adults",
    "the harbour master counts twelve berths",
    "fog closed the route on nineteen days",
    "two captains retire at the end of the year",
)
FILLER = (
    "harbour",
    "boats",
    "weather",
    "market",
    "rope",
    "gulls",
    "timetable",
    "engine",
    "deck",
    "cargo",
    "quay",
    "lantern",
    "tide",
)


def make_haystack(
    *,
    key: str = "ferry",
    title: str = "The island ferry",
    n_documents: int = 6,
    words_per_document: int = 60,
    golds: Sequence[Sequence[Sequence[int]]] = (((1, 2, 3), (2, 3, 4), (3, 5)), ((1, 4), (5, 6))),
    now: datetime = NOW,
    **fields,
) -> Haystack:
    """Make a haystack with documents 1..n of a given length and, per subtopic, one insight per gold list.

    `golds[s][i]` holds the gold document numbers of insight i+1 of subtopic s+1; document 6 of the default has
    no insight of subtopic 1. The text of an insight stands in each of its gold documents.
    """
    haystack = Haystack.objects.create(
        key=key,
        title=title,
        n_documents=n_documents,
        n_words=n_documents * words_per_document,
        created_at=now,
        **fields,
    )
    sentences: dict[int, list[str]] = {number: [] for number in range(1, n_documents + 1)}
    for s, insights in enumerate(golds, 1):
        subtopic = Subtopic.objects.create(
            haystack=haystack,
            number=s,
            key=f"{key}-s{s}",
            name=f"Subtopic {s}",
            query=f"What do the reports say about part {s}?",
        )
        for i, numbers in enumerate(insights, 1):
            fact = f"In part {s}, {FACTS[(i - 1) % len(FACTS)]}."
            Insight.objects.create(
                subtopic=subtopic,
                number=i,
                key=f"{key}-s{s}-i{i}",
                name=f"Insight {s}.{i}",
                text=fact,
                gold_documents=sorted(numbers),
            )
            for number in numbers:
                sentences[number].append(fact)
    texts = {number: _document_text(number, sentences[number], words_per_document) for number in sentences}
    Document.objects.bulk_create(
        Document(
            haystack=haystack,
            number=number,
            key=f"{key}-d{number}",
            title=f"Report {number}",
            text=text,
            n_words=len(text.split()),
        )
        for number, text in texts.items()
    )
    return haystack


def _document_text(number: int, sentences: list[str], n_words: int) -> str:
    words = " ".join(sentences).split()
    while len(words) < n_words:
        words.append(FILLER[(number * 7 + len(words)) % len(FILLER)])
    return " ".join(words)


def annotator_of(person) -> Annotator:
    """Take a user or an annotator, give the annotator."""
    return person if isinstance(person, Annotator) else Annotator.objects.get(user=person)


def make_writing_study(
    *,
    haystack: Haystack | None = None,
    name: str = "Ferry summaries",
    researcher=None,
    annotators: Iterable[Any] = (),
    state: str = Study.State.OPEN,
    now: datetime = NOW,
    study_fields: dict[str, Any] | None = None,
    **plan,
) -> Study:
    """Make a writing study on all subtopics of a haystack, with guidelines and members (users or annotators)."""
    haystack = haystack or make_haystack(now=now)
    fields = {"contact": "study@example.org", "seed": 7, **(study_fields or {})}
    study = Study.objects.create(
        name=name, kind=Study.Kind.WRITING, state=state, created_at=now, created_by=researcher, **fields
    )
    if researcher is not None:
        study.researchers.add(researcher)
    writing_plan = WritingPlan.objects.create(study=study, **plan)
    writing_plan.subtopics.set(haystack.subtopics.all())
    Guideline.objects.create(study=study, version=1, body="Report what repeats.", created_at=now)
    for person in annotators:
        _join(study, annotator_of(person), now)
    return study


def _join(study: Study, annotator: Annotator, now: datetime) -> None:
    if not study.memberships.filter(annotator=annotator).exists():
        Membership.objects.create(
            study=study, annotator=annotator, number=study.memberships.count() + 1, joined_at=now
        )


def give_consent(*people, now: datetime = NOW) -> ConsentText:
    """Let users or annotators agree to the newest consent text, made if there is none."""
    text = ConsentText.objects.order_by("-version").first()
    if text is None:
        text = ConsentText.objects.create(version=1, body="We record what you write.", created_at=now)
    for person in people:
        Consent.objects.get_or_create(
            annotator=annotator_of(person), text=text, withdrawn_at=None, defaults={"given_at": now}
        )
    return text


def make_assignment(
    *,
    annotator,
    study: Study | None = None,
    subtopic: Subtopic | None = None,
    document_numbers: Sequence[int] | None = None,
    state: str = Assignment.State.ASSIGNED,
    is_practice: bool = False,
    with_consent: bool = True,
    now: datetime = NOW,
    **fields,
) -> Assignment:
    """Make one task of a user or annotator: by default the study's first subtopic, all documents in order.

    The person becomes a member of the study and has agreed to the consent text, so that the task can be started.
    """
    if study is None and not is_practice:
        study = make_writing_study(annotators=[annotator], now=now)
    if subtopic is None:
        if study is None:
            haystack = make_haystack(key="practice", title="Practice", is_practice=True, now=now)
            subtopic = haystack.subtopics.get(number=1)
        else:
            subtopic = study.writing_plan.subtopics.order_by("haystack", "number").first()
    if study is not None:
        _join(study, annotator_of(annotator), now)
    if with_consent:
        give_consent(annotator, now=now)
    documents = {doc.number: doc.n_words for doc in subtopic.haystack.documents.all()}
    numbers = list(document_numbers) if document_numbers is not None else sorted(documents)
    golds = [set(insight.gold_documents) for insight in subtopic.insights.all()]
    values = {
        "n_words": sum(documents[number] for number in numbers),
        "n_insights_present": sum(bool(gold & set(numbers)) for gold in golds),
        **fields,
    }
    return Assignment.objects.create(
        study=study,
        annotator=annotator_of(annotator),
        subtopic=subtopic,
        document_numbers=numbers,
        state=state,
        is_practice=is_practice,
        created_at=now,
        **values,
    )


def make_session(
    *,
    assignment: Assignment | None = None,
    annotator=None,
    state: str = Session.State.READY,
    revisions: Sequence[tuple[int, str]] = (),
    now: datetime = NOW,
    **fields,
) -> Session:
    """Make a session row in any state; `revisions` are (active_ms, text) in order and are all accepted.

    A running session began at `now`; one that is over has one closed period that ends at its active time
    (`acc_ms`, by default that of the last revision). No rule of the clock is applied here.
    """
    if assignment is None:
        assert annotator is not None, "name an assignment or an annotator"
        assignment = make_assignment(annotator=annotator, now=now)
    plan = assignment.study.writing_plan if assignment.study else None
    last_ms, last_text = revisions[-1] if revisions else (0, "")
    is_over = state in {"submitted", "expired", "voided"}
    acc_ms = fields.pop("acc_ms", last_ms if state not in {"ready", "running"} else 0)
    values = {
        "limit_ms": plan.limit_ms if plan else 300_000,
        "mark_every_ms": plan.mark_every_ms if plan else 60_000,
        "document_numbers": assignment.document_numbers,
        "guideline": assignment.study.guidelines.first() if assignment.study else None,
        "acc_ms": acc_ms,
        "draft_rev": len(revisions),
        "draft_text": last_text,
        "created_at": now,
        "started_at": None if state == "ready" else now,
        "run_started_at": now if state == "running" else None,
        "clock_hwm": None if state == "ready" else now,
        "ended_at": now + timedelta(milliseconds=acc_ms) if is_over else None,
        "end_reason": state if is_over else "",
        **fields,
    }
    session = Session.objects.create(assignment=assignment, annotator=assignment.annotator, state=state, **values)
    if state != "ready":
        ActivePeriod.objects.create(
            session=session,
            seq=1,
            started_at=now,
            ended_at=None if state == "running" else now + timedelta(milliseconds=acc_ms),
            acc_before_ms=0,
            start_reason="start",
            end_reason="" if state == "running" else ("pause" if state == "paused" else state),
        )
    DraftRevision.objects.bulk_create(
        DraftRevision(
            session=session,
            rev=rev,
            op_id=f"op-{rev}",
            base_rev=rev - 1,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            received_at=now + timedelta(milliseconds=active_ms),
            active_ms=active_ms,
            source="typing",
            accepted=True,
        )
        for rev, (active_ms, text) in enumerate(revisions, 1)
    )
    return session


SUMMARY_TEXT = """Here is what the reports say:

- **Boats** leave at six. [1, 2]
* The pier opens in 2031. [2]
- A crossing costs four euros. [3]"""


def make_summary(
    *,
    subtopic: Subtopic,
    system: str = "model-a",
    text: str = SUMMARY_TEXT,
    now: datetime = NOW,
    **fields,
) -> Summary:
    """Make an imported summary of a system, which is made if needed; bullets are lines 3, 4 and 5."""
    return Summary.objects.create(
        subtopic=subtopic,
        haystack=subtopic.haystack,
        system=System.objects.get_or_create(key=system, defaults={"summarizer": system})[0],
        text=text,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        created_at=now,
        **fields,
    )


def make_linking_study(
    *,
    annotators: Iterable[Any] = (),
    summaries: Iterable[Summary] | None = None,
    haystack: Haystack | None = None,
    name: str = "Ferry links",
    researcher=None,
    state: str = Study.State.OPEN,
    seed: int = 7,
    now: datetime = NOW,
    **plan,
) -> Study:
    """Make a linking study, dealt; by default on two systems' summaries of both subtopics of a haystack.

    Everyone has agreed to the consent text.
    """
    if summaries is None:
        haystack = haystack or make_haystack(now=now)
        summaries = [
            make_summary(subtopic=subtopic, system=system, now=now)
            for subtopic in haystack.subtopics.order_by("number")
            for system in ("model-a", "model-b")
        ]
    people = [annotator_of(person) for person in annotators]
    give_consent(*people, now=now)
    study = items.create_study(
        details=Details(name=name, contact="study@example.org"),
        plan=LinkingPlan(**plan),
        summaries=summaries,
        guidelines="Full means nothing is lost.",
        annotators=people,
        by=researcher,
        seed=seed,
        now=now,
    )
    study.state = state
    study.save()
    return study


def label_task(study: Study, person, *, position: int = 1) -> LabelTask:
    """Take a person's task at a place of their order."""
    return study.label_tasks.get(annotator=annotator_of(person), position=position)


def imported_annotator(label: str, *, study: Study, now: datetime) -> Annotator:
    """An annotator without an account, as imports make them; the same for the same label."""
    known = study.memberships.filter(annotator__label=label, annotator__user=None).select_related("annotator")
    if (member := known.first()) is not None:
        return member.annotator
    annotator = Annotator.objects.create(label=label, is_active=False, created_at=now)
    number = study.memberships.count() + 1
    Membership.objects.create(study=study, annotator=annotator, number=number, joined_at=now)
    return annotator


def fill_missing(*, session: Session, now: datetime) -> int:
    """Make whatever snapshots a settled session should have."""
    with locked(session, now=now, filled_by=FilledBy.WORKER) as held:
        held.settle()
        have = set(Snapshot.objects.filter(session=held.row.pk).values_list("mark_ms", flat=True))
        final = clock.final_mark(held.state)
        return materialise(
            session_id=held.row.pk,
            marks=[mark for mark in clock.due_marks(held.state) if mark not in have],
            final_ms=None if final in have else final,
            filled_by=FilledBy.WORKER,
            now=now,
        )


def label_url(name: str, task: LabelTask, *, kind: str = "") -> str:
    """The address of a label task's page or of an act on it; `kind` is that of its study unless it is given."""
    has_kind = name in {"label-task", "label-choice", "label-undo"}
    return reverse(f"annotation:{name}", args=[*([kind or task.study.kind] if has_kind else []), task.uid])


def flat(html: str) -> str:
    """HTML with one space for each run of white space, and none between tags or at their ends."""
    return re.sub(r"> <", "><", re.sub(r"\s+>", ">", re.sub(r"\s+", " ", html)))


def url(name: str, *args) -> str:
    """The address of a page of benchmarks."""
    return reverse(f"benchmarks:{name}", args=args)
