"""Worlds of the pack that comes with the program, and a pack small enough to read."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from extensions.synthesis.packs import World, make
from extensions.synthesis.packs.reading import named, read_pack
from extensions.synthesis.packs.schema import Pack

SMALL = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")


def small(folder: Path, changes: Mapping[str, str] = MappingProxyType({})) -> Pack:
    """The small pack, with texts in it replaced, old by new."""
    text = SMALL
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "pack.toml"
    path.write_text(text, encoding="utf-8")
    return read_pack(path)


@cache
def pack() -> Pack:
    """The one that comes with the program."""
    return named("baths")


@cache
def world(seed: int, unlike: int | None = None) -> World:
    """A world of it."""
    return make(pack(), seed=seed, unlike=unlike)
