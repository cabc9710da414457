"""What the filters of figures can be set to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.results.table import LabelTable, Rater


@dataclass(frozen=True, slots=True)
class Options:
    """What the filters can be set to."""

    haystacks: tuple[str, ...]
    domains: tuple[str, ...]
    retrievers: tuple[str, ...]
    summarizers: tuple[str, ...]
    guidelines: tuple[int, ...]
    people: tuple[tuple[str, str], ...]
    judges: tuple[tuple[str, str], ...]
    haystack_pks: tuple[int, ...]
    n_adjudicated: int
    has_expected: bool


def options_of(table: LabelTable) -> Options:
    """Every value that occurs, before any filter."""
    infos = table.summaries
    return Options(
        haystacks=_sorted(info.haystack for info in infos),
        domains=_sorted(info.domain for info in infos),
        retrievers=_sorted(info.retriever for info in infos),
        summarizers=_sorted(info.summarizer for info in infos),
        guidelines=tuple(sorted({int(version) for version in table.versions.ravel()} - {0})),
        people=tuple((person.key, person.name) for person in table.people),
        judges=keys_of(table.judges),
        haystack_pks=tuple(sorted({info.haystack_pk for info in infos})),
        n_adjudicated=0 if table.gold_codes is None else int((table.gold_codes >= 0).sum()),
        has_expected=table.expected is not None and bool(np.isfinite(table.expected).any()),
    )


def keys_of(judges: Iterable[Rater]) -> tuple[tuple[str, str], ...]:
    """Judges by key and name."""
    return tuple((judge.key, judge.name) for judge in judges)


def _sorted(values: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
