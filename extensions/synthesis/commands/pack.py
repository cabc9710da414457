"""`synthesize pack NAME --seed N`: a haystack out of a pack."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.io.schemas.summhay import dump
from extensions.synthesis.commands.base import Output, Subcommand, SynthesisRefused
from extensions.synthesis.packs.filling import NoWorld
from extensions.synthesis.packs.reading import UnknownPack, UnreadablePack, named, read_pack, shipped
from extensions.synthesis.packs.schema import Pack
from extensions.synthesis.packs.world import World, make


def add_arguments(parser: ArgumentParser) -> None:
    """Take a pack and a seed."""
    parser.add_argument(
        "pack", nargs="?", metavar="NAME", help="a pack that is listed, or a TOML file of one's own"
    )
    parser.add_argument("--list", action="store_true", help="print the packs that come with the program")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the world (default: %(default)s)")
    parser.add_argument(
        "--unlike", type=int, metavar="M", help="a seed from whose world every value shall differ: a parallel form"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: stdout)")


def run(options: Mapping[str, Any], output: Output) -> None:
    """List packs, or make a haystack and write it in the published format."""
    if options["list"]:
        for name in shipped():
            output.result(f"{name} (version {named(name).version}): {named(name).about}")
        return
    if not options["pack"]:
        raise SynthesisRefused("Name a pack; --list shows those that come with the program.")
    world = _make(_pack(options["pack"]), options["seed"], options["unlike"])
    content = b"".join(dump(world.topic))
    if options["out"] is None:
        output.result(content.decode().rstrip("\n"))
        return
    try:
        options["out"].write_bytes(content)
    except OSError as error:
        raise SynthesisRefused(f"{options['out']}: {error.strerror}") from error
    n_words = sum(document.n_words for document in world.topic.documents)
    output.note(
        f"{options['out']}: {len(world.topic.documents)} documents of {n_words:,} words, "
        f"{len(world.plan.insights)} insights on {len(world.topic.subtopics)} subtopics"
    )


def _pack(name: str) -> Pack:
    try:
        return read_pack(Path(name)) if name.endswith(".toml") else named(name)
    except (UnknownPack, UnreadablePack) as error:
        raise SynthesisRefused(str(error)) from error


def _make(pack: Pack, seed: int, unlike: int | None) -> World:
    try:
        return make(pack, seed=seed, unlike=unlike)
    except NoWorld as error:
        raise SynthesisRefused(f"{pack.id}: {error}") from error


PACK = Subcommand(
    name="pack",
    help="Make a haystack from templates, without a model: the same seed gives the same bytes everywhere.",
    add_arguments=add_arguments,
    run=run,
)
