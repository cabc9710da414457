"""A summary as its linker sees it: lines with a letter each, without a clue to who wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters

from django.utils.text import Truncator
from django.utils.translation import gettext as _

from benchmarks.models import Summary
from benchmarks.scoring.text import Line, LineKind, lines_from_list

SPARE_LETTERS = "abcdeghilmnopqrtvwyz"
"""Without the letters that are keys of the page: f, j, k, s, u, x."""
QUOTED = 48
"""Characters of a bullet that tell which one is meant."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line of a summary (its number counts from 1), without marker, bold marks and citations.

    Headings and lead-ins have no key and cannot be linked. The key is a letter, from the twenty-first bullet on a
    capital one, from the forty-first on nothing. By touch there are no keys, so no letter is left out: there a
    bullet has its `letter`.
    """

    number: int
    text: str
    is_linkable: bool
    name: str = ""
    key: str = ""
    letter: str = ""


def bullets_of(summary: Summary) -> tuple[Bullet, ...]:
    """The lines of a summary that hold words, those that can be linked counted as `name`, 1 to n."""
    shown: list[Bullet] = []
    n_linkable = 0
    for line in lines_from_list(summary.lines):
        if not line.n_words:
            continue
        is_linkable = _is_linkable(line)
        if is_linkable:
            n_linkable += 1
            shown.append(Bullet(line.number, line.plain, True, str(n_linkable), *_letters(n_linkable)))
        else:
            shown.append(Bullet(line.number, line.plain, False))
    return tuple(shown)


def quoted(summary: Summary, lines: Iterable[int]) -> str:
    """Bullets by their first words, which say the same on every device and away from the page."""
    begins = {bullet.number: Truncator(bullet.text.rstrip(".")).chars(QUOTED) for bullet in bullets_of(summary)}
    return ", ".join(_("“%(words)s”") % {"words": begins.get(line, line)} for line in lines)


def linkable_numbers(summary: Summary) -> frozenset[int]:
    """The numbers of the lines that a label may point at."""
    return _linkable_numbers(summary.text)


@lru_cache(maxsize=256)
def _linkable_numbers(text: str) -> frozenset[int]:
    lines = Summary(text=text).lines
    return frozenset(line.number for line in lines_from_list(lines) if _is_linkable(line))


def _is_linkable(line: Line) -> bool:
    return bool(line.n_words) and line.kind not in {LineKind.HEADER, LineKind.PREAMBLE}


def _letters(place: int) -> tuple[str, str]:
    """The key and the letter of a bullet."""
    keys = SPARE_LETTERS + SPARE_LETTERS.upper()
    return keys[place - 1 : place], ascii_letters[place - 1 : place]
