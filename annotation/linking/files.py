"""The files of a linking study: labels and decisions as rows, the same for CSV and JSON lines.

`item`, `annotator`, `label` and `cluster` (the subtopic) are what an import of labels asks for; the last columns
are the texts that a label is about, so that a table can be read by itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.kinds import StudyFile
from annotation.labelling.archive import BY, verdict_file
from annotation.linking.annotated import dump_of, haystacks_of
from annotation.linking.unlinked import unlinked_of
from annotation.models import LinkingPlan, Study
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
from benchmarks.models import Verdict
from benchmarks.web.downloads import download
from benchmarks.web.permissions import requires, saw_insights


def _bullets(summary: str, lines: Sequence[int]) -> str:
    """The lines of the summary that a label is linked to."""
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


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row a label: current answers, or every row ever made, oldest first."""
    rows = study.coveragelabels.order_by("pk")
    if which != "history":
        rows = rows.filter(is_current=True).exclude(coverage="")
    return rows_of(study, rows, COLUMNS)


def spaced(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows with lines as “3 7”, in either order of columns."""
    at = list(COLUMNS).index("lines")
    for row in rows:
        yield [*row[:at], " ".join(map(str, row[at])), *row[at + 1 :]]


def unlinked_rows(study: Study) -> Iterator[tuple[Any, ...]]:
    """One row a bullet that somebody linked to nothing, as `UNLINKED_COLUMNS`; `label` is the reason."""
    names = pseudonyms_of(study)
    for bullet in unlinked_of(study):
        summary = bullet.summary
        yield (
            names.get(bullet.annotator, "unknown"),
            *(f"{summary.uid}/line {bullet.line}", bullet.reason, str(summary.subtopic.uid)),
            *(
                summary.subtopic.haystack.key,
                summary.subtopic.key,
                str(summary.uid),
                summary.system.key,
                bullet.line,
            ),
            *(bullet.guideline_version, bullet.made_at.isoformat() if bullet.made_at else ""),
            summary.text.split("\n")[bullet.line - 1],
        )


def decision_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """One row a decision, in the order of `DECISION_COLUMNS`: those that hold, or all that were made.

    `labels` are those that hold now on the item, of everybody under their pseudonyms.
    """
    rows = study.coverage_adjudications.order_by("pk")
    if not with_history:
        rows = rows.filter(is_current=True)
    labels_on = _labels_of_decided(study)
    fields = fields_of(DECISION_COLUMNS) - {"labels"} | {"summary", "insight"}
    decided = (
        {**row, "labels": labels_on.get((row["summary"], row["insight"]), [])}
        for row in read(study, rows, *fields)
    )
    return cells(decided, DECISION_COLUMNS)


def decision_cells(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows of decisions with lines as “3 7” and labels as “annotator1 none; annotator2 full 3 7”."""
    at = list(DECISION_COLUMNS).index("labels")
    for row in spaced(rows):
        labels = ((label["annotator"], label["label"], *label["lines"]) for label in row[at])
        yield [*row[:at], "; ".join(" ".join(map(str, words)) for words in labels), *row[at + 1 :]]


def _labels_of_decided(study: Study) -> dict[tuple[int, int], list[dict[str, Any]]]:
    decided = study.coverage_adjudications.filter(summary=OuterRef("summary"), insight=OuterRef("insight"))
    labels = study.coveragelabels.for_figures().filter(Exists(decided)).order_by("annotator", "pk")
    by_item: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in read(study, labels, PERSON, "summary", "insight", "coverage", "lines"):
        label = {"annotator": row[PERSON], "label": row["coverage"], "lines": row["lines"]}
        by_item.setdefault((row["summary"], row["insight"]), []).append(label)
    return by_item


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """Annotated summaries, decisions and verdicts: what an archive holds beside the labels."""
    files = [
        StudyFile("annotated-summaries.json", "Annotated summaries", lambda: dump_of(study)),
        csv_file("adjudicated.csv", "Decisions", DECISION_COLUMNS, lambda: decision_cells(decision_rows(study))),
    ]
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)  # imported labels have none
    if plan is not None and plan.asks_unlinked:
        unlinked = partial(unlinked_rows, study)
        files.append(csv_file("bullets.csv", _("Bullets that cover no insight"), UNLINKED_COLUMNS, unlinked))
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
