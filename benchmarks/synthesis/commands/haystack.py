"""`synthesize haystack --topic … --model NAME`: a haystack from a topic, written and checked by a model."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils import timezone

from benchmarks.models import Synthesis
from benchmarks.states import SynthesisKind
from benchmarks.synthesis import steps
from benchmarks.synthesis.commands import model_work
from benchmarks.synthesis.commands.base import Output, Subcommand, SynthesisRefused
from benchmarks.synthesis.settings import CONVERSATIONS, SCENARIO, Settings
from benchmarks.synthesis.wording import OF_HAYSTACKS, PROMPTS

NUMBERS = ("subtopics", "insights", "documents", "words", "repairs", "rounds", "audit")

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
        "--prompt", action="append", default=[], metavar="NAME=FILE",
        help=f"a wording of one's own, with fields in braces, of: {', '.join(PROMPTS[:OF_HAYSTACKS])}",
    )  # fmt: skip
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
    models = model_work.topic_and_models(options)
    names = (*NUMBERS, "insights_least", "in_documents", "in_document")
    chosen = {name: options[name] for name in names if options[name] is not None}
    if "subtopics" in chosen:
        chosen["subtopics_least"] = chosen["subtopics"]
    if "insights" in chosen:
        chosen.setdefault("insights_least", min(Settings().insights_least, chosen["insights"]))
    chosen |= {
        "scenario": options["scenario"].strip() or SCENARIOS[options["kind"]],
        "participants": options["participants"].strip(),
        "prompts": dict(_wording(each) for each in options["prompt"]),
    }
    return steps.begin(
        kind=options["kind"],
        settings=Settings.from_mapping(chosen),
        seed=options["seed"],
        **models,
        by=None,
        now=timezone.now(),
    )


def _wording(option: str) -> tuple[str, str]:
    name, _equals, path = option.partition("=")
    try:
        return name, Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SynthesisRefused(f"--prompt {option}: the file cannot be read ({type(error).__name__}).") from error


HAYSTACK = Subcommand(
    name="haystack",
    help="Make a haystack from a topic: a model writes and checks it, and what is left is listed.",
    add_arguments=add_arguments,
    run=run,
)
