"""Verification studies: set up, add questions and people, deal. Questions go whole; work begun is never taken."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import studies
from annotation.labelling.dealing import Item, Pair, sample
from annotation.labelling.setting_up import close_ranks, new_study, present_people
from annotation.models import Annotator, LabelItem, LabelTask, Study, VerificationPlan
from annotation.verification.dealing import Asked, control_group, deal_questions, order_for
from benchmarks import audit
from benchmarks.models import KeyPoint, Question

IN_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class VerificationValues:
    """The settings of a verification study, named as in `VerificationPlan`; shares from 0 to 1."""

    control_share: Decimal = Decimal("0.1")
    people_per_question: int = 1
    share_without_highlight: Decimal = Decimal(0)
    n_attention_checks: int = 0


class NoRoomForChecks(Exception):
    """Attention checks sit among the questions that everyone gets, and there is no such question."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a deal gave: new tasks, questions that everyone has, and questions that still lack people."""

    n_new: int
    n_control: int
    n_short: int


@transaction.atomic
def create_study(
    *,
    details: studies.Details,
    plan: VerificationValues,
    questions: Iterable[Question],
    guidelines: str,
    by: Any,
    now: datetime,
    annotators: Iterable[Annotator] = (),
    researchers: Iterable[Any] = (),
    seed: int | None = None,
) -> Study:
    """Make a verification study with its items and tasks, not yet open; its maker is one of its researchers.

    Raises:
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    study = new_study(
        kind=Study.Kind.VERIFICATION,
        details=details,
        guidelines=guidelines,
        annotators=annotators,
        researchers=researchers,
        seed=seed,
        by=by,
        now=now,
    )
    VerificationPlan.objects.create(study=study, **asdict(plan))
    add_questions(study=study, questions=questions, by=by, now=now)
    deal(study=study, by=by, now=now)
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
    asked = [Asked(pk, len(points[pk]), new[pk].category, new[pk].domain) for pk in sorted(new) if points.get(pk)]
    if not asked:
        return 0
    control = control_group(asked, seed=study.seed + len(known), share=Fraction(plan.control_share))
    checks: dict[int, list[KeyPoint]] = {}
    if plan.n_attention_checks and not known:
        checks = _attention_checks(plan.n_attention_checks, control, new, points, seed=study.seed)
    plain = _without_highlight(points, Fraction(plan.share_without_highlight), seed=study.seed + len(known))
    LabelItem.objects.bulk_create(
        [
            item
            for question in asked
            for item in _items(
                study,
                question.pk,
                points[question.pk],
                checks.get(question.pk, ()),
                plain=plain,
                is_overlap=question.pk in set(control),
                now=now,
            )
        ],
        batch_size=IN_A_QUERY,
    )
    audit.record(actor=by, action="study.add_questions", target=study, now=now, n=len(asked))
    return len(asked)


@transaction.atomic
def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every question the people it lacks. With `rebalance`, questions that nobody opened are shared anew.

    A question that somebody left unfinished goes whole to somebody else; what was answered stays.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    people = present_people(study)
    items: dict[int, list[int]] = defaultdict(list)
    shared: set[int] = set()
    for pk, question, is_overlap in study.label_items.order_by("pk").values_list("pk", "question", "is_overlap"):
        items[question].append(pk)
        if is_overlap:
            shared.add(question)
    asked = _asked(items)
    held = _held(study)
    fixed, movable = _split(held, items, set(people), rebalance=rebalance)
    dealt = deal_questions(
        asked,
        list(people),
        control=shared,
        seed=study.seed,
        per_question=study.verification_plan.people_per_question,
        fixed=fixed,
        movable=movable,
    )
    _take_back(study, dealt.taken)
    unfinished = [pair for pair in fixed if pair[1] in shared and held[pair].n < len(items[pair[1]])]
    given = [*dealt.given, *(pair for pair in unfinished if pair[0] in people)]
    n_new = _write_tasks(study, items, people, given, held=held, now=now)
    if given or dealt.taken:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=n_new)
    return Dealt(n_new, len(shared), n_short(study))


def n_short(study: Study) -> int:
    """Questions that fewer people have than the plan wants; of those for everyone, that somebody lacks."""
    people = set(study.memberships.current().values_list("annotator_id", flat=True))
    sizes: dict[int, int] = defaultdict(int)
    shared: set[int] = set()
    for question, is_overlap in study.label_items.values_list("question", "is_overlap"):
        sizes[question] += 1
        if is_overlap:
            shared.add(question)
    whole = {pair for pair, tasks in _held(study).items() if tasks.n == sizes[pair[1]]}
    holders: dict[int, set[int]] = defaultdict(set)
    for person, question in whole:
        holders[question].add(person)
    wanted = study.verification_plan.people_per_question
    return sum(
        not people <= holders[question] if question in shared else len(holders[question]) < wanted
        for question in sizes
    )


@dataclass(slots=True)
class _Held:
    """How many tasks of a question a person has, and whether any was opened."""

    n: int = 0
    is_begun: bool = False


def _held(study: Study) -> dict[Pair, _Held]:
    """{(person, question): tasks}."""
    found: dict[Pair, _Held] = defaultdict(_Held)
    rows = study.label_tasks.order_by().values_list("annotator_id", "item__question_id", "begun_at")
    for person, question, begun_at in rows:
        row = found[person, question]
        row.n += 1
        row.is_begun = row.is_begun or begun_at is not None
    return dict(found)


def _split(
    held: Mapping[Pair, _Held], items: Mapping[int, Sequence[int]], people: set[int], *, rebalance: bool
) -> tuple[set[Pair], set[Pair]]:
    """Pairs that stay and pairs that may move. What somebody who left did not finish counts for neither."""
    fixed, movable = set(), set()
    for pair, tasks in held.items():
        is_present = pair[0] in people
        if not tasks.is_begun and (rebalance or not is_present):
            movable.add(pair)
        elif is_present or tasks.n == len(items[pair[1]]):
            fixed.add(pair)
    return fixed, movable


def _asked(items: Mapping[int, Sequence[int]]) -> list[Asked]:
    return [Asked(question, len(pks)) for question, pks in items.items()]


def _points_of(questions: Iterable[int]) -> dict[int, list[KeyPoint]]:
    found: dict[int, list[KeyPoint]] = defaultdict(list)
    keys = sorted(questions)
    for start in range(0, len(keys), IN_A_QUERY):
        rows = KeyPoint.objects.filter(question__in=keys[start : start + IN_A_QUERY]).only("pk", "question_id")
        for row in rows.order_by("question", "number"):
            found[row.question_id].append(row)
    return found


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
            _("Attention checks sit among the questions that everyone gets: a share of two or more is needed.")
        )
    dice = random.Random(f"checks:{seed}")  # noqa: S311  a fair draw, not a secret
    hosts = list(control)
    dice.shuffle(hosts)
    used: set[int] = set()
    found: dict[int, list[KeyPoint]] = defaultdict(list)
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
        found[host].append(point)
    return found


def _without_highlight(points: Mapping[int, Sequence[KeyPoint]], share: Fraction, *, seed: int) -> set[int]:
    pool = sorted(point.pk for rows in points.values() for point in rows)
    dice = random.Random(f"plain:{seed}")  # noqa: S311  a fair draw, not a secret
    return set(dice.sample(pool, round(len(pool) * share)))


def _items(
    study: Study,
    question: int,
    points: Sequence[KeyPoint],
    checks: Sequence[KeyPoint],
    *,
    plain: set[int],
    is_overlap: bool,
    now: datetime,
) -> list[LabelItem]:
    """The items of a question in the order of work; an attention check has another point's passage marked."""
    dice = random.Random(f"place:{study.seed}:{question}")  # noqa: S311  an order, not a secret
    rows: list[tuple[KeyPoint, int | None, str]] = [
        (point, None if point.pk in plain else point.pk, LabelItem.Role.ORDINARY) for point in points
    ]
    for check in checks:
        marked = dice.choice(points).pk
        rows.insert(dice.randint(1, len(rows)), (check, marked, LabelItem.Role.GOLD))
    return [
        LabelItem(
            study=study,
            question_id=question,
            key_point_id=point.pk,
            highlight_of_id=marked,
            block=f"question-{question}",
            n_questions=1,
            is_overlap=is_overlap,
            role=role,
            added_at=now,
        )
        for point, marked, role in rows
    ]


