"""Literal search across all corpora, by the rules of the search beside documents (`scoring.text`)."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from benchmarks.models import Document, Haystack, Insight, Subtopic, Summary
from benchmarks.scoring.text import IGNORABLE, MARKS, fold, fold_grapheme

_BETWEEN = f"[{MARKS}{IGNORABLE}]*"
"""Signs that may stand after any other and make no difference."""
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


KINDS: dict[str, tuple[Callable[[], QuerySet[Any]], str, tuple[str, ...], Callable[[Any], tuple[str, str]]]] = {
    "haystacks": (Haystack.objects.all, "", ("title", "key"), lambda row: (row.title, row.key)),
    "subtopics": (
        lambda: Subtopic.objects.select_related("haystack"),
        "haystack__",
        ("name", "query", "description"),
        lambda row: (row.name, f"{row.query} {row.description}"),
    ),
    "insights": (
        lambda: Insight.objects.select_related("subtopic__haystack"),
        "subtopic__haystack__",
        ("text", "name"),
        lambda row: (row.name or row.key, row.text),
    ),
    "documents": (
        lambda: Document.objects.select_related("haystack"),
        "haystack__",
        ("text", "title"),
        lambda row: (row.title or f"[{row.number}]", row.text),
    ),
    "summaries": (
        lambda: Summary.objects.of_systems().select_related("haystack", "subtopic", "system"),
        "haystack__",
        ("text",),
        lambda row: (f"{row.system} – {row.subtopic.name}", row.text),
    ),
}
"""Rows of a kind, the way to their haystack, the fields searched, and a row's name and the text shown of it."""
SHOWN, A_PAGE = 5, 20
"""Hits of each kind where all are searched, and of one alone: about three screens of a phone."""
MARGIN = 90
SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Hits:
    """A page of the hits of one kind: each row with its haystack, a name, and the words around the first place."""

    kind: str
    page: Page[int]
    rows: list[dict[str, Any]]

    @property
    def n_found(self) -> int:
        """How many there are on all pages."""
        return self.page.paginator.count


def search(text: str, *, only: str = "", number: str | None = None) -> list[Hits]:
    """Find a text in haystacks that are not archived, as the search beside documents does; two queries a kind.

    Case, accents, forms of one sign, kinds of dashes, quotation marks and white space make no difference.

    With `only`, one of `KINDS`, it is searched alone, and `number` is the page of it as an address says it. Fewer
    than two characters find nothing.
    """
    if len(text.strip()) < SHORTEST:
        return []
    if only:
        return [_find(only, text.strip(), A_PAGE, number)]
    by_kind = [_find(kind, text.strip(), SHOWN, None) for kind in KINDS]
    return [hits for hits in by_kind if hits.n_found]


def _find(kind: str, text: str, per_page: int, number: str | None) -> Hits:
    pattern = pattern_of(text)
    rows_of, way, fields, texts_of = KINDS[kind]
    holds = Q(*((f"{field}__regex", pattern) for field in fields), _connector=Q.OR)
    rows = rows_of().filter(holds, **{f"{way}archived_at": None})
    page = Paginator(list(rows.values_list("pk", flat=True)), per_page).get_page(number)
    hits = []
    for row in rows.filter(pk__in=list(page)):
        label, body = texts_of(row)
        before, match, after = _excerpt(body, pattern)
        haystack = row if kind == "haystacks" else row.subtopic.haystack if kind == "insights" else row.haystack
        hits.append(
            {"row": row, "haystack": haystack, "label": label, "before": before, "match": match, "after": after}
        )
    return Hits(kind, page, hits)


def _excerpt(body: str, pattern: str) -> tuple[str, str, str]:
    match = re.search(pattern, body)
    if match is None:
        return body[: 2 * MARGIN], "", "…" if len(body) > 2 * MARGIN else ""
    start, end = max(0, match.start() - MARGIN), min(len(body), match.end() + MARGIN)
    return (
        ("…" if start else "") + body[start : match.start()],
        match[0],
        body[match.end() : end] + ("…" if end < len(body) else ""),
    )
