"""Agreement on 8,457 key points, and all labels as a file: `python -m bench.points_chore`."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Iterable
from itertools import islice
from typing import Any

import django

N_POINTS, N_QUESTIONS, N_PEOPLE, N_COMPARED = 8_457, 560, 12, 6
BATCH = 2_000


def make_study() -> Any:
    """A study whose key points all went to everybody, labelled: 101,484 labels."""
    from django.utils import timezone

    from annotation.models import Annotator, LabelItem, LabelTask, Membership, PointLabel, Study
    from benchmarks.models import KeyPoint, Question

    now, dice = timezone.now(), random.Random(1)  # noqa: S311  invented work, not a secret
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
    points = KeyPoint.objects.bulk_create(
        (
            KeyPoint(
                question=questions[at % N_QUESTIONS],
                number=at // N_QUESTIONS + 1,
                key=f"k{at}",
                text=f"Fact {at}.",
            )
            for at in range(N_POINTS)
        ),
        batch_size=BATCH,
    )
    study = Study.objects.create(name="Bench points", kind="verification", state="open", created_at=now)
    people = Annotator.objects.bulk_create(Annotator(label=f"p{at}", created_at=now) for at in range(N_PEOPLE))
    Membership.objects.bulk_create(
        Membership(study=study, annotator=one, number=at, joined_at=now) for at, one in enumerate(people, 1)
    )
    items = LabelItem.objects.bulk_create(
        (
            LabelItem(
                study=study,
                question_id=point.question_id,
                key_point=point,
                block="b",
                n_questions=1,
                is_overlap=True,
                added_at=now,
            )
            for point in points
        ),
        batch_size=BATCH,
    )
    for person in people:
        tasks = LabelTask.objects.bulk_create(
            (
                LabelTask(
                    study=study,
                    annotator=person,
                    item=item,
                    position=at,
                    state="done",
                    n_answered=1,
                    n_questions=1,
                    active_ms=20_000,
                    created_at=now,
                )
                for at, item in enumerate(items, 1)
            ),
            batch_size=BATCH,
        )
        PointLabel.objects.bulk_create(
            (_label(study, person, task, dice, now) for task in tasks), batch_size=BATCH
        )
    return study


def _label(study: Any, person: Any, task: Any, dice: random.Random, now: Any) -> Any:
    from annotation.models import PointLabel

    is_yes = dice.random() < 0.9
    return PointLabel(
        study=study,
        annotator=person,
        task=task,
        key_point_id=task.item.key_point_id,
        grounded="yes" if is_yes else "no",
        keyness=dice.choice(["agree", "agree", "neutral", "disagree"]) if is_yes else "",
        is_complete=True,
        op_id="1",
        made_at=now,
    )


def time_agreement(study: Any) -> dict[str, float]:
    """Seconds to read all labels, and for agreement and every subset of six in the slowest of the tasks."""
    from annotation.verification.agreement import task_agreement
    from annotation.verification.choosing import ranking
    from annotation.verification.labels import collect
    from benchmarks.scoring.draws import DEFAULT
    from benchmarks.scoring.retention import Task

    began = time.perf_counter()
    full = collect(study)
    read_s = time.perf_counter() - began
    table = full.with_people(person.key for person in full.people[:N_COMPARED])
    seconds, n_subsets = [], 0
    for task in Task:
        began = time.perf_counter()
        task_agreement(table, task)
        n_subsets = len(ranking(table, task, seed=1, resampling=DEFAULT).rows)
        seconds.append(time.perf_counter() - began)
    return {"read_s": read_s, "agreement_s": max(seconds), "subsets": n_subsets}


def time_export(study: Any) -> dict[str, float]:
    """Labels a second as CSV, and the most memory that a tenth of them and all of them take (MiB)."""
    from annotation.verification.exports import LABEL_COLUMNS, label_rows
    from benchmarks.web.downloads import csv_lines

    began = time.perf_counter()
    n = sum(1 for _ in label_rows(study))
    rows_s = time.perf_counter() - began

    def peak(rows: Iterable[Any]) -> float:
        tracemalloc.start()
        for _ in csv_lines(LABEL_COLUMNS, rows):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / 2**20

    few, everything = peak(islice(label_rows(study), n // 10)), peak(label_rows(study))
    return {"labels_s": N_POINTS * N_PEOPLE / rows_s, "few_mib": few, "all_mib": everything}


if __name__ == "__main__":
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    made = make_study()
    print(json.dumps(time_agreement(made) | time_export(made)))
