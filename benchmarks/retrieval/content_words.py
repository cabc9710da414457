"""Texts as words that carry content, for the retrievers that compare words."""

from __future__ import annotations

from functools import cache

from benchmarks.judges.lexical_terms import words

_LISTS = {
    "da": "DANISH",
    "de": "GERMAN",
    "en": "EN_PLUS",
    "es": "SPANISH",
    "fr": "FRENCH",
    "it": "ITALIAN",
    "nl": "DUTCH",
    "no": "NORWEGIAN",
    "pt": "PORTUGUESE",
    "ru": "RUSSIAN",
    "sv": "SWEDISH",
    "tr": "TURKISH",
}


def content_words(text: str, language: str) -> list[str]:
    """Words and numbers in lower case, in order, without the stop words of the language.

    A text of stop words only keeps them, so that a query always asks for something. Languages without a list keep
    all words; scripts that put no spaces between words give single characters.
    """
    all_words = words(text)
    telling = [word for word in all_words if word not in stop_words(language)]
    return telling or all_words


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that say nothing of a text's subject; none for languages without a list."""
    import bm25s.stopwords

    name = _LISTS.get(language.lower().partition("-")[0])
    if name is None:
        return frozenset()
    return frozenset(part for word in getattr(bm25s.stopwords, f"STOPWORDS_{name}") for part in words(word))
