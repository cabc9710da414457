"""Label work of all kinds: items and tasks one by one, the answers to them in one statement a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from annotation.models import (
    CoverageLabel,
    EntailmentLabel,
    ExternalLabel,
    LabelItem,
    LabelTask,
    LinkingPlan,
    PointLabel,
    RatingLabel,
    RatingPlan,
    Study,
    ValidationPlan,
    VerificationPlan,
)
from bench.two_years import sql
from bench.two_years.scene import Scene
from benchmarks.models import Insight, KeyPoint, Response, Summary
from benchmarks.scoring.likert import ASPECTS

MEMBERS, EACH = 40, 4
"""People in a study, and people an item."""
LINKING, VERIFICATION, VALIDATION, RATING, EXTERNAL = 16, 8, 6, 6, 4
"""Studies of each kind."""
SKILL = "(t.annotator_id * 37) % 25"
"""In percent, how often somebody's answer is another than most people's."""


def fill(scene: Scene) -> None:
    """Some 250,000 labels."""
    texts = list(
        Summary.objects.exclude(origin="session").order_by("subtopic", "system").values_list("pk", "subtopic")
    )
    points = list(KeyPoint.objects.order_by("question", "number").values_list("pk", "question"))
    answers = list(Response.objects.order_by("question", "system").values_list("pk", "question"))
    for number in range(LINKING):
        study = scene.study(Study.Kind.LINKING, number, MEMBERS)
        LinkingPlan.objects.create(study=study, people_per_item=EACH)
        drawn = _some(scene, texts, 312)
        _tasks(scene, study, [{"summary_id": pk, "block": f"subtopic-{of}"} for pk, of in drawn], n_questions=7)
    for number in range(VERIFICATION):
        study = scene.study(Study.Kind.VERIFICATION, number, MEMBERS)
        VerificationPlan.objects.create(study=study, people_per_question=EACH)
        asked_of = _run_of(points, 1250, number, scene)
        subjects = [
            {"key_point_id": pk, "highlight_of_id": pk, "question_id": of, "block": f"question-{of}"}
            for pk, of in asked_of
        ]
        _tasks(scene, study, subjects)
    by_question: dict[int, list[int]] = {}
    for pk, of in points:
        by_question.setdefault(of, []).append(pk)
    for number in range(VALIDATION):
        study = scene.study(Study.Kind.VALIDATION, number, MEMBERS)
        ValidationPlan.objects.create(study=study, judge=scene.judge, people_per_item=EACH)
        pairs = [(pk, point) for pk, of in _run_of(answers, 150, number, scene) for point in by_question[of]]
        subjects = [{"response_id": pk, "key_point_id": point, "block": f"response-{pk}"} for pk, point in pairs]
        _tasks(scene, study, subjects)
    for number in range(RATING):
        study = scene.study(Study.Kind.RATING, number, MEMBERS)
        RatingPlan.objects.create(study=study, people_per_item=EACH)
        drawn = _some(scene, texts, 625)
        _tasks(scene, study, [{"summary_id": pk, "block": f"subtopic-{of}"} for pk, of in drawn])
    for number in range(EXTERNAL):
        _external(scene, number)
    _answers()


def _some(scene: Scene, rows: Sequence[Any], number: int) -> list[Any]:
    return sorted(scene.dice.sample(rows, min(scene.many(number), len(rows))), key=lambda row: row[::-1])


def _run_of(rows: Sequence[Any], number: int, at: int, scene: Scene) -> Sequence[Any]:
    wanted = scene.many(number)
    start = at * wanted % max(len(rows) - wanted, 1)
    return rows[start : start + wanted]


def _tasks(scene: Scene, study: Study, subjects: Sequence[dict[str, Any]], n_questions: int = 1) -> None:
    """Items for four people each; in open studies the last tenth of everybody's tasks waits."""
    size, made = {"n_questions": n_questions}, study.created_at
    items = LabelItem.objects.bulk_create(
        LabelItem(study=study, added_at=made, **size, **subject) for subject in subjects
    )
    people = [member.annotator_id for member in study.memberships.all()]
    dealt: dict[int, list[LabelItem]] = {person: [] for person in people}
    for at, item in enumerate(items):
        for n in range(min(EACH, len(people))):
            dealt[people[(at + n * 7) % len(people) if len(people) > EACH * 7 else (at + n) % len(people)]].append(
                item
            )

    def tasks() -> Iterator[LabelTask]:
        for person, theirs in dealt.items():
            for position, item in enumerate(theirs, 1):
                row = LabelTask(
                    study=study, annotator_id=person, item=item, position=position, created_at=made, **size
                )
                if study.state == Study.State.CLOSED or position <= len(theirs) * 0.9:
                    at = made + timedelta(minutes=3 * position)
                    row.state, row.n_answered, row.active_ms = LabelTask.State.DONE, n_questions, 60_000
                    row.begun_at = row.last_seen_at = row.done_at = at
                    row.revision = n_questions
                yield row

    LabelTask.objects.bulk_create(tasks(), batch_size=2_000)


