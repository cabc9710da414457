"""Synthesis by subcommands that let a model make something: options, going through all steps, the report."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings as site
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from django.db import transaction
from django.utils import timezone

from benchmarks.access.owning import NotYours
from benchmarks.engine import judging, runs
from benchmarks.engine.judging import JudgeUnavailable, ModelOptions
from benchmarks.engine.runs import RunProgress
from benchmarks.judges.openai import check_address
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.judges.replies import LIMITS
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem
from benchmarks.states import RunState
from extensions.synthesis import handing_over, haystacks, steps
from extensions.synthesis.checks import NothingToCompare, check
from extensions.synthesis.figures import card, figures_of, lot_words, lots_of, probes_of
from extensions.synthesis.models import (
    PartKind,
    PartState,
    StepKind,
    StepRefused,
    StepState,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
    SynthesisStep,
)
from extensions.synthesis.settings import WrongSettings

_LISTED = 10
_CHECKED = ("auc", "threshold", "precision", "recall", "mutation_recall", "mutations", "verbatim", "repeated")


@dataclass(frozen=True, slots=True)
class Output:
    """Where a subcommand writes lines: `result` to stdout, `note` to stderr."""

    result: Callable[[str], object]
    note: Callable[[str], object]

    def json(self, value: Any) -> None:
        self.result(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def add_arguments(parser: ArgumentParser, kinds: Sequence[StepKind], *, product: str = "haystack") -> None:
    """Who writes, how it is asked, and where the product goes; `kinds` are the steps that there are."""
    add = parser.add_argument
    add("--topic", default="", metavar="TEXT", help=f"what the {product} is about")
    add("--model", default="", metavar="NAME", help="the name that the server uses")
    names = ", ".join(kind.name for kind in kinds)
    add("--model-for", action="append", default=[], metavar="STEP=NAME",
        help=f"another model for a step, asked in the same way: {names}")  # fmt: skip
    add("--base-url", default="", metavar="URL", help="one of OPENAI_BASE_URLS (default: the first)")
    add("--temperature", default="1", metavar="T",
        help="of texts; checks are asked at 0; none: send none (default: 1)")  # fmt: skip
    add("--timeout", type=float, default=300.0, metavar="S", help="of a request (default: 300)")
    add("--max-tokens", type=int, default=4000, metavar="N", help="of a reply (default: 4000)")
    add("--limit-name", choices=LIMITS, default=LIMITS[0],
        help=f"what the server calls the limit of a reply (default: {LIMITS[0]})")  # fmt: skip
    add("--resume", default="", metavar="ID", help="go on with this synthesis")
    add("--seed", type=int, default=1, metavar="N", help="of the plan and of all that is drawn")
    add("--allow-short", action="store_true", help="go on where fewer came than are needed")
    add("--ask-again", action="store_true", help="ask once more for what a short list lacks")
    add("--estimate", action="store_true", help="say what the next step costs, and ask nothing")
    add("--concurrency", type=int, default=16, metavar="N", help="requests at a time")
    add("--budget", metavar="DOLLARS", help="of each step; it pauses before this is spent")
    add("--out", type=Path, metavar="FILE", help=f"write the {product} in the published format")
    add("--card", type=Path, metavar="FILE", help="write the data card, as Markdown")
    add("--into-corpus", action="store_true", help="take it into the corpus too")
    add("--json", action="store_true", help="print the report as JSON")


def add_prompts(parser: ArgumentParser, names: Sequence[str]) -> None:
    """Wordings of one's own."""
    parser.add_argument(
        "--prompt", action="append", default=[], metavar="NAME=FILE",
        help=f"a wording of one's own, with fields in braces, of: {', '.join(names)}",
    )  # fmt: skip


