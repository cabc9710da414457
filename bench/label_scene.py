"""People who link: `python -m bench.label_scene NAME CLIENTS EARLIER` prints what each has to send.

EARLIER is how many answers each person has given before, on summaries of their own that come before the open ones.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import django

N_OPEN = 12
"""Summaries that each person goes on working on."""


def prepare(*, name: str, n_people: int, n_earlier: int, now: datetime) -> list[dict[str, Any]]:
    """A study, its people with cookies, and the forms that each of them sends in turn."""
    from annotation.linking import planning
    from annotation.models import LabelTask, Study
    from annotation.studies import lifecycle
    from annotation.studies.guidelines import default_guidelines
    from bench.scene import cookies
    from benchmarks.models import Subtopic
    from summhay_site import accounts

    subtopic = Subtopic.objects.order_by("pk")[0]
    users = accounts.create_accounts(
        actor=None,
        rows=[accounts.NewAccount(username=f"{name}{n}", name=f"{name} {n}") for n in range(n_people)],
        role="annotator",
        now=now,
    )
    n_insights = subtopic.insights.count()
    study = planning.create_study(
        details=lifecycle.Details(name=f"Measured, {name}", contact="bench@example.org"),
        plan=planning.LinkingValues(people_per_item=n_people),
        summaries=_summaries(subtopic, name, N_OPEN + -(-n_earlier // n_insights), now=now),
        guidelines=default_guidelines(Study.Kind.LINKING),
        by=None,
        now=now,
        annotators=[user.annotator for user in users],
    )
    lifecycle.open_study(study=study, by=None, now=now)
    insights = list(subtopic.insights.order_by("number").values_list("pk", "uid"))
    found = []
    for user in users:
        own = LabelTask.objects.filter(study=study, annotator=user.annotator).select_related("item")
        tasks = list(own.order_by("position"))
        _answer(tasks[N_OPEN:], [pk for pk, _ in insights], now=now)
        found.append(
            {
                "person": user.annotator.pk,
                "forms": _forms(tasks[:N_OPEN], [uid for _, uid in insights]),
                **cookies(user),
            }
        )
    return found


def _summaries(subtopic: Any, name: str, count: int, *, now: datetime) -> list[Any]:
    """New summaries of the subtopic, by systems of this name."""
    from benchmarks.models import Summary, System

    text = subtopic.summaries.order_by("pk")[0].text
    systems = System.objects.bulk_create(
        System(key=f"{name}-{n}", summarizer=name, retriever=str(n)) for n in range(count)
    )
    return Summary.objects.bulk_create(
        Summary(
            subtopic=subtopic,
            haystack_id=subtopic.haystack_id,
            system=system,
            text=text,
            text_sha256=f"{number:064x}",
            created_at=now,
        )
        for number, system in enumerate(systems)
    )


def _answer(tasks: list[Any], insights: list[int], *, now: datetime) -> None:
    """Every question of these tasks was answered some days ago."""
    from annotation.models import CoverageLabel, LabelTask

    at = now - timedelta(days=3)
    CoverageLabel.objects.bulk_create(
        [
            CoverageLabel(
                study_id=task.study_id,
                annotator_id=task.annotator_id,
                summary_id=task.item.summary_id,
                insight_id=insight,
                task=task,
                coverage="none",
                op_id=f"earlier-{insight}",
                made_at=at,
            )
            for task in tasks
            for insight in insights
        ],
        batch_size=500,
    )
    for task in tasks:
        task.n_answered, task.state = task.n_questions, LabelTask.State.DONE
        task.begun_at = task.done_at = task.last_seen_at = at
    LabelTask.objects.bulk_update(
        tasks, ["n_answered", "state", "begun_at", "done_at", "last_seen_at"], batch_size=200
    )


def _forms(tasks: list[Any], insights: list[Any]) -> list[list[str]]:
    """Every question of every task in turn, and on the next way round with another answer."""
    answers: list[dict[str, Any]] = [
        {"coverage": "full", "line": 2},
        {"coverage": "none"},
        {"coverage": "partial", "line": 1},
    ]
    return [
        [f"/work/linking/{task.uid}/choice/", urlencode({"question": insight, "guideline": 1, **answer})]
        for answer in answers
        for task in tasks
        for insight in insights
    ]


if __name__ == "__main__":
    django.setup()
    from django.utils import timezone

    people = prepare(name=sys.argv[1], n_people=int(sys.argv[2]), n_earlier=int(sys.argv[3]), now=timezone.now())
    print(json.dumps(people))
