"""What the page of a pair shows, in a fixed number of queries. A verdict only where the study shows it."""

from __future__ import annotations

from typing import Any

from annotation.models import LabelTask
from annotation.pane import direction_of
from annotation.validation.recording import FITTING, PAIR, PairAnswer, reason_in_words
from benchmarks.models import PointVerdict


def page_context(task: LabelTask) -> dict[str, Any]:
    """Question, response with the marked passage, key point, and the annotator's own answer."""
    return laid_out(task, PAIR.current(task)) | {"verdict": _verdict(task)}


def laid_out(task: LabelTask, answer: PairAnswer) -> dict[str, Any]:
    """A pair and an answer to it, stored or not."""
    response = task.item.response
    return {
        "question": response.question,
        "response_parts": _parts(response.text, answer),
        "key_point": task.item.key_point,
        "direction": direction_of(response.question.language),
        "answer": answer,
        "reasons": _reasons(answer) if task.study.validation_plan.asks_why_not else [],
        "verdict": "",
    }


def _reasons(answer: PairAnswer) -> list[tuple[str, str, str]]:
    """The reasons in the order of their keys: value, words, and the answer they go with.

    One that was given with another answer, as was once possible, goes with that one.
    """
    rows = [(reason, of) for of, reasons in FITTING.items() for reason in reasons]
    return [
        (reason, reason_in_words(reason), answer.answer if reason == answer.why_not else of) for reason, of in rows
    ]


def _parts(text: str, answer: PairAnswer) -> tuple[str, str, str]:
    """The text before, inside and after the marked passage."""
    if answer.snippet is None:
        return text, "", ""
    start, end = answer.snippet
    return text[:start], text[start:end], text[end:]


def _verdict(task: LabelTask) -> str:
    """The answer of the judge, in a study that shows it."""
    plan = task.study.validation_plan
    if not plan.shows_verdict:
        return ""
    rows = PointVerdict.objects.filter(
        judge=plan.judge_id,
        premise=PointVerdict.Premise.RESPONSE,
        response=task.item.response_id,
        key_point=task.item.key_point_id,
        repeat=0,
    )
    return rows.values_list("answer", flat=True).first() or ""
