"""Let a judge judge summaries or responses; what was judged before is never asked again."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks import costs, judging
from benchmarks.judging import RunProgress
from benchmarks.models import Haystack, Judge, JudgeCall, JudgeRun, Question, Response, Summary
from benchmarks.recall import lacking

OFFLINE = "lexical"
_TEXTS = {True: "summaries", False: "responses"}


class Command(BaseCommand):
    """Queue what this judge has not judged yet, then finish it and what earlier runs of the judge left."""

    help = (
        "Judge summaries, or responses with --task; a run that was interrupted is taken up again, "
        "and a second run asks nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("judge", metavar="NAME", help=f"name of the judge; {OFFLINE} is the offline one")
        parser.add_argument("--judge-version", type=int, metavar="N", help="its version (default: the newest)")
        parser.add_argument(
            "--task",
            choices=[task for task in JudgeRun.Task.values if task != JudgeRun.Task.AUTODS],
            default=JudgeRun.Task.COVERAGE,
            help="coverage of insights by summaries (the default); of responses: recall of key points, extraction "
            "of the points they make, support of those points by documents and key points",
        )
        parser.add_argument("--haystack", metavar="NAME", help="only this one: its file's stem, id or title")
        parser.add_argument("--dataset", metavar="NAME", help="only what was imported under this name")
        parser.add_argument("--all", action="store_true", help="archived haystacks and texts of sessions too")
        parser.add_argument(
            "--concurrency", type=int, default=16, metavar="N", help="requests at a time, of models"
        )
        parser.add_argument("--repeats", type=int, default=1, metavar="N", help="answers per insight, of models")
        parser.add_argument("--budget", metavar="DOLLARS", help="pause before this is spent, of models")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count in verdicts: asked now, there before, answered unusably, failed."""
        started = time.perf_counter()
        judge = self._judge(name=options["judge"], version=options["judge_version"])
        if options["task"] != JudgeRun.Task.COVERAGE:
            self._on_responses(judge=judge, options=options, started=started)
            return
        summaries = self._summaries(
            haystack=options["haystack"], dataset=options["dataset"], everything=options["all"]
        )
        began, repeats = timezone.now(), options["repeats"]
        before = judging.verdict_counts(
            judge=judge, summaries=summaries.values_list("pk", flat=True), repeats=repeats
        )
        try:
            judging.request_run(
                judge=judge,
                summaries=summaries,
                reason="command",
                now=timezone.now(),
                options=self._options(options),
            )
        except judging.JudgeUnavailable as error:
            raise CommandError(str(error)) from error
        self._finish_all(judge)
        after = judging.verdict_counts(judge=judge, summaries=before, repeats=repeats)
        invalid = judge.verdicts.filter(is_valid=False, summary__in=summaries.values("pk"))
        report = {
            "judge": str(judge),
            **self._counts(judge=judge, before=before, after=after, repeats=repeats),
            "invalid": invalid.count(),
            "seconds": round(time.perf_counter() - started, 3),
            **self._costs(judge=judge, since=began),
        }
        self._tell(report, as_json=options["json"])

    def _on_responses(self, *, judge: Judge, options: dict[str, Any], started: float) -> None:
        """The same for a task on responses: counts are answers, one for each key point, response or point."""
        task, began = options["task"], timezone.now()
        responses = self._responses(dataset=options["dataset"])
        repeats = options["repeats"] if task == JudgeRun.Task.RECALL and judge.kind == Judge.Kind.OPENAI else 1
        before = lacking.counts(judge=judge, task=task, responses=responses, repeats=repeats)
        try:
            judging.request_response_run(
                judge=judge,
                task=task,
                responses=responses,
                reason="command",
                now=timezone.now(),
                options=self._options(options),
            )
        except judging.JudgeUnavailable as error:
            raise CommandError(str(error)) from error
        self._finish_all(judge)
        after = lacking.counts(judge=judge, task=task, responses=responses, repeats=repeats)
        waiting = set(judging.waiting_items(judge=judge, task=task).values_list("response", flat=True))
        left = {pk: done.n_asked - done.n_there for pk, done in after.items()}
        cached = sum(done.n_there for done in before.values())
        report = {
            "judge": str(judge),
            "task": task,
            "responses": len(responses),
            "calls": sum(done.n_there for done in after.values()) - cached,
            "cached": cached,
            "failed": sum(count for pk, count in left.items() if pk not in waiting),
            "held_elsewhere": sum(count for pk, count in left.items() if pk in waiting),
            "invalid": lacking.n_invalid(judge=judge, task=task, among=responses),
            "seconds": round(time.perf_counter() - started, 3),
            **self._costs(judge=judge, since=began),
        }
        if task == JudgeRun.Task.SUPPORT:
            report["not_extracted"] = lacking.without_points(judge=judge, among=responses)
        self._tell(report, as_json=options["json"])

    def _responses(self, *, dataset: str | None) -> list[Response]:
        questions = Question.objects.of(dataset=dataset or "").filter(archived_at=None)
        if dataset and not questions.exists():
            raise CommandError(f"No question was imported as “{dataset}”; see the page of questions for names.")
        return list(Response.objects.filter(question__in=questions).order_by("question", "pk"))

    def _finish_all(self, judge: Judge) -> None:
        for uid in judging.unfinished_runs(now=timezone.now(), judge=judge):
            self._finish(JudgeRun.objects.select_related("judge").get(uid=uid))

    def _tell(self, report: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        else:
            self._print(report)

    def _options(self, options: dict[str, Any]) -> judging.ModelOptions:
        if not 1 <= options["concurrency"] <= 256 or not 1 <= options["repeats"] <= 20:
            raise CommandError("--concurrency is from 1 to 256, --repeats from 1 to 20.")
        try:
            budget = Decimal(options["budget"]) if options["budget"] else None
        except InvalidOperation:
            raise CommandError(f"--budget {options['budget']} is not a number of dollars.") from None
        return judging.ModelOptions(options["concurrency"], options["repeats"], budget)

    def _costs(self, *, judge: Judge, since: Any) -> dict[str, Any]:
        """What this command spent, in US dollars: null with a reason where it is not known; and who paused it."""
        cost = costs.cost_of(JudgeCall.objects.filter(run__judge=judge, answered_at__gte=since))
        paused = judge.runs.filter(state=JudgeRun.State.PAUSED).values_list("message", flat=True).first()
        return {
            "cost": None if cost.dollars is None else float(cost.dollars),
            **({"cost_unknown": cost.reason} if cost.reason else {}),
            **({"paused": paused} if paused else {}),
        }

    def _judge(self, *, name: str, version: int | None) -> Judge:
        if name == OFFLINE and version is None:
            return judging.default_judge(now=timezone.now())
        found = Judge.objects.filter(name=name, archived_at=None)
        if version is not None:
            found = found.filter(version=version)
        judge = found.order_by("-version").first()
        if judge is None:
            names = sorted({OFFLINE, *Judge.objects.exclude(kind="imported").values_list("name", flat=True)})
            asked = name if version is None else f"{name} v{version}"
            raise CommandError(f"There is no judge “{asked}”; there is: {', '.join(names)}.")
        return judge

    def _summaries(self, *, haystack: str | None, dataset: str | None, everything: bool) -> Any:
        haystacks = Haystack.objects.all() if everything else Haystack.objects.current()
        if haystack is not None:
            haystacks = haystacks.named(haystack)
        if dataset is not None:
            haystacks = haystacks.filter(dataset=dataset)
        if (haystack or dataset) and not haystacks.exists():
            raise CommandError(
                f"No haystack is called “{haystack or dataset}”; see the page of corpora for names."
            )
        summaries = Summary.objects.filter(haystack__in=haystacks).only("pk").order_by("pk")
        return summaries if everything else summaries.of_systems()

    def _finish(self, run: JudgeRun) -> None:
        """Judge what is left; summaries that the judge fails on are tried again, then counted as failed."""
        for attempt in range(1, judging.MAX_ATTEMPTS + 1):
            try:
                judging.run_pending(
                    run=run, clock=timezone.now, progress=partial(self._say, _TEXTS[run.task == "coverage"])
                )
                return
            except Exception as error:
                again = "tried again" if attempt < judging.MAX_ATTEMPTS else "given up"
                self.stderr.write(f"{type(error).__name__}: {error} ({again})")
        judging.run_pending(run=run, clock=timezone.now)

    def _say(self, texts: str, done: RunProgress) -> None:
        failed = f", {done.n_failed:,} failed" if done.n_failed else ""
        self.stderr.write(f"{done.n_done:,} of {done.n_total:,} {texts} judged{failed}")

    def _counts(
        self,
        *,
        judge: Judge,
        before: dict[int, tuple[int, int]],
        after: dict[int, tuple[int, int]],
        repeats: int,
    ) -> dict[str, int]:
        """What is lacking and waits for no worker has failed."""
        waiting = set(judging.waiting_items(judge=judge).values_list("summary", flat=True))
        cached = sum(n_verdicts for _, n_verdicts in before.values())
        lacking = {pk: n_insights * repeats - n_verdicts for pk, (n_insights, n_verdicts) in after.items()}
        return {
            "calls": sum(n_verdicts for _, n_verdicts in after.values()) - cached,
            "cached": cached,
            "failed": sum(count for pk, count in lacking.items() if pk not in waiting),
            "held_elsewhere": sum(count for pk, count in lacking.items() if pk in waiting),
        }

    def _print(self, report: dict[str, Any]) -> None:
        self.stdout.write(
            "{judge}: {calls:,} {what} asked in {seconds:.1f} s, {cached:,} there before, {invalid:,} unusable, "
            "{failed:,} failed.".format(what="answers" if "task" in report else "verdicts", **report)
        )
        if "paused" in report:
            self.stdout.write(f"A run of this judge is paused. {report['paused']}")
        if report.get("not_extracted"):
            self.stdout.write(
                f"{report['not_extracted']:,} responses have no extracted points: --task extraction."
            )
        if report["held_elsewhere"]:
            self.stdout.write(f"{report['held_elsewhere']:,} more are in the hands of another worker.")