def _take_back(study: Study, pairs: Iterable[Pair]) -> None:
    """Delete tasks that nobody opened."""
    by_person: dict[int, list[int]] = defaultdict(list)
    for person, question in pairs:
        by_person[person].append(question)
    for person, questions in by_person.items():
        for start in range(0, len(questions), IN_A_QUERY):
            study.label_tasks.filter(
                annotator=person, begun_at=None, item__question__in=questions[start : start + IN_A_QUERY]
            ).delete()


def _write_tasks(
    study: Study,
    items: Mapping[int, Sequence[int]],
    people: Mapping[int, str],
    pairs: Iterable[Pair],
    *,
    held: Mapping[Pair, _Held],
    now: datetime,
) -> int:
    """New tasks come after those that a person has, question by question; places count from 1 without holes.

    A person who holds part of a question gets the part that is missing.
    """
    dealt: dict[int, list[int]] = defaultdict(list)
    for person, question in pairs:
        dealt[person].append(question)
    made = []
    for person, questions in dealt.items():
        n_held = close_ranks(study, person)
        partly = [question for question in questions if (person, question) in held]
        owned = set(
            study.label_tasks.filter(annotator=person, item__question__in=partly).values_list("item", flat=True)
        )
        order = [
            pk
            for question in order_for(questions, seed=study.seed, person=people[person])
            for pk in items[question]
            if pk not in owned
        ]
        made += [
            LabelTask(study=study, annotator_id=person, item_id=pk, position=place, n_questions=1, created_at=now)
            for place, pk in enumerate(order, n_held + 1)
        ]
    LabelTask.objects.bulk_create(made, batch_size=IN_A_QUERY)
    return len(made)
