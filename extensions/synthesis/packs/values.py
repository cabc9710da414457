"""Values of slots: the kinds that there are, every form in which a text may say one, and where it is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from extensions.synthesis.checks import Plan

_ONES = (
    *("nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth", 20: "twentieth",
    30: "thirtieth",
}  # fmt: skip
_SHARES = {
    10: "a tenth", 20: "a fifth", 25: "a quarter", 33: "a third", 40: "two fifths", 50: "half", 60: "three fifths",
    67: "two thirds", 75: "three quarters", 80: "four fifths", 90: "nine tenths",
}  # fmt: skip
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
    named = {0: f"{name} o'clock", 15: f"a quarter past {name}", 30: f"half past {name}"}
    return f"{named.get(rest, f'a quarter to {name}')} {part}"


def clock(minute: int) -> str:
    """A time of day in figures: “7:15 am”."""
    hour, rest = divmod(minute, 60)
    return f"{(hour - 1) % 12 + 1}:{rest:02d} {'am' if hour < 12 else 'pm'}"


Forms = tuple[str, ...]
"""All ways to write one value."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)\b"
)
NEIGHBOURS = 2
"""Sentences within which all values of a fact stand."""
WORDS, PLURAL = "words", "plural"
_DAYS = dict(zip(MONTHS, (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), strict=True))


@dataclass(frozen=True, slots=True)
class Value:
    """The filling of a slot: its figures and words, all forms that mean it, and its number for rules."""

    text: str
    words: str
    forms: tuple[str, ...]
    number: float | None = None
    plural: str = ""

    def shown(self, form: str) -> str:
        """The value in figures (""), in words or as a plural."""
        return {"": self.text, WORDS: self.words, PLURAL: self.plural}[form]

    def clashes(self, said: set[str]) -> bool:
        """Whether a reader could take it for a value that is `said_by` others: one of its forms is theirs."""
        return any(form.lower() in said for form in self.forms)


def said_by(values: Iterable[Value]) -> set[str]:
    """All forms of some values, in lower case."""
    return {form.lower() for value in values for form in value.forms}


