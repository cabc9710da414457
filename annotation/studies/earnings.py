"""What paid time is worth. Pay is worked out from milliseconds and rounded once, to cents.

Pages and files that show paid time take it from here.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

MS_PER_HOUR = 3_600_000
CENT = Decimal("0.01")


def paid_ms(milliseconds: int, hourly_rate: Decimal) -> int:
    """How much of so much active time (ms) is paid: all of it, unless the study pays nothing."""
    return milliseconds if hourly_rate > 0 else 0


def pay(milliseconds: int, hourly_rate: Decimal) -> Decimal:
    """What this much time is worth, in the currency of the rate."""
    return (Decimal(milliseconds) * hourly_rate / MS_PER_HOUR).quantize(CENT, rounding=ROUND_HALF_UP)