def wordings(options: Sequence[str]) -> dict[str, str]:
    """Wordings of one's own by name, out of their files; CommandError if one cannot be read."""
    texts: dict[str, str] = {}
    for option in options:
        name, _equals, path = option.partition("=")
        try:
            texts[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise CommandError(f"--prompt {option}: the file cannot be read ({why}).") from error
    return texts


def make(
    options: Mapping[str, Any], output: Output, kind: str, begun: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> None:
    """Go through all steps without people, and report what a person would have to look at.

    `begun` gives what `steps.begin` needs beside topic and models, unless the options name one to resume.

    Raises:
        CommandError: it cannot begin or go on.
        SystemExit: it was said what keeps it from going on.
    """
    try:
        choices = ModelOptions.checked(concurrency=options["concurrency"], budget=options["budget"])
        with transaction.atomic():
            synthesis = _resumed(options) if options["resume"] else _begun(options, kind, begun(options))
    except (WrongSettings, ValueError, NotYours) as error:
        raise CommandError(str(error)) from error
    if options["estimate"]:
        _estimate(synthesis, output)
        return
    output.note(f"Synthesis {synthesis.uid}")
    said: set[str] = set()
    while (step := steps.next_step(synthesis)) is not None:
        _finish(step, choices, options, output)
        said.add(step.name)
    report = report_of(synthesis)
    if options["json"]:
        output.json(report)
    else:
        for line in _lines(report, said=said):
            output.result(line)
    _write(synthesis, options)


def _begun(options: Mapping[str, Any], kind: str, chosen: Mapping[str, Any]) -> Synthesis:
    topic, model = options["topic"].strip()[:300], options["model"].strip()
    if not topic or not model:
        raise CommandError("Name a --topic and a --model, or a synthesis to --resume.")
    judges = _judges(options, {"": model})
    return steps.begin(
        **{"kind": kind, **chosen},
        topic=topic,
        seed=options["seed"],
        judge=judges.pop(""),
        judges=judges,
        by=None,
        now=timezone.now(),
    )


def _judges(options: Mapping[str, Any], models: dict[str, str]) -> dict[str, Judge]:
    """Models by the step that each does, those that the options name for a step too."""
    for option in options["model_for"]:
        step, _equals, model = (each.strip() for each in option.partition("="))
        if not step or not model or step in models:
            raise CommandError(f"--model-for {option}: STEP=NAME is needed, once for a step.")
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
        raise CommandError("OPENAI_BASE_URLS lists no server.")
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


def _resumed(options: Mapping[str, Any]) -> Synthesis:
    """The synthesis to go on with; `--model-for` gives steps that are not closed another model."""
    uid = options["resume"]
    try:
        synthesis = Synthesis.objects.get(uid=uid)
    except (Synthesis.DoesNotExist, ValidationError) as error:
        raise CommandError(f"There is no synthesis {uid}.") from error
    for name, judge in _judges(options, {}).items():
        steps.change_model(synthesis=synthesis, name=name, judge=judge, now=timezone.now())
    return synthesis


def _estimate(synthesis: Synthesis, output: Output) -> None:
    step = steps.next_step(synthesis)
    if step is None:
        raise CommandError("All steps are closed.")
    try:
        estimate = steps.estimate(step=step, now=timezone.now())
    except ValueError as error:
        raise CommandError(str(error)) from error
    output.json({"synthesis": str(synthesis.uid), "step": step.name, **estimate})


def _finish(step: SynthesisStep, choices: ModelOptions, options: Mapping[str, Any], output: Output) -> None:
    """Run a step to its end, or go on with its run, then go through its gate."""
    start: dict[str, Any] = {"step": step, "options": choices, "by": None}
    try:
        if steps.is_under_way(step) and step.run is not None:
            runs.resume_run(run=step.run)
        elif step.state != StepState.REVIEW:
            steps.start(**start, now=timezone.now())
        _work(step, output)
        if options["ask_again"] and step.counts.get("is_short") and step.name in haystacks.LISTS:
            output.note(f"{step.name}: {step.counts['sentence']}")
            steps.start(**start, now=timezone.now(), more=True)
            _work(step, output)
        if step.state == StepState.RUNNING:
            why = step.run.message if step.run else ""
            raise CommandError(f"The step “{step.name}” stopped. {why} Go on with --resume {step.synthesis.uid}.")
        say = output.note if options["json"] else output.result
        say(f"{step.name}: {step.counts.get('sentence', '')}")
        if (n_failed := step.counts.get("failed")) and not options["allow_short"]:
            failed = JudgeRunItem.objects.filter(run=step.run, state=JudgeRunItem.State.FAILED).order_by("pk")
            why = next((item.error for item in failed[:1]), "")
            raise StepRefused(f"{n_failed} parts of “{step.name}” got no answer. {why}")
        if step.state == StepState.REVIEW:
            steps.close(step=step, by=None, now=timezone.now(), allow_short=options["allow_short"])
    except (StepRefused, JudgeUnavailable) as error:
        output.note(str(error))
        raise SystemExit(1) from error


def _work(step: SynthesisStep, output: Output) -> None:
    """Work on the run of a step until nothing of it is left that this process may take."""
    step.refresh_from_db()
    if step.run is None or step.run.state not in {RunState.PENDING, RunState.RUNNING}:
        return

    def say(_run: JudgeRun, done: RunProgress) -> None:
        """How far it is: “documents: 37 of 100, document 41: repair 2”."""
        words = f"{step.name}: {done.n_done} of {done.n_total}"
        if step.name == "documents" and (at := haystacks.under_repair(step.synthesis)):
            words += f", document {at[0]}: repair {at[1]}"
        output.note(words + (f", {done.n_failed} failed" if done.n_failed else ""))

    task = JudgeRun.Task.SYNTHESIS
    judging.finish_runs(judge=step.judge, clock=timezone.now, say=output.note, progress=say, task=task)
    step.refresh_from_db()


def report_of(synthesis: Synthesis) -> dict[str, Any]:
    """Report on what was made, what its checks say, what is left for people, what it cost."""
    flagged = synthesis.parts.filter(state=PartState.FLAGGED).order_by("kind", "number")
    replies = SynthesisReply.objects.filter(part__synthesis=synthesis)
    calls = JudgeCall.objects.filter(run__in=synthesis.runs())
    spent = synthesis.cost()
    done = list(synthesis.steps.select_related("judge").order_by("number"))
    unusable = list(replies.filter(value__isnull=True).values_list("problem", flat=True))
    reasons = Counter(re.sub(r"\d[\d, ]*", "… ", problem).strip() for problem in unusable)
    return {
        "synthesis": str(synthesis.uid),
        "topic": synthesis.topic,
        "models": {step.name: str(step.judge) for step in done},
        "steps": {step.name: step.counts for step in done},
        "flagged": [
            {"kind": part.kind, "number": part.number, "flags": part.data.get("flags", [])} for part in flagged
        ],
        **(_questions if synthesis.kind == SynthesisKind.QUESTIONS else _checks)(synthesis),
        "replies": replies.count(),
        "unusable_replies": len(unusable),
        "unusable_because": dict(reasons.most_common()),
        "repaired_replies": calls.filter(is_repair=True).count(),
        "failed_requests": sum(calls.values_list("n_sent", flat=True)) - spent.n_calls,
        "requests": spent.n_calls,
        "dollars": None if spent.dollars is None else float(spent.dollars),
    }


def _checks(synthesis: Synthesis) -> dict[str, Any]:
    topic = handing_over.topic_file(synthesis)
    try:
        report = check(topic)
        checked = {name: report[name] for name in _CHECKED}
        checked["near_duplicates"] = len(report["near_duplicate_documents"])
        checked["overlapping"] = len(report["overlapping_insights"])
    except NothingToCompare as error:
        checked = {"why_not": str(error)}
    return {"checks": checked, "probes": probes_of(synthesis), "leaks": lots_of(synthesis)}


def _questions(synthesis: Synthesis) -> dict[str, Any]:
    rows = handing_over.standing_rows(synthesis)
    first = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.QUESTION, generation=0)
    methods = Counter(first.values_list("data__method", flat=True))
    counts = {
        "questions": len(rows),
        "without_key_points": len(haystacks.continuing(synthesis, PartKind.QUESTION)) - len(rows),
        "by_category": dict(sorted(Counter(row.category for row in rows).items())),
        "by_domain": dict(sorted(Counter(row.domain for row in rows).items())),
        "by_method": dict(sorted(methods.items())),
        "documents": sum(len(row.documents) for row in rows),
        "key_points": sum(len(row.key_points) for row in rows),
        "spans": sum(len(point.spans) for row in rows for point in row.key_points),
    }
    return {"questions": counts}


def _lines(report: dict[str, Any], *, said: Collection[str]) -> list[str]:
    """The report in lines, without the counts of steps that were said when they ended."""
    rows = report["steps"].items()
    lines = [f"{name}: {counts.get('sentence', '')}" for name, counts in rows if name not in said]
    if n := report.get("questions"):
        lines.append(f"{n['questions']} questions, {n['documents']} documents, {n['key_points']} key points")
        lines.append(f"left out, as no key point stands: {n['without_key_points']}")
    else:
        lines += _lines_of_checks(report)
    lines.append(f"flagged, for people to look at: {len(report['flagged'])}")
    listed = report["flagged"][:_LISTED]
    lines += [f"  {row['kind']} {row['number']}: {', '.join(row['flags'])}" for row in listed]
    cost = "no price is known" if report["dollars"] is None else f"${report['dollars']:.4f}"
    lines.append(
        f"{report['requests']} paid requests, {report['repaired_replies']} of them to repair a reply, "
        f"{report['unusable_replies']} replies not usable; {cost}"
    )
    return lines


def _lines_of_checks(report: Mapping[str, Any]) -> list[str]:
    checks, probes = report["checks"], report["probes"]
    lines = []
    if "auc" in checks:
        lines.append(f"planted against not, by words: AUC {checks['auc']:.3f}")
        if checks["mutation_recall"] is not None:
            lines.append(f"changed documents that the check notices: {checks['mutation_recall']:.3f}")
    for name, words in (
        ("", "documents without the evidence of an insight that the checks notice"),
        ("_insertions", "documents with evidence put in elsewhere that the checks notice"),
    ):
        if n := probes[f"n{name}"]:
            lines.append(f"{words}: {probes[f'n{name}_caught']} of {n}")
    return [*lines, words] if (words := lot_words(report["leaks"])) else lines


def _write(synthesis: Synthesis, options: Mapping[str, Any]) -> None:
    """Write what the options ask for; what cannot be written keeps nothing else back, and is said at the end."""
    refused: list[str] = []
    writers: list[Callable[[], object]] = []
    if options["card"]:
        writers.append(lambda: options["card"].write_bytes(card(synthesis, figures_of(synthesis)).encode()))
    if options["out"]:
        writers.append(lambda: options["out"].write_bytes(b"".join(handing_over.published(synthesis)[0])))
    if options["into_corpus"] and not synthesis.is_handed_over:
        writers.append(lambda: handing_over.hand_over(synthesis=synthesis, by=None, now=timezone.now()))
    for write in writers:
        try:
            write()
        except StepRefused as error:
            refused.append(str(error))
        except OSError as error:
            refused.append(f"{error.filename}: {error.strerror}")
    if refused:
        raise CommandError(" ".join(dict.fromkeys(refused)))
