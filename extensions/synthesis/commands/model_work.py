"""What subcommands share that let a model make something: options, going through all steps, the report."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings as site
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmarks.access.owning import NotYours
from benchmarks.engine import costs, judging, runs
from benchmarks.engine.judging import JudgeUnavailable, ModelOptions
from benchmarks.engine.runs import RunProgress
from benchmarks.io.schemas import summhay
from benchmarks.judges.openai import check_address
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.judges.replies import LIMITS
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem
from benchmarks.states import RunState
from extensions.synthesis import handing_over, making, steps
from extensions.synthesis.card import card
from extensions.synthesis.checks.lexical import NothingToCompare
from extensions.synthesis.checks.report import check
from extensions.synthesis.commands.base import Failed, Output, SynthesisRefused
from extensions.synthesis.figures import figures_of, lot_words, lots_of, probes_of
from extensions.synthesis.models import (
    PartState,
    StepState,
    Synthesis,
    SynthesisPart,
    SynthesisReply,
    SynthesisStep,
)
from extensions.synthesis.procedure import StepKind
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import WrongSettings

_LISTED = 10


@dataclass(frozen=True)
class Product:
    """What a synthesis becomes: what its report says of it, in values and in lines, and where it goes."""

    name: str
    figures: Callable[[Synthesis], dict[str, Any]]
    lines: Callable[[Mapping[str, Any]], list[str]]
    content: Callable[[Synthesis], bytes]
    into_corpus: Callable[[Synthesis], object]


def add_arguments(parser: ArgumentParser, kinds: Sequence[StepKind], *, product: str = "haystack") -> None:
    """Who writes, how it is asked, and where the product goes; `kinds` are the steps that there are."""
    parser.add_argument("--topic", default="", metavar="TEXT", help=f"what the {product} is about")
    parser.add_argument("--model", default="", metavar="NAME", help="the name that the server uses")
    parser.add_argument(
        "--model-for", action="append", default=[], metavar="STEP=NAME",
        help=f"another model for a step, asked in the same way: {', '.join(kind.name for kind in kinds)}",
    )  # fmt: skip
    parser.add_argument(
        "--base-url", default="", metavar="URL", help="one of OPENAI_BASE_URLS (default: the first)"
    )
    parser.add_argument(
        "--temperature",
        default="1",
        metavar="T",
        help="of texts; checks are asked at 0; none: send none (default: 1)",
    )
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="of a request (default: 300)")
    parser.add_argument("--max-tokens", type=int, default=4000, metavar="N", help="of a reply (default: 4000)")
    parser.add_argument(
        "--limit-name", choices=LIMITS, default=LIMITS[0],
        help=f"what the server calls the limit of a reply (default: {LIMITS[0]})",
    )  # fmt: skip
    parser.add_argument("--resume", default="", metavar="ID", help="go on with this synthesis")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the plan and of all that is drawn")
    parser.add_argument("--allow-short", action="store_true", help="go on where fewer came than are needed")
    parser.add_argument("--ask-again", action="store_true", help="ask once more for what a short list lacks")
    parser.add_argument("--estimate", action="store_true", help="say what the next step costs, and ask nothing")
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help="requests at a time")
    parser.add_argument("--budget", metavar="DOLLARS", help="of each step; it pauses before this is spent")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"write the {product} in the published format")
    parser.add_argument("--card", type=Path, metavar="FILE", help="write the data card, as Markdown")
    parser.add_argument("--into-corpus", action="store_true", help="take it into the corpus too")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def add_prompts(parser: ArgumentParser, names: Sequence[str]) -> None:
    """Wordings of one's own."""
    parser.add_argument(
        "--prompt", action="append", default=[], metavar="NAME=FILE",
        help=f"a wording of one's own, with fields in braces, of: {', '.join(names)}",
    )  # fmt: skip


