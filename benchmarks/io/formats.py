"""Formats of import, and the registry of those there are; an app registers its own when it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django import forms

from benchmarks.io.plan import Plan
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Problems

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Rows = TypeVar("Rows")


class UnknownFormat(Exception):
    """No format has this name."""


@dataclass(frozen=True, slots=True)
class Option:
    """An extra option of an import: a field of the form, an argument of the command."""

    name: str
    label: str | _StrPromise
    help: str | _StrPromise
    default: str = ""
    is_required: bool = False
    max_length: int = 120
    field: type[forms.CharField] = forms.CharField


KINDS = {"spans": "passages", "sentences": "sentences of references"}
"""Names on pages of kinds of rows that are not called by their own."""
DATASET = Option(
    "dataset",
    "Dataset",
    "Optional: one name for what belongs together; letters, digits, - and _.",
    max_length=80,
    field=forms.SlugField,
)


@dataclass(frozen=True, slots=True)
class Format(Generic[Rows]):
    """One kind of file.

    `parse` reads frozen rows from a file or raises `ImportFailed`; `plan` compares them with the database. `kinds`
    are what is counted, in the plural, and `address` leads to what was imported. Files imported together are one
    plan, unless `is_joint` is false: then each is a transaction of its own, after all were checked. `example` is
    empty where there is none.
    """

    name: str
    title: str
    description: str
    extensions: tuple[str, ...]
    example: str
    parse: Callable[[File, Problems, Mapping[str, str]], Rows]
    plan: type[Plan[Rows]]
    kinds: tuple[str, ...]
    address: Callable[[str], str]
    options: tuple[Option, ...] = (DATASET,)
    permission: str = "benchmarks.add_haystack"
    is_joint: bool = True


FORMATS: dict[str, Format[Any]] = {}


def register(entry: Format[Any]) -> None:
    """Make a format known to the page, the worker and the command."""
    FORMATS[entry.name] = entry


def kind_in_words(kind: str) -> str:
    """The name of a kind of rows on pages, in the plural."""
    return str(KINDS.get(kind, kind.replace("_", " ")))


def get_format(name: str) -> Format[Any]:
    """Find a format; raises `UnknownFormat` with the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(f"There is no format “{name}”; use one of: {', '.join(FORMATS)}.") from None
