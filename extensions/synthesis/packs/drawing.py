"""Chance as hashes: each draw depends on the pack's version, the seed and a key, and on no other draw.

So an edit of one text moves nothing else, and the same seed gives the same world on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_DIGITS = 13
"""Hexadecimal digits that a float holds exactly."""
_SIZE: float = 16.0**_DIGITS


@dataclass(frozen=True, slots=True)
class Chance:
    """Draws of one world of one pack."""

    pack: str
    version: int
    seed: int

    def draw(self, *key: object) -> float:
        """A number from 0 up to but not including 1."""
        return int(self.name(*key)[:_DIGITS], 16) / _SIZE

    def choose(self, values: Sequence[T], *key: object) -> T:
        """One of the values, each as likely."""
        return values[int(self.draw(*key) * len(values))]

    def shuffled(self, values: Iterable[T], *key: object) -> list[T]:
        """The values in an order drawn for each of them by how it prints."""
        return sorted(values, key=lambda value: (self.draw(*key, value), str(value)))

    def name(self, *key: object) -> str:
        """64 hexadecimal digits that stand for the key in this world."""
        content = "|".join(map(str, (self.pack, self.version, self.seed, *key)))
        return hashlib.sha256(content.encode()).hexdigest()
