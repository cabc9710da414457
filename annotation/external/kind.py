"""What a study with labels made elsewhere says of itself: they are imported and compared, nobody works in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.coverage.results import RESULTS
from annotation.kinds import SUMMARIES, StudyFile, StudyKind, kind_named, register, results_tab
from annotation.licences import results as licences
from annotation.models import ExternalLabel, Study
from annotation.studies.rows import PERSON, Columns, csv_file, rows_of
from benchmarks.io.schemas.plain_labels import POINT_TASKS

COLUMNS: Columns = {
    "annotator": PERSON,
    "item": "item",
    "label": "label",
    "cluster": "cluster",
    "task": "task",
    "links": (lambda links: ";".join(map(str, links)), "links"),
}


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """The labels, links as “2;3”."""

    def labels() -> Iterator[tuple[Any, ...]]:
        return rows_of(study, study.external_labels.order_by("pk"), COLUMNS)

    return [csv_file("labels.csv", "Labels", COLUMNS, labels)]


class External(StudyKind):
    """Labels made elsewhere."""

    value = Study.Kind.EXTERNAL
    label = "labels made elsewhere"
    is_of_coverage = True
    judged = SUMMARIES
    study_page = "annotation:study-figures"
    tabs = (results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-figures"), licences.TAB)
    files = staticmethod(files_of)

    def deciding_of(self, study: Study) -> Any:
        """Labels of coverage are decided on as those that were given here."""
        return kind_named(Study.Kind.LINKING).deciding_of(study)

    def results_of(self, study: Study, part: str = "") -> Any:
        """Judgments on key points have the results of those made here."""
        if part:
            return licences.RESULTS if part == licences.TAB.here else None
        return kind_named(Study.Kind.VERIFICATION).results_of(study) if judges_points(study) else RESULTS


def judges_points(study: Study) -> bool:
    """Whether labels that were made elsewhere are judgments on key points."""
    rows = ExternalLabel.objects.filter(study=study, task__in=POINT_TASKS)
    return study.kind == Study.Kind.EXTERNAL and rows.exists()


KIND = register(External())
