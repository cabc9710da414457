"""Verification studies: set up, add questions and people, assign. No question is split; begun work stays."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, Unpack

from django.db import transaction

from annotation.models import LabelItem, Study, VerificationPlan
from annotation.studies.dealing import Item, control_group, sample
from annotation.studies.kind import NotPossible, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from benchmarks import audit
from benchmarks.models import KeyPoint, Question

IN_A_QUERY = 500


class NoRoomForChecks(NotPossible):
    """Attention checks sit among the questions that everyone gets, and there is no such question."""

    field = "n_attention_checks"


@transaction.atomic
def create_study(
    *,
    plan: VerificationPlan,
    questions: Iterable[Question],
    **values: Unpack[NewStudy],
) -> Study:
    """Make a verification study with its items and tasks, not yet open; its maker is one of its researchers.

    Raises:
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.VERIFICATION, plan=plan, **values)
    add_questions(study=study, questions=questions, by=by, now=now)
    work_of(study).deal(study=study, by=by, now=now)
    return study


def draw_questions(questions: Iterable[Question], n: int, *, seed: int) -> list[Question]:
    """A sample stratified by category and, within it, by domain."""
    by_pk = {question.pk: question for question in questions}
    items = [Item(pk, (row.category, row.domain)) for pk, row in by_pk.items()]
    return [by_pk[item.pk] for item in sample(items, n, seed=seed, label="questions")]


@transaction.atomic
def add_questions(*, study: Study, questions: Iterable[Question], by: Any, now: datetime) -> int:
    """Add the key points of questions as items, each question once; gives how many questions are new.

    The control group is drawn among the new ones. Attention checks are made with the first questions only.

    Raises:
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    plan = study.verification_plan
    known = set(study.label_items.values_list("question_id", flat=True).distinct())
    new = {row.pk: row for row in questions if row.pk not in known}
    points = _points_of(new)
    questions_asked = [Item(pk, (new[pk].category, new[pk].domain)) for pk in sorted(new) if points.get(pk)]
    if not questions_asked:
        return 0
    control = control_group(questions_asked, seed=study.seed + len(known), share=Fraction(plan.control_share))
    checks: dict[int, list[KeyPoint]] = {}
    if plan.n_attention_checks and not known:
        checks = _attention_checks(plan.n_attention_checks, control, new, points, seed=study.seed)
    plain = _without_highlight(points, Fraction(plan.share_without_highlight), seed=study.seed + len(known))
    LabelItem.objects.bulk_create(
        [
            item
            for question in questions_asked
            for item in _items(
                study,
                new[question.pk],
                points[question.pk],
                checks.get(question.pk, ()),
                plain=plain,
                is_overlap=question.pk in set(control),
                now=now,
            )
        ],
        batch_size=IN_A_QUERY,
    )
    audit.record(actor=by, action="study.add_questions", target=study, now=now, n=len(questions_asked))
    return len(questions_asked)


def _points_of(questions: Iterable[int]) -> dict[int, list[KeyPoint]]:
    points: dict[int, list[KeyPoint]] = defaultdict(list)
    keys = sorted(questions)
    for start in range(0, len(keys), IN_A_QUERY):
        rows = KeyPoint.objects.filter(question__in=keys[start : start + IN_A_QUERY]).only("pk", "question_id")
        for row in rows.order_by("question", "number"):
            points[row.question_id].append(row)
    return points


def _attention_checks(
    n: int,
    control: Sequence[int],
    questions: Mapping[int, Question],
    points: Mapping[int, Sequence[KeyPoint]],
    *,
    seed: int,
) -> dict[int, list[KeyPoint]]:
    """{question of the control group: foreign key points}, of another domain where there is one."""
    if not control or len(points) < 2:
        raise NoRoomForChecks(
            "Attention checks are placed among questions that everyone gets; that takes two or more."
        )
    dice = random.Random(f"checks:{seed}")  # noqa: S311  a fair draw, not a secret
    hosts = list(control)
    dice.shuffle(hosts)
    used: set[int] = set()
    checks: dict[int, list[KeyPoint]] = defaultdict(list)
    for place in range(n):
        host = hosts[place % len(hosts)]
        strangers = [pk for pk in points if pk != host and questions[pk].domain != questions[host].domain]
        pool = [
            point
            for pk in sorted(strangers or (pk for pk in points if pk != host))
            for point in points[pk]
            if point.pk not in used
        ]
        if not pool:
            break
        point = dice.choice(pool)
        used.add(point.pk)
        checks[host].append(point)
    return checks


def _without_highlight(points: Mapping[int, Sequence[KeyPoint]], share: Fraction, *, seed: int) -> set[int]:
    pool = sorted(point.pk for rows in points.values() for point in rows)
    dice = random.Random(f"plain:{seed}")  # noqa: S311  a fair draw, not a secret
    return set(dice.sample(pool, round(len(pool) * share)))


def _items(
    study: Study,
    question: Question,
    points: Sequence[KeyPoint],
    checks: Sequence[KeyPoint],
    *,
    plain: set[int],
    is_overlap: bool,
    now: datetime,
) -> list[LabelItem]:
    """The items of a question in the order of work; an attention check has another point's passage marked."""
    dice = random.Random(f"place:{study.seed}:{question.key}")  # noqa: S311  an order, not a secret
    rows: list[tuple[KeyPoint, int | None, str]] = [
        (point, None if point.pk in plain else point.pk, LabelItem.Role.ORDINARY) for point in points
    ]
    for check in checks:
        marked = dice.choice(points).pk
        rows.insert(dice.randint(1, len(rows)), (check, marked, LabelItem.Role.GOLD))
    return [
        LabelItem(
            study=study,
            question=question,
            key_point_id=point.pk,
            highlight_of_id=marked,
            block=f"question-{question.pk}",
            n_questions=1,
            is_overlap=is_overlap,
            role=role,
            added_at=now,
        )
        for point, marked, role in rows
    ]
