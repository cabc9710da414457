"""Numbers and lists as sentences have them, in English."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def counted(n: int, singular: str, many: str) -> str:
    """A number with what it counts; small ones in words."""
    return f"{in_words(n)} {singular if n == 1 else many}"


def in_words(n: int) -> str:
    """A number, a small one in words."""
    return WORDS[n] if n < len(WORDS) else f"{n:,}"


def listed(words: Sequence[str]) -> str:
    """Words in a row, as “a, b and c”."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
