"""Figures and files of verified key points, without a server."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.utils import timezone

from annotation.models import Annotator, LabelItem, LabelTask, Membership, PointLabel, Study
from annotation.verification.agreement import task_agreement
from annotation.verification.choosing import ranking
from annotation.verification.exports import LABEL_COLUMNS, label_rows
from annotation.verification.labels import collect
from bench import key_points
from bench.cases import Measurement, Target, case, most
from bench.key_points import BATCH, N_POINTS
from bench.stage import Stage
from benchmarks.models import KeyPoint
from benchmarks.scoring.draws import DEFAULT
from benchmarks.scoring.retention import Task
from benchmarks.web.downloads import csv_lines

N_PEOPLE, N_COMPARED = 12, 6


@case("points")
def points(stage: Stage) -> Iterator[Measurement]:
    """Agreement with all subsets of 6 annotators on 8,457 key points, and 101,484 labels as a file."""
    found = stage.alone(measure)
    yield Measurement("reading 101,484 labels into arrays", found["read_s"], "s")
    yield Measurement(
        f"agreement with {found['subsets']:.0f} subsets, slowest of 3 tasks", found["agreement_s"], "s", most(3)
    )
    yield Measurement("labels as rows", found["labels_s"], "/s")
    yield Measurement(
        "most memory for all labels as CSV",
        found["all_mib"],
        "MiB",
        Target(1.5, of="ratio"),
        found["few_mib"],
        "a tenth of them",
    )


def measure() -> dict[str, float]:
    """What reading, agreement and files take."""
    study = _study(timezone.now())
    return _time_agreement(study) | _time_export(study)


def _study(now: datetime) -> Study:
    """A study whose key points all went to everybody, labelled: 101,484 labels."""
    key_points.make(now=now)
    study = Study.objects.create(name="Bench points", kind="verification", state="open", created_at=now)
    people = Annotator.objects.bulk_create(Annotator(label=f"p{at}", created_at=now) for at in range(N_PEOPLE))
    Membership.objects.bulk_create(
        Membership(study=study, annotator=one, number=at, joined_at=now) for at, one in enumerate(people, 1)
    )
    rows = (
        LabelItem(
            study=study,
            question_id=point.question_id,
            key_point=point,
            block="b",
            n_questions=1,
            is_overlap=True,
            added_at=now,
        )
        for point in KeyPoint.objects.order_by("pk")
    )
    items = LabelItem.objects.bulk_create(rows, batch_size=BATCH)
    dice = random.Random(1)  # noqa: S311  invented work, not a secret
    for person in people:
        tasks = LabelTask.objects.bulk_create(_tasks(study, person, items, now), batch_size=BATCH)
        PointLabel.objects.bulk_create((_label(task, dice, now) for task in tasks), batch_size=BATCH)
    return study


def _tasks(study: Study, person: Annotator, items: list[LabelItem], now: datetime) -> Iterator[LabelTask]:
    for at, item in enumerate(items, 1):
        yield LabelTask(
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


def _label(task: Any, dice: random.Random, now: datetime) -> PointLabel:
    is_yes = dice.random() < 0.9
    return PointLabel(
        study=task.study,
        annotator=task.annotator,
        task=task,
        key_point_id=task.item.key_point_id,
        grounded="yes" if is_yes else "no",
        keyness=dice.choice(["agree", "agree", "neutral", "disagree"]) if is_yes else "",
        is_complete=True,
        op_id="1",
        made_at=now,
    )


def _time_agreement(study: Study) -> dict[str, float]:
    """Seconds to read all labels, and for agreement and every subset of six in the slowest of the tasks."""
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


def _time_export(study: Study) -> dict[str, float]:
    """Labels a second as CSV, and the most memory that a tenth of them and all of them take (MiB)."""
    began = time.perf_counter()
    n = sum(1 for _ in label_rows(study))
    rows_s = time.perf_counter() - began

    def peak(rows: Iterable[Any]) -> float:
        tracemalloc.start()
        for _ in csv_lines(tuple(LABEL_COLUMNS), rows):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / 2**20

    few, everything = peak(islice(label_rows(study), n // 10)), peak(label_rows(study))
    return {"labels_s": N_POINTS * N_PEOPLE / rows_s, "few_mib": few, "all_mib": everything}
