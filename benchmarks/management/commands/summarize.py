"""`manage.py summarize --system NAME --haystack NAME | --dataset NAME`: let a summarizer write what is missing."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings as site
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.engine import judging, overview, retrieving, summarizing, versions
from benchmarks.engine.arranging import Arranged, InTurn
from benchmarks.engine.responding import Documents, with_shared_notes
from benchmarks.engine.summarizing import Source
from benchmarks.engine.tasks import TASKS
from benchmarks.engine.tasks.summaries import FINISHED
from benchmarks.engine.versions import NotPossible
from benchmarks.judges.openai import check_address
from benchmarks.management import model_runs, named
from benchmarks.models import (
    Draft,
    DraftText,
    Judge,
    JudgeRun,
    Retrieval,
    RetrieverRanking,
    Subtopic,
    Summarizer,
)
from benchmarks.retrieval.registry import OFFLINE, RETRIEVERS, make
from benchmarks.summarizers.arrangements import Arrangement, in_turn
from benchmarks.summarizers.conditions import FULL, Condition
from benchmarks.summarizers.config import DECODINGS, EXTRACTIVE, METHODS, SummarizerConfig
from benchmarks.summarizers.config import default_prompt as prompt_of
from benchmarks.summarizers.documents import CL100K


def _setting(text: str) -> tuple[str, Any]:
    """A setting of a summarizer by its name, as text or as a number; empty where it may have none."""
    name, _equals, value = (each.strip() for each in text.partition("="))
    usual = {field.name: field.default for field in fields(SummarizerConfig)}
    if name not in usual or isinstance(usual[name], str):
        return name, value
    try:
        return name, orjson.loads(value or "null")
    except orjson.JSONDecodeError as error:
        raise CommandError(f"--set {text}: {name} is a number.") from error


def _order(name: str) -> str:
    if name not in summarizing.ORDERS and Arrangement.named(name) is None and not in_turn(name):
        known = ", ".join(summarizing.ORDERS)
        raise ArgumentTypeError(
            f"“{name}” is none of {known}, and no arrangement like at-2-of-5 or experiment like position-of-5"
        )
    return name


class Command(BaseCommand):
    """Queue what this summarizer has not written yet, then finish it and what earlier runs of it left."""

    help = (
        "Summarize the subtopics of haystacks, or answer the questions of a dataset. A run that was interrupted "
        "is taken up again, and a second run asks nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--system", required=True, metavar="NAME", help=f"the summarizer; {EXTRACTIVE} is the offline baseline"
        )
        parser.add_argument("--system-version", type=int, metavar="N", help="its version (default: the newest)")
        parser.add_argument(
            "--model", metavar="NAME", help="make the summarizer, or its next version, with this model of a server"
        )
        parser.add_argument(
            "--base-url",
            default="",
            metavar="URL",
            help="with --model: one of OPENAI_BASE_URLS (default: the first)",
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="SETTING=VALUE",
            help="with --model: a setting, such as temperature=0, bullets=free or headers=paper; repeatable",
        )  # fmt: skip
        named.add_haystacks(parser)
        parser.add_argument("--dataset", metavar="NAME", help="answer the questions imported under this name")
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--retriever",
            metavar="NAME",
            help=f"chooses documents up to the token budget: one of {', '.join(RETRIEVERS)}, or NAME@VERSION, "
            "or NAME@imported",
        )
        what.add_argument(
            "--order",
            type=_order,
            default="random",
            metavar="ORDER",
            help="of all documents, without a retriever: random (the default), or those of the subtopic first "
            "(top), last (bottom) or in the middle; of sources also an experiment (position-of-5, "
            "position-of-5-by-rouge2, infilling-of-5, documents-of-5, truncation-of-6) or one of its parts: "
            "at-2-of-5, all-of-5, ends-of-5, filled-of-5, first-2-of-5, upto-4096",
        )
        what.add_argument(
            "--documents",
            metavar="CONDITION",
            help="of --dataset: full (the default), cut-TOKENS (each document), snippets or summaries of each by "
            "the first system that made them of all questions, by the summarizer itself where none has or as "
            "snippets@own, by a system as snippets@NAME, closed-book",
        )
        parser.add_argument(
            "--method",
            choices=METHODS,
            help="take the summarizer with this method and its own prompts instead, as NAME (METHOD)",
        )
        parser.add_argument(
            "--decoding",
            choices=list(DECODINGS),
            help="take the summarizer with words drawn in this way instead, as NAME (DECODING): top-k 50 at "
            "temperature 0.3, greedy, or top-p 0.95 at temperature 1",
        )
        parser.add_argument(
            "--estimate", action="store_true", help="say what would be asked and what it would cost; ask nothing"
        )
        model_runs.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Count in texts: written now, there before, not as asked, failed."""
        started, began = time.perf_counter(), timezone.now()
        try:
            request = self._request(options, now=began)
            judge, shown = request["judge"], request["shown"]
            if options["estimate"]:
                self._estimate(judge, shown.task, summarizing.planned(**request), options)
                return
            drafts = summarizing.drafted(**request)
            scope = shown.scope(options["dataset"] or ", ".join(options["haystack"]), judge)
            keys = [draft.pk for draft in drafts]
            before = self._finished(judge, keys)
        except (judging.JudgeUnavailable, ValueError) as error:
            raise CommandError(str(error)) from error
        work: dict[str, Any] = {"judge": judge, "task": shown.task, "subjects": drafts, "scope": scope}
        worked_on = model_runs.finish(self, options, "written", since=began, **work)
        if worked_on is None:
            return
        subjects = TASKS[shown.task].subjects
        report = {
            "system": str(judge),
            "documents": shown.setting,
            subjects: len(drafts),
            **({"cut_by": scope["cut_by"]} if "cut_by" in scope else {}),
            **self._counts(judge, shown.task, keys, before=before, worked_on=worked_on),
            "seconds": round(time.perf_counter() - started, 3),
            **model_runs.spent(judge=judge, since=began, worked_on=worked_on),
        }
        self.stdout.write(named.printed(report, "\n".join(_lines(report, subjects)), options))

    def _request(self, options: dict[str, Any], *, now: datetime) -> dict[str, Any]:
        """Who is to write about what, and what is shown."""
        if bool(options["dataset"]) == bool(options["haystack"]):
            raise CommandError("Name a --haystack to summarize, or a --dataset whose questions are answered.")
        if options["dataset"] and (options["retriever"] or options["method"]):
            raise CommandError("--retriever and --method are of haystacks; with --dataset use --documents.")
        if options["haystack"] and options["documents"]:
            raise CommandError("--documents is of --dataset; with --haystack use --retriever or --order.")
        judge = self._summarizer(options, now=now)
        if options["haystack"]:
            subtopics = self._subtopics(options)
            source = self._source(options, subtopics)
            return {"judge": judge, "subjects": source.fitting(subtopics), "shown": source, "now": now}
        questions = list(named.questions(options["dataset"]).order_by("pk"))
        shown = Documents(with_shared_notes(Condition.named(options["documents"] or FULL), questions, judge))
        return {"judge": judge, "subjects": questions, "shown": shown, "now": now}

    def _summarizer(self, options: dict[str, Any], *, now: datetime) -> Judge:
        name, version, method = options["system"], options["system_version"], options["method"]
        if options["model"]:
            return self._made(options, now=now)
        if options["base_url"] or options["set"]:
            raise CommandError("--base-url and --set are of a summarizer that --model makes.")
        if name == EXTRACTIVE and version is None:
            if method or options["decoding"]:
                raise CommandError(f"{EXTRACTIVE} has a method of its own.")
            return versions.extractive(now=now)
        rows = Summarizer.objects.filter(name=name, archived_at=None)
        if version is not None:
            rows = rows.filter(version=version)
        summarizer: Judge | None = rows.order_by("-version").first()
        if summarizer is None:
            names = sorted({EXTRACTIVE, *Summarizer.objects.values_list("name", flat=True)})
            raise CommandError(f"There is no summarizer “{name}”; known summarizers: {', '.join(names)}.")
        values = {**summarizer.config, **DECODINGS.get(options["decoding"] or "", {})}
        if method is not None and summarizer.config.get("method") != method:
            own_prompts = dict.fromkeys(("block_prompt", "source_prompt", "source_block_prompt"), "")
            values |= {"method": method, "prompt": prompt_of(method), **own_prompts}
        if values == summarizer.config:
            return summarizer
        config = SummarizerConfig.from_mapping(values)
        return versions.save_variant(
            of=summarizer, config=config, decoding=options["decoding"] or "", by=None, now=now
        )

    def _made(self, options: dict[str, Any], *, now: datetime) -> Judge:
        """The summarizer of this model and these settings, made where it is missing."""
        if options["system_version"] is not None:
            raise CommandError("--model makes the version that has these settings; leave out --system-version.")
        values: dict[str, Any] = dict(_setting(text) for text in options["set"])
        values |= DECODINGS.get(options["decoding"] or "", {})
        values["model"] = options["model"]
        values["base_url"] = check_address(options["base_url"] or next(iter(site.OPENAI_BASE_URLS), ""))
        if options["method"]:
            values["method"] = options["method"]
        config = SummarizerConfig.from_mapping(values)
        versions.check_decoding(config)
        return versions.save_model(name=options["system"], config=config, by=None, now=now)

    def _subtopics(self, options: dict[str, Any]) -> list[Subtopic]:
        subtopics = list(
            Subtopic.objects.filter(haystack__in=named.haystacks(options))
            .select_related("haystack")
            .order_by("haystack", "number")
        )
        if not subtopics:
            raise CommandError("This haystack has no subtopics.")
        return subtopics

    def _source(self, options: dict[str, Any], subtopics: list[Subtopic]) -> Source:
        """An offline retriever with its default settings is run first where its scores are missing."""
        name, order = options["retriever"], options["order"]
        if not name:
            kind = Source if order in summarizing.ORDERS else InTurn if in_turn(order) else Arranged
            return kind(order=order)
        source = Source.named(name)
        if source.name != name or name not in OFFLINE:
            return source
        scored = RetrieverRanking.objects.filter(retriever=name, version=source.version)
        known = set(scored.filter(subtopic__in=subtopics).values_list("subtopic", flat=True))
        for haystack in {subtopic.haystack for subtopic in subtopics if subtopic.pk not in known}:
            row = retrieving.request(haystack=haystack, retriever=make(name, {}), now=timezone.now(), wake=False)
            retrieving.advance(uid=row.uid, clock=timezone.now)
            row.refresh_from_db()
            if row.state == Retrieval.State.FAILED:
                raise NotPossible(row.message)
        return source

    def _finished(self, judge: Judge, keys: list[int]) -> set[int]:
        rows = DraftText.objects.filter(judge=judge, draft__in=keys, number=FINISHED)
        return set(rows.values_list("draft", flat=True))

    def _counts(
        self, judge: Judge, task: str, keys: list[int], *, before: set[int], worked_on: list[JudgeRun]
    ) -> dict[str, Any]:
        texts = DraftText.objects.filter(judge=judge, draft__in=keys)
        after = self._finished(judge, keys)
        missing = dict.fromkeys(set(keys) - after, 1)
        invalid = texts.filter(number=FINISHED, is_valid=False).values_list("raw", flat=True)
        return {
            "written": len(after - before),
            "there_before": len(after & before),
            **model_runs.left(missing, judge=judge, task=task, worked_on=worked_on),
            "not_as_asked": len(invalid),
            "reasons": dict(Counter(raw.get("problem", "") for raw in invalid)),
            "without_text": texts.filter(number=FINISHED, text="").count(),
        }

    def _estimate(self, judge: Judge, task: str, drafts: list[Draft], options: dict[str, Any]) -> None:
        if judge.kind != Judge.Kind.OPENAI:
            raise CommandError(f"{judge} asks no model; it costs nothing.")
        estimate = overview.estimate(judge=judge, task=task, subjects=drafts, repeats=1, now=timezone.now())
        subjects = TASKS[task].subjects
        report = {
            subjects: estimate.n_subjects,
            "requests": estimate.n_paid,
            "prompt_tokens": estimate.prompt_tokens,
            "completion_tokens": estimate.completion_tokens,
            "dollars": None if estimate.dollars is None else float(estimate.dollars),
            "at_most": None if estimate.at_most is None else float(estimate.at_most),
        }
        cost = "no price is known" if estimate.dollars is None else f"about ${estimate.dollars:.4f}"
        text = f"{estimate.n_subjects:,} {subjects}, {estimate.n_paid:,} requests, {cost}."
        self.stdout.write(named.printed(report, text, options))


def _lines(report: dict[str, Any], subjects: str) -> Iterator[str]:
    yield (
        "{system} · {documents}: {written:,} {subjects} written in {seconds:.1f} s, {there_before:,} there "
        "before, {not_as_asked:,} not as asked, {failed:,} failed.".format(**report, subjects=subjects)
    )
    if how := report.get("cut_by"):
        counted = (
            "cl100k tokens" if how == CL100K else "1.25 tokens for a word (the extra “tokens” counts exactly)"
        )
        yield f"Documents were cut, with tokens counted as {counted}."
    yield from (f"{n:,} × {reason}" for reason, n in report["reasons"].items())
    if report["without_text"]:
        yield f"{report['without_text']:,} have no text and are in no figure."
    yield from model_runs.said_of_left(report, whose="summarizer")
