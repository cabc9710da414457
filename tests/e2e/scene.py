"""What the stories in the browser find on their site; `playing` plays it on the site's own database.

`prepare` makes people, documents and a task for each story and gives their ids; `score` does the worker's part.
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone

from annotation.models import Annotator, VerificationPlan
from annotation.studies import lifecycle
from annotation.tasks import score_snapshots
from annotation.verification import items
from summhay_site.celery import app
from tests import makers
from tests.annotation.points import TEXT, make_points_question

PASSWORD = "correct horse"
STORIES = """
    crash tabs offline reopened rules looks login deadline paper helps marks1280 marks390 weighed leafed
    mapped silent keys handy
"""
MANY_DOCUMENTS = {"weighed", "leafed"}
LATE_STORIES = "toured hung held twice cut closed neighbour noted long events stale chosen full throttled tram"
ONLY_IN_4 = "a red lighthouse stands on the northern cape"


def person(name: str, role: str = "annotator", **fields):
    """Somebody with a password, and what an annotator is besides."""
    user = get_user_model().objects.create_user(username=name, password=PASSWORD, **fields)
    user.groups.add(Group.objects.get(name=role))
    if role == "annotator":
        Annotator.objects.create(user=user, label=name.title(), created_at=timezone.now())
    return user


def known(name: str):
    """Somebody whom another scene has made."""
    return get_user_model().objects.get(username=name)


def prepare() -> dict[str, Any]:
    """Make one annotator, study and task for each story, and ada, the researcher of all of them."""
    now = timezone.now()
    ada = person("ada", "researcher")
    tasks, studies = {}, {}
    for story in f"{STORIES} {LATE_STORIES}".split():
        writer = person(story)
        shown = list(range(1, 101)) if story in MANY_DOCUMENTS else [5, 2, 4, 1, 3]
        haystack = makers.make_haystack(
            key=story, title=f"Ferries {story}", n_documents=max(6, len(shown)), words_per_document=220, now=now
        )
        fourth = haystack.documents.get(number=4)
        fourth.text = f"{fourth.text}\n\nBesides, {ONLY_IN_4}, and nobody knows <why> İt does."
        fourth.save()
        study = makers.make_writing_study(
            haystack=haystack,
            name=f"Study {story}",
            researcher=ada,
            annotators=[writer],
            mark_every_ms=10_000,
            preset="paper" if story == "paper" else "assisted",
            list_hits=story == "handy",
            now=now,
        )
        task = makers.make_assignment(
            annotator=writer, study=study, document_numbers=shown, state="assigned", now=now
        )
        tasks[story], studies[story] = str(task.uid), str(study.uid)
    linkers = [person(name) for name in ("linda", "lars")]
    links = makers.make_linking_study(
        haystack=makers.make_haystack(
            key="links",
            title="Ferries linked",
            golds=(((1, 2, 3), (2, 3, 4), (3, 5)), ((1, 4), (5, 6), (2, 6))),
            now=now,
        ),
        name="Study links",
        researcher=ada,
        annotators=linkers,
        people_per_item=2,
        now=now,
    )
    studies["links"] = str(links.uid)
    studies["points"] = str(_points_study(ada, [person(name) for name in ("vera", "viktor")], now).uid)
    makers.give_consent(*Annotator.objects.all(), now=now)
    return {"tasks": tasks, "studies": studies}


def _points_study(researcher, people: list[Any], now):
    """A study of two questions of three key points each, dealt to everybody."""
    long = "\n\n".join(f"Paragraph {n} on the weather in the harbour." for n in range(120))
    questions = [
        make_points_question(
            key=f"q{n}", texts=[f"{long}\n\n{TEXT}\n\n{long}", f"{long}\n\nThe new pier opens."], now=now
        )
        for n in (1, 2)
    ]
    study = items.create_study(
        details=lifecycle.Details(name="Study points", contact="study@example.org"),
        plan=VerificationPlan(control_share=Decimal(1)),
        questions=questions,
        guidelines="A yes means that the text says it.",
        by=researcher,
        now=now,
        annotators=[makers.annotator_of(each) for each in people],
    )
    lifecycle.open_study(study=study, by=researcher, now=now)
    return study


def score() -> dict[str, Any]:
    """Score what the sessions have left so far, as the worker does on a hint."""
    app.conf.task_always_eager = True  # what it would send to other queues is done here
    score_snapshots()
    return {}
