"""The page of commands says what their help says."""

from __future__ import annotations

from tests.commands import PAGE, page


def test_the_page_of_commands_is_the_help_of_the_commands() -> None:
    assert PAGE.read_text() == page(), "run `make commands`"
