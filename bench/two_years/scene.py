"""People, studies and corpora of the load: a few thousand rows, made one by one."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.core.management import call_command

from annotation.models import Annotator, Consent, ConsentText, Guideline, Membership, Study
from bench.two_years import sql
from bench.world import PASSWORD, WORDS, made_up
from benchmarks.engine import judge_versions
from benchmarks.models import (
    AuditEvent,
    Haystack,
    Judge,
    JudgeRun,
    KeyPoint,
    PointVerdict,
    Question,
    QuestionDocument,
    Response,
    Span,
    Subtopic,
    System,
)

DAYS = 730
ACTIONS = ("session.exclude", "session.credit", "study.assign", "file.exported", "run.requested", "study.update")


@dataclass
class Scene:
    """What all parts of the load share; `share` of 1 is two years."""

    share: float
    dice: random.Random
    now: datetime
    judge: Judge = field(init=False)
    researchers: list[Any] = field(default_factory=list)
    people: list[Annotator] = field(default_factory=list)

    def many(self, number: int, least: int = 1) -> int:
        """So many of two years in this share of it."""
        return max(round(number * self.share), least)

    def day(self) -> datetime:
        """Some day of the two years."""
        return self.now - timedelta(days=self.dice.randint(2, DAYS), seconds=self.dice.randint(0, 40_000))

    def sentence(self, n: int = 18) -> str:
        """Invented words."""
        return " ".join(self.dice.choices(WORDS, k=n)).capitalize() + "."

    def study(self, kind: str, number: int, members: int) -> Study:
        """A study with its researcher, guidelines and members; every third is open."""
        made, by = self.day(), self.researchers[number % len(self.researchers)]
        state = Study.State.OPEN if number % 3 == 0 else Study.State.CLOSED
        row = Study.objects.create(
            name=f"{kind.capitalize()} {number + 1}",
            kind=kind,
            state=state,
            contact="load@example.org",
            seed=number,
            created_at=made,
            created_by=by,
        )
        row.researchers.add(by)
        Guideline.objects.create(study=row, version=1, body=self.sentence(200), created_at=made)
        start = number * 13
        team = [self.people[(start + at) % len(self.people)] for at in range(min(members, len(self.people)))]
        Membership.objects.bulk_create(
            Membership(study=row, annotator=person, number=at, joined_at=made) for at, person in enumerate(team, 1)
        )
        return row


def set_up(scene: Scene) -> None:
    """Roles, people and corpora."""

    _people(scene)
    for at in range(scene.many(5)):
        _haystack(at, scene)
    scene.judge = judge_versions.default_judge(now=scene.now)
    _questions(scene)
    _audit(scene)


def _people(scene: Scene) -> None:
    password, made, users = make_password(PASSWORD), scene.now - timedelta(days=DAYS), get_user_model()
    text = ConsentText.objects.create(version=1, body=scene.sentence(150), created_at=made)
    for role, name, count in (
        ("admin", "admin", 1),
        ("researcher", "researcher", 10),
        ("annotator", "annotator", 200),
    ):
        group = Group.objects.get(name=role)
        for at in range(count if role == "admin" else scene.many(count, 6)):
            user = users.objects.create(username=f"{name}{at}", password=password, email=f"{name}{at}@example.org")
            user.groups.add(group)
            if role == "annotator":
                scene.people.append(Annotator.objects.create(user=user, label=f"Person {at}", created_at=made))
            elif role == "researcher":
                scene.researchers.append(user)
    Consent.objects.bulk_create(Consent(annotator=person, text=text, given_at=made) for person in scene.people)


def _haystack(at: int, scene: Scene) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"load{at}.json"
        path.write_text(json.dumps({**made_up(at), "topic_id": f"load{at}", "topic": f"Invented words {at}"}))
        call_command("import_dataset", "summhay", str(path), stdout=StringIO(), stderr=StringIO())


def _questions(scene: Scene) -> None:
    """Questions with three documents, ten key points and ten responses each, and the judge's verdicts on them."""
    made = scene.now - timedelta(days=DAYS)
    questions = Question.objects.bulk_create(
        Question(
            dataset="load",
            key=f"q{at}",
            text=scene.sentence(),
            category=f"Category {at % 10}",
            domain=f"Domain {at % 4}",
            n_words=900,
            created_at=made,
        )
        for at in range(scene.many(1000))
    )
    documents = QuestionDocument.objects.bulk_create(
        QuestionDocument(
            question=row, number=n, key=f"d{n}", title=f"Report {n}", text=scene.sentence(300), n_words=300
        )
        for row in questions
        for n in range(1, 4)
    )
    _key_points(scene, questions, dict(zip((row.pk for row in questions), documents[::3], strict=True)))
    _responses(scene, questions, made)
    _verdicts(scene, made)


def _key_points(scene: Scene, questions: list[Question], first: dict[int, QuestionDocument]) -> None:
    """Ten of each question, each with a passage of its first document."""
    points = KeyPoint.objects.bulk_create(
        KeyPoint(question=row, number=n, key=f"p{n}", text=scene.sentence(12), autods=scene.dice.random())
        for row in questions
        for n in range(1, 11)
    )
    Span.objects.bulk_create(
        Span(
            key_point=row,
            number=1,
            document=first[row.question_id],
            quote=first[row.question_id].text[start : start + 60],
            start=start,
            end=start + 60,
            match_ratio=1,
            is_exact=True,
        )
        for row in points
        for start in (row.number * 90,)
    )


def _responses(scene: Scene, questions: list[Question], made: datetime) -> None:
    systems = [System.objects.create(key=f"load-answers-{at}", summarizer=f"answers-{at}") for at in range(10)]
    Response.objects.bulk_create(
        Response(
            question=row,
            system=system,
            text=scene.sentence(200),
            text_sha256=f"{row.pk:032x}{system.pk:032x}",
            n_words=200,
            created_at=made,
        )
        for row in questions
        for system in systems
    )


def _verdicts(scene: Scene, made: datetime) -> None:
    """Of one run, on every key point in every response to its question."""
    run = JudgeRun.objects.create(
        judge=scene.judge, task=JudgeRun.Task.RECALL, state=JudgeRun.State.DONE, created_at=made, finished_at=made
    )
    luck = sql.dice("r.id", "k.id")
    sql.insert(
        PointVerdict,
        f"{sql.table(Response)} r JOIN {sql.table(KeyPoint)} k ON k.question_id = r.question_id",
        judge_id=str(scene.judge.pk),
        premise=f"'{PointVerdict.Premise.RESPONSE.value}'",
        response_id="r.id",
        key_point_id="k.id",
        run_id=str(run.pk),
        created_at=sql.moment(made),
        answer=sql.among(luck, ("yes", 45), ("no", 90), ("neutral", 100)),
    )


def _audit(scene: Scene) -> None:
    actors = [*scene.researchers, get_user_model().objects.get(username="admin0")]
    AuditEvent.objects.bulk_create(
        (
            AuditEvent(
                at=scene.day(),
                actor=scene.dice.choice(actors),
                action=ACTIONS[at % len(ACTIONS)],
                object_type="study",
                object_name=f"Study {at % 60}",
                detail={"reason": "of the load"},
            )
            for at in range(scene.many(100_000))
        ),
        batch_size=5_000,
    )


def subtopics() -> list[Subtopic]:
    """All subtopics, haystack by haystack in turn, so that neighbours are of different ones."""
    rows = Subtopic.objects.select_related("haystack").order_by("number", "haystack")
    assert Haystack.objects.exists()  # noqa: S101 - of a script
    return list(rows)
