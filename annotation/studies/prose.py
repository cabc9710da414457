"""Numbers and lists as sentences have them, in English."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def counted(n: int, singular: str, many: str) -> str:
    """A number with what it counts; small ones in words."""
    return f"{in_words(n)} {singular if n == 1 else many}"


def in_figures(n: int, singular: str, many: str) -> str:
    """The same in figures, as pages have it."""
    return f"{n} {singular if n == 1 else many}"


def in_words(n: int) -> str:
    """A number, a small one in words."""
    return WORDS[n] if n < len(WORDS) else f"{n:,}"


def listed(words: Sequence[str]) -> str:
    """Words in a row, as “a, b and c”."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def went(n: int, *, is_done: bool) -> str:
    """The verb for what was assigned, or was to be, of n."""
    return "went" if is_done else "was to go" if n == 1 else "were to go"


def so_far(n_enough: int, n: int, singular: str, many: str) -> str:
    """How many of n have enough people; empty where all have."""
    if n_enough == n:
        return ""
    enough = in_words(n_enough) if n_enough else "none"
    return f"So far {enough} of {counted(n, singular, many)} {'has' if n_enough < 2 else 'have'} as many."
