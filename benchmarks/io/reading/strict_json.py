"""JSON read as strictly as a database needs it; whatever can't be kept is named with its place in the value.

Python's reader takes NaN, half a surrogate pair and a field given twice, and stops without a place at a number of
thousands of digits. Formats say where in the file a value stands; here are only paths inside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

LARGEST = 2**63 - 1
MOST_DIGITS = 19
SHOWN_CHARACTERS = 60
SURROGATE = re.compile("[\ud800-\udfff]")
LONE_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
"""Looks like half a pair; a second look decides, since a backslash may itself be escaped."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Stands in a value for what can't be kept."""

    kind: str
    expected: str
    got: str
    message: str = ""


TWICE = Flaw("duplicate_field", "each field once", "it twice")
HALF_A_PAIR = Flaw("wrong_value", "a text of whole characters", "half of a surrogate pair")


class NotJson(Exception):
    """The text is no JSON, or nested too deeply; the message says what it is instead."""


class Flawed(Exception):
    """The JSON holds what can't be kept: (path, flaw) of each."""

    def __init__(self, flaws: tuple[tuple[str, Flaw], ...]) -> None:
        super().__init__(flaws)
        self.flaws = flaws


def loads(data: bytes) -> Any:
    """The value of a JSON text in UTF-8; raises `NotJson` or `Flawed`."""
    refusal = ""
    try:
        orjson.dumps(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        refusal = str(error)
    except orjson.JSONEncodeError:  # what is deeper than it writes could be kept, and never exported
        refusal = "depth"
    hooks = _Hooks()
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=hooks.pairs,
            parse_constant=hooks.constant,
            parse_float=hooks.real,
            parse_int=hooks.whole,
        )
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotJson(f"text that is not UTF-8: line {line} holds the byte 0x{data[error.start]:02x}") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"invalid JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise NotJson("JSON that is nested too deeply") from None
    if hooks.n or refusal or LONE_ESCAPE.search(data):
        flaws = tuple(find_flaws(value))
        if flaws:
            raise Flawed(flaws)
    if refusal:
        raise NotJson("JSON that is nested too deeply" if "depth" in refusal else f"invalid JSON: {refusal}")
    return value


class _Hooks:
    """Hooks of Python's reader for numbers and objects; `n` counts what was replaced by a flaw."""

    def __init__(self) -> None:
        self.n = 0

    def _flaw(self, expected: str, got: str, message: str = "") -> Flaw:
        self.n += 1
        return Flaw("wrong_value", expected, got, message)

    def whole(self, text: str) -> Any:
        """A whole number, if a database can hold it."""
        digits = text.lstrip("-")
        if len(digits) <= MOST_DIGITS and abs(value := int(text)) <= LARGEST:
            return value
        got = f"a number of {len(digits):,} digits"
        return self._flaw("a whole number below 2⁶³", got, "An id that is longer goes in quotes, as a text.")

    def real(self, text: str) -> Any:
        """A number with a fraction or exponent, if it is finite."""
        value = float(text)
        short = text if len(text) <= SHOWN_CHARACTERS else f"{len(text):,} characters"
        return value if math.isfinite(value) else self._flaw("a number below 1.8e308", f"the number {short}")

    def constant(self, text: str) -> Any:
        """NaN, Infinity or -Infinity."""
        return self._flaw("a number, or null where there is none", f"invalid JSON: it holds {text}")

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object; a field that is given again is replaced."""
        fields = dict(pairs)
        if len(fields) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    fields[name] = TWICE
                    self.n += 1
                seen.add(name)
        return fields


def find_flaws(value: Any) -> Iterator[tuple[str, Flaw]]:
    """The path of each flaw in a value, as `jq` would take it; without recursion, in order."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, Flaw):
            yield path, item
        elif isinstance(item, str):
            if SURROGATE.search(item):
                yield path, HALF_A_PAIR
        elif isinstance(item, list):
            waiting.extend((f"{path}[{n}]", item[n]) for n in reversed(range(len(item))))
        elif isinstance(item, dict):
            for name in reversed(item):
                shown = SURROGATE.sub("\ufffd", name)[:SHOWN_CHARACTERS]
                at = f"{path}.{shown}" if path else shown
                waiting.append((at, HALF_A_PAIR if SURROGATE.search(name) else item[name]))
