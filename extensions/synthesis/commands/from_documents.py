"""`synthesize from-documents FOLDER`: insights of documents of one's own, with the passages that say them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils import timezone

from extensions.synthesis import sources, steps
from extensions.synthesis.commands import model_work
from extensions.synthesis.commands.base import Output, Subcommand, SynthesisRefused
from extensions.synthesis.models import Synthesis
from extensions.synthesis.settings import Settings


def add_arguments(parser: ArgumentParser) -> None:
    """Where the documents are, and who reads them."""
    parser.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help=f"documents: {', '.join(sources.SUFFIXES)}"
    )
    model_work.add_arguments(parser, steps.FROM_DOCUMENTS)
    usual = Settings()
    parser.add_argument("--subtopics", type=int, metavar="N", help=f"at most (default: {usual.subtopics})")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"in which points are asked for ({usual.rounds})")


def run(options: Mapping[str, Any], output: Output) -> None:
    """Make it."""
    model_work.make(options, output, _begun, model_work.HAYSTACK)


def _begun(options: Mapping[str, Any]) -> Synthesis:
    if options["folder"] is None:
        raise SynthesisRefused("Name the folder with the documents.")
    documents = sources.read_folder(options["folder"])
    models = model_work.topic_and_models(options)
    chosen = {name: options[name] for name in ("subtopics", "rounds") if options[name] is not None}
    settings = Settings.from_mapping({**chosen, "subtopics_least": 1, "documents": len(documents)})
    return steps.begin_with_documents(
        sources=documents,
        settings=settings,
        seed=options["seed"],
        **models,
        by=None,
        now=timezone.now(),
    )


FROM_DOCUMENTS = Subcommand(
    name="from-documents",
    help="Make a haystack of documents of one's own: insights with passages, in subtopics with queries.",
    add_arguments=add_arguments,
    run=run,
)
