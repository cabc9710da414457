"""Families of models: a system may be favoured on a haystack that a model of its family wrote."""

from __future__ import annotations

import re

from django.db.models import QuerySet

from benchmarks.models import Haystack

SHORTEST = 3
"""Letters that a family has at least; shorter names are compared whole."""


def family_of(model: str) -> str:
    """The family of a model by its name: “gpt” of “openai/gpt-4o”, “claude” of “claude3-opus”."""
    name = model.casefold().rpartition("/")[2].strip()
    letters = re.match(r"[^\W\d_]+", name)
    return letters[0] if letters and len(letters[0]) >= SHORTEST else name


def writers_of(haystacks: QuerySet[Haystack]) -> frozenset[str]:
    """The families of the models that made haystacks, as far as these say so. One query."""
    stated = haystacks.order_by().values_list("metadata__models", flat=True)
    named = (values.values() for values in stated if isinstance(values, dict))
    return frozenset(family_of(str(name)) for names in named for name in names if name)
