"""Additions of the app of people to figures of key points: verified versions, and judges measured by people.

This app does not know studies; kinds of study register a `Source`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Judge
from benchmarks.scoring.stat import Stat


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the key points that a study verified; `key` names it in addresses, `number` 0 is before any."""

    key: str
    study: str
    number: int

    def __str__(self) -> str:
        if not self.number:
            return f"kept by all annotators of “{self.study}”"
        return f"kept by “{self.study}”, version {self.number}"


@dataclass(frozen=True, slots=True)
class Verified:
    """Primary keys of the key points that a version keeps, and of the questions that it is about."""

    version: Version
    key_points: frozenset[int]
    questions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Measured:
    """A judge's verdicts on recall against people's answers, entailed or not.

    `weighted` is the accuracy of all its verdicts, `people` how far people agree among themselves; `is_shown`
    where they saw the verdict.
    """

    study: str
    address: str
    accuracy: Stat
    weighted: Stat
    people: Stat
    n_answered: int
    is_shown: bool


class Source:
    """Something known of studies, as far as a user may see them; without a user all, computed now."""

    def versions(self, user: Any) -> Sequence[Version]:
        """All versions, by study and the newest first; a fixed number of queries."""
        return ()

    def verified(self, user: Any, key: str) -> Verified | None:
        """The version of this name, None where there is none."""
        return None

    def measured(self, user: Any, judge: Judge) -> Sequence[Measured]:
        """Findings of studies on a judge."""
        return ()


_sources: list[Source] = []


def register(source: Source) -> None:
    """Ask this source from now on."""
    if source not in _sources:
        _sources.append(source)


def versions(user: Any) -> list[Version]:
    """The versions of verified key points that a user may choose."""
    return [version for source in _sources for version in source.versions(user)]


def verified(user: Any, key: str) -> Verified | None:
    """A version by the name that addresses have for it, None where the user may see none such."""
    return next((points for source in _sources if (points := source.verified(user, key)) is not None), None)


def measured(user: Any, judge: Judge) -> list[Measured]:
    """The measured accuracy of a judge in every study that the user may see; without a user in all, as of now."""
    return [measured for source in _sources for measured in source.measured(user, judge)]
