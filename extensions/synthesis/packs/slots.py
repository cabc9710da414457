"""The kinds of slots: which values one can take, and every form in which a text may say such a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from extensions.synthesis.checks.values import MONTHS
from extensions.synthesis.packs.numbers import HIGHEST, clock, in_words, ordinal, share_in_words, time_in_words

WORDS, PLURAL = "words", "plural"
_DAYS = dict(zip(MONTHS, (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), strict=True))


@dataclass(frozen=True, slots=True)
class Value:
    """What a slot was filled with: its figures and words, all forms that mean it, and its number for rules."""

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

    def _of(self, make: Callable[[int], Value]) -> tuple[Value, ...]:
        return tuple(map(make, range(self.lo, self.hi + 1, self.step)))


class Count(_Range):
    """A whole number, with a `unit` (singular, plural) where the text shall not say it."""

    kind: Literal["count"]
    unit: tuple[str, str] | None = None

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return self._of(self._value)

    def _value(self, number: int) -> Value:
        unit = "" if self.unit is None else f" {self.unit[number != 1]}"
        text, words = f"{number:,}{unit}", f"{in_words(number)}{unit}"
        return Value(text, words, tuple(dict.fromkeys((text, f"{number}{unit}", words))), number)


class Money(_Range):
    """Whole pounds, or pence where `pence` is set."""

    kind: Literal["money"]
    pence: bool = False

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return self._of(self._value)

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

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return self._of(self._value)

    def _value(self, number: int) -> Value:
        words = share_in_words(number)
        forms = (f"{number} per cent", f"{number}%", f"{in_words(number)} per cent", words)
        return Value(forms[0], words, tuple(dict.fromkeys(forms)), number)


class Year(_Range):
    """A year in figures."""

    forms: ClassVar[frozenset[str]] = frozenset({""})
    kind: Literal["year"]

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return self._of(lambda number: Value(str(number), "", (str(number),), number))


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
