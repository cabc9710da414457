"""The data that is measured on, made in a process of the measured checkout.

Commands, addresses and plain rows make it, so that it can be made in an earlier state of the program too.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Annotator,
    Assignment,
    Consent,
    ConsentText,
    Guideline,
    LabelItem,
    LabelTask,
    LinkingPlan,
    Membership,
    Study,
    VerificationPlan,
    WritingPlan,
)
from benchmarks.models import Insight, KeyPoint, Question, QuestionDocument, Span, Subtopic, Summary

PUBLISHED, KEY, LABELS = "summhay/topic_news1.json", "measured", "Measured"
WORDS = [first + second + third for first in "bdfglmnprst" for second in "aeiou" for third in "lmnrst"]
PASSWORD = "correct horse battery"  # noqa: S105 - of people who live for minutes
FORM = "application/x-www-form-urlencoded"
BATCH = 2_000
ROWS = 500
"""Labels in a page."""
N_TASKS = 40
"""On which each person works."""


def haystack(_n_summaries: int) -> None:
    """The published haystack, or without SUMMHAY_DATA one of about its size."""
    import_haystack(topic(KEY))


def demo(n_summaries: int) -> None:
    """The demo beside it, and a study in which four people labelled so many of its summaries."""
    call_command("load_demo", "--no-logins", stdout=StringIO(), stderr=StringIO())
    labelled(n_summaries)


def labelled(n_summaries: int) -> None:
    """A study in which four people labelled so many summaries of the haystack."""
    study = ["--study", LABELS, "--kind", "linking", "--haystack", KEY, "--sample", str(n_summaries)]
    people = [f"--error-rate=p{at}=0.{at}" for at in range(1, 5)]
    call_command("simulate_labels", *study, "--control-share", "1", *people, stdout=StringIO())


def topic(key: str) -> dict[str, Any]:
    """The published haystack under this id, or without SUMMHAY_DATA one of its size."""
    published = Path(os.environ.get("SUMMHAY_DATA", "-")) / PUBLISHED
    return {**json.loads(published.read_bytes()), "topic_id": key} if published.exists() else made_up(key)


def import_haystack(value: dict[str, Any]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{value['topic_id']}.json"
        path.write_text(json.dumps(value))
        call_command("import_dataset", "summhay", str(path), stdout=StringIO(), stderr=StringIO())


def made_up(key: str, number: int = 7, n_texts: int = 78) -> dict[str, Any]:
    """A haystack of invented words, the same on every run; each number has words of its own."""
    dice = random.Random(number)  # noqa: S311  no secret
    titles = [f"summary_subtopic_{n % 6}_{n // 6}" for n in range(n_texts)]
    subtopics = []
    for at in range(9):
        insights = [f"{at}-{n}" for n in range(7)]
        lines = {title: [f"* {invented(dice)} [{n + 1}]" for _ in range(7)] for n, title in enumerate(titles)}
        verdicts = [{"insight_id": each, "coverage": "FULL_COVERAGE", "bullet_id": 1} for each in insights]
        subtopics.append({
            "subtopic_id": f"s{at}", "subtopic_name": f"Part {at}", "subtopic": "A part",
            "query": f"What of {WORDS[at]}?",
            "insights": [{"insight_id": key, "insight_name": key, "insight": invented(dice)} for key in insights],
            "retriever": {}, "summaries": lines, "eval_summaries": dict.fromkeys(titles, verdicts),
        })  # fmt: skip
    documents = [
        {"document_id": f"d{n}", "document_text": " ".join(invented(dice) for _ in range(40)), "idx": n,
         "insights_included": [f"{at}-{n % 7}" for at in range(9)], "document_metadata": {}}
        for n in range(100)
    ]  # fmt: skip
    return {"topic_id": key, "topic": f"Invented words {number}", "documents": documents, "subtopics": subtopics}


def invented(dice: random.Random, n_words: int = 20) -> str:
    """A sentence of invented words."""
    return " ".join(dice.choices(WORDS, k=n_words)).capitalize() + "."


def questions(dataset: str, count: int, dice: random.Random, now: datetime) -> tuple[list[Any], list[Any]]:
    """(questions, their key points): each with three documents, and ten points with a passage of the first one."""
    rows = store(Question, (
        Question(dataset=dataset, key=f"q{at}", text=invented(dice), category=f"Category {at % 10}",
                 domain=f"Domain {at % 4}", n_words=900, created_at=now) for at in range(count)
    ))  # fmt: skip
    documents = store(QuestionDocument, (
        QuestionDocument(question=row, number=n, key=f"d{n}", title=f"Report {n}", n_words=300,
                         text=invented(dice, 300)) for row in rows for n in (1, 2, 3)
    ))  # fmt: skip
    first = {row.question_id: row for row in documents if row.number == 1}
    points = store(KeyPoint, (
        KeyPoint(question=row, number=n, key=f"p{n}", text=invented(dice, 12), autods=dice.random())
        for row in rows for n in range(1, 11)
    ))  # fmt: skip
    passages = ((row, first[row.question_id], row.number * 90) for row in points)
    store(Span, (
        Span(key_point=row, number=1, document=document, quote=document.text[start : start + 60], start=start,
             end=start + 60, match_ratio=1, is_exact=True) for row, document, start in passages
    ))  # fmt: skip
    return rows, points


def store(model: type[Any], rows: Iterable[Any]) -> list[Any]:
    made: list[Any] = model._default_manager.bulk_create(list(rows), batch_size=BATCH)
    return made


def accounts(role: str, name: str, count: int, password: str | None = None) -> list[Any]:
    """Users with this role and the same password, or none; the annotators are rows of their own."""
    made, encoded, group = [], make_password(password), Group.objects.get(name=role)
    for at in range(count):
        user = get_user_model().objects.create(username=f"{name}{at}", password=encoded)
        user.groups.add(group)
        made.append(user)
    return made


def people(name: str, count: int) -> list[Annotator]:
    """Annotators with an account and the same password, who have agreed to the newest consent text."""
    now = timezone.now()
    text = ConsentText.objects.order_by("version").last()
    text = text or ConsentText.objects.create(version=1, body="Agree.", created_at=now)
    team = [
        Annotator.objects.create(user=user, label=f"{name} {at}", created_at=now)
        for at, user in enumerate(accounts("annotator", name, count, PASSWORD))
    ]
    Consent.objects.bulk_create(Consent(annotator=person, text=text, given_at=now) for person in team)
    return team


def headers(person: Any, content: str) -> dict[str, str]:
    """Headers of the browser of this annotator or user, who is logged in, for content of this type."""
    token, client = secrets.token_hex(16), logged_in(person)
    cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={token}"
    answers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
    return {"Cookie": cookies, "X-CSRFToken": token, "Content-Type": content, **answers}


def logged_in(person: Any) -> Client:
    """A client of this annotator or user."""
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(getattr(person, "user", person), backend=settings.AUTHENTICATION_BACKENDS[-1])
    return client


def early(count: int) -> dict[str, Any]:
    """People who are about to log in, and the processor time of one of their hashes."""
    began = time.process_time()
    make_password(PASSWORD)
    hash_s, token = time.process_time() - began, secrets.token_hex(16)
    sent = {"Cookie": f"csrftoken={token}", "X-CSRFToken": token, "HX-Request": "true", "Content-Type": FORM}
    names = [person.user.get_username() for person in people("early", count) if person.user]
    logins = [urlencode({"username": name, "password": PASSWORD}) for name in names]
    return {"hash_s": hash_s, "clients": [{"login": login, "headers": sent} for login in logins]}


def writers(count: int) -> list[dict[str, Any]]:
    """People in the middle of a session, each in one of their own on all documents of the haystack."""
    subtopic = Subtopic.objects.filter(haystack__key=KEY).order_by("number")[0]
    shown = list(subtopic.haystack.documents.order_by("number").values_list("number", flat=True))
    rows = []
    for person, [task] in writing(people("writer", count), [subtopic], shown).items():
        begun = logged_in(person).post(f"/work/tasks/{task.uid}/start/", {"no_model": "on"})
        sent = headers(person, "application/json")
        rows.append({"pk": person.pk, "page": begun.headers["Location"], "headers": sent})
    return rows


def writing(
    team: Sequence[Annotator], subtopics: Sequence[Subtopic], shown: Sequence[int], **plan: Any
) -> dict[Annotator, list[Assignment]]:
    """Tasks of these people in a study of theirs, one on each of these subtopics."""
    study, now = open_study(Study.Kind.WRITING, team), timezone.now()
    WritingPlan.objects.create(study=study, setting="full", **plan).subtopics.set(subtopics)
    size = {"n_words": 80_000, "n_insights_present": 7, "document_numbers": shown}
    return {
        person: [
            Assignment.objects.create(study=study, annotator=person, subtopic=row, created_at=now, **size)
            for row in subtopics
        ]
        for person in team
    }


def linkers(count: int) -> list[dict[str, Any]]:
    """People who link the same summaries, and the forms that each of them sends in turn."""
    rows = Summary.objects.filter(subtopic__haystack__key=KEY, subtopic__number=1)
    subjects = [{"summary": row} for row in rows if row.lines[2:3] and row.lines[2].startswith("*")][:N_TASKS]
    insights = list(Insight.objects.filter(subtopic=rows[0].subtopic).values_list("uid", flat=True))
    answers: list[dict[str, Any]] = [{"coverage": "full", "line": 3}, {"coverage": "none"}]
    forms = [{"question": uid, **answer} for answer in answers for uid in insights]
    study = open_study(Study.Kind.LINKING, people("linker", count))
    LinkingPlan.objects.create(study=study, people_per_item=count)
    return at_work(study, subjects, forms, n_questions=len(insights))


def verifiers(count: int) -> list[dict[str, Any]]:
    """People who verify the same key points, and the forms that each of them sends in turn."""
    points = KeyPoint.objects.order_by("pk")[:N_TASKS]
    subjects = [{"question_id": point.question_id, "key_point": point} for point in points]
    study = open_study(Study.Kind.VERIFICATION, people("verifier", count))
    VerificationPlan.objects.create(study=study)
    forms = [{"grounded": "no"}, {"grounded": "yes"}, {"grounded": "yes", "keyness": "agree"}]
    return at_work(study, subjects, forms, n_questions=1)


def readers(count: int) -> list[dict[str, Any]]:
    """Researchers who look around: home, studies, haystacks, the study that others work on."""
    studies = list(Study.objects.all())
    requests = [
        [path, None] for path in ("/", "/studies/", "/corpora/", *(f"/studies/{row.uid}/" for row in studies))
    ]
    team = accounts("researcher", "reader", count)
    for study in studies:
        study.researchers.add(*team)
    return [{"headers": headers(user, FORM), "requests": requests} for user in team]


def programs(count: int, n_summaries: int) -> list[dict[str, Any]]:
    """Programs that read all labels on so many summaries over the API, each with the token of a researcher."""
    labelled(n_summaries)
    study = Study.objects.get(name=LABELS)
    team, rows = accounts("researcher", "program", count), []
    study.researchers.add(*team)
    for user in team:
        page = logged_in(user).post("/profile/tokens/", {"name": "bench"}).content.decode()
        token = page.partition('<code class="secret">')[2].partition("<")[0]
        sent = {"Authorization": f"Bearer {token}"}
        paths, following = [], f"/api/studies/{study.uid}/labels?limit={ROWS}"
        while following:
            paths.append(following)
            following = Client(headers={"host": "127.0.0.1", **sent}).get(following).json()["next"]
        rows.append({"headers": sent, "requests": [[path, None] for path in paths]})
    return rows


def open_study(kind: str, team: Sequence[Annotator], guidelines: str = "Look.", **values: Any) -> Study:
    """A study of this kind, open unless `values` say otherwise, with guidelines and these members."""
    now = values.setdefault("created_at", timezone.now())
    values = {"name": kind, "state": "open", "contact": "bench@example.org", **values}
    study = Study.objects.create(kind=kind, **values)
    Guideline.objects.create(study=study, version=1, body=guidelines, created_at=now)
    store(Membership, (
        Membership(study=study, annotator=person, number=at, joined_at=now) for at, person in enumerate(team, 1)
    ))  # fmt: skip
    return study


def at_work(
    study: Study, subjects: Iterable[dict[str, Any]], forms: Iterable[dict[str, Any]], *, n_questions: int
) -> list[dict[str, Any]]:
    """Give everybody a task on each of these subjects."""
    rows, now, size = [], timezone.now(), {"n_questions": n_questions}
    items = [
        LabelItem.objects.create(study=study, block="b", added_at=now, **size, **subject) for subject in subjects
    ]
    for member in study.memberships.select_related("annotator__user"):
        person = member.annotator
        tasks = [
            LabelTask.objects.create(study=study, annotator=person, item=item, position=at, created_at=now, **size)
            for at, item in enumerate(items, 1)
        ]
        paths = [f"/work/{study.kind}/{task.uid}/choice/" for task in tasks]
        requests = [[path, urlencode({"guideline": 1, **form})] for form in forms for path in paths]
        about = {"pk": person.pk, "name": person.label}
        rows.append({**about, "headers": headers(person, FORM), "requests": requests})
    return rows
