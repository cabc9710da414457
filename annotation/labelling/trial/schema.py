"""What a file of a study's own trial examples has: sets of examples, each with its answer and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from benchmarks.io.schemas.fields import Expected, Part, Text, label

MOST = 20
"""Examples in a set, and parts of an example."""


class OwnDocument(Part):
    """A document beside the examples of a set."""

    EXPECTED = "a document: title and text"
    title: Text
    text: Text


Documents = Annotated[list[OwnDocument], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} documents")]


class OwnItem(Part):
    """One example; the name is optional."""

    EXPECTED = "an example"
    name: label(40) = ""  # type: ignore[valid-type]

    def problem(self, shared: Any) -> tuple[str, str] | None:
        """A field that does not go with the others, and what is expected there."""
        return None


class OwnSet(Part):
    """The examples of one try."""

    EXPECTED = "a set of examples"
    item: Annotated[Sequence[Any], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} examples")]
