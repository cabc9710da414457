"""The files of a linking study: labels and decisions as rows, the same for CSV and JSON lines.

`item`, `annotator`, `label` and `cluster` (the subtopic) are what an import of labels asks for; the last columns
are the texts that a label is about, so that a table can be read by itself.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from annotation.kinds import StudyFile
from annotation.labelling.archive import BY, verdict_file
from annotation.linking.annotated import dump_of, haystacks_of
from annotation.linking.answers import UNLINKED, linkable_numbers
from annotation.models import LabelItem, LabelTask, LinkingPlan, Study, UnlinkedLabel
from annotation.studies.rows import (
    IS_UNDO,
    PERSON,
    Columns,
    cells,
    csv_file,
    fields_of,
    pseudonyms_of,
    read,
    rows_of,
)
from annotation.studies.scope import study_of
from benchmarks.models import Summary, Verdict
from benchmarks.web.downloads import download
from benchmarks.web.permissions import requires, saw_insights


def _bullets(summary: str, lines: Sequence[int]) -> str:
    all_lines = summary.split("\n")
    return "\n".join(all_lines[line - 1] for line in lines if line <= len(all_lines))


_ITEM: Columns = {
    "item": ("{}/{}".format, "summary__uid", "insight__key"),
    "label": "coverage",
    "cluster": "summary__subtopic__uid",
    "haystack": "summary__haystack__key",
    "subtopic": "summary__subtopic__key",
    "summary": "summary__uid",
    "system": "summary__system__key",
}
_LINK: Columns = {"insight": "insight__key", "lines": "lines"}
_TEXTS: Columns = {"insight_text": "insight__text", "bullet_text": (_bullets, "summary__text", "lines")}
COLUMNS: Columns = {
    "annotator": PERSON,
    **_ITEM,
    **_LINK,
    "is_complete": "is_complete",
    "is_unsure": "is_unsure",
    "is_current": "is_current",
    "is_undo": IS_UNDO,
    "is_imported": "is_imported",
    "breaks_rule": "breaks_rule",
    "is_overlap": "task__item__is_overlap",
    "guideline_version": "guideline__version",
    "made_at": "made_at",
    **_TEXTS,
}
DECISION_COLUMNS: Columns = {
    "annotator": (lambda: "adjudicated",),
    **_ITEM,
    **_LINK,
    "is_current": "is_current",
    "note": "note",
    "was_blind": "was_blind",
    "n_people": (len, "labels"),
    "labels": "labels",
    "decided_at": "made_at",
    **_TEXTS,
}
VERDICTS: Columns = {
    **BY,
    **_ITEM,
    "insight": "insight__key",
    "lines": (lambda lines: " ".join(map(str, lines)), "lines"),
    "p_partial": "p_partial",
    "p_full": "p_full",
    "is_valid": "is_valid",
}
UNLINKED_COLUMNS = ("annotator", *_ITEM, "line", "guideline_version", "made_at", "bullet_text")


def labels_of(study: Study, which: str) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = study.coveragelabels.order_by("pk")
    return rows if which == "history" else rows.filter(is_current=True).exclude(coverage="")


def label_rows(
    study: Study, which: str = "current", labels: QuerySet[Any, Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    return rows_of(study, labels_of(study, which) if labels is None else labels, COLUMNS)


def spaced(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows with lines as “3 7”, in either order of columns."""
    at = list(COLUMNS).index("lines")
    for row in rows:
        yield [*row[:at], " ".join(map(str, row[at])), *row[at + 1 :]]


def unlinked_rows(study: Study) -> Iterator[tuple[Any, ...]]:
    """One row a bullet that somebody linked to nothing, as `UNLINKED_COLUMNS`; `label` is the reason."""
    names = pseudonyms_of(study)
    for person, summary, line, reason, label in unlinked_of(study):
        haystack, subtopic, system = summary.subtopic.haystack, summary.subtopic, summary.system
        yield (
            *(names.get(person, "unknown"), f"{summary.uid}/line {line}", reason, str(subtopic.uid)),
            *(haystack.key, subtopic.key, str(summary.uid), system.key, line),
            label.guideline.version if label and label.guideline else None,
            label.made_at.isoformat() if label else "",
            summary.text.split("\n")[line - 1],
        )


