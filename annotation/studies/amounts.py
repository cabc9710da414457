"""Times, money, numbers and lists as people write them, and what paid time is worth."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _


def duration(milliseconds: int) -> str:
    """Milliseconds as “1 h 05 min”, to the nearest minute as results have them; below one minute as seconds."""
    seconds = max(0, int(milliseconds)) // 1000
    if 0 < milliseconds < 1000:
        return _("under 1 s")
    if seconds < 60:
        return _("%(n)d s") % {"n": seconds}
    hours, minutes = divmod((seconds + 30) // 60, 60)
    if hours:
        return _("%(hours)d h %(minutes)02d min") % {"hours": hours, "minutes": minutes}
    return _("%(n)d min") % {"n": minutes}


def about_minutes(minutes: float) -> str:
    """Minutes of reading, rounded up, as “61 min” or “1 h 01 min”."""
    rounded = -(-int(minutes * 100) // 100)
    return duration(rounded * 60_000) if rounded else _("under a minute")


def money(amount: Decimal, currency: str) -> str:
    """An amount with its currency, to cents."""
    return f"{number_format(amount, decimal_pos=2, force_grouping=True)} {currency}"


def percent(share: float | str | None) -> str:
    """A share of 1 as percent without decimals; a dash where there is none."""
    return f"{share * 100:.0f} %" if isinstance(share, int | float) else "–"


MS_PER_HOUR = 3_600_000
CENT = Decimal("0.01")


def pay(milliseconds: int, hourly_rate: Decimal) -> Decimal:
    """Pay for this much time, in the currency of the rate."""
    return (Decimal(milliseconds) * hourly_rate / MS_PER_HOUR).quantize(CENT, rounding=ROUND_HALF_UP)


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def counted(n: int, singular: str, many: str) -> str:
    """A number with what it counts; small ones in words."""
    return f"{in_words(n)} {singular if n == 1 else many}"


def in_figures(n: int, singular: str, many: str) -> str:
    return f"{n} {singular if n == 1 else many}"


def in_words(n: int) -> str:
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
