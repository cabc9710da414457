"""`synthesize questions FILE`: questions with documents and key points, out of seed questions."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings as site
from django.utils import timezone

from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import long2rag
from extensions.synthesis import handing_over_questions, seeds, sources, steps
from extensions.synthesis.commands import model_work
from extensions.synthesis.commands.base import Output, Subcommand, SynthesisRefused
from extensions.synthesis.commands.model_work import Product
from extensions.synthesis.from_questions import continuing_parts
from extensions.synthesis.models import PartKind, Synthesis, SynthesisPart
from extensions.synthesis.question_settings import QuestionSettings
from extensions.synthesis.settings import Settings
from extensions.synthesis.sources import NoDocument
from extensions.synthesis.wording import OF_QUESTIONS

USUAL = QuestionSettings()
NUMBERS = {
    "seeds": "seed questions with the longest answers that are scored",
    "criteria_least": "criteria, of five, that a seed question meets",
    "picked": "seed questions of a category",
    "per_cell": "questions of a category in a domain",
    "wider_words": "words by which a new question may be longer or shorter than its seed",
    "subquestions": "most sub-questions of a question",
    "results": "documents of one search",
    "documents": "documents of a question",
}
SHARES = {
    "deeper_share": "part of the questions that are seeds made harder",
    "autods_from": "least AutoDS score of a key point; 0: ask for none",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Seeds, documents, who writes, how much of it."""
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE",
        help="seed questions as JSON lines: question, answer, and category if known",
    )  # fmt: skip
    model_work.add_arguments(parser, steps.FROM_QUESTIONS, product="question set")
    parser.add_argument(
        "--documents-from",
        type=Path,
        metavar="FOLDER",
        help=f"documents for all questions: {', '.join(sources.SUFFIXES)}",
    )
    parser.add_argument(
        "--search", action="append", default=[], metavar="URL", help="one of SEARCH_URLS, repeated as needed"
    )
    parser.add_argument("--rerank", nargs=2, metavar=("URL", "MODEL"), help="a rerank model (default: BM25)")
    for name, about in NUMBERS.items():
        parser.add_argument(_option(name), type=int, metavar="N", help=f"{about} ({getattr(USUAL, name)})")
    for name, about in SHARES.items():
        parser.add_argument(_option(name), type=float, metavar="X", help=f"{about} ({getattr(USUAL, name)})")
    parser.add_argument(
        "--deeper-words", type=int, nargs=2, metavar=("FROM", "TO"), help="words that make a seed harder (10 20)"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help=f"of each list ({Settings().rounds})")
    parser.add_argument("--categories", nargs="+", metavar="NAME", help=f"default: {', '.join(USUAL.categories)}")
    parser.add_argument("--domains", nargs="+", metavar="NAME", help=f"default: {', '.join(USUAL.domains)}")
    parser.add_argument("--language", metavar="TAG", help="of the texts (en)")
    model_work.add_prompts(parser, OF_QUESTIONS)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(options: Mapping[str, Any], output: Output) -> None:
    """Make them."""
    model_work.make(options, output, _begun, QUESTIONS)


def _begun(options: Mapping[str, Any]) -> Synthesis:
    if options["file"] is None:
        raise SynthesisRefused("Name the file of seed questions.")
    try:
        read = seeds.read(options["file"], limit_bytes=site.UPLOAD_LIMIT_BYTES)
        folder = options["documents_from"]
        uploads = sources.read_folder(folder) if folder else []
    except (ImportFailed, NoDocument) as error:
        raise SynthesisRefused(str(error)) from error
    except OSError as error:
        raise SynthesisRefused(f"{options['file']}: {error.strerror}") from error
    names = (*NUMBERS, *SHARES, "deeper_words", "categories", "domains", "language")
    chosen = {name: options[name] for name in names if options[name] is not None}
    if options["rerank"]:
        chosen["rerank_url"], chosen["rerank_model"] = options["rerank"]
    rounds = {"rounds": options["rounds"]} if options["rounds"] else {}
    return steps.begin_with_seeds(
        seeds=read,
        sources=uploads,
        addresses=options["search"],
        settings=Settings.from_mapping(
            {**rounds, "prompts": model_work.wordings(options["prompt"]), "questions": chosen}
        ),
        seed=options["seed"],
        **model_work.topic_and_models(options),
        by=None,
        now=timezone.now(),
    )


def _figures(synthesis: Synthesis) -> dict[str, Any]:
    rows = handing_over_questions.standing_rows(synthesis)
    made = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.QUESTION)
    methods = Counter(made.filter(generation=0).values_list("data__method", flat=True))
    n_points, n_documents = (sum(len(getattr(row, name)) for row in rows) for name in ("key_points", "documents"))
    return {
        "questions": {
            "questions": len(rows),
            "without_key_points": len(continuing_parts(synthesis, PartKind.QUESTION)) - len(rows),
            "by_category": dict(sorted(Counter(row.category for row in rows).items())),
            "by_domain": dict(sorted(Counter(row.domain for row in rows).items())),
            "by_method": dict(sorted(methods.items())),
            "documents": n_documents,
            "key_points": n_points,
            "spans": sum(len(point.spans) for row in rows for point in row.key_points),
        }
    }


def _lines(report: Mapping[str, Any]) -> list[str]:
    counts = report["questions"]
    return [
        f"{counts['questions']} questions, {counts['documents']} documents, {counts['key_points']} key points",
        f"left out, as no key point stands: {counts['without_key_points']}",
    ]


QUESTIONS = Product(
    name="question set",
    figures=_figures,
    lines=_lines,
    content=lambda synthesis: b"".join(long2rag.dump(handing_over_questions.question_rows(synthesis))),
    into_corpus=lambda synthesis: handing_over_questions.hand_over_questions(
        synthesis=synthesis, by=None, now=timezone.now()
    ),
)
QUESTIONS_COMMAND = Subcommand(
    name="questions",
    help="Make questions with documents and key points out of seed questions.",
    add_arguments=add_arguments,
    run=run,
)
