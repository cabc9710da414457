"""A model server that tests of judges ask over real HTTP."""

from collections.abc import Iterator

import pytest

from tests.fake_openai import FakeServer, serving


@pytest.fixture
def server(settings) -> Iterator[FakeServer]:
    with serving() as running:
        settings.OPENAI_BASE_URLS = [running.address]
        yield running
