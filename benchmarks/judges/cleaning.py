"""Text and JSON from a server, made fit for storing: what a database refuses is replaced, with a note of it.

Databases refuse NUL and halves of surrogate pairs in text, numbers that are not finite, and deep nesting.
"""

from __future__ import annotations

import math
import re
from typing import Any

MOST_BYTES = 1_000_000
"""The longest answer of a server that is read."""
MOST_CHARACTERS = 100_000
"""The longest text in it that is read and kept; what follows is cut off."""
MOST_LEVELS = 40
NOTE = "summhay_cleaned"
"""Where a stored answer says what was done to it."""
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """The text without what a database refuses."""
    return _REFUSED.sub(_REPLACEMENT, text)


def clean(value: Any, *, notes: set[str] | None = None, levels: int = MOST_LEVELS) -> Any:
    """A parsed JSON value without what a database refuses; `notes` gets what was done, in a few words."""
    done = set() if notes is None else notes
    if isinstance(value, str):
        return _text(value, done)
    if isinstance(value, float) and not math.isfinite(value):
        done.add("numbers that are not finite were left out")
        return None
    if isinstance(value, int) and abs(value) >= 2**63:
        done.add("numbers beyond 64 bits were left out")
        return None
    if isinstance(value, dict | list) and levels == 0:
        done.add(f"what was nested deeper than {MOST_LEVELS} levels was left out")
        return None
    if isinstance(value, dict):
        return {_text(key, done): clean(value, notes=done, levels=levels - 1) for key, value in value.items()}
    if isinstance(value, list):
        return [clean(element, notes=done, levels=levels - 1) for element in value]
    return value


def _text(text: str, notes: set[str]) -> str:
    if len(text) > MOST_CHARACTERS:
        notes.add(f"texts were cut off after {MOST_CHARACTERS:,} characters")
        text = text[:MOST_CHARACTERS]
    cleaned = clean_text(text)
    if cleaned != text:
        notes.add("characters that cannot be stored were replaced")
    return cleaned
