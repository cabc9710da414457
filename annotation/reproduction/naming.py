"""How names of the papers and of what is here are compared."""

from __future__ import annotations

from collections.abc import Iterable


def key_of(name: str) -> str:
    """A name by its letters and digits: “GPT-4o” is gpt4o, “Claude3-Sonnet” is claude3sonnet."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def by_key(names: Iterable[str]) -> dict[str, str]:
    """Names by what they are compared by."""
    return {key_of(name): name for name in names}
