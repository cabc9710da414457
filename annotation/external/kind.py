"""What a study with labels made elsewhere says of itself: they are imported and compared, nobody works in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.coverage.results import RESULTS
from annotation.kinds import SUMMARIES, StudyFile, StudyKind, kinds, register, results_tab
from annotation.licences import results as licences
from annotation.models import Study
from annotation.studies.rows import PERSON, Columns, csv_file, rows_of

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
        here = (kind for kind in kinds() if kind.is_of_coverage and kind is not self)
        return next((kind.deciding_of(study) for kind in here), None)

    def results_of(self, study: Study, part: str = "") -> Any:
        """Labels that answer what a kind of study asks have the results of those given here."""
        if part:
            return licences.RESULTS if part == licences.TAB.here else None
        return next((kind.results_of(study) for kind in kinds() if kind.has_imported(study)), RESULTS)

    def agreement_of(self, study: Study, options: Mapping[str, Any]) -> Any:
        here = (kind for kind in kinds() if kind.has_imported(study))
        return next((kind.agreement_of(study, options) for kind in here), None)


KIND = register(External())