def _answers() -> None:
    """What people answered: mostly the same, each with faults of their own."""
    done = f"{sql.table(LabelTask)} t JOIN {sql.table(LabelItem)} i ON i.id = t.item_id AND t.state = 'done'"
    done += f" JOIN {sql.table(Study)} s ON s.id = t.study_id AND s.kind = '{{}}'"
    every = {
        "study_id": "t.study_id",
        "annotator_id": "t.annotator_id",
        "task_id": "t.id",
        "made_at": "t.done_at",
        "is_complete": "TRUE",
    }
    insights = f" JOIN {sql.table(Summary)} y ON y.id = i.summary_id"
    insights += f" JOIN {sql.table(Insight)} n ON n.subtopic_id = y.subtopic_id"
    luck = _luck("y.id", "n.id")
    sql.insert(
        CoverageLabel,
        done.format("linking") + insights,
        **every,
        summary_id="y.id",
        insight_id="n.id",
        op_id="'op-' || n.id",
        coverage=sql.among(luck, ("none", 50), ("partial", 70), ("full", 100)),
        lines=sql.as_json(sql.among(luck, ("[]", 50), ("[1]", 100))),
        is_linked=f"{luck} >= 50",
    )
    luck = _luck("i.key_point_id", "7")
    sql.insert(
        PointLabel,
        done.format("verification"),
        **every,
        key_point_id="i.key_point_id",
        op_id="'op'",
        grounded=sql.among(luck, ("yes", 85), ("no", 100)),
        keyness=sql.among(luck, ("agree", 55), ("neutral", 70), ("disagree", 85), ("", 100)),
    )
    luck = _luck("i.key_point_id", "i.response_id")
    sql.insert(
        EntailmentLabel,
        done.format("validation"),
        **every,
        key_point_id="i.key_point_id",
        response_id="i.response_id",
        op_id="'op'",
        answer=sql.among(luck, ("yes", 45), ("no", 90), ("neutral", 100)),
    )
    marks = {aspect: f"1 + ({_luck('i.summary_id', str(at))}) * 5 / 100" for at, aspect in enumerate(ASPECTS)}
    sql.insert(RatingLabel, done.format("rating"), **every, summary_id="i.summary_id", op_id="'op'", **marks)


def _luck(*keys: str) -> str:
    """A number below 100 of an item, or where this person errs another of their own."""
    errs = f"{sql.dice(*keys, 't.annotator_id')} < {SKILL}"
    return f"CASE WHEN {errs} THEN {sql.dice('t.annotator_id', *keys)} ELSE {sql.dice(*keys)} END"


def _external(scene: Scene, number: int) -> None:
    study = scene.study(Study.Kind.EXTERNAL, number, 4)
    study.categories = ["no", "partly", "yes"]
    study.save()
    people = [member.annotator_id for member in study.memberships.all()]
    ExternalLabel.objects.bulk_create(
        (
            ExternalLabel(
                study=study,
                annotator_id=person,
                item=f"item {at}",
                cluster=f"cluster {at % 100}",
                label=study.categories[(at + (scene.dice.random() < 0.2)) % 3],
                imported_at=study.created_at,
            )
            for at in range(scene.many(1250))
            for person in people
        ),
        batch_size=2_000,
    )
