"""What a licence holds for, and why it does not hold any more or not for something else. No database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import ngettext
from pydantic import TypeAdapter

from benchmarks.results.judged import Judged

MARGIN = 0.05
"""How far outside of the tested scores a system may be."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A version of a judge, with the hash of its settings and prompt, on labels that were made under `guidelines`.

    `domains` are those of the labelled haystacks, `lowest` and `highest` the mean scores that people gave systems,
    0 to 1; None without any.
    """

    judge: str
    version: int
    settings_sha256: str
    guidelines: tuple[int, ...]
    domains: tuple[str, ...]
    lowest: float | None
    highest: float | None


SCOPE: TypeAdapter[Scope] = TypeAdapter(Scope)


def plain(scope: Scope) -> Any:
    """A scope as JSON holds it."""
    return SCOPE.dump_python(scope, mode="json")


def scope_from(stored: Any) -> Scope:
    """A scope from what JSON held."""
    return SCOPE.validate_python(stored)


def expired(then: Scope, now: Scope) -> Iterator[str]:
    """Why a licence does not hold any more, given the scope that its labels and its judge have by now."""
    if (then.version, then.settings_sha256) != (now.version, now.settings_sha256):
        yield (
            f"it is of version {then.version} of the judge, with other settings than version "
            f"{now.version}"
        )  # fmt: skip
    if new := sorted(set(now.guidelines) - set(then.guidelines)):
        yield f"labels were made since then under other guidelines (version {', '.join(map(str, new))})"
    if new_domains := sorted(set(now.domains) - set(then.domains)):
        yield f"labels of {', '.join(new_domains)} have been added"


def outside(scope: Scope, use: Judged) -> Iterator[str]:
    """Why a licence says nothing of a use."""
    if untested := sorted({domain for domain in use.domains if domain} - set(scope.domains)):
        yield f"it was not tested on {', '.join(untested)}"
    if scope.lowest is None or scope.highest is None:
        return
    low, high = scope.lowest - MARGIN, scope.highest + MARGIN
    if n := sum(not low <= score <= high for score in use.scores):
        words = ngettext(
            "%(n)d row scores outside of the range that was tested (%(low).0f to %(high).0f)",
            "%(n)d rows score outside of the range that was tested (%(low).0f to %(high).0f)",
            n,
        )
        yield words % {"n": n, "low": 100 * scope.lowest, "high": 100 * scope.highest}
