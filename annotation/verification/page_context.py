"""What the page of a key point shows, in a fixed number of queries, whatever the study's size."""

from __future__ import annotations

from typing import Any

from annotation.guidelines import current_guideline, render_markdown
from annotation.labelling.config import config_json
from annotation.labelling.place import place_of, ways
from annotation.models import LabelTask, PointLabel, Study
from annotation.pane import direction_of
from annotation.verification.documents import Highlight
from annotation.verification.recording import said
from benchmarks.models import QuestionDocument


def page_context(task: LabelTask, documents: list[QuestionDocument], highlight: Highlight) -> dict[str, Any]:
    """The question, the key point, the person's own answer, the way through the study, the guidelines."""
    study, question = task.study, task.item.question
    guideline = current_guideline(study)
    place = place_of(task)
    version = guideline.version if guideline else None
    return {
        "task": task,
        "study": study,
        "question": question,
        "key_point": task.item.key_point,
        "direction": direction_of(question.language),
        "answer": said(PointLabel.objects.filter(task=task, is_current=True).first()),
        "documents": [(document, highlight.in_document(document)) for document in documents],
        "highlight": highlight,
        "place": place,
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "is_open": study.state == Study.State.OPEN,
        **ways(task, place),
        "config_json": config_json(task, version=version, n_done_besides=place.n_done_besides(task)),
    }
