"""The home says what waits for a researcher, and when studies will be done."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from annotation.coverage.collect import coverage_table
from annotation.linking import disputes
from annotation.models import DraftRevision, Study
from annotation.studies.progress import Pace
from benchmarks.engine import versions
from benchmarks.models import JudgeRun
from summhay_site.home import waiting_for
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import make_session

TODAY = date(2026, 3, 2)


def pace(n_open: int, *days_ago: int, n_done: int | None = None) -> Pace:
    by_day = {TODAY - timedelta(days=ago): days_ago.count(ago) for ago in days_ago}
    done = len(days_ago) if n_done is None else n_done
    return Pace(n_tasks=done + n_open, n_done=done, n_open=n_open, by_day=by_day, today=TODAY)


@pytest.mark.parametrize(
    ("found", "per_day", "finish"),
    [
        (pace(10, 0, 0, 0, 0, 0), 5.0, date(2026, 3, 4)),
        (pace(10, 4, 4, 4, 0, 0), 1.0, date(2026, 3, 12)),
        (pace(10, *[8] * 7, 6, 1, 0, 0, 0, 0, 0), 1.0, date(2026, 3, 12)),
        (pace(1, 0, 0, 0), 3.0, date(2026, 3, 3)),
        (pace(0, 0, 0, 0), 3.0, None),
        (pace(10, 0, 0), None, None),
        (pace(10, 9, 9, 9, 9), None, None),
        (pace(10), None, None),
    ],
)
def test_the_finish_is_said_from_the_tasks_of_the_last_days(
    found: Pace, per_day: float | None, finish: date | None
) -> None:
    assert (found.per_day, found.finish) == (per_day, finish)


def waiting(user: Any) -> dict[str, str]:
    studies = {study.pk: study for study in Study.objects.for_user(user)}
    return {one.text: one.about for one in waiting_for(user, studies)}


def test_disagreements_are_counted_as_their_queue_counts_them(ada: Any, dot: Any, now: Any) -> None:
    study = make_labelled_study(summaries=make_summaries(n=3), researcher=ada)
    queue = disputes.queue_of(coverage_table(study.coveragelabels.all()))
    assert waiting(ada) == {f"{len(queue)} disagreements to decide": study.name}
    label = study.coveragelabels.filter(summary=queue[0].key[0], insight=queue[0].key[1]).first()
    assert label is not None
    disputes.adjudicate(
        study=study, summary=label.summary, insight=label.insight, coverage="none", lines=[], by=ada, now=now
    )
    assert waiting(ada) == {f"{len(queue) - 1} disagreements to decide": study.name}
    assert waiting(dot) == {}


def test_a_late_text_waits_until_it_is_decided(ada: Any, ben: Any, now: Any) -> None:
    session = make_session(annotator=ben, state="submitted")
    study = session.assignment.study
    assert study is not None
    study.researchers.add(ada)
    assert waiting(ada) == {}
    row = DraftRevision.objects.create(
        session=session,
        op_id="late",
        base_rev=session.draft_rev,
        text="- Late. [1]",
        sha256="f" * 64,
        accepted=False,
        reject_code="closed",
        source="autosave",
        received_at=now,
        active_ms=0,
    )
    assert waiting(ada) == {"1 late text to review": study.name}
    session.late_decisions.create(revision=row, is_accepted=False, reason="too late", by=ada, at=now)
    assert waiting(ada) == {}


def test_a_paused_run_waits_for_somebody(ada: Any, login: Any, now: Any) -> None:
    judge = versions.default_judge(now=now)
    run = JudgeRun.objects.create(judge=judge, state="paused", created_at=now)
    assert waiting(ada) == {"A model run is paused": str(judge)}
    assert str(run.uid) in login(ada).get("/").content.decode()
