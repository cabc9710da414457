"""Key points of a question put together over its documents, with all passages and the points they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from extensions.synthesis import making
from extensions.synthesis.models import PartKind, PartState, SynthesisPart, SynthesisStep
from extensions.synthesis.part_states import GONE, STANDS
from extensions.synthesis.programs.key_points import NO_LOGPROBS
from extensions.synthesis.question_worlds import Point, points_of
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.worlds import OF_MODELS, Reading

NONE_FOUND = "a question without a key point"


def topics(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """A part for each question on which its points are asked about; key points that are stale are gone.

    Raises:
        StepRefused: no question has points.
    """
    making.parts_of(step).filter(state=PartState.STALE).update(state=PartState.REGENERATED)
    rows = SynthesisPart.objects.filter(
        synthesis=step.synthesis, kind=PartKind.QUESTION, state__in=STANDS
    ).order_by("number")
    all_topics = [_topic(step, question, now) for question in rows]
    points = points_of(all_topics)
    if not any(points.values()) and not making.parts_of(step).exclude(state__in=GONE).exists():
        raise StepRefused("No document brought a key point.")
    return [topic for topic in all_topics if points[topic.pk]]


def _topic(step: SynthesisStep, question: SynthesisPart, now: datetime) -> SynthesisPart:
    topic, _is_new = SynthesisPart.objects.get_or_create(
        synthesis=step.synthesis,
        kind=PartKind.TOPIC,
        number=question.number,
        generation=0,
        defaults={"step": step, "state": PartState.ACCEPTED, "created_at": now},
    )
    if topic.data.get("question") != question.text:
        topic.title, topic.data = question.text[:300], {**topic.data, "question": question.text}
        topic.save(update_fields=["title", "data"])
    return topic


def take_points(step: SynthesisStep, now: datetime) -> list[str]:
    """Key points of the points of each question that none is made of yet; why others were dropped."""
    topics = list(SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.TOPIC).order_by("number"))
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.QUESTION, state__in=STANDS)
    questions = {row.number: row for row in rows}
    reading, points = Reading(topics), points_of(topics)
    number, dropped = making.parts_of(step).count(), list[str]()
    for topic in topics:
        question, progress = questions.get(topic.number), reading.progress(topic)
        if question is None or not progress.is_finished:
            continue
        dropped += progress.dropped
        for text, numbers in progress.data["groups"]:
            number += 1
            chosen = [(n, points[topic.pk][n - 1]) for n in numbers]
            _make(step, question, number, text, chosen, flags=list(progress.flags), now=now)
    with_points = making.parts_of(step).exclude(state__in=GONE).values_list("parent__number", flat=True)
    return [*dropped, *[NONE_FOUND] * len(questions.keys() - set(with_points))]


def _make(
    step: SynthesisStep,
    question: SynthesisPart,
    number: int,
    text: str,
    chosen: Sequence[tuple[int, Point]],
    *,
    flags: Sequence[str],
    now: datetime,
) -> None:
    part = SynthesisPart.objects.create(
        synthesis=step.synthesis,
        step=step,
        kind=PartKind.POINT,
        number=number,
        text=text,
        data={
            "found": flags,
            "made_of": [
                {"number": n, "document": point.document.number, "text": point.text} for n, point in chosen
            ],
            "evidence": [
                {
                    "document": point.document.number,
                    "quote": span["quote"],
                    "start": span["start"],
                    "end": span["end"],
                }
                for _n, point in chosen
                for span in point.spans
            ],
        },
        parent=question,
        created_at=now,
    )
    part.uses.add(*{point.document for _n, point in chosen})


def points(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """Key points that wait for their score, those too that another model could not give one."""
    rows = making.parts_of(step)
    for part in rows.filter(state=PartState.FLAGGED).prefetch_related("replies"):
        asked_judges = {reply.judge_id for reply in part.replies.all()}
        if NO_LOGPROBS in part.data.get("flags", ()) and step.judge_id not in asked_judges:
            _again(part, now)
    return list(rows.filter(state__in=OF_MODELS).select_related("synthesis"))


def _again(part: SynthesisPart, now: datetime) -> None:
    """The same point, to be asked about anew."""
    made = making.again(part, note="", now=now)
    kept: dict[str, Any] = {name: part.data[name] for name in ("found", "made_of", "evidence")}
    made.text, made.data = part.text, kept
    made.save(update_fields=["text", "data"])


def take_scores(step: SynthesisStep, now: datetime) -> list[str]:
    """Settle the points on which nothing was asked, since no score is wanted."""
    parts = list(making.parts_of(step).filter(state=PartState.PROPOSED))
    reading = Reading(parts)
    for part in parts:
        progress = reading.progress(part)
        if progress.is_finished:
            part.data = {**part.data, "flags": list(progress.flags)}
            part.state = PartState.FLAGGED if progress.flags else PartState.CLEAR
            part.save(update_fields=["data", "state"])
    return []
