"""The labels of a study of labels made elsewhere as rows that an import reads again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.kinds import StudyFile
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

    return [csv_file("labels.csv", _("Labels"), COLUMNS, labels)]
