"""Literal search as a regular expression, by the rules of the search beside documents (`scoring.folding`)."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache, lru_cache

from benchmarks.scoring.folding import IGNORABLE, MARKS, fold, fold_grapheme

_BETWEEN = f"[{MARKS}{IGNORABLE}]*"
"""What may stand after any sign and makes no difference."""
_WITH_FORMS = (range(0x21, 0x3400), range(0xA640, 0xAC00), range(0xF900, 0x10000))
"""Signs of the basic plane but ideographs, Hangul and those for private use, which have no other forms."""
_LONGEST = 4


def pattern_of(text: str) -> str:
    """A regular expression for Python and PostgreSQL that finds a text, or whole ligatures, as `fold` compares."""
    return f"[\\s\u00a0]+[{IGNORABLE}]*".join(map(_word, fold(text).text.split()))


def _word(word: str) -> str:
    pattern, at = "", 0
    while at < len(word):
        size = next((n for n in range(_LONGEST, 1, -1) if word[at : at + n] in _forms()), 1)
        pattern += _ways(word[at : at + size])
        at += size
    return pattern


@lru_cache(maxsize=4096)
def _ways(signs: str) -> str:
    """All ways to write a sign, or several that may be one, as in ligatures."""
    ways = [
        _any_of(_forms().get(signs[:n], signs[:n])) + _BETWEEN + (_ways(signs[n:]) if signs[n:] else "")
        for n in range(len(signs), 0, -1)
        if n == 1 or signs[:n] in _forms()
    ]
    parts = unicodedata.normalize("NFD", signs)
    if len(signs) == 1 and parts != signs:
        ways.append("".join(map(_ways, parts)))
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _any_of(signs: str) -> str:
    return f"[{signs}]" if signs.isalnum() else f"(?:{'|'.join(map(re.escape, signs))})"


@cache
def _forms() -> dict[str, str]:
    """The signs that give a folded sign, or several; each of one is among its own."""
    forms: dict[str, str] = defaultdict(str)
    for sign in (chr(code) for codes in _WITH_FORMS for code in codes):
        folded = fold_grapheme(sign, exact=False)
        if folded and len(folded) <= _LONGEST and " " not in folded:
            forms[folded] += sign
    return dict(forms)
