"""Literal search as a regular expression, by the rules of the search beside documents (`reading/search.js`)."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache, lru_cache

_ACCENTS = "\u0300-\u036f"
_QUOTES = ("'\u2018\u2019", '"\u201c\u201d')
_ACCENTED_LETTERS = (range(0x80, 0x530), range(0x1E00, 0x2000))
"""Latin, Greek and Cyrillic."""


def pattern_of(text: str) -> str:
    """A regular expression for Python and PostgreSQL that finds a text whatever its case, accents and spaces."""
    words = unicodedata.normalize("NFC", text).split()
    return "[\\s\u00a0]+".join("".join(map(_sign, word)) for word in words)


@lru_cache(maxsize=4096)
def _sign(sign: str) -> str:
    for quotes in _QUOTES:
        if sign in quotes:
            return f"[{quotes}]"
    letter = _bare(sign)
    if not letter.isalpha():
        return re.escape(sign)
    alike = {sign, letter, letter.upper(), *_accented()[letter]}
    return f"[{''.join(sorted(each for each in alike if len(each) == 1))}][{_ACCENTS}]*"


@cache
def _accented() -> dict[str, list[str]]:
    """Letters with accents, by the small letter without."""
    accents: dict[str, list[str]] = defaultdict(list)
    for sign in (chr(code) for codes in _ACCENTED_LETTERS for code in codes):
        accents[_bare(sign)].append(sign)
    return accents


def _bare(sign: str) -> str:
    """A sign in lower case and without accents."""
    return re.sub(f"[{_ACCENTS}]", "", unicodedata.normalize("NFD", sign)).lower().replace("ς", "σ") or sign
