"""Extraction recall laid out: how many of the points that people named were extracted, and which were not."""

from __future__ import annotations

from django.utils.translation import ngettext

from benchmarks.recall.extraction import Compared, Recalled
from benchmarks.results.sheet import Measure, Name, Row, Section, Sheet, Table, Unit


def extraction_sheet(recalled: Recalled) -> Sheet:
    """How many of the points that people named are among the extracted ones, and which are not."""
    measures = (
        Measure("n", "Points", Unit.COUNT),
        Measure("micro", "Found, pooled", Unit.SHARE, has_badge=False),
        Measure("macro", "Mean of questions", Unit.SHARE, has_badge=False),
        Measure("accuracy", "Says what people say", Unit.SHARE, has_badge=False),
    )
    rows = (
        Row(("people",), {"n": recalled.n_labelled, **recalled.people}, is_people=True),
        Row(
            ("offline judge",),
            {
                "n": len(recalled.points),
                **recalled.lexical,
                **({"accuracy": recalled.agreement} if recalled.n_labelled else {}),
            },
        ),
    )
    n = recalled.n_questions
    about = ngettext("%(n)d question", "%(n)d questions", n) % {"n": n}
    about = f"{about}; 95 % intervals resample questions."
    names = (Name("by", "Looked for by"),)
    table = Table("extraction", "Extraction recall", names, measures, rows, about=about)
    missing = tuple(_missing(point) for point in recalled.not_found)
    return Sheet((table, *([_not_found(missing)] if missing else ())))


def _not_found(rows: tuple[Row, ...]) -> Section:
    names = (
        Name("question", "Question", is_filter=True),
        Name("system", "Response of", is_filter=True),
        Name("point", "Named point"),
        Name("closest", "Closest extracted point"),
        Name("by", "Said by", is_filter=True),
    )
    return Section("not-found", "Not found", (Table("missing", "Not found", names, (), rows, find="point"),))


def _missing(point: Compared) -> Row:
    said_by = "offline judge" if point.named.found is None else "people"
    return Row((point.named.question, point.named.system, point.named.text, point.closest, said_by), {})
