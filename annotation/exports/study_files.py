"""The files of a study of any kind, as its archive holds them; people appear as annotator1, annotator2 …"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from django.utils.translation import gettext as _

from annotation.kinds import StudyFile, kind_named
from annotation.models import ConsentText, Study
from annotation.studies.kind import Work
from benchmarks.web.downloads import csv_lines, json_lines

ANNOTATOR_COLUMNS = ("annotator", "joined_at", "left_at")


def files_of(study: Study, *, now: datetime) -> list[StudyFile]:
    """Labels in every selection, what the kind of the study adds, its people, guidelines and consent texts."""
    kind = kind_named(study.kind)
    return [
        *(_label_files(study, kind) if isinstance(kind, Work) else ()),
        *kind.files(study, now),
        StudyFile("annotators.csv", _("Who took part"), lambda: csv_lines(ANNOTATOR_COLUMNS, _annotators(study))),
        *(
            StudyFile(f"guidelines/{row.version}.md", _("Guidelines"), partial(_text, row.body))
            for row in study.guidelines.order_by("version")
        ),
        *(
            StudyFile(f"consent/{row.version}.md", _("What people agreed to"), partial(_text, row.body))
            for row in agreed_texts(study)
        ),
    ]


def agreed_texts(study: Study) -> list[ConsentText]:
    """The versions of the consent text that people of a study agreed to."""
    found = ConsentText.objects.filter(consents__annotator__memberships__study=study)
    return list(found.distinct().order_by("version"))


def _label_files(study: Study, kind: Work) -> Iterator[StudyFile]:
    rows_of = kind.label_rows
    if rows_of is None:
        return
    for place, (which, title) in enumerate(kind.label_files):
        name = f"labels-{which}" if place else "labels"

        def table(which: str = which) -> Iterator[str]:
            return csv_lines(kind.label_columns, kind.label_cells(rows_of(study, which)))

        def objects(which: str = which) -> Iterator[bytes]:
            return json_lines(dict(zip(kind.label_columns, row, strict=True)) for row in rows_of(study, which))

        yield StudyFile(f"{name}.csv", title, table)
        yield StudyFile(f"{name}.jsonl", title, objects)


def _annotators(study: Study) -> Iterator[tuple[str, str, str]]:
    for member in study.memberships.order_by("number"):
        yield (
            member.pseudonym,
            member.joined_at.isoformat(),
            member.left_at.isoformat() if member.left_at else "",
        )


def _text(body: str) -> list[str]:
    return [body.rstrip("\n") + "\n"]
