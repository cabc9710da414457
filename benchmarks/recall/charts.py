"""The charts of key point recall."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmarks.recall.figures import lengths
from benchmarks.recall.systems import Compared, CrossTable
from benchmarks.scoring.keypoints import recall
from benchmarks.web.chart_lines import lines
from benchmarks.web.chart_marks import dots
from benchmarks.web.chart_points import Kind, Point, Words
from benchmarks.web.charts import Chart

PERCENT = (0.0, 100.0)
DODGE, MOST_DODGE = 0.06, 0.6
"""How far systems stand apart at one length, each and in all, so that their intervals do not cover each other."""


def part_chart(table: CrossTable, found: Compared) -> Chart | None:
    """Domains as rows of dots, lengths as lines; None for other parts and where there is too little."""
    if len(table.groups) < 2 or not table.rows:
        return None
    if table.part == "domain":
        return _domains(table, found)
    return _lengths(table, found) if table.part in {"document_length", "response_length"} else None


def caption_of(found: Compared) -> str:
    """Which questions count, in words."""
    numbers = {"n": found.n_questions, "all": found.n_judged}
    if found.only_common and found.n_questions == found.n_judged:
        return _("All %(n)d questions, each answered by all systems shown") % numbers
    if found.only_common:
        return _("Only the %(n)d of %(all)d questions that all systems shown answered") % numbers
    return _("All %(all)d questions; systems may have answered different ones") % numbers


def _domains(table: CrossTable, found: Compared) -> Chart:
    points = [
        Point.of(cells[at].stat, factor=100, series=group, group=system)
        for at, group in enumerate(table.groups)
        for system, cells in table.rows
    ]
    words = Words(
        name="by-domain",
        title=_("In which domains do systems cover more?"),
        subtitle=_with_intervals(found),
        value=_("key point recall in %"),
        columns={"series": _("Domain"), "group": _("System")},
    )
    return dots(words, points, domain=PERCENT, is_dodged=True)


def _lengths(table: CrossTable, found: Compared) -> Chart:
    if table.part == "document_length":
        title, x = _("Does recall fall with long documents?"), _("words of the documents of a question")
    else:
        title, x = _("Which system covers more in responses of one length?"), _("words of the response")
    middle, dodge = (len(table.rows) - 1) / 2, min(DODGE, MOST_DODGE / len(table.rows))
    points = [
        Point.of(cells[place].stat, factor=100, series=system, x=place + dodge * (at - middle), place=name)
        for at, (system, cells) in enumerate(table.rows)
        for place, name in enumerate(table.groups)
    ]
    words = Words(
        name=table.part,
        title=title,
        subtitle=_with_intervals(found),
        value=_("key point recall in %"),
        x=x,
        columns={"series": _("System")},
    )
    return lines(
        words,
        points,
        x_domain=(-0.5, len(table.groups) - 0.5),
        domain=PERCENT,
        x_values=range(len(table.groups)),
        x_names=table.groups,
        has_bands=False,
    )


def _with_intervals(found: Compared) -> str:
    return _("%(questions)s; 95 %% intervals resample questions.") % {"questions": caption_of(found)}


def length_chart(found: Compared) -> Chart | None:
    """Mean words of each system's responses against its recall, with intervals."""
    rows = found.table.rows
    points: Sequence[Point] = [
        Point.of(
            recall([row.answer for row in rows if row.system == system]),
            factor=100,
            series=system,
            x=round(length, 1),
            kind=Kind.DOT,
        )
        for system, (length, _mean) in lengths(rows).items()
    ]
    if all(point.value is None for point in points):
        return None
    words = Words(
        name="lengths",
        title=_("Do longer responses cover more?"),
        subtitle=_with_intervals(found),
        value=_("key point recall in %"),
        x=_("mean words of a response"),
        columns={"series": _("System")},
    )
    right = max(float(point.x or 0) for point in points) * 1.1 + 1
    return lines(words, points, x_domain=(0.0, right), domain=PERCENT, has_bands=False)
