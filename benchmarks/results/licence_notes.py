"""What is said of the judges behind figures, as a part of what is shown of them in files and on a console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.results.judged import LicenceNote
from benchmarks.results.sheet import Measure, Name, Row, Section, Sheet, Table, Unit

LICENCES = "judge_licences"
"""The key of the table, in JSON too."""


def with_licence_notes(sheet: Sheet, said: Sequence[LicenceNote]) -> Sheet:
    """A sheet with a table of the licences of its judges at its end; without judges as it is."""
    if not said:
        return sheet
    title = _("May these judges replace people?")
    rows = tuple(
        Row((note.judge,), {"holds": _("yes") if note.holds else _("no"), "licence": note.text}) for note in said
    )
    measures = (Measure("holds", _("Licence holds"), Unit.TEXT), Measure("licence", _("Licence"), Unit.TEXT))
    table = Table(LICENCES, title, (Name("judge", _("Judge")),), measures, rows)
    return replace(sheet, parts=(*sheet.parts, Section(LICENCES, title, (table,))))


def licence_notes_json(said: Sequence[LicenceNote]) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [{"judge": note.judge, "holds": note.holds, "licence": note.text} for note in said]
