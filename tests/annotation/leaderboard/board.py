"""A board of three systems and two people, judged offline, and its report."""

from datetime import datetime
from typing import Any

from django.test import Client

from annotation.models import Assignment, Session, Study
from annotation.writing import scoring
from benchmarks.engine import judging, versions
from benchmarks.models import JudgeRun, Summary
from tests.makers import fill_missing, flat, make_assignment, make_session, make_summary
from tests.running import json_of

MINUTE = 60_000
FIRST = "- In part 1, every day the ferry leaves at six in the morning [1, 2]"
BOTH = FIRST + "\n- In part 1, as planned the new pier opens in the spring of 2031 [2, 3, 4]"
PAGE = "/leaderboard/"
CELLS = {
    "coverage_score": "coverage",
    "citation_score": "citation",
    "joint_score": "joint",
    "citation_precision": "citation_precision",
    "citation_recall": "citation_recall",
}


class Reader:
    """Somebody who reads the leaderboard, its parts and its files, by what follows its address."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def get(self, tail: str = "", query=None):
        return self.client.get(PAGE + tail, query)

    def html(self, tail: str = "") -> str:
        return flat(self.get(tail).text)

    def board(self, tail: str = ""):
        return self.get(tail).context["board"]

    def sheet(self, tail: str = ""):
        return self.get(tail).context["sheet"]

    def rows(self, tail: str = "") -> dict[str, Any]:
        """By system, with their documents where there are several."""
        return {" · ".join(row.names): row for row in self.sheet(tail).table("rows").rows}

    def file(self, name: str) -> str:
        return self.get(name).getvalue().decode()


def report(name: str, *arguments: str):
    return json_of("report", name, *arguments)


def written(
    person,
    study: Study,
    text: str,
    *,
    now: datetime,
    ceiling: float = 1.0,
    subtopic=None,
    **fields,
) -> Session:
    """A session of 25 minutes whose first text is FIRST, by default on the first subtopic."""
    task = make_assignment(annotator=person, study=study, subtopic=subtopic)
    Assignment.objects.filter(pk=task.pk).update(ceiling={"f1": ceiling})
    texts = [(5 * MINUTE, FIRST), (25 * MINUTE, text)]
    session = make_session(assignment=task, state="submitted", revisions=texts, **fields)
    fill_missing(session=session, now=now)
    return session


def judged(study: Study, *, now: datetime) -> None:
    """Three systems beside the people of a study, all judged offline."""
    for subtopic in study.writing_plan.subtopics.all():
        for name, text in (("heron", BOTH), ("wren", FIRST), ("jay", "- Nothing of the kind")):
            make_summary(subtopic=subtopic, system=name, text=text)
    judge_all(now=now)


def judge_all(*, now: datetime) -> None:
    """All texts that there are, of people and systems, judged offline."""
    scoring.score_snapshots(now=now)
    judge = versions.default_judge(now=now)
    run = judging.request_run(judge=judge, task="coverage", subjects=Summary.objects.all(), reason="test", now=now)
    for one in [run, *JudgeRun.objects.exclude(state=JudgeRun.State.DONE)]:
        if one is not None:
            judging.run_pending(run=one, clock=lambda: now)
