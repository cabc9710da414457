"""`synthesize haystack --topic … --model NAME`: a haystack from a topic, written and checked by a model."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from benchmarks.models import Synthesis
from benchmarks.states import SynthesisKind
from benchmarks.synthesis import steps
from benchmarks.synthesis.commands import model_work
from benchmarks.synthesis.commands.base import Output, Subcommand
from benchmarks.synthesis.settings import Settings

NUMBERS = ("subtopics", "insights", "documents", "words", "repairs", "rounds", "audit")


def add_arguments(parser: ArgumentParser) -> None:
    """What it is about, who writes it, how much of it."""
    defaults = Settings()
    model_work.add_arguments(parser)
    for name in NUMBERS:
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"default: {getattr(defaults, name)}")
    parser.add_argument("--insights-least", type=int, metavar="N", help="needed in each subtopic (default: 3)")
    parser.add_argument("--in-documents", type=int, metavar="N", help="documents of an insight at least (5)")
    parser.add_argument(
        "--in-document", type=int, nargs=2, metavar=("FROM", "TO"), help="insights a document (3 8)"
    )


def run(options: Mapping[str, Any], output: Output) -> None:
    """Make it."""
    model_work.make(options, output, _begun)


def _begun(options: Mapping[str, Any]) -> Synthesis:
    topic, judge = model_work.topic_and_model(options)
    names = (*NUMBERS, "insights_least", "in_documents", "in_document")
    chosen = {name: options[name] for name in names if options[name] is not None}
    if "subtopics" in chosen:
        chosen["subtopics_least"] = chosen["subtopics"]
    if "insights" in chosen:
        chosen.setdefault("insights_least", min(Settings().insights_least, chosen["insights"]))
    return steps.begin(
        kind=SynthesisKind.NEWS,
        topic=topic,
        settings=Settings.from_mapping(chosen),
        seed=options["seed"],
        judge=judge,
        by=None,
        now=timezone.now(),
    )


HAYSTACK = Subcommand(
    name="haystack",
    help="Make a haystack from a topic: a model writes and checks it, and what is left is listed.",
    add_arguments=add_arguments,
    run=run,
)
