"""Some of many by day."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(values: Iterable[str], *chosen: str) -> list[Any]:
    """Parameters of a test of what all of these have in common: the chosen ones stand for all until night."""
    values = list(values)
    assert set(chosen) <= set(values)
    return [value if value in chosen else pytest.param(value, marks=pytest.mark.nightly) for value in values]
