"""The page of commands says what their help says."""

from __future__ import annotations

import pytest
from django.conf import settings

from tests.commands import PAGE, ROOT, page

ALL = {path.parent.name for path in ROOT.glob("extensions/*/apps.py")}


@pytest.mark.skipif(set(settings.EXTENSIONS) != ALL, reason="the page has the commands of all extensions")
def test_the_page_of_commands_is_the_help_of_the_commands() -> None:
    assert PAGE.read_text() == page(), "run `make commands`"