def wordings(options: Sequence[str]) -> dict[str, str]:
    """Wordings of one's own by name, out of their files.

    Raises:
        SynthesisRefused: a file cannot be read.
    """
    texts: dict[str, str] = {}
    for option in options:
        name, _equals, path = option.partition("=")
        try:
            texts[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise SynthesisRefused(f"--prompt {option}: the file cannot be read ({why}).") from error
    return texts


def make(
    options: Mapping[str, Any], output: Output, begin: Callable[[Mapping[str, Any]], Synthesis], product: Product
) -> None:
    """Go through all steps without people, and report what a person would have to look at.

    `begin` makes a synthesis of the options, unless they name one to resume.

    Raises:
        SynthesisRefused, Failed: see `Subcommand`.
    """
    try:
        choices = ModelOptions.checked(concurrency=options["concurrency"], budget=options["budget"])
        with transaction.atomic():
            synthesis = _resumed(options) if options["resume"] else begin(options)
    except (WrongSettings, ValueError, NotYours) as error:
        raise SynthesisRefused(str(error)) from error
    if options["estimate"]:
        _estimate(synthesis, output)
        return
    output.note(f"Synthesis {synthesis.uid}")
    said: set[str] = set()
    while (step := steps.next_step(synthesis)) is not None:
        _finish(step, choices, options, output)
        said.add(step.name)
    report = report_of(synthesis, product)
    if options["json"]:
        output.json(report)
    else:
        for line in _lines(report, product, said=said):
            output.result(line)
    _write(synthesis, options, product)


def topic_and_models(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the options name, by the arguments of `steps.begin`: topic, judge, and judges of single steps.

    Raises:
        SynthesisRefused: one is missing, or the settings allow no such address.
    """
    if not options["topic"].strip() or not options["model"].strip():
        raise SynthesisRefused("Name a --topic and a --model, or a synthesis to --resume.")
    judges = _judges(options, {"": options["model"].strip()})
    return {"topic": options["topic"].strip()[:300], "judge": judges.pop(""), "judges": judges}


def _judges(options: Mapping[str, Any], models: dict[str, str]) -> dict[str, Judge]:
    """Models by the step that each does, those that the options name for a step too."""
    for option in options["model_for"]:
        step, _equals, model = (each.strip() for each in option.partition("="))
        if not step or not model or step in models:
            raise SynthesisRefused(f"--model-for {option}: STEP=NAME is needed, once for a step.")
        models[step] = model
    if not models:
        return {}
    config, now = _config(options), timezone.now()
    return {
        step: steps.save_generator(config=replace(config, model=model), by=None, now=now)
        for step, model in models.items()
    }


def _config(options: Mapping[str, Any]) -> GeneratorConfig:
    """The model at this address, by default the first that the settings allow."""
    addresses, temperature = site.OPENAI_BASE_URLS, options["temperature"]
    if not options["base_url"] and not addresses:
        raise SynthesisRefused("OPENAI_BASE_URLS lists no server.")
    try:
        return GeneratorConfig.from_mapping(
            {
                "base_url": check_address(options["base_url"] or addresses[0]),
                "model": options["model"].strip(),
                "temperature": None if temperature == "none" else float(temperature),
                "max_tokens": options["max_tokens"],
                "limit_name": options["limit_name"],
                "timeout_s": options["timeout"],
            }
        )
    except ValueError as error:
        raise SynthesisRefused(str(error)) from error


def _resumed(options: Mapping[str, Any]) -> Synthesis:
    """The synthesis to go on with; `--model-for` gives steps that are not closed another model."""
    uid = options["resume"]
    try:
        synthesis = Synthesis.objects.get(uid=uid)
    except (Synthesis.DoesNotExist, ValidationError) as error:
        raise SynthesisRefused(f"There is no synthesis {uid}.") from error
    try:
        for name, judge in _judges(options, {}).items():
            steps.change_model(synthesis=synthesis, name=name, judge=judge, now=timezone.now())
    except StepRefused as error:
        raise SynthesisRefused(str(error)) from error
    return synthesis


def _estimate(synthesis: Synthesis, output: Output) -> None:
    step = steps.next_step(synthesis)
    if step is None:
        raise SynthesisRefused("All steps are closed.")
    try:
        output.json(
            {"synthesis": str(synthesis.uid), "step": step.name, **steps.estimate(step=step, now=timezone.now())}
        )
    except (StepRefused, ValueError) as error:
        raise SynthesisRefused(str(error)) from error


def _finish(step: SynthesisStep, choices: ModelOptions, options: Mapping[str, Any], output: Output) -> None:
    """Run a step to its end, or go on with its run, then go through its gate."""
    try:
        if steps.is_under_way(step) and step.run is not None:
            runs.resume_run(run=step.run)
        elif step.state != StepState.REVIEW:
            steps.start(step=step, options=choices, by=None, now=timezone.now())
        _work(step, output)
        step.refresh_from_db()
        if options["ask_again"] and step.counts.get("is_short") and step.name in making.LISTS:
            output.note(f"{step.name}: {step.counts['sentence']}")
            steps.start(step=step, options=choices, by=None, now=timezone.now(), more=True)
            _work(step, output)
            step.refresh_from_db()
        if step.state == StepState.RUNNING:
            why = step.run.message if step.run else ""
            raise SynthesisRefused(
                f"The step “{step.name}” stopped. {why} Go on with --resume {step.synthesis.uid}."
            )
        say = output.note if options["json"] else output.result
        say(f"{step.name}: {step.counts.get('sentence', '')}")
        if step.counts.get("failed") and not options["allow_short"]:
            raise StepRefused(f"{step.counts['failed']} parts of “{step.name}” got no answer. {_error(step)}")
        if step.state == StepState.REVIEW:
            steps.close(step=step, by=None, now=timezone.now(), allow_short=options["allow_short"])
    except (StepRefused, JudgeUnavailable) as error:
        output.note(str(error))
        raise Failed from error


def _error(step: SynthesisStep) -> str:
    """What went wrong with the first part that got no answer."""
    failed = step.run.items.filter(state=JudgeRunItem.State.FAILED).order_by("pk").first() if step.run else None
    return failed.error if failed else ""


def _work(step: SynthesisStep, output: Output) -> None:
    """Work on the run of a step until nothing of it is left that this process may take."""
    step.refresh_from_db()
    if step.run is None or step.run.state not in {RunState.PENDING, RunState.RUNNING}:
        return

    def say(_run: JudgeRun, done: RunProgress) -> None:
        output.note(progress_words(step, done))

    judging.finish_runs(
        judge=step.judge, clock=timezone.now, say=output.note, progress=say, task=JudgeRun.Task.SYNTHESIS
    )


def progress_words(step: SynthesisStep, done: RunProgress) -> str:
    """How far a step is: “documents: 37 of 100, document 41: repair 2”."""
    words = f"{step.name}: {done.n_done} of {done.n_total}"
    if step.name == "documents" and (at := making.under_repair(step.synthesis)):
        words += f", document {at[0]}: repair {at[1]}"
    return words + (f", {done.n_failed} failed" if done.n_failed else "")


def report_of(synthesis: Synthesis, product: Product) -> dict[str, Any]:
    """What was made, what its checks say, what is left for people, what it cost."""
    parts = SynthesisPart.objects.filter(synthesis=synthesis)
    flagged = parts.filter(state=PartState.FLAGGED).order_by("kind", "number")
    replies = SynthesisReply.objects.filter(part__synthesis=synthesis)
    calls = JudgeCall.objects.filter(run__in=synthesis.runs())
    spent = costs.cost_of(calls)
    done = list(synthesis.steps.select_related("judge").order_by("number"))
    return {
        "synthesis": str(synthesis.uid),
        "topic": synthesis.topic,
        "models": {step.name: str(step.judge) for step in done},
        "steps": {step.name: step.counts for step in done},
        "flagged": [
            {"kind": part.kind, "number": part.number, "flags": part.data.get("flags", [])} for part in flagged
        ],
        **product.figures(synthesis),
        "replies": replies.count(),
        "unusable_replies": replies.filter(value__isnull=True).count(),
        "unusable_because": _reasons(replies.filter(value__isnull=True).values_list("problem", flat=True)),
        "repaired_replies": calls.filter(is_repair=True).count(),
        "failed_requests": sum(calls.values_list("n_sent", flat=True)) - spent.n_calls,
        "requests": spent.n_calls,
        "dollars": None if spent.dollars is None else float(spent.dollars),
    }


def _reasons(problems: Iterable[str]) -> dict[str, int]:
    """How often each problem came, whatever the numbers in it."""
    return dict(Counter(re.sub(r"\d[\d, ]*", "… ", problem).strip() for problem in problems).most_common())


def _lines(report: dict[str, Any], product: Product, *, said: Collection[str]) -> list[str]:
    """The report in lines, without the counts of steps that were said when they ended."""
    rows = report["steps"].items()
    lines = [f"{name}: {counts.get('sentence', '')}" for name, counts in rows if name not in said]
    lines += product.lines(report)
    lines.append(f"flagged, for people to look at: {len(report['flagged'])}")
    listed = report["flagged"][:_LISTED]
    lines += [f"  {row['kind']} {row['number']}: {', '.join(row['flags'])}" for row in listed]
    cost = "no price is known" if report["dollars"] is None else f"${report['dollars']:.4f}"
    lines.append(
        f"{report['requests']} paid requests, {report['repaired_replies']} of them to repair a reply, "
        f"{report['unusable_replies']} replies not usable; {cost}"
    )
    return lines


def _write(synthesis: Synthesis, options: Mapping[str, Any], product: Product) -> None:
    """Write what the options ask for; what cannot be written keeps nothing else back.

    Raises:
        SynthesisRefused: something of it cannot be written.
    """
    refused: list[str] = []
    writers: list[Callable[[], object]] = []
    if options["card"]:
        writers.append(lambda: options["card"].write_bytes(card(synthesis, figures_of(synthesis)).encode()))
    if options["out"]:
        writers.append(lambda: options["out"].write_bytes(product.content(synthesis)))
    if options["into_corpus"] and not synthesis.is_handed_over:
        writers.append(lambda: product.into_corpus(synthesis))
    for write in writers:
        try:
            write()
        except StepRefused as error:
            refused.append(str(error))
        except OSError as error:
            refused.append(f"{error.filename}: {error.strerror}")
    if refused:
        raise SynthesisRefused(" ".join(dict.fromkeys(refused)))


def _checks(synthesis: Synthesis) -> dict[str, Any]:
    """The free checks of a haystack."""
    topic = handing_over.topic_file(synthesis)
    try:
        report = check(topic).as_json()
        names = ("auc", "threshold", "precision", "recall", "mutation_recall", "mutations", "verbatim", "repeated")
        checked = {name: report[name] for name in names}
        checked["near_duplicates"] = len(report["near_duplicate_documents"])
        checked["overlapping"] = len(report["overlapping_insights"])
    except NothingToCompare as error:
        checked = {"why_not": str(error)}
    return {"checks": checked, "probes": probes_of(synthesis), "leaks": lots_of(synthesis)}


def _check_lines(report: Mapping[str, Any]) -> list[str]:
    checks = report["checks"]
    lines = []
    if "auc" in checks:
        lines.append(f"planted against not, by words: AUC {checks['auc']:.3f}")
        if checks["mutation_recall"] is not None:
            lines.append(f"changed documents that the check notices: {checks['mutation_recall']:.3f}")
    if probes := report["probes"]["n"]:
        caught = report["probes"]["n_caught"]
        lines.append(f"documents without the evidence of an insight that the checks notice: {caught} of {probes}")
    if inserted := report["probes"]["n_insertions"]:
        caught = report["probes"]["n_insertions_caught"]
        lines.append(f"documents with evidence put in elsewhere that the checks notice: {caught} of {inserted}")
    return [*lines, words] if (words := lot_words(report["leaks"])) else lines


HAYSTACK = Product(
    name="haystack",
    figures=_checks,
    lines=_check_lines,
    content=lambda synthesis: b"".join(summhay.dump(handing_over.topic_file(synthesis))),
    into_corpus=lambda synthesis: handing_over.hand_over(synthesis=synthesis, by=None, now=timezone.now()),
)
