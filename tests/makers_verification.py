"""Rows of key point verification, made straight in the database: questions with documents and located spans, a
study with its items and tasks, and what people say. Deterministic; everything can be overridden by keyword.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotation.models import (
    Annotator,
    Guideline,
    LabelItem,
    LabelTask,
    Membership,
    PointLabel,
    Study,
    VerificationPlan,
)
from benchmarks.io.schemas.long2rag import CATEGORIES, DOMAINS
from benchmarks.models import KeyPoint, Question, QuestionDocument, Span
from tests.makers import NOW, annotator_of, give_consent, imported_annotator

Answers = Mapping[Any, str]
"""Person to answer: `A` is yes and agree, `N` yes and neutral, `D` yes and disagree, `x` no, `.` nothing."""
WORDS = {"A": ("yes", "agree"), "N": ("yes", "neutral"), "D": ("yes", "disagree"), "x": ("no", "")}


def make_questions(
    n: int = 3,
    *,
    n_points: int = 2,
    n_documents: int = 2,
    dataset: str = "harbours",
    autods: Sequence[float | None] = (),
    now: datetime = NOW,
) -> list[Question]:
    """Make questions with documents and key points, each with one span that the document has letter by letter.

    Categories and domains go round; `autods` are the scores of all key points in order, going round.
    """
    found = []
    for at in range(n):
        question = Question.objects.create(
            dataset=dataset,
            key=f"q{at + 1}",
            text=f"What is known of pier {at + 1}?",
            category=CATEGORIES[at % 4],
            domain=DOMAINS[at % 3],
            created_at=now,
        )
        facts = [f"Pier {at + 1} has fact number {number}." for number in range(1, n_points + 1)]
        documents = []
        for number in range(1, n_documents + 1):
            text = " ".join(["Boats come and go.", *facts[number - 1 :: n_documents], "The tide turns."])
            documents.append(
                QuestionDocument.objects.create(
                    question=question, number=number, key=f"d{number}", text=text, n_words=len(text.split())
                )
            )
        for number, fact in enumerate(facts, 1):
            score = autods[(at * n_points + number - 1) % len(autods)] if autods else None
            point = KeyPoint.objects.create(
                question=question, number=number, key=f"k{number}", text=f"Fact {number} holds.", autods=score
            )
            document = documents[(number - 1) % n_documents]
            start = document.text.index(fact)
            Span.objects.create(
                key_point=point,
                number=1,
                document=document,
                quote=fact,
                start=start,
                end=start + len(fact),
                match_ratio=1,
                is_exact=True,
            )
        question.n_words = sum(document.n_words for document in documents)
        question.save()
        found.append(question)
    return found


def make_verification_study(
    *,
    questions: Iterable[Question] | None = None,
    annotators: Iterable[Any] = (),
    n_control: int = 1,
    for_all: bool = False,
    name: str = "Harbour points",
    researcher=None,
    state: str = Study.State.OPEN,
    now: datetime = NOW,
    **plan,
) -> Study:
    """Make a verification study on all key points of some questions, dealt: users, annotators or plain names.

    The first `n_control` questions go to everyone, the others round (with `for_all` to everyone as well, but they
    are not the control group). Everyone has agreed to the consent text.
    """
    chosen = list(make_questions()) if questions is None else list(questions)
    study = Study.objects.create(
        name=name, kind=Study.Kind.VERIFICATION, state=state, created_at=now, created_by=researcher, seed=7
    )
    if researcher is not None:
        study.researchers.add(researcher)
    VerificationPlan.objects.create(study=study, **plan)
    Guideline.objects.create(study=study, version=1, body="Look before you judge.", created_at=now)
    people = [_member(study, person, number, now) for number, person in enumerate(annotators, 1)]
    places = dict.fromkeys(people, 0)
    for at, question in enumerate(chosen):
        is_control = at < n_control
        holders = people if is_control or for_all else [people[at % len(people)]] if people else []
        for point in question.key_points.order_by("number"):
            item = LabelItem.objects.create(
                study=study,
                question=question,
                key_point=point,
                highlight_of=point,
                block=str(question.pk),
                n_questions=1,
                is_overlap=is_control,
                added_at=now,
            )
            for person in holders:
                places[person] += 1
                LabelTask.objects.create(
                    study=study,
                    annotator=person,
                    item=item,
                    position=places[person],
                    n_questions=1,
                    created_at=now,
                )
    return study


def _member(study: Study, person, number: int, now: datetime) -> Annotator:
    if isinstance(person, str):
        return imported_annotator(person, study=study, now=now)
    annotator = annotator_of(person)
    Membership.objects.create(study=study, annotator=annotator, number=number, joined_at=now)
    give_consent(annotator, now=now)
    return annotator


def say(
    study: Study,
    person,
    point: KeyPoint,
    answer: str,
    *,
    seconds: float = 20,
    now: datetime = NOW,
    **fields,
) -> PointLabel | None:
    """Let somebody answer, `answer` a letter of `WORDS`; the newest answer to an item is current."""
    if answer == ".":
        return None
    annotator = study.memberships.get(annotator__label=person).annotator if isinstance(person, str) else person
    annotator = annotator_of(annotator)
    task = study.label_tasks.get(annotator=annotator, item__key_point=point, item__role="ordinary")
    before = PointLabel.objects.filter(task=task, is_current=True).first()
    if before is not None:
        before.is_current = False
        before.save()
    grounded, keyness = WORDS[answer]
    label = PointLabel.objects.create(
        study=study,
        annotator=annotator,
        task=task,
        guideline=study.guidelines.order_by("-version").first(),
        key_point=point,
        grounded=grounded,
        keyness=keyness,
        is_complete=True,
        supersedes=before,
        op_id=f"op-{PointLabel.objects.filter(task=task).count() + 1}",
        made_at=now,
        **fields,
    )
    task.state, task.n_answered, task.active_ms = "done", 1, int(seconds * 1000)
    task.begun_at = task.done_at = task.last_seen_at = now
    task.save()
    return label


def say_all(study: Study, rows: Sequence[str], *, people: Sequence[Any] | None = None) -> None:
    """Let people answer: one text for each key point in order of the study's items, one letter for each person."""
    if people is None:
        people = [member.annotator for member in study.memberships.order_by("number")]
    for item, row in zip(study.label_items.order_by("pk"), rows, strict=True):
        for person, answer in zip(people, row, strict=True):
            say(study, person, item.key_point, answer)
