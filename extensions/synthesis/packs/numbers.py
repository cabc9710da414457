"""Numbers, shares, times and days in words of plain English; no locale is asked."""

from __future__ import annotations

_ONES = (
    *("nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    1: "first",
    2: "second",
    3: "third",
    5: "fifth",
    8: "eighth",
    9: "ninth",
    12: "twelfth",
    20: "twentieth",
    30: "thirtieth",
}
_SHARES = {
    10: "a tenth",
    20: "a fifth",
    25: "a quarter",
    33: "a third",
    40: "two fifths",
    50: "half",
    60: "three fifths",
    67: "two thirds",
    75: "three quarters",
    80: "four fifths",
    90: "nine tenths",
}
NEAR = 3
"""Points by which a share may miss a simple one and still be named after it."""
HIGHEST = 999_999


def in_words(number: int) -> str:
    """A whole number from 0 to 999,999: “three hundred and forty”.

    Raises:
        ValueError: it is out of range.
    """
    if not 0 <= number <= HIGHEST:
        raise ValueError(f"{number} is not from 0 to {HIGHEST:,}")
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    joint = " and " if 0 < rest < 100 else " "
    return f"{in_words(thousands)} thousand" + (f"{joint}{in_words(rest)}" if rest else "")


def share_in_words(percent: int) -> str:
    """A share: “exactly a quarter”, “just over a quarter”, or “forty-five per cent” if no simple one is near."""
    nearest = min(_SHARES, key=lambda simple: (abs(simple - percent), simple))
    distance = percent - nearest
    if not distance:
        return f"exactly {_SHARES[nearest]}"
    if abs(distance) <= NEAR:
        return f"just {'over' if distance > 0 else 'under'} {_SHARES[nearest]}"
    return f"{in_words(percent)} per cent"


def ordinal(day: int) -> str:
    """A day of a month: “fourteenth”."""
    tens, ones = divmod(day, 10)
    if day in _ORDINALS:
        return _ORDINALS[day]
    if day > 20:
        return f"{_TENS[tens]}-{ordinal(ones)}"
    return f"{in_words(day)}th"


def time_in_words(minute: int) -> str:
    """A time of day, in quarters of an hour from midnight on: “a quarter past seven in the morning”.

    Raises:
        ValueError: it is no quarter of an hour.
    """
    hour, rest = divmod(minute, 60)
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 17 else "in the evening"
    if rest not in (0, 15, 30, 45):
        raise ValueError(f"{clock(minute)} has no short words")
    name = in_words((hour + (rest == 45) - 1) % 12 + 1)
    named = {
        0: f"{name} o'clock",
        15: f"a quarter past {name}",
        30: f"half past {name}",
        45: f"a quarter to {name}",
    }
    return f"{named[rest]} {part}"


def clock(minute: int) -> str:
    """A time of day in figures: “7:15 am”."""
    hour, rest = divmod(minute, 60)
    return f"{(hour - 1) % 12 + 1}:{rest:02d} {'am' if hour < 12 else 'pm'}"
