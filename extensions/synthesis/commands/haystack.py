"""`synthesize haystack --topic … --model NAME`: a haystack from a topic, written and checked by a model."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils import timezone

from extensions.synthesis import sources, steps
from extensions.synthesis.commands import model_work
from extensions.synthesis.commands.base import Output, Subcommand, SynthesisRefused
from extensions.synthesis.models import Synthesis, SynthesisKind
from extensions.synthesis.settings import CONVERSATIONS, SCENARIO, Settings
from extensions.synthesis.sources import NoDocument
from extensions.synthesis.wording import OF_HAYSTACKS

NUMBERS = ("subtopics", "insights", "documents", "words", "repairs", "tries", "rounds", "audit", "probes")

SCENARIOS = {SynthesisKind.NEWS.value: SCENARIO, SynthesisKind.CONVERSATION.value: CONVERSATIONS}


def add_arguments(parser: ArgumentParser) -> None:
    """What it is about, who writes it, how much of it."""
    defaults = Settings()
    model_work.add_arguments(parser, steps.HAYSTACK)
    parser.add_argument(
        "--kind", choices=SCENARIOS, default=SynthesisKind.NEWS.value, help="of texts (default: news)"
    )
    parser.add_argument("--scenario", default="", metavar="TEXT", help="what texts they are, for the model")
    parser.add_argument("--participants", default="", metavar="TEXT", help="who talks, in conversations")
    parser.add_argument(
        "--ideas-from", type=Path, metavar="FOLDER",
        help=f"documents that give the model ideas for subtopics and insights: {', '.join(sources.SUFFIXES)}",
    )  # fmt: skip
    model_work.add_prompts(parser, OF_HAYSTACKS)
    for name in NUMBERS:
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"default: {getattr(defaults, name)}")
    parser.add_argument(
        "--all-pairs", action="store_true", help="ask about each insight in each document, as the paper does"
    )
    parser.add_argument("--insights-least", type=int, metavar="N", help="needed in each subtopic (default: 3)")
    parser.add_argument("--in-documents", type=int, metavar="N", help="documents of an insight at least (5)")
    parser.add_argument(
        "--in-document", type=int, nargs=2, metavar=("FROM", "TO"), help="insights a document (3 8)"
    )


def run(options: Mapping[str, Any], output: Output) -> None:
    """Make it."""
    model_work.make(options, output, _begun, model_work.HAYSTACK)


def _begun(options: Mapping[str, Any]) -> Synthesis:
    models = model_work.topic_and_models(options)
    names = (*NUMBERS, "insights_least", "in_documents", "in_document")
    chosen = {name: options[name] for name in names if options[name] is not None}
    if "subtopics" in chosen:
        chosen["subtopics_least"] = chosen["subtopics"]
    if "insights" in chosen:
        chosen.setdefault("insights_least", min(Settings().insights_least, chosen["insights"]))
    chosen |= {
        "all_pairs": options["all_pairs"],
        "scenario": options["scenario"].strip() or SCENARIOS[options["kind"]],
        "participants": options["participants"].strip(),
        "prompts": model_work.wordings(options["prompt"]),
    }
    folder = options["ideas_from"]
    try:
        ideas = sources.read_folder(folder, least=1) if folder else []
    except NoDocument as error:
        raise SynthesisRefused(str(error)) from error
    return steps.begin(
        kind=options["kind"],
        ideas=ideas,
        settings=Settings.from_mapping(chosen),
        seed=options["seed"],
        **models,
        by=None,
        now=timezone.now(),
    )


HAYSTACK = Subcommand(
    name="haystack",
    help="Make a haystack from a topic: a model writes and checks it, and what is left is listed.",
    add_arguments=add_arguments,
    run=run,
)
