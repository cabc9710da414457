"""The labels of a study of labels made elsewhere as rows that an import reads again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.kinds import StudyFile
from annotation.models import Study
from benchmarks.web.downloads import csv_lines

COLUMNS = ("annotator", "item", "label", "cluster", "task", "links")
FIELDS = ("annotator_id", "item", "label", "cluster", "task", "links")
CHUNK = 2_000


def label_rows(study: Study) -> Iterator[tuple[Any, ...]]:
    """One row a label, in the order of `COLUMNS`, links as “2;3”."""
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    rows = study.external_labels.order_by("pk").values_list(*FIELDS)
    for person, *texts, links in rows.iterator(chunk_size=CHUNK):
        yield (names.get(person, "unknown"), *texts, ";".join(map(str, links)))


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """The labels."""
    return [StudyFile("labels.csv", _("Labels"), lambda: csv_lines(COLUMNS, label_rows(study)))]
