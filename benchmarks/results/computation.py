"""Stored computations: a name, the options it takes, the figures it gives, and what these depend on.

Options and figures are plain dataclasses; pydantic writes them as JSON and makes them from it again, so a new
result brings no code for storing it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any, Generic, TypeVar

import orjson
from django.db.models import Count, Max, QuerySet, Sum, Value
from pydantic import ConfigDict, TypeAdapter

from benchmarks.models import Haystack

Total = tuple[int, int | None, int | None]


def totals(*several: QuerySet[Any, Any]) -> list[Total]:
    """Count, newest and sum of the primary keys of each of several sets of rows, none distinct. One query."""
    parts = [
        rows.order_by()
        .values(place=Value(place))
        .annotate(n=Count("pk"), last=Max("pk"), total=Sum("pk"))
        .values_list("place", "n", "last", "total")
        for place, rows in enumerate(several)
    ]
    by_place = {place: (n, last, total) for place, n, last, total in parts[0].union(*parts[1:], all=True)}
    return [by_place.get(place, (0, None, None)) for place in range(len(several))]


def contents(haystacks: QuerySet[Haystack]) -> list[tuple[Any, ...]]:
    """Titles and contents of haystacks, which a file that is imported later may complete. One query."""
    return list(haystacks.order_by("pk").values_list("pk", "title", "domain", "dataset", "content_sha256"))


O = TypeVar("O")  # noqa: E741 - options
F = TypeVar("F")


class CannotCompute(Exception):
    """There are no such figures; the message says why, in words for the page."""


@dataclass(frozen=True)
class Computation(Generic[O, F]):
    """Figures that workers compute.

    Attributes:
        name: unique; part of the key of what is stored.
        options: the dataclass of what it takes: primary keys, filters and choices, nothing that JSON cannot hold.
        figures: the dataclass of what it gives.
        compute: reads and computes; raises `CannotCompute`.
        facts: all that the figures depend on, in a few cheap queries; figures are stale once its `repr` is
        another. revision: raised when the same facts give other figures, after a change of the program.
    """

    name: str
    options: type[O]
    figures: type[F]
    compute: Callable[[O], F]
    facts: Callable[[O], object]
    revision: int = 1

    @cached_property
    def _options(self) -> TypeAdapter[O]:
        return TypeAdapter(self.options)

    @cached_property
    def _figures(self) -> TypeAdapter[tuple[F]]:
        """In a tuple, as a dataclass by itself takes no configuration: infinite figures stay what they are."""
        return TypeAdapter(tuple[self.figures], config=ConfigDict(ser_json_inf_nan="constants"))  # type: ignore[name-defined]

    def plain(self, options: O) -> Any:
        return self._options.dump_python(options, mode="json")

    def options_from(self, plain: Any) -> O:
        return self._options.validate_python(plain)

    def key(self, options: O, groups: list[int] | None = None) -> str:
        """The hash of the name, the options and the research groups in whose sight they are computed, if any."""
        seen = [] if groups is None else [groups]
        told = orjson.dumps([self.name, self.plain(options), *seen], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(told).hexdigest()

    def version(self, options: O, facts: object = None) -> str:
        """A digest of all that the figures of these options depend on; `facts` where they have just been read."""
        told = repr((self.name, self.revision, self.facts(options) if facts is None else facts))
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    def dump(self, figures: F) -> bytes:
        return self._figures.dump_json((figures,))

    def load(self, content: bytes) -> F:
        return self._figures.validate_json(content)[0]


_computations: dict[str, Computation[Any, Any]] = {}


def register(computation: Computation[O, F]) -> Computation[O, F]:
    """Make a computation known to the workers.

    Raises:
        ValueError: another one has the same name.
    """
    if _computations.setdefault(computation.name, computation) is not computation:
        raise ValueError(f"There are two computations called {computation.name!r}.")
    return computation


def computation_named(name: str) -> Computation[Any, Any] | None:
    """The computation of this name; None if this version of the program has none."""
    return _computations.get(name)


def computations() -> list[Computation[Any, Any]]:
    return [_computations[name] for name in sorted(_computations)]


def program() -> str:
    try:
        return installed_version("summhay")
    except PackageNotFoundError:
        return ""
