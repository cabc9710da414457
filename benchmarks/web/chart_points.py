"""What a chart is made from, words and points, and how they are said in tooltips, tables and alternative texts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchmarks.scoring.stat import Stat

NAME_LETTERS = 40
"""Letters of a line of a name."""
UNPRINTABLE = re.compile(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Kind(StrEnum):
    """How a point is drawn: on a series' own line, a thin one, a dashed one, alone, or as a rule with a name."""

    MAIN = "main"
    THIN = "thin"
    DASHED = "dashed"
    DOT = "dot"
    ACROSS = "across"
    UPRIGHT = "upright"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure: whose it is, where it stands, its value with interval and n, or the reason why it has none.

    `series` names a row or a line; `group` is what its colour says, the series itself if empty. `place` is the
    name of x where it is no number. A click on it leads to `url`; what `is_marked` has a ring.
    """

    series: str
    value: float | None
    x: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    group: str = ""
    panel: str = ""
    place: str = ""
    reason: str = ""
    kind: Kind = Kind.MAIN
    url: str = ""
    is_marked: bool = False

    @classmethod
    def of(cls, stat: Stat | None, *, factor: float = 1, **more: Any) -> Point:
        """A point of a figure, in another unit with a factor; of None one that is missing."""
        if stat is None:
            return cls(value=None, reason="missing", **more)
        shown = stat.scaled(factor)
        more |= {"low": shown.low, "high": shown.high, "n": stat.n_items or None}
        return cls(value=shown.value, reason=stat.undefined_reason, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a chart; `columns` are headings of the table of its figures that are not the usual ones.

    `value` and `x` say what the values and the places are, at axes and in the table. Without a `text` the figures
    are the alternative text. `digits` are those after the point. Whoever draws it adds words in the `language`.
    """

    name: str
    title: str
    subtitle: str
    value: str
    x: str = ""
    text: str = ""
    digits: int = 1
    columns: Mapping[str, str] = field(default_factory=dict)
    is_small: bool = False
    language: str = field(default_factory=lambda: get_language() or "en")


def clean(text: str) -> str:
    """Text without what XML does not allow: vl-convert would abort the process."""
    return UNPRINTABLE.sub(" ", text)


def wrapped(name: str, letters: int = NAME_LETTERS) -> str:
    """A name in lines, none of it cut off, without control characters, which would end the process that draws."""
    return "\n".join(textwrap.wrap(clean(name), letters)) or clean(name)


def row_of(words: Words, point: Point) -> dict[str, Any]:
    """A point as the spec has it, with what its tooltip says."""
    left_out = {"kind", *(() if point.is_marked else ("is_marked",))}
    row = {
        name: value for name, value in asdict(point).items() if value not in {None, ""} and name not in left_out
    }
    between = _between(point, words)
    row |= {"value": point.value, "group": point.group or point.series, "figure": number(point.value, words)}
    row |= {"place": place_of(point), "between": between, "text": in_words(words, point)}
    if point.reason:
        row["reason"] = wrapped(point.reason, 2 * NAME_LETTERS)
    return row


def in_words(words: Words, point: Point) -> str:
    """A figure with its interval and n as text, or why there is none."""
    name = " · ".join(dict.fromkeys(part for part in (point.panel, point.series, point.group) if part))
    where = "" if point.x is None else f"{words.x} {place_of(point)}".lstrip()
    between = f" ({_between(point, words)})" if point.low is not None else ""
    figure = point.reason if point.value is None else f"{number(point.value, words)}{between}"
    parts = [where, figure, "" if point.n is None else f"n = {point.n:,}"]
    return f"{name}: " + ", ".join(part for part in parts if part)


def number(value: float | None, words: Words, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:{'+' if signed else ''},.{words.digits}f}".replace("-", "−")


def _between(point: Point, words: Words) -> str:
    return "" if point.low is None else f"{number(point.low, words)} – {number(point.high, words)}"


def place_of(point: Point) -> str:
    """Where a point stands along x, as its name or a short number."""
    return point.place or ("" if point.x is None else f"{point.x:,.4g}".replace("-", "−"))


def headings_of(words: Words, points: Iterable[Point]) -> dict[str, str]:
    """The headings of those fields that any point has."""
    usual = {
        "panel": "panel",
        "series": _("name"),
        "group": "group",
        "x": words.x,
        "place": words.x,
        "value": words.value or "value",
        "low": "95 % from",
        "high": "95 % to",
        "n": "n",
        "reason": "remark",
    }
    known = {name for point in points for name in usual if getattr(point, name) not in {None, ""}}
    return {name: words.columns.get(name, title) for name, title in usual.items() if name in known | {"value"}}
