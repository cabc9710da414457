"""What is there before the faults, and what is left in the end; called in a process of the site."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.utils import timezone

from annotation.models import (
    ActivePeriod,
    Annotator,
    Assignment,
    CoverageLabel,
    DraftRevision,
    LinkingPlan,
    PointAdjudication,
    PointLabel,
    Session,
    Snapshot,
    Study,
    VerificationPlan,
    WritingPlan,
)
from bench.chaos.logs import Mark, Period, Revision, Stored, StoredAct, StoredSession
from bench.world import FORM, WORDS, at_work, headers, logged_in, made_up, open_study, people
from benchmarks.engine import judge_versions, judging
from benchmarks.models import Insight, KeyPoint, Question, QuestionDocument, Subtopic, Summary, Verdict
from benchmarks.tasks import resume_runs

HAYSTACKS, TEXTS, POINTS, TASKS = (7, 8), 8, 40, 20
"""Which haystacks are made up; how many summaries a subtopic, key points in all, tasks a person."""
LIMIT_MS, MARK_MS = 60_000, 10_000
JUDGES = 3


def set_up(folder: str, n_writers: int, n_labellers: int, n_reviewers: int, model: str) -> dict[str, Any]:
    """Corpora, people at work and runs of models; gives what each client has to know."""
    for number in HAYSTACKS:
        _haystack(Path(folder), number)
    points = _points()
    _ask_models(model)
    verifiers = _verifiers(points, n_labellers)
    jobs = {
        "writers": _writers(n_writers),
        "labellers": [*verifiers, *_linkers(n_labellers)],
        "reviewers": _reviewers(points, n_reviewers),
    }
    resume_runs.delay()  # workers begin with the runs at once; beat would tell them within a minute
    return jobs


def _haystack(folder: Path, number: int) -> None:
    topic = made_up(number)
    for subtopic in topic["subtopics"]:
        kept = list(subtopic["summaries"])[:TEXTS]
        subtopic["summaries"] = {key: subtopic["summaries"][key] for key in kept}
        subtopic["eval_summaries"] = {key: subtopic["eval_summaries"][key] for key in kept}
    path = folder / f"chaos{number}.json"
    path.write_text(json.dumps({**topic, "topic_id": f"chaos{number}", "topic": f"Invented words {number}"}))
    call_command("import_dataset", "summhay", str(path), stdout=StringIO(), stderr=StringIO())


def _points() -> list[KeyPoint]:
    dice, now = random.Random(7), timezone.now()  # noqa: S311 - no secret

    def words(count: int) -> str:
        return " ".join(dice.choices(WORDS, k=count)).capitalize() + "."

    questions = [
        Question.objects.create(dataset="chaos", key=f"q{at}", text=words(12), n_words=60, created_at=now)
        for at in range(4)
    ]
    for row in questions:
        QuestionDocument.objects.create(
            question=row, number=1, key="d1", title="Report", text=words(60), n_words=60
        )
    return [
        KeyPoint.objects.create(
            question=questions[at % 4], number=at // 4 + 1, key=f"p{at // 4 + 1}", text=words(12)
        )
        for at in range(POINTS)
    ]


def _ask_models(address: str) -> None:
    """Runs of several judges over all summaries, half of the judges each, so that workers meet on them."""
    for at in range(JUDGES):
        config = {"base_url": address, "model": f"unruly-{at}", "prompt": "Say."}
        judge = judge_versions.ensure_judge(name=f"unruly {at}", kind="openai", config=config, now=timezone.now())
        options = judging.ModelOptions(concurrency=4)
        now = timezone.now()
        judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="chaos", now=now, options=options)


def _writers(count: int) -> list[dict[str, Any]]:
    """People with a task on every subtopic; a session lasts a minute, and has a mark every ten seconds."""
    team, now = people("writer", count), timezone.now()
    study = open_study(Study.Kind.WRITING, team)
    plan = WritingPlan.objects.create(
        study=study, setting="full", limit_ms=LIMIT_MS, mark_every_ms=MARK_MS, allow_second_on_haystack=True
    )
    subtopics = list(Subtopic.objects.select_related("haystack").order_by("number", "haystack"))
    plan.subtopics.set(subtopics)
    size = {"n_words": 2_000, "n_insights_present": 7, "document_numbers": [1, 2, 3]}
    rows = []
    for person in team:
        tasks = [
            Assignment.objects.create(study=study, annotator=person, subtopic=row, created_at=now, **size)
            for row in subtopics
        ]
        sent = headers(logged_in(person), "application/json")
        starts = [f"/work/tasks/{task.uid}/start/" for task in tasks]
        rows.append({"name": person.label, "headers": sent, "starts": starts})
    return rows


def _verifiers(points: Iterable[KeyPoint], count: int) -> list[dict[str, Any]]:
    study = open_study(Study.Kind.VERIFICATION, people("verifier", count))
    VerificationPlan.objects.create(study=study)
    subjects = [{"question_id": row.question_id, "key_point": row} for row in list(points)[:TASKS]]
    forms = [
        {"grounded": "no"},
        *({"grounded": "yes", "keyness": word} for word in ("agree", "neutral", "disagree")),
    ]
    return _named(at_work(study, subjects, forms, n_questions=1))


def _linkers(count: int) -> list[dict[str, Any]]:
    subtopic = Subtopic.objects.order_by("pk")[0]
    summaries = list(Summary.objects.filter(subtopic=subtopic).order_by("pk")[:TASKS])
    insights = list(Insight.objects.filter(subtopic=subtopic).values_list("uid", flat=True))
    forms = [
        {"question": uid, **answer}
        for uid in insights
        for answer in ({"coverage": "none"}, {"coverage": "full", "line": 2}, {"coverage": "partial", "line": 3})
    ]
    study = open_study(Study.Kind.LINKING, people("linker", count))
    LinkingPlan.objects.create(study=study, people_per_item=count)
    return _named(at_work(study, [{"summary": row} for row in summaries], forms, n_questions=len(insights)))


def _named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    labels = dict(Annotator.objects.values_list("pk", "label"))
    return [{"name": labels[row["pk"]], **row} for row in rows]


def _reviewers(points: list[KeyPoint], count: int) -> list[dict[str, Any]]:
    """Researchers of the verification study, each with key points of their own to decide on."""
    study, rows = Study.objects.get(kind=Study.Kind.VERIFICATION), []
    for at in range(count):
        user = get_user_model().objects.create(username=f"reviewer{at}", password=make_password(None))
        user.groups.add(Group.objects.get(name="researcher"))
        study.researchers.add(user)
        pages = [f"/studies/{study.uid}/disagreements/{row.uid}/" for row in points[at:TASKS:count]]
        rows.append({"name": user.username, "headers": headers(logged_in(user), FORM), "pages": pages})
    return rows


def stored() -> dict[str, Any]:
    """What the database holds of all that, see `bench.chaos.logs.Stored`."""
    verdicts = Verdict.objects.filter(judge__name__startswith="unruly").values_list(
        "judge__name", "summary__uid", "insight__uid", "repeat"
    )
    decisions = PointAdjudication.objects.values_list("key_point__uid", "note", "is_current")
    rows = Stored(
        {str(row.uid): _session(row) for row in Session.objects.all()},
        [*_acts(PointLabel), *_acts(CoverageLabel)],
        [(str(uid), note, is_current) for uid, note, is_current in decisions],
        ["/".join(map(str, row)) for row in verdicts],
    )
    return asdict(rows)


def _session(row: Session) -> StoredSession:
    columns = ("op_id", "rev", "sha256", "active_ms")
    revisions = DraftRevision.objects.filter(session=row).order_by("pk").values_list(*columns)
    periods = ActivePeriod.objects.filter(session=row).order_by("seq")
    return StoredSession(
        row.state,
        row.limit_ms,
        row.acc_ms,
        row.mark_every_ms,
        sha256(row.draft_text.encode()).hexdigest(),
        [Revision(*each) for each in revisions],
        [Period(_ms(each.started_at), _ms(each.ended_at) if each.ended_at else None, each.acc_before_ms)
         for each in periods],
        [Mark(*each) for each in Snapshot.objects.filter(session=row).values_list("mark_ms", "revision__rev")],
    )  # fmt: skip


def _acts(model: Any) -> list[StoredAct]:
    rows = model.objects.filter(is_check=False).select_related("annotator", "task").order_by("pk")
    return [
        StoredAct(
            row.annotator.label,
            str(row.task.uid),
            row.op_id,
            str(row.insight.uid) if model is CoverageLabel else "",
            _answer(row),
            row.is_current,
            row.undoes_id is not None,
        )
        for row in (rows.select_related("insight") if model is CoverageLabel else rows)
    ]


def _answer(row: Any) -> str:
    """As `people.answer_in` reads it from a form."""
    if isinstance(row, CoverageLabel):
        return f"{row.coverage} {','.join(map(str, row.lines))}".strip()
    return f"{row.grounded} {row.keyness}".strip()


def _ms(moment: datetime) -> int:
    return (moment - datetime.fromtimestamp(0, tz=moment.tzinfo)) // timedelta(milliseconds=1)