def unlinked_of(
    study: Study, labels: Iterable[Any] | None = None
) -> Iterator[tuple[int, Summary, int, str, UnlinkedLabel | None]]:
    """Bullets that somebody linked to no insight in a task that is done, without training.

    Gives annotator, summary, line, the reason (empty without one) and the answer that has it. Three queries, or
    two where its current, complete labels are given.
    """
    linked: dict[tuple[int, int], set[int]] = defaultdict(set)
    for label in study.coveragelabels.for_figures() if labels is None else labels:
        linked[label.annotator_id, label.summary_id].update(label.lines)
    current = study.unlinkedlabels.filter(is_current=True).select_related("guideline")
    answers = {row.task_id: row for row in current}
    tasks = study.label_tasks.filter(state=LabelTask.State.DONE).exclude(item__role=LabelItem.Role.TRAINING)
    for task in tasks.select_related("item__summary__system", "item__summary__subtopic__haystack"):
        summary, row = task.item.summary, answers.get(task.pk)
        reasons = dict(UNLINKED.answer_of(row).reasons)
        for line in sorted(linkable_numbers(summary) - linked[task.annotator_id, summary.pk]):
            reason = reasons.get(line, "")
            yield task.annotator_id, summary, line, reason, row if reason else None


def decision_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """One row a decision, in the order of `DECISION_COLUMNS`: those that hold, or all that were made.

    `labels` are those that hold now on the item, of everybody under their pseudonyms.
    """
    rows = study.coverage_adjudications.order_by("pk")
    if not with_history:
        rows = rows.filter(is_current=True)
    decisions = study.coverage_adjudications.filter(summary=OuterRef("summary"), insight=OuterRef("insight"))
    labels = study.coveragelabels.for_figures().filter(Exists(decisions)).order_by("annotator", "pk")
    labels_on: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in read(study, labels, PERSON, "summary", "insight", "coverage", "lines"):
        label = {"annotator": row[PERSON], "label": row["coverage"], "lines": row["lines"]}
        labels_on[row["summary"], row["insight"]].append(label)
    fields = fields_of(DECISION_COLUMNS) - {"labels"} | {"summary", "insight"}
    decided = read(study, rows, *fields)
    return cells(
        ({**row, "labels": labels_on[row["summary"], row["insight"]]} for row in decided), DECISION_COLUMNS
    )


def decision_cells(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows of decisions with lines as “3 7” and labels as “annotator1 none; annotator2 full 3 7”."""
    at = list(DECISION_COLUMNS).index("labels")
    for row in spaced(rows):
        labels = ((label["annotator"], label["label"], *label["lines"]) for label in row[at])
        yield [*row[:at], "; ".join(" ".join(map(str, words)) for words in labels), *row[at + 1 :]]


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    files = [
        StudyFile("annotated-summaries.json", "Annotated summaries", partial(dump_of, study)),
        csv_file("adjudicated.csv", "Decisions", DECISION_COLUMNS, lambda: decision_cells(decision_rows(study))),
    ]
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)  # imported labels have none
    if plan is not None and plan.asks_unlinked:
        unlinked = partial(unlinked_rows, study)
        files.append(csv_file("bullets.csv", "Bullets that cover no insight", UNLINKED_COLUMNS, unlinked))
    labelled = study.coveragelabels.for_figures().order_by().values("summary")
    verdicts = Verdict.objects.counted().filter(repeat=0, summary__in=labelled)
    return [*files, verdict_file(study, VERDICTS, verdicts)]


@requires("annotation.view_study")
@require_safe
def annotated_summaries(request: HttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The study in the format of the published annotated summaries."""
    study = study_of(request, uid, kind=Study.Kind.LINKING)
    saw_insights(request.user, *haystacks_of(study))
    name = f"annotated-summaries-{study.uid}.json"
    return download(dump_of(study), name=name, content_type="application/json", about=study)
