"""The files of a study of any kind, as its archive holds them; people appear as annotator1, annotator2 …"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache, partial
from typing import Any

import orjson
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.kinds import StudyFile, kind_named
from annotation.models import ConsentText, Study
from annotation.results.study_results import StudyResults
from annotation.studies.kind import Work
from annotation.studies.rows import csv_file, jsonl_file
from benchmarks.results.computation import CannotCompute
from benchmarks.results.sheet import LONG_COLUMNS, long_rows
from benchmarks.results.stored import fresh
from benchmarks.web.parquet import is_available, parquet

ANNOTATOR_COLUMNS = ("annotator", "joined_at", "left_at")


def files_of(study: Study, *, now: datetime) -> list[StudyFile]:
    """Labels in every selection, what the kind of the study adds, figures, people, guidelines and consent texts.

    Where Parquet can be made, it stands beside the CSV of labels, sessions and figures.
    """
    kind = kind_named(study.kind)
    files = [
        *(_label_files(study, kind) if isinstance(kind, Work) else ()),
        *kind.files(study, now),
        *_figure_files(study, now),
        csv_file("annotators.csv", _("Participants"), ANNOTATOR_COLUMNS, partial(_annotators, study)),
        *(
            StudyFile(f"guidelines/{row.version}.md", _("Guidelines"), partial(_text, row.body))
            for row in study.guidelines.order_by("version")
        ),
        *(
            StudyFile(f"consent/{row.version}.md", _("Consent texts"), partial(_text, row.body))
            for row in agreed_texts(study)
        ),
    ]
    return [one for file in files for one in (file, *_as_parquet(file))]


def _as_parquet(file: StudyFile) -> list[StudyFile]:
    if file.rows is None or not is_available():
        return []
    name = file.name.removesuffix(".csv") + ".parquet"
    return [StudyFile(name, file.title, partial(parquet, file.columns, file.rows))]


def agreed_texts(study: Study) -> list[ConsentText]:
    """The versions of the consent text that people of a study agreed to."""
    found = ConsentText.objects.filter(consents__annotator__memberships__study=study)
    return list(found.distinct().order_by("version"))


def _label_files(study: Study, kind: Work) -> Iterator[StudyFile]:
    for place, (which, title) in enumerate(kind.label_files):
        name = f"labels-{which}" if place else "labels"
        rows = partial(kind.label_rows, study, which)
        yield csv_file(f"{name}.csv", title, kind.label_columns, rows, kind.label_cells)
        yield jsonl_file(f"{name}.jsonl", title, kind.label_columns, rows)


def public_results(study: Study) -> tuple[StudyResults[Any, Any], Any] | None:
    """The results of a study and the options of those that an archive holds; None where its kind has none."""
    results: StudyResults[Any, Any] | None = kind_named(study.kind).results_of(study)
    return None if results is None else (results, results.archived(results.first(study)))


def _figure_files(study: Study, now: datetime) -> Iterator[StudyFile]:
    """All figures that the page of results shows, as the labels are now, people under their pseudonyms."""
    found = public_results(study)
    if found is None:
        return
    results, options = found

    @cache
    def figures() -> Any:
        try:
            return fresh(results.computation, options, clock=lambda: now)
        except CannotCompute as reason:
            return reason

    def plain() -> Iterator[bytes]:
        made = figures()
        values = {"reason": str(made)} if isinstance(made, CannotCompute) else results.as_json(made)
        yield orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def rows() -> Iterator[tuple[Any, ...]]:
        found = figures()
        return (
            iter(()) if isinstance(found, CannotCompute) else long_rows(results.sheet(study, found, QueryDict()))
        )

    yield StudyFile("figures.json", _("Figures"), plain)
    yield csv_file("figures.csv", _("Figures, one in each row"), LONG_COLUMNS, rows)


def _annotators(study: Study) -> Iterator[tuple[str, str, str]]:
    for member in study.memberships.order_by("number"):
        yield (
            member.pseudonym,
            member.joined_at.isoformat(),
            member.left_at.isoformat() if member.left_at else "",
        )


def _text(body: str) -> list[str]:
    return [body.rstrip("\n") + "\n"]