class _Slot(BaseModel):
    """`rule` compares it with slots above it; `each = "document"` draws it anew for every document."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    forms: ClassVar[frozenset[str]] = frozenset({"", WORDS})
    rule: str = ""
    each: Literal["world", "document"] = "world"

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """All it can take, in a fixed order."""
        raise NotImplementedError


class _Range(_Slot):
    lo: int
    hi: int
    step: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _in_order(self) -> _Range:
        if not 0 <= self.lo <= self.hi <= HIGHEST:
            raise ValueError(f"lo and hi must be in this order, from 0 to {HIGHEST:,}")
        return self

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(map(self._value, range(self.lo, self.hi + 1, self.step)))

    def _value(self, number: int) -> Value:
        raise NotImplementedError


class Count(_Range):
    """A whole number, with a `unit` (singular, plural) where the text shall not say it."""

    kind: Literal["count"]
    unit: tuple[str, str] | None = None

    def _value(self, number: int) -> Value:
        unit = "" if self.unit is None else f" {self.unit[number != 1]}"
        text, words = f"{number:,}{unit}", f"{in_words(number)}{unit}"
        return Value(text, words, tuple(dict.fromkeys((text, f"{number}{unit}", words))), number)


class Money(_Range):
    """Whole pounds, or pence where `pence` is set."""

    kind: Literal["money"]
    pence: bool = False

    def _value(self, number: int) -> Value:
        pounds, rest = divmod(number, 100) if self.pence else (number, 0)
        pound = "pound" if pounds == 1 else "pounds"
        text = f"£{pounds:,}.{rest:02d}" if rest else f"£{pounds:,}"
        if not pounds:
            text = f"{rest}p"
        words = f"{in_words(pounds)} {pound}" + (f" {in_words(rest)}" if rest else "")
        if self.pence and not pounds:
            words = f"{in_words(rest)} pence"
        return Value(text, words, (text, words), number / 100 if self.pence else number)


class Percent(_Range):
    """A share in per cent; in words by a simple fraction near it."""

    kind: Literal["percent"]

    @model_validator(mode="after")
    def _is_share(self) -> Percent:
        if self.hi > 100:
            raise ValueError("a share is at most 100")
        return self

    def _value(self, number: int) -> Value:
        words = share_in_words(number)
        forms = (f"{number} per cent", f"{number}%", f"{in_words(number)} per cent", words)
        return Value(forms[0], words, tuple(dict.fromkeys(forms)), number)


class Year(_Range):
    forms: ClassVar[frozenset[str]] = frozenset({""})
    kind: Literal["year"]

    def _value(self, number: int) -> Value:
        return Value(str(number), "", (str(number),), number)


class Day(_Slot):
    """A day of the year in one of the months."""

    kind: Literal["day"]
    months: Annotated[tuple[str, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _are_months(self) -> Day:
        if unknown := [month for month in self.months if month not in _DAYS]:
            raise ValueError(f"{unknown[0]} is no month")
        return self

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(_day(day, month) for month in self.months for day in range(1, _DAYS[month] + 1))


def _minutes(value: Any) -> Any:
    if isinstance(value, str) and value.count(":") == 1:
        hour, minute = value.split(":")
        if hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60:
            return int(hour) * 60 + int(minute)
    raise ValueError("a time is written as hours and minutes, such as “18:30”")


class Time(_Slot):
    """A time of day between `lo` and `hi`, every `step` minutes; written as “18:30” in the pack."""

    kind: Literal["time"]
    lo: Annotated[int, BeforeValidator(_minutes)]
    hi: Annotated[int, BeforeValidator(_minutes)]
    step: Annotated[int, Field(ge=15, multiple_of=15)] = 15

    @model_validator(mode="after")
    def _in_order(self) -> Time:
        if self.lo > self.hi or self.lo % 15:
            raise ValueError("lo and hi must be in this order, and lo a quarter of an hour")
        return self

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(map(_time, range(self.lo, self.hi + 1, self.step)))


class Choice(_Slot):
    """One of some names or phrases; `plurals`, where given, are those of the values in the same order."""

    forms: ClassVar[frozenset[str]] = frozenset({"", PLURAL})
    kind: Literal["choice"]
    of: Annotated[tuple[str, ...], Field(min_length=1)]
    plurals: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _plural_each(self) -> Choice:
        if self.plurals and len(self.plurals) != len(self.of):
            raise ValueError("give a plural for each value, or none")
        return self

    @cached_property
    def values(self) -> tuple[Value, ...]:
        plurals = self.plurals or ("",) * len(self.of)
        return tuple(
            Value(text, "", (text, plural) if plural else (text,), plural=plural)
            for text, plural in zip(self.of, plurals, strict=True)
        )


Slot = Annotated[Count | Money | Percent | Year | Day | Time | Choice, Field(discriminator="kind")]


def _day(day: int, month: str) -> Value:
    words = f"the {ordinal(day)} of {month}"
    return Value(f"{day} {month}", words, (f"{day} {month}", f"{month} {day}", words))


def _time(minute: int) -> Value:
    text, words = clock(minute), time_in_words(minute)
    return Value(text, words, (text, words), minute)


class ValueCheck:
    """Finds a fact by its values; `facts` has the forms of each value of each fact."""

    def __init__(self, facts: Sequence[Sequence[Forms]]) -> None:
        self.facts = tuple(tuple(values) for values in facts)

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """The first sentence, or else the first neighbouring ones, with all values; none where they are not."""
        values = self.facts[insight]
        holders = [{at for at, text in enumerate(document) if says(text, forms)} for forms in values]
        if not values or not all(holders):
            return ()
        for size in range(1, NEIGHBOURS + 1):
            for start in range(len(document) - size + 1):
                window = range(start, start + size)
                if all(any(at in held for at in window) for held in holders):
                    return tuple(window)
        return ()


def says(text: str, forms: Forms) -> bool:
    """Whether a text says a value in one of its forms, as numbers and words of their own."""
    folded = text.casefold()  # most texts do not hold it at all, which is seen sooner so
    return any(form.casefold() in folded for form in forms) and pattern_of(forms).search(text) is not None


def wrong_pairs(check: ValueCheck, plan: Plan) -> list[tuple[int, int]]:
    """Pairs of an insight and a document, by position, that are planted and missed, or found and not planted."""
    return [
        (insight, column)
        for insight in range(len(plan.insights))
        for column, document in enumerate(plan.documents)
        if bool(check.evidence(insight, document)) != plan.planted[insight, column]
    ]


@cache
def pattern_of(forms: Forms) -> re.Pattern[str]:
    return re.compile("|".join(map(_alone, sorted(forms, key=lambda form: (-len(form), form)))), re.IGNORECASE)


def _alone(form: str) -> str:
    """No digit, hyphen or further word may make another value of it: a larger number, a share, a day, a time."""
    words = rf"(?:hundred|thousand|per cent|pounds?|pence|o'clock|(?-i:{'|'.join(MONTHS)}))"
    after = rf"(?![\w%-]|[.,:]\d| {words}\b)"
    if form.casefold().endswith(("hundred", "thousand")):  # “one hundred” is not said by “one hundred and one”
        after += rf"(?! (?:and )?{NUMBER})"
    before = r"(?<![\w£-])(?<!\d[.,:])(?<!hundred and )(?<!thousand and )(?<!thousand )(?<!past )"
    return f"{before}{re.escape(form)}{after}"
