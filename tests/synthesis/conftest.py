"""The model server that tests of syntheses ask over real HTTP."""

from __future__ import annotations

from tests.benchmarks.conftest import server

__all__ = ["server"]
