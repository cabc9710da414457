"""People who link, with earlier answers or none."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from annotation.linking import planning
from annotation.models import CoverageLabel, LabelTask, LinkingPlan, Study
from annotation.studies import lifecycle
from annotation.studies.guidelines import default_guidelines
from bench.scene import cookies, people_named
from benchmarks.models import Subtopic, Summary, System

N_OPEN = 12
"""Summaries that each person goes on working on."""


def prepare(name: str, n_people: int, n_earlier: int) -> list[dict[str, Any]]:
    """A study, its people with cookies, and the forms that each of them sends in turn.

    Each has given so many answers before, on summaries of their own that come before the open ones.
    """
    now, subtopic = timezone.now(), Subtopic.objects.order_by("pk")[0]
    users = people_named(name, n_people, now=now)
    n_insights = subtopic.insights.count()
    study = planning.create_study(
        details=lifecycle.Details(name=f"Measured, {name}", contact="bench@example.org"),
        plan=LinkingPlan(people_per_item=n_people),
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


def _summaries(subtopic: Subtopic, name: str, count: int, *, now: datetime) -> list[Summary]:
    """New summaries of the subtopic, by systems of this name."""
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
                is_complete=True,
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


def _forms(tasks: list[LabelTask], insights: list[UUID]) -> list[list[str]]:
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
