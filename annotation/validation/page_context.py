"""What the page of a pair shows, in a fixed number of queries. A verdict only where the study shows it."""

from __future__ import annotations

from typing import Any

from annotation.guidelines import current_guideline, render_markdown
from annotation.labelling.config import config_json
from annotation.labelling.place import place_of, ways
from annotation.models import EntailmentLabel, LabelTask, Study
from annotation.pane import direction_of
from annotation.validation.recording import Answered, said
from benchmarks.models import PointVerdict


def page_context(task: LabelTask) -> dict[str, Any]:
    """Question, response with the marked passage, key point, the person's own answer, the way, the guidelines."""
    study, response = task.study, task.item.response
    guideline = current_guideline(study)
    answer = said(EntailmentLabel.objects.filter(task=task, is_current=True).first())
    place = place_of(task)
    return {
        "task": task,
        "study": study,
        "question": response.question,
        "response_parts": _parts(response.text, answer),
        "key_point": task.item.key_point,
        "direction": direction_of(response.question.language),
        "answer": answer,
        "verdict": _verdict(task),
        "place": place,
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "is_open": study.state == Study.State.OPEN,
        **ways(task, place),
        "config_json": config_json(
            task,
            version=guideline.version if guideline else None,
            snippet=answer.snippet,
            n_done_besides=place.n_done_besides(task),
        ),
    }


def _parts(text: str, answer: Answered) -> tuple[str, str, str]:
    """The text before, inside and after the marked passage."""
    if answer.snippet is None:
        return text, "", ""
    start, end = answer.snippet
    return text[:start], text[start:end], text[end:]


def _verdict(task: LabelTask) -> str:
    """What the judge said, in a study that shows it."""
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
