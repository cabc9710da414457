"""Subcommands of `manage.py synthesize`: free checks, packs, and what models make. A new one is a row below."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings as site
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import summhay
from extensions.synthesis import model_work, sources
from extensions.synthesis.checks import NothingToCompare, check
from extensions.synthesis.model_work import Output
from extensions.synthesis.models import STEPS_OF, SynthesisKind
from extensions.synthesis.packs import make
from extensions.synthesis.packs.dealing import NoWorld
from extensions.synthesis.packs.reading import (
    Finding,
    UnknownPack,
    UnreadablePack,
    lint,
    named,
    read_pack,
    shipped,
)
from extensions.synthesis.replies import PROMPTS_OF_HAYSTACKS, PROMPTS_OF_QUESTIONS
from extensions.synthesis.settings import CONVERSATIONS, SCENARIO, QuestionSettings, Settings
from extensions.synthesis.sources import NoDocument

SHOWN = 5
SCENARIOS = {SynthesisKind.NEWS.value: SCENARIO, SynthesisKind.CONVERSATION.value: CONVERSATIONS}
NUMBERS = ("subtopics", "insights", "documents", "words", "repairs", "tries", "rounds", "audit", "probes")
NUMBERS_OF_QUESTIONS = {
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
_USUAL, _USUAL_QUESTIONS = Settings(), QuestionSettings()
_SUFFIXES = ", ".join(sources.SUFFIXES)


# Without a model


def _check_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a haystack in the published format")
    parser.add_argument("--json", action="store_true", help="print all figures, and every pair that is wrong")


def _check(options: Mapping[str, Any], output: Output) -> None:
    path = options["file"]
    try:
        report = check(summhay.parse(path, limit_bytes=site.UPLOAD_LIMIT_BYTES))
    except (ImportFailed, NothingToCompare) as error:
        raise CommandError(f"{path.name}: {error}") from error
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    if options["json"]:
        output.json(report)
        return
    for line in _lines(report):
        output.result(line)


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "{n_insights} insights in {n_documents} documents of {n_sentences} sentences, {n_planted} pairs planted, "
        "{n_others} not"
    ).format_map(report)
    yield f"planted against not, by the words they share: AUC {report['auc']:.4f}"
    yield (
        f"at {report['threshold']:.3f}, fitted here: recall {_number(report['recall'])}, "
        f"precision {_number(report['precision'])}; {report['n_undecided']} pairs lie where words do not decide"
    )
    for kind, caught in report["mutations"].items():
        yield f"{kind}s noticed: {caught['n_caught']} of {caught['n']} ({_number(caught['recall'])})"
    for title, pairs in (("planted but not seen", report["missing"]), ("seen but not planted", report["leaks"])):
        for pair in pairs[:SHOWN]:
            yield title + ": insight {insight_id} in document {document}, score {score:.3f}".format_map(pair)
        if len(pairs) > SHOWN:
            yield f"{title}: {len(pairs) - SHOWN} more"
    n, n_within = len(report["overlapping_insights"]), report["n_overlapping_within"]
    yield f"pairs of insights that overlap: {n}, of them {n_within} within a subtopic"
    yield f"pairs of documents that are near-duplicates: {len(report['near_duplicate_documents'])}"
    yield f"runs of eight words that another document has too: {_number(report['repeated'])}"
    yield f"runs of eight words of insights that their documents have: {_number(report['verbatim'])}"
    yield f"sentences with a digit that are evidence: {_number(report['number_precision'])}"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _lint_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a pack: TOML, with its parts beside it")
    parser.add_argument("--json", action="store_true", help="print a list of objects")


def _lint(options: Mapping[str, Any], output: Output) -> None:
    """Print findings; status 1 when there are any."""
    try:
        findings = lint(read_pack(options["file"]))
    except UnreadablePack as error:
        findings = [Finding(*problem.split(": ", 1)) for problem in error.problems]
    except NoWorld as error:
        raise CommandError(f"{options['file'].name}: {error}") from error
    if options["json"]:
        output.json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.result(str(finding))
        output.note(f"{len(findings)} to look at" if findings else "Nothing to change.")
    if findings:
        raise SystemExit(1)


def _pack_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("pack", nargs="?", metavar="NAME", help="a pack that is listed, or a TOML file of one's own")
    add("--list", action="store_true", help="print the packs that come with the program")
    add("--seed", type=int, default=1, metavar="N", help="of the world (default: %(default)s)")
    add("--unlike", type=int, metavar="M",
        help="a seed from whose world every value shall differ: a parallel form")  # fmt: skip
    add("--out", type=Path, metavar="FILE", help="where to write it (default: stdout)")


def _pack(options: Mapping[str, Any], output: Output) -> None:
    """List packs, or make a haystack and write it in the published format."""
    if options["list"]:
        for name in shipped():
            output.result(f"{name} (version {named(name).version}): {named(name).about}")
        return
    if not (name := options["pack"]):
        raise CommandError("Name a pack; --list shows those that come with the program.")
    out = options["out"]
    try:
        pack = read_pack(Path(name)) if name.endswith(".toml") else named(name)
        world = make(pack, seed=options["seed"], unlike=options["unlike"])
        content = b"".join(summhay.dump(world.topic))
        if out is None:
            output.result(content.decode().rstrip("\n"))
            return
        out.write_bytes(content)
    except (UnknownPack, UnreadablePack) as error:
        raise CommandError(str(error)) from error
    except NoWorld as error:
        raise CommandError(f"{pack.id}: {error}") from error
    except OSError as error:
        raise CommandError(f"{out}: {error.strerror}") from error
    n_words = sum(document.n_words for document in world.topic.documents)
    output.note(
        f"{out}: {len(world.topic.documents)} documents of {n_words:,} words, "
        f"{len(world.plan.insights)} insights on {len(world.topic.subtopics)} subtopics"
    )


# With models


def _haystack_arguments(parser: ArgumentParser) -> None:
    model_work.add_arguments(parser, STEPS_OF[SynthesisKind.NEWS])
    add = parser.add_argument
    add("--kind", choices=SCENARIOS, default=SynthesisKind.NEWS.value, help="of texts (default: news)")
    add("--scenario", default="", metavar="TEXT", help="what texts they are, for the model")
    add("--participants", default="", metavar="TEXT", help="who talks, in conversations")
    add("--ideas-from", type=Path, metavar="FOLDER",
        help=f"documents that give the model ideas for subtopics and insights: {_SUFFIXES}")  # fmt: skip
    model_work.add_prompts(parser, PROMPTS_OF_HAYSTACKS)
    for name in NUMBERS:
        add(f"--{name}", type=int, metavar="N", help=f"default: {getattr(_USUAL, name)}")
    add("--all-pairs", action="store_true", help="ask about each insight in each document, as the paper does")
    add("--insights-least", type=int, metavar="N", help="needed in each subtopic (default: 3)")
    add("--in-documents", type=int, metavar="N", help="documents of an insight at least (5)")
    add("--in-document", type=int, nargs=2, metavar=("FROM", "TO"), help="insights a document (3 8)")


def _haystack(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = _chosen(options, (*NUMBERS, "insights_least", "in_documents", "in_document"))
    if "subtopics" in chosen:
        chosen["subtopics_least"] = chosen["subtopics"]
    if "insights" in chosen:
        chosen.setdefault("insights_least", min(_USUAL.insights_least, chosen["insights"]))
    chosen |= {
        "all_pairs": options["all_pairs"],
        "scenario": options["scenario"].strip() or SCENARIOS[options["kind"]],
        "participants": options["participants"].strip(),
        "prompts": model_work.wordings(options["prompt"]),
    }
    ideas = _read(options["ideas_from"], least=1)
    return {"kind": options["kind"], "sources": ideas, "settings": Settings.from_mapping(chosen)}


def _documents_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, nargs="?", metavar="FOLDER", help=f"documents: {_SUFFIXES}")
    model_work.add_arguments(parser, STEPS_OF[SynthesisKind.DOCUMENTS])
    add("--subtopics", type=int, metavar="N", help=f"at most (default: {_USUAL.subtopics})")
    add("--rounds", type=int, metavar="N", help=f"in which points are asked for ({_USUAL.rounds})")


def _documents(options: Mapping[str, Any]) -> dict[str, Any]:
    if options["folder"] is None:
        raise CommandError("Name the folder with the documents.")
    documents = _read(options["folder"])
    chosen = _chosen(options, ("subtopics", "rounds")) | {"subtopics_least": 1, "documents": len(documents)}
    return {"sources": documents, "settings": Settings.from_mapping(chosen)}


def _questions_arguments(parser: ArgumentParser) -> None:
    add, usual = parser.add_argument, _USUAL_QUESTIONS
    add("file", type=Path, nargs="?", metavar="FILE",
        help="seed questions as JSON lines: question, answer, and category if known")  # fmt: skip
    model_work.add_arguments(parser, STEPS_OF[SynthesisKind.QUESTIONS], product="question set")
    add("--documents-from", type=Path, metavar="FOLDER", help=f"documents for all questions: {_SUFFIXES}")
    add("--search", action="append", default=[], metavar="URL", help="one of SEARCH_URLS, repeated as needed")
    add("--rerank", nargs=2, metavar=("URL", "MODEL"), help="a rerank model (default: BM25)")
    for rows, type_, letter in ((NUMBERS_OF_QUESTIONS, int, "N"), (SHARES, float, "X")):
        for name, about in rows.items():
            option = f"--{name.replace('_', '-')}"
            add(option, type=type_, metavar=letter, help=f"{about} ({getattr(usual, name)})")
    add("--deeper-words", type=int, nargs=2, metavar=("FROM", "TO"), help="words that make a seed harder (10 20)")
    add("--rounds", type=int, metavar="N", help=f"of each list ({_USUAL.rounds})")
    add("--categories", nargs="+", metavar="NAME", help=f"default: {', '.join(usual.categories)}")
    add("--domains", nargs="+", metavar="NAME", help=f"default: {', '.join(usual.domains)}")
    add("--language", metavar="TAG", help="of the texts (en)")
    model_work.add_prompts(parser, PROMPTS_OF_QUESTIONS)


def _questions(options: Mapping[str, Any]) -> dict[str, Any]:
    if options["file"] is None:
        raise CommandError("Name the file of seed questions.")
    try:
        problems = Problems(file=options["file"].name)
        seeds = sources.parse_seeds(options["file"], problems=problems, limit_bytes=site.UPLOAD_LIMIT_BYTES)
    except ImportFailed as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{options['file']}: {error.strerror}") from error
    names = (*NUMBERS_OF_QUESTIONS, *SHARES, "deeper_words", "categories", "domains", "language")
    chosen = _chosen(options, names)
    if options["rerank"]:
        chosen["rerank_url"], chosen["rerank_model"] = options["rerank"]
    settings = {"prompts": model_work.wordings(options["prompt"]), "questions": chosen}
    if options["rounds"]:
        settings["rounds"] = options["rounds"]
    return {
        "seeds": seeds,
        "sources": _read(options["documents_from"]),
        "addresses": options["search"],
        "settings": Settings.from_mapping(settings),
    }


def _chosen(options: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: options[name] for name in names if options[name] is not None}


def _read(folder: Path | None, *, least: int = sources.LEAST) -> list[sources.Source]:
    try:
        return sources.read_folder(folder, least=least) if folder else []
    except NoDocument as error:
        raise CommandError(str(error)) from error


def _made(kind: str, begun: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[..., None]:
    return lambda options, output: model_work.make(options, output, kind, begun)


# Each `run` gets the options, and raises CommandError, or SystemExit after it has said why.
SUBCOMMANDS = (
    ("check", _check_arguments, _check,
     "Compare what the documents of a haystack hold with what its file says, without a model."),
    ("from-documents", _documents_arguments, _made(SynthesisKind.DOCUMENTS, _documents),
     "Make a haystack of documents of one's own: insights with passages, in subtopics with queries."),
    ("haystack", _haystack_arguments, _made(SynthesisKind.NEWS, _haystack),
     "Make a haystack from a topic: a model writes and checks it, and what is left is listed."),
    ("lint", _lint_arguments, _lint,
     "Check the texts of a pack: slots, wording, and how telling each one is to the offline judge."),
    ("pack", _pack_arguments, _pack,
     "Make a haystack from templates, without a model: the same seed gives the same bytes everywhere."),
    ("questions", _questions_arguments, _made(SynthesisKind.QUESTIONS, _questions),
     "Make questions with documents and key points out of seed questions."),
)  # fmt: skip


class Command(BaseCommand):
    """One name for all of synthesis."""

    help = "Make haystacks, and check what their documents hold."

    def add_arguments(self, parser: CommandParser) -> None:
        """Let each subcommand declare its own."""
        choices = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
        for name, declare, run, about in SUBCOMMANDS:
            subparser = choices.add_parser(name, help=about)
            declare(subparser)
            subparser.set_defaults(run=run)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one of them."""
        options["run"](options, Output(self.stdout.write, self.stderr.write))
