"""How texts are compared, and a summary as numbered lines: what kind each is, what it cites, how long it is.

Links and verdicts point at 1-based line numbers. Standard library only: pages that show a summary load this.
Forms of one sign are one, and signs that nobody sees are none: `static/js/reading/folding.js` does the same in the
browser; the cases of `tests/texts.json` hold the two together.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from benchmarks.scoring.stat import Stat, mean

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


MAX_RANGE = 500
"""Documents that one range may cite; a longer one names its two ends only, so that it shows as a problem."""

_GLYPHS = "•◦‣▪▫●○■□·∙⁃"
_MARKER = re.compile(
    rf"""\s*(?:
        [{_GLYPHS}]+\s*                         # a typographic bullet, with or without a space
        | [-–—+*](?=\s|$)\s*                    # a typed one, with a space
        | [-–](?=[^\W\d])                       # ... or before a letter
        | \(?\d{{1,3}}[.)](?=\s|$|[^\W\d]|\*)\s*  # 1. or 1) or (1)
        | \(?[a-z]\)\s+                         # a) or (a)
    )""",
    re.VERBOSE,
)
_HEADING = re.compile(r"\s*#{1,6}(?=\s|[^\W\d]|\d)")
_BOLD_ONLY = re.compile(r"\s*(?:\*\*(?!\s)[^*]+\*\*|__(?!\s)[^_]+__)\s*:?\s*$")
_NOTE = re.compile(r"\s*(?:\[[^\[\]]*\]|\(?\s*(?:total\s+)?word\s*count\W*\d+\W*(?:words\W*)?)\s*$", re.IGNORECASE)

_CITATION = re.compile(rf"\[[\s,;]*(\d{{1,9}}(?:[\s,;&{DASHES}]+\d{{1,9}})*)[\s,;]*\]")
_PART = re.compile(rf"(\d+)(?:\s*[{DASHES}]\s*(\d+))?")
_WORD = re.compile(r"\S*[^\W_]\S*")
"""A run of signs between spaces with a letter or a digit among them."""
_SIGNS = re.compile(r" (?:[^\w ]|_)+(?= |$)")
"""The other runs, where one space stands before each run: they are no words."""
_TO_JOIN = re.compile(r" [*_]*[.,;:!?][^ ]")
"""Signs after a citation that belong to the word before it, with more than themselves; spaced likewise."""
_TITLE_MARKS = re.compile(r"^\s*#{1,6}\s+")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_RUN = re.compile(r"\s{2,}")
BY_SPACES = "words by spaces, over lines"
_LINE_BREAK = re.compile("\r\n|[\r\n\u2028\u2029]")


class LineKind(StrEnum):
    """Kinds of lines of a summary; only bullets get a bullet number and count for length."""

    BULLET = "bullet"
    HEADER = "header"
    PREAMBLE = "preamble"
    OTHER = "other"


class Line(NamedTuple):
    """One line of a summary.

    `number` counts lines from 1, `bullet` counts bullets from 1 (None for the rest). `text` is the line as it is,
    `start` the place after its marker; `mentions` are the numbers it cites, in order, as often as it cites them;
    `n_words` are the words of `plain` that have a letter or digit.
    """

    number: int
    text: str
    kind: LineKind
    bullet: int | None
    start: int
    mentions: tuple[int, ...]
    n_words: int

    @property
    def plain(self) -> str:
        """The line without marker, bold marks and citations."""
        return _plain(self.text, self.start)

    @property
    def citations(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.mentions))

    @property
    def is_bullet(self) -> bool:
        return self.kind is LineKind.BULLET


def citation_pieces(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """`text` in pieces with the numbers that are cited after each; the brackets themselves are left out."""
    parts = _CITATION.split(text)
    cited = [_numbers([group]) for group in parts[1::2]]
    return [piece for piece in zip(parts[::2], [*cited, ()], strict=True) if any(piece)]


def _numbers(groups: Iterable[str]) -> tuple[int, ...]:
    """Numbers in citation brackets, in order and as often as they are cited.

    These are brackets that hold numbers and separators only: `[3, 7]`, `[3][7]`, `[3; 7]`, `[1 2]`, and ranges
    `[1-3]` with any dash. Digits may be of any script (`[４]` cites 4), brackets may not (`【4】` cites nothing).
    A reversed range, or one over `MAX_RANGE` long, cites its two ends.
    """
    numbers: tuple[int, ...] = ()
    for group in groups:
        numbers += _numbers_in(group)
    return numbers


@lru_cache(maxsize=1_000)  # summaries of a haystack cite the same few documents
def _numbers_in(group: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in _PART.finditer(group):
        first, last = int(part[1]), int(part[2] or part[1])
        numbers.extend(range(first, last + 1) if 0 <= last - first < MAX_RANGE else (first, last))
    return tuple(numbers)


def without_citations(text: str) -> str:
    """`text` without its citation brackets, and without the spaces they leave behind."""
    bare = _CITATION.sub(" ", text) if "[" in text else text
    if bare == text:
        return " ".join(text.split())
    return re.sub(r"\s+([.,;:!?])", r"\1", " ".join(bare.split()))


def lines_from_list(texts: Sequence[str]) -> tuple[Line, ...]:
    """Lines of a published summary: one for each element, empty ones too, numbered by position."""
    shapes = [_shape(text) for text in texts]
    first_marked = next((index for index, shape in enumerate(shapes) if shape.marker), None)
    opening = None
    if first_marked is None:
        prose = (index for index, text in enumerate(texts) if _is_prose(text, shapes[index]))
        opening = next(prose, None)
    return tuple(_numbered(texts, shapes, first_marked=first_marked, opening=opening))


def lines_from_text(text: str) -> tuple[Line, ...]:
    """Lines of a freely typed summary: split at line breaks, blank lines dropped before numbering."""
    return lines_from_list(split_text(text))


def split_text(text: str) -> list[str]:
    """The lines of a freely typed text that are not blank; joined with newlines they are its stored form."""
    return [line.rstrip() for line in _LINE_BREAK.split(text) if line.strip()]


def bullets(lines: Sequence[Line]) -> tuple[Line, ...]:
    return tuple(line for line in lines if line.is_bullet)


def words_per_bullet(lines: Sequence[Line], *, all_lines: bool = False) -> Stat:
    """Mean words of the bullets; with `all_lines`, of every line that has words (headers, preamble, rest)."""
    counted: list[float] = [line.n_words for line in lines if (line.n_words if all_lines else line.is_bullet)]
    of = "line" if all_lines else "bullet"
    return mean(counted, reason=f"no {of}s", method=f"words per {of}")


def words_with_citations(lines: Sequence[Line]) -> Stat:
    """Mean words of the bullets as white space parts them, citations and bullet marks among them (Table 4)."""
    counted: list[float] = [len(line.text.split()) for line in lines if line.is_bullet]
    return mean(counted, reason="no bullets", method="words per bullet, citations counted")


def words_by_spaces(lines: Sequence[Line]) -> Stat:
    """Words of all lines together, as spaces part them, over the number of lines (the authors' code for Table 4).

    Two or more characters of white space are one space; a lone line break parts no words.
    """
    if not lines:
        return Stat.undefined("no lines", method=BY_SPACES)
    joined = _RUN.sub(" ", "\n".join(line.text for line in lines))
    return Stat((joined.count(" ") + 1) / len(lines), n_items=len(lines), method=BY_SPACES)


def _numbered(
    texts: Sequence[str], shapes: Sequence[_Shape], *, first_marked: int | None, opening: int | None
) -> Iterator[Line]:
    n_bullets = 0
    for index, (text, (heading, marker, is_bold)) in enumerate(zip(texts, shapes, strict=True)):
        start = heading or marker
        apart = _CITATION.split(text) if "[" in text else [text]
        n_words = _n_words(text, start, " ".join(apart[::2]))
        if n_words == 0 or _NOTE.match(text):
            kind = LineKind.OTHER
        elif heading or is_bold:
            kind = LineKind.HEADER
        elif marker:
            kind = LineKind.BULLET
        elif first_marked is not None:
            kind = LineKind.PREAMBLE if index < first_marked else LineKind.OTHER
        else:
            leads_in = index == opening and index + 1 < len(texts) and _plain(text, start).endswith(":")
            kind = LineKind.PREAMBLE if leads_in else LineKind.BULLET
        bullet = None
        if kind is LineKind.BULLET:
            n_bullets += 1
            bullet = n_bullets
        yield Line(index + 1, text, kind, bullet, start, _numbers(apart[1::2]), n_words)


def _plain(text: str, start: int) -> str:
    return without_citations(text[start:].replace("**", "").replace("__", ""))


def _n_words(text: str, start: int, uncited: str) -> int:
    """The words of the plain line, mostly counted without making it: bold marks part no words."""
    runs = uncited[start:].split()
    spaced = " " + " ".join(runs)
    if "[" in text and ("[" in uncited or _TO_JOIN.search(spaced)):
        return len(_WORD.findall(_plain(text, start)))
    return len(runs) - len(_SIGNS.findall(spaced))


class _Shape(NamedTuple):
    """Where the mark of a heading that starts a line ends, or that of a bullet (0: none); or all of it is bold."""

    heading: int = 0
    marker: int = 0
    is_bold: bool = False


def _shape(text: str) -> _Shape:
    first = text.lstrip()[:1]
    if first == "#" and (heading := _HEADING.match(text)):
        return _Shape(heading=heading.end())
    if first in {"*", "_"} and _BOLD_ONLY.match(text):
        return _Shape(is_bold=True)
    marker = _MARKER.match(text)
    return _Shape(0, marker.end() if marker else 0)


def _is_prose(text: str, shape: _Shape) -> bool:
    return bool(text.strip()) and not (shape.heading or shape.is_bold or _NOTE.match(text))


def without_emphasis(title: str) -> str:
    """A title as people read it, without Markdown's marks for headings, strong, emphasis and code.

    Marks inside words stay (`2*3*4`, `snake_case_name`), and so does a title that is nothing but marks.
    """
    plain = _TITLE_MARKS.sub("", title).strip()
    while (shorter := _EMPHASIS.sub(lambda match: match[2], plain)) != plain:
        plain = shorter
    return plain.removeprefix("**").removesuffix("**").strip() or title
