"""The scene before the faults and its state in the end; called in a process of the site."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotation.models import (
    ActivePeriod,
    CoverageLabel,
    DraftRevision,
    PointAdjudication,
    PointLabel,
    Session,
    Snapshot,
    Study,
)
from bench.chaos.checking import Period, Revision, Stored, StoredAct, StoredSession, sha
from bench.world import (
    FORM,
    KEY,
    N_TASKS,
    accounts,
    headers,
    import_haystack,
    linkers,
    made_up,
    people,
    questions,
    verifiers,
    writing,
)
from benchmarks.engine import judging, versions
from benchmarks.models import KeyPoint, Subtopic, Summary, Verdict
from benchmarks.tasks import resume_runs

HAYSTACKS, TEXTS, JUDGES = {KEY: 7, "another": 8}, 8, 3
"""Which haystacks are made up; how many summaries a subtopic."""
LIMIT_MS, MARK_MS = 60_000, 10_000


def set_up(n_writers: int, n_labellers: int, n_reviewers: int, model: str) -> dict[str, Any]:
    """Corpora, people at work and runs of models; gives what each client has to know."""
    for key, number in HAYSTACKS.items():
        import_haystack(made_up(key, number, TEXTS))
    questions("chaos", N_TASKS // 10, random.Random(7), timezone.now())  # noqa: S311 - no secret
    for at in range(JUDGES):  # several over all summaries, so that workers meet on them
        run_judge(f"unruly-{at}", model, Summary.objects.all(), 4)
    labellers = [*verifiers(n_labellers), *linkers(n_labellers)]
    jobs = {"writers": _writers(n_writers), "labellers": labellers, "reviewers": _reviewers(n_reviewers)}
    resume_runs.delay()  # workers begin with the runs at once; beat would tell them within a minute
    return jobs


def run_judge(name: str, address: str, subjects: Any, concurrency: int) -> None:
    """Ask the model at this address about these summaries."""
    config, now = {"base_url": address, "model": name, "prompt": "Say."}, timezone.now()
    judge = versions.ensure_judge(name=name, kind="openai", config=config, now=now)
    options = judging.ModelOptions(concurrency=concurrency)
    judging.request_run(judge=judge, subjects=subjects, reason="load", now=now, options=options)


def _writers(count: int) -> list[dict[str, Any]]:
    """People with a task on every subtopic; a session lasts a minute, and has a mark every ten seconds."""
    subtopics = list(Subtopic.objects.select_related("haystack").order_by("number", "haystack"))
    length = {"limit_ms": LIMIT_MS, "mark_every_ms": MARK_MS}
    tasks = writing(people("writer", count), subtopics, [1, 2, 3], allow_second_on_haystack=True, **length)
    return [
        {"name": person.label, "headers": headers(person, "application/json"),
         "starts": [f"/work/tasks/{task.uid}/start/" for task in theirs]}
        for person, theirs in tasks.items()
    ]  # fmt: skip


def _reviewers(count: int) -> list[dict[str, Any]]:
    """Researchers of the verification study, each with key points of their own to decide on."""
    study, points = Study.objects.get(kind=Study.Kind.VERIFICATION), KeyPoint.objects.order_by("pk")
    team = accounts("researcher", "reviewer", count)
    study.researchers.add(*team)
    pages = [f"/studies/{study.uid}/disagreements/{row.uid}/" for row in points]
    return [
        {"name": user.username, "headers": headers(user, FORM), "pages": pages[at::count]}
        for at, user in enumerate(team)
    ]


def stored() -> Stored:
    """Rows that the database holds of all that."""
    verdicts = Verdict.objects.filter(judge__name__startswith="unruly").values_list(
        "judge__name", "summary__uid", "insight__uid", "repeat"
    )
    decisions = PointAdjudication.objects.values_list("key_point__uid", "note", "is_current")
    return Stored(
        {str(row.uid): _session(row) for row in Session.objects.all()},
        [*_acts(PointLabel), *_acts(CoverageLabel)],
        [(str(uid), note, is_current) for uid, note, is_current in decisions],
        ["/".join(map(str, row)) for row in verdicts],
    )


def _session(row: Session) -> StoredSession:
    columns = ("op_id", "rev", "sha256", "active_ms")
    revisions = DraftRevision.objects.filter(session=row).order_by("pk").values_list(*columns)
    periods = ActivePeriod.objects.filter(session=row).order_by("seq")
    return StoredSession(
        row.state,
        row.limit_ms,
        row.acc_ms,
        row.mark_every_ms,
        sha(row.draft_text),
        [Revision(*each) for each in revisions],
        [Period(_ms(each.started_at), _ms(each.ended_at), each.acc_before_ms) for each in periods],
        list(Snapshot.objects.filter(session=row).values_list("mark_ms", "revision__rev")),
    )


def _acts(model: Any) -> list[StoredAct]:
    """Each with its answer as `people.answer_in` reads it from a form."""
    rows = model.objects.filter(is_check=False).select_related("annotator", "task").order_by("pk")
    acts = []
    for row in rows.select_related("insight") if model is CoverageLabel else rows:
        question, words = "", (row.grounded, row.keyness) if model is PointLabel else ()
        if model is CoverageLabel:
            question, words = str(row.insight.uid), (row.coverage, ",".join(map(str, row.lines)))
        about = (row.annotator.label, str(row.task.uid), row.op_id)
        acts.append(
            StoredAct(*about, question, " ".join(words).strip(), row.is_current, row.undoes_id is not None)
        )
    return acts


def _ms(moment: datetime | None) -> Any:
    return moment and (moment - datetime.fromtimestamp(0, tz=moment.tzinfo)) // timedelta(milliseconds=1)
