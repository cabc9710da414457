"""Dealing key points to people, database writes included."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Annotator, Study, VerificationPlan
from annotation.studies import lifecycle, members
from annotation.studies.kind import work_of
from annotation.verification import planning
from bench import key_points
from bench.cases import Measurement, case, most
from bench.stage import Stage

N_PEOPLE = 4


@case("dealing")
def dealing(stage: Stage) -> Iterator[Measurement]:
    """8,457 key points of 560 questions for 4 annotators: the deal, and a fifth who joins."""
    found = stage.rounds(lambda: stage.alone(measure))
    yield Measurement("items of the study", found["items_s"], "s")
    yield Measurement("the deal", found["deal_s"], "s", most(2), found["rows_s"], "inserting as many bare rows")
    yield Measurement("somebody joins, and all is shared anew", found["again_s"], "s")


def measure() -> dict[str, float]:
    """Seconds of making the items, of dealing them, of dealing anew, and of inserting as many plain rows."""
    now = timezone.now()
    questions = key_points.make(now=now)
    people = Annotator.objects.bulk_create(
        Annotator(label=f"Person {at}", created_at=now) for at in range(N_PEOPLE + 1)
    )
    study = lifecycle.new_study(
        kind=Study.Kind.VERIFICATION,
        details=lifecycle.Details(name="Bench"),
        guidelines="Look.",
        annotators=people[:N_PEOPLE],
        by=None,
        now=now,
        seed=1,
    )
    VerificationPlan.objects.create(study=study)
    began = time.perf_counter()
    planning.add_questions(study=study, questions=questions, by=None, now=now)
    items_s = time.perf_counter() - began
    began = time.perf_counter()
    n_tasks = work_of(study).deal(study=study, by=None, now=now).n_new
    deal_s = time.perf_counter() - began
    members.add_annotators(study=study, annotators=people[N_PEOPLE:], by=None, now=now)
    began = time.perf_counter()
    work_of(study).deal(study=study, by=None, now=now, rebalance=True)
    again_s = time.perf_counter() - began
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_rows (a integer, b integer, c text)")
        cursor.executemany(
            "INSERT INTO bench_rows VALUES (%s, %s, %s)", [(at, at, "x" * 60) for at in range(n_tasks)]
        )
    rows_s = time.perf_counter() - began
    return {"items_s": items_s, "deal_s": deal_s, "again_s": again_s, "rows_s": rows_s}
