"""How texts are compared: forms of one sign are one, and signs that nobody sees are none.

`static/js/reading/folding.js` does the same in the browser; the cases of `tests/texts.json` hold the two together.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

IGNORABLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Soft hyphens, joiners, fillers, variation selectors, and what else of format has no shape of its own."""
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Accents and vowel signs that are left out as often as written; those of Thai or Devanagari never are."""
DASHES = r"\-\u2010-\u2015\u2212"
"""Dashes of any length, for a class of signs in a pattern."""

_PLAIN = {
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bb\u02bc\u2032\u00b4"), "'"),
    **dict.fromkeys((*range(0x201C, 0x2020), 0x2033), '"'),
}
_UNSEEN = re.compile(f"[{IGNORABLE}]")
_ACCENT = re.compile(f"[{MARKS}]")


class Folded(NamedTuple):
    """A text as it is compared, and where in the original the grapheme of each of its signs starts and ends."""

    text: str
    starts: list[int]
    ends: list[int]


def visible(text: str) -> str:
    """The text as a reader sees it: forms of one sign are one (NFKC), signs that nobody sees are gone."""
    return text if text.isascii() else _UNSEEN.sub("", unicodedata.normalize("NFKC", text))


def with_unseen(text: str) -> str:
    """The text with the codes of signs that nobody sees, as in `a<U+200B>b`."""
    return _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


@lru_cache(maxsize=16)
def fold(text: str, *, exact: bool = False) -> Folded:
    """Fold a text for comparing: white space of any length is one space, dashes and quotation marks are plain.

    One sign may give several, as ligatures do. Unless `exact`, case and `MARKS` make no difference either.
    """
    folded = Folded("", [], [])
    signs: list[str] = []
    for match in _grapheme().finditer(text):
        for sign in fold_grapheme(match[0], exact=exact):
            if sign == " " and signs and signs[-1] == " ":
                continue
            signs.append(sign)
            folded.starts.append(match.start())
            folded.ends.append(match.end())
    return folded._replace(text="".join(signs))


@lru_cache(maxsize=4096)
def fold_grapheme(signs: str, *, exact: bool) -> str:
    """Fold one sign with what joins it; nothing, or several signs, may be left."""
    plain = signs.translate(_PLAIN)
    if not exact:
        plain = _ACCENT.sub("", unicodedata.normalize("NFKD", plain)).lower().replace("ς", "σ")
    plain = visible(plain).translate(_PLAIN)
    return "".join(" " if sign.isspace() else sign for sign in plain)


def same_letters(quote: str, text: str) -> list[tuple[int, int]]:
    """All places of a quote, letter by letter, that cut no grapheme."""
    places = [(at, at + len(quote)) for at in _all(quote, text)]
    return [place for place in places if not any(is_inside(text, edge) for edge in place)]


def same_signs(quote: str, text: str) -> list[tuple[int, int]]:
    """All places of a quote in whole graphemes, whatever the forms of its signs and the space between them."""
    wanted, (signs, starts, ends) = fold(quote, exact=True).text.strip(), fold(text, exact=True)
    places = []
    for at in _all(wanted, signs):
        after = at + len(wanted)
        if starts[at - 1 : at] != starts[at : at + 1] and starts[after - 1 : after] != starts[after : after + 1]:
            places.append((starts[at], ends[after - 1]))
    return places


def _all(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    """The least part of `text` around a place that cuts no grapheme."""
    while is_inside(text, start):
        start -= 1
    while is_inside(text, end):
        end += 1
    return start, end


def is_inside(text: str, at: int) -> bool:
    """Whether a place is within a grapheme, as before an accent that stands by itself."""
    if not 0 < at < len(text) or text[at].isascii():
        return False
    before = at - 2 if text[at - 1] == "\u200d" else at - 1
    return _grapheme().fullmatch(text, max(0, before), at + 1) is not None


@cache
def _grapheme() -> re.Pattern[str]:
    """One sign with the marks, joiners, later parts of Hangul and of emoji that make one shape with it."""
    signs = (chr(code) for code in range(sys.maxunicode + 1))
    marks = "".join(sign for sign in signs if unicodedata.category(sign).startswith("M"))
    joins = f"[{marks}\u200c\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f\U0001f3fb-\U0001f3ff]"
    return re.compile(rf"(?s:.)(?:{joins}|\u200d[\u2190-\u2bff\U0001f000-\U0001faff]?)*")
