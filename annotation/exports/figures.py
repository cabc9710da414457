"""Results in an archive: figures, a table for a paper of each, charts, and the judges behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.http import QueryDict

from annotation.kinds import Headline, StudyFile, kind_named
from annotation.models import Study
from annotation.results.study_results import StudyResults
from annotation.studies.rows import csv_file, origin_of
from benchmarks.models import Judge
from benchmarks.results.approval_notes import as_comments, with_approval_notes
from benchmarks.results.computation import CannotCompute
from benchmarks.results.drawings import file_now
from benchmarks.results.judged import ApprovalNote, approval_notes
from benchmarks.results.sheet import Sheet, Table
from benchmarks.results.stored import Shown, fresh, look_up_many
from benchmarks.results.writing import LONG_COLUMNS, Origin, long_rows, paper_layout, tex
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import json_file

Draw = Callable[[Chart, str], bytes | None]
"""Gives the file of a chart with an ending, None where it cannot be drawn."""
DRAWN = ("svg", "vl.json")
"""The files of a chart in an archive."""
UNTOLD = ("api_key", "base_url", "endpoint", "headers")
"""Settings of a judge that are of this site, not of the judge."""
LONGEST_SETTING = 400
"""Longer settings are prompts and examples, which could leak a benchmark into training data."""


@dataclass(frozen=True, slots=True)
class Made:
    """Figures as plain values and laid out, where they come from, how far people agree, and what is known of the
    judges that they are by.

    `reason` says why there are none.
    """

    plain: Any
    sheet: Sheet
    origin: Origin
    headline: Headline | None = None
    notes: Sequence[ApprovalNote] = ()
    reason: str = ""

    @property
    def tables(self) -> list[Table]:
        """The tables for a paper: listings are for the page."""
        return [table for table in self.sheet.tables if table.rows and table.measures and not table.is_listing]


def draw_now(chart: Chart, ending: str) -> bytes | None:
    """The file of a chart, drawn here: for commands."""
    return file_now(chart, ending).content


def public_results(study: Study) -> tuple[StudyResults[Any, Any], Any] | None:
    """The results of a study and the options of those that an archive holds; None where its kind has none."""
    results: StudyResults[Any, Any] | None = kind_named(study.kind).results_of(study)
    return None if results is None else (results, results.archived(results.first(study)))


def figures_of(study: Study, *, now: datetime) -> Made | None:
    """All figures that the page of results shows, as the labels are now, people under their pseudonyms."""
    public = public_results(study)
    if public is None:
        return None
    results, options = public
    try:
        figures = fresh(results.computation, options, clock=lambda: now)
    except CannotCompute as reason:
        return Made({"reason": str(reason)}, Sheet(()), origin_of(study), reason=str(reason))
    return made_of(study, public, figures, version=results.computation.version(options))


def stored(study: Study, *, now: datetime, with_notes: bool = False) -> tuple[Shown[Any] | None, Made | None]:
    """How the figures of a study stand, and these as they are stored; None where it has none."""
    public = public_results(study)
    if public is None:
        return None, None
    shown = look_up_many(public[0].computation, [public[1]], now=now)[0]
    if shown.figures is None:
        return shown, None
    return shown, made_of(study, public, shown.figures, version=shown.version, with_notes=with_notes)


def made_of(study: Study, public: Any, figures: Any, *, version: str, with_notes: bool = True) -> Made:
    """Stored figures of a study laid out; `public` as `public_results` gives it."""
    results, options = public
    notes = approval_notes(results.judged(study, options, figures)) if with_notes else ()
    return Made(
        results.as_json(figures),
        with_approval_notes(results.sheet(study, figures, QueryDict()), notes),
        results.origin(study, figures, version=version),
        results.headline(figures),
        notes,
    )


def result_files(made: Made, *, draw: Draw) -> Iterator[StudyFile]:
    """Figures as plain values and one in each row, tables in LaTeX, charts with their specs, judges."""
    yield StudyFile("figures.json", "Figures", partial(json_file, made.plain))
    yield csv_file("figures.csv", "Figures, one in each row", LONG_COLUMNS, lambda: iter(long_rows(made.sheet)))
    said = as_comments(made.notes)
    for table in made.tables:
        content = partial(_whole, said + tex(table, origin=made.origin))
        yield StudyFile(f"tables/{table.key}.tex", f"{table.title}, for LaTeX", content)
    if layout := paper_layout(made.sheet, origin=made.origin):
        key, text = layout
        yield StudyFile(f"tables/{key}.tex", "Systems by retriever, as in the paper", partial(_whole, said + text))
    for chart in made.sheet.charts:
        for ending in DRAWN:
            if (drawn := draw(chart, ending)) is not None:
                yield StudyFile(f"charts/{chart.name}.{ending}", chart.words.title, partial(_whole, drawn))
    if judges := judges_in(made):
        yield StudyFile("judges.json", "Judges: settings and approvals", partial(json_file, judges))


def judges_in(made: Made) -> list[dict[str, Any]]:
    """The settings of the judges behind figures, and whether each may stand in for people."""
    said = {note.judge: note for note in made.notes}
    named = {made.origin.judge, *said, *_strings(made.plain)}
    judges = [judge for judge in Judge.objects.counted().order_by("name", "version") if str(judge) in named]
    return [
        {
            **about_judge(judge),
            "approval": None
            if (note := said.get(str(judge))) is None
            else {"holds": note.holds, "text": note.text},
        }
        for judge in judges
    ]


def about_judge(judge: Judge) -> dict[str, Any]:
    return {
        "name": judge.name,
        "version": judge.version,
        "kind": judge.kind,
        "settings": settings_of(judge),
        "settings_sha256": judge.config_sha256,
    }


def settings_of(judge: Judge) -> dict[str, Any]:
    """The settings of a judge without prompts, which its hash stands for, and what only this site needs."""
    return {
        name: value
        for name, value in judge.config.items()
        if name not in UNTOLD and all(len(text) <= LONGEST_SETTING for text in _strings(value))
    }


def _strings(value: Any) -> set[str]:
    """The texts in a plain value, however deep."""
    texts, waiting = set[str](), [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            texts.add(part)
        elif isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return texts


def _whole(content: str | bytes) -> list[str | bytes]:
    return [content]
