"""Dealing key points to people, database writes included: `python -m bench.dealing_questions`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from bench.cases import Measurement, case, most
from bench.stage import Stage

N_POINTS, N_QUESTIONS, N_PEOPLE = 8_457, 560, 4
BATCH = 2_000


@case("dealing")
def dealing(stage: Stage) -> Iterator[Measurement]:
    """8,457 key points of 560 questions for 4 annotators: the deal, and a fifth who joins."""

    def one_round() -> dict[str, float]:
        with stage.empty_database() as url:
            found: dict[str, float] = stage.run_module("dealing_questions", database_url=url)
        return found

    found = stage.rounds(one_round)
    yield Measurement("items of the study", found["items_s"], "s")
    yield Measurement("the deal", found["deal_s"], "s", most(2), found["rows_s"], "inserting as many bare rows")
    yield Measurement("somebody joins, and all is shared anew", found["again_s"], "s")


def measure() -> dict[str, float]:
    """Seconds of making the items, of dealing them, of dealing anew, and of inserting as many plain rows."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.models import Annotator, Study, VerificationPlan
    from annotation.studies import lifecycle, members
    from annotation.studies.lifecycle import new_study
    from annotation.verification import planning
    from benchmarks.models import KeyPoint, Question

    now = timezone.now()
    questions = Question.objects.bulk_create(
        Question(
            dataset="bench",
            key=f"q{at}",
            text="What?",
            category=f"c{at % 8}",
            domain=f"d{at % 10}",
            created_at=now,
        )
        for at in range(N_QUESTIONS)
    )
    points = (
        KeyPoint(
            question=questions[at % N_QUESTIONS], number=at // N_QUESTIONS + 1, key=f"k{at}", text=f"Fact {at}."
        )
        for at in range(N_POINTS)
    )
    KeyPoint.objects.bulk_create(points, batch_size=BATCH)
    people = Annotator.objects.bulk_create(
        Annotator(label=f"Person {at}", created_at=now) for at in range(N_PEOPLE + 1)
    )
    study = new_study(
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
    n_tasks = planning.deal(study=study, by=None, now=now).n_new
    deal_s = time.perf_counter() - began
    members.add_annotators(study=study, annotators=people[N_PEOPLE:], by=None, now=now)
    began = time.perf_counter()
    planning.deal(study=study, by=None, now=now, rebalance=True)
    again_s = time.perf_counter() - began
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_rows (a integer, b integer, c text)")
        cursor.executemany(
            "INSERT INTO bench_rows VALUES (%s, %s, %s)", [(at, at, "x" * 60) for at in range(n_tasks)]
        )
    rows_s = time.perf_counter() - began
    return {"items_s": items_s, "deal_s": deal_s, "again_s": again_s, "rows_s": rows_s}


if __name__ == "__main__":
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    print(json.dumps(measure()))
