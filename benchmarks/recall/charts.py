"""The charts of key point recall."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmarks.recall.figures import Group, order_of
from benchmarks.recall.systems import Counted
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart, Dots, Kind, Lines, Point, Words

PERCENT = (0.0, 100.0)
DODGE, MOST_DODGE = 0.06, 0.6
"""How far systems stand apart at one length, each and in all, so that their intervals do not cover each other."""


def names_of(groups: Sequence[Group], part: str) -> list[str]:
    """The names of groups: lengths from short to long."""
    return sorted({group.name for group in groups}, key=lambda name: order_of(name, part))


def part_chart(part: str, groups: Sequence[Group], counted: Counted) -> Chart | None:
    """Domains as rows of dots, lengths as lines; None for other parts and where there is too little."""
    names = names_of(groups, part)
    if len(names) < 2:
        return None
    if part == "domain":
        return _domains(names, groups, counted)
    return _lengths(part, names, groups, counted) if part in {"document_length", "response_length"} else None


def caption_of(counted: Counted) -> str:
    """Which questions count, in words."""
    numbers = {"n": counted.n_questions, "all": counted.n_judged}
    if counted.only_common and counted.n_questions == counted.n_judged:
        return "All %(n)d questions, each answered by all systems shown" % numbers
    if counted.only_common:
        return "Only the %(n)d of %(all)d questions that all systems shown answered" % numbers
    return "All %(all)d questions; systems may have answered different ones" % numbers


def _recall(groups: Sequence[Group]) -> dict[tuple[str, str], Stat]:
    return {(group.system, group.name): group.scores.kpr_macro for group in groups}


def _domains(names: Sequence[str], groups: Sequence[Group], counted: Counted) -> Chart:
    recall = _recall(groups)
    points = [
        Point.of(recall.get((system, name)), factor=100, series=name, group=system)
        for name in names
        for system in _systems(groups)
    ]
    words = Words(
        name="by-domain",
        title="In which domains do systems cover more?",
        subtitle=_with_intervals(counted),
        value="key point recall in %",
        columns={"series": "Domain", "group": _("System")},
    )
    return Chart(words, points, Dots(domain=PERCENT, is_dodged=True))


def _systems(groups: Sequence[Group]) -> list[str]:
    return sorted({group.system for group in groups})


def _lengths(part: str, names: Sequence[str], groups: Sequence[Group], counted: Counted) -> Chart:
    if part == "document_length":
        title, x = "Does recall fall with long documents?", "tokens of the documents of a question"
    else:
        title, x = "Which system covers more in responses of one length?", "tokens of the response"
    recall, systems = _recall(groups), _systems(groups)
    middle, dodge = (len(systems) - 1) / 2, min(DODGE, MOST_DODGE / len(systems))
    points = [
        Point.of(
            recall.get((system, name)), factor=100, series=system, x=place + dodge * (at - middle), place=name
        )
        for at, system in enumerate(systems)
        for place, name in enumerate(names)
    ]
    words = Words(
        name=part,
        title=title,
        subtitle=_with_intervals(counted),
        value="key point recall in %",
        x=x,
        columns={"series": _("System")},
    )
    layout = Lines(
        x_domain=(-0.5, len(names) - 0.5),
        domain=PERCENT,
        x_values=tuple(range(len(names))),
        x_names=tuple(names),
        has_bands=False,
    )
    return Chart(words, points, layout)


def _with_intervals(counted: Counted) -> str:
    return f"{caption_of(counted)}; 95 % intervals resample questions."


def length_chart(groups: Sequence[Group], counted: Counted) -> Chart | None:
    """Mean words of each system's responses against its recall, with intervals."""
    points = [
        Point.of(group.scores.kpr_macro, factor=100, series=group.system, x=round(group.words, 1), kind=Kind.DOT)
        for group in groups
    ]
    if all(point.value is None for point in points):
        return None
    words = Words(
        name="lengths",
        title="Do longer responses cover more?",
        subtitle=_with_intervals(counted),
        value="key point recall in %",
        x="mean words of a response",
        columns={"series": _("System")},
    )
    right = max(float(point.x or 0) for point in points) * 1.1 + 1
    return Chart(words, points, Lines(x_domain=(0.0, right), domain=PERCENT, has_bands=False))
