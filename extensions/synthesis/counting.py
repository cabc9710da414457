"""Counts that say what is missing: “Asked for 10, got 8, 2 dropped: 1 × says the same as …”. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

_NAMED = 5
"""Places that lack something, in a sentence."""


@dataclass(frozen=True)
class Tally:
    """What a step was asked for and what came of it; `dropped` and `flagged` count by reason.

    `n_least` is the least that lets the synthesis go on; `missing` says where how many are missing.
    """

    n_asked: int
    n_got: int
    n_least: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    flagged: Mapping[str, int] = field(default_factory=dict)
    further: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        n_asked: int,
        n_got: int,
        n_least: int = 0,
        dropped: Iterable[str] = (),
        flagged: Iterable[str] = (),
        further: Mapping[str, int] | None = None,
        missing: Mapping[str, int] | None = None,
    ) -> Self:
        """Count reasons."""
        return cls(
            n_asked, n_got, n_least, _counted(dropped), _counted(flagged), dict(further or {}), dict(missing or {})
        )

    @property
    def is_short(self) -> bool:
        """Whether there is less than is needed."""
        return self.n_got < self.n_least

    @property
    def sentence(self) -> str:
        """All of it in words."""
        parts = [f"Asked for {self.n_asked:,}, got {self.n_got:,}"]
        if self.dropped:
            reasons = "; ".join(f"{n} × {reason}" for reason, n in self.dropped.items())
            parts.append(f"{sum(self.dropped.values()):,} dropped: {reasons}")
        if self.flagged:
            reasons = "; ".join(f"{n} × {reason}" for reason, n in self.flagged.items())
            parts.append(f"flagged: {reasons}")
        if n_more := self.further.get("more"):
            parts.append(f"{n_more:,} {'list' if n_more == 1 else 'lists'} asked for once more")
        if self.missing:
            first = [f"{n:,} of {name}" for name, n in list(self.missing.items())[:_NAMED]]
            n_others = len(self.missing) - len(first)
            parts.append("missing: " + ", ".join(first) + (f" and of {n_others:,} others" if n_others else ""))
        text = ", ".join(parts) + "."
        return f"{text} At least {self.n_least:,} are needed." if self.is_short else text

    def as_json(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return {
            "asked": self.n_asked,
            "got": self.n_got,
            "least": self.n_least,
            "dropped": dict(self.dropped),
            "flagged": dict(self.flagged),
            "missing": dict(self.missing),
            "is_short": self.is_short,
            "sentence": self.sentence,
            **self.further,
        }


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items(), key=lambda pair: (-pair[1], pair[0])))
