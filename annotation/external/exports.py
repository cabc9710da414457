"""The labels of a study of labels made elsewhere as rows that an import reads again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from annotation.kinds import StudyFile
from annotation.models import Study
from annotation.studies.rows import PERSON, Columns, rows_of
from benchmarks.web.downloads import csv_lines

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

    def labels() -> Iterator[str]:
        return csv_lines(tuple(COLUMNS), rows_of(study, study.external_labels.order_by("pk"), COLUMNS))

    return [StudyFile("labels.csv", _("Labels"), labels)]
