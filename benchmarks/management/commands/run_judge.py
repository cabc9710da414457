"""Let a judge judge summaries or responses; what was judged before is never asked again."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks.engine import costs, judging, runs
from benchmarks.engine.runs import RunProgress
from benchmarks.engine.task import Counts
from benchmarks.engine.tasks import TASKS
from benchmarks.engine.tasks.support import n_not_extracted
from benchmarks.models import Haystack, Judge, JudgeCall, JudgeRun, KeyPoint, Question, Response, Summary
from benchmarks.querysets import QuestionQuerySet

OFFLINE = "lexical"


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
            "of the points they make, support of those points by documents and key points; of key points: "
            "verification, the two judgments that annotators give",
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
        """Count in answers: asked now, there before, unusable, failed."""
        started, began, task = time.perf_counter(), timezone.now(), options["task"]
        judge = self._judge(name=options["judge"], version=options["judge_version"])
        subjects = self._subjects(options)
        repeats = judging.repeats_of(judge=judge, task=task, wanted=options["repeats"])
        before = TASKS[task].counts(judge=judge, subjects=subjects, repeats=repeats)
        try:
            judging.request_run(
                judge=judge,
                task=task,
                subjects=subjects,
                reason="command",
                now=timezone.now(),
                options=judging.ModelOptions.checked(
                    concurrency=options["concurrency"], repeats=options["repeats"], budget=options["budget"]
                ),
            )
        except (judging.JudgeUnavailable, ValueError) as error:
            raise CommandError(str(error)) from error
        judging.finish_runs(judge=judge, clock=timezone.now, say=self.stderr.write, progress=self._say)
        report = {
            "judge": str(judge),
            **({} if task == JudgeRun.Task.COVERAGE else {"task": task, TASKS[task].subjects: len(subjects)}),
            **self._counts(judge=judge, task=task, subjects=subjects, before=before, repeats=repeats),
            "seconds": round(time.perf_counter() - started, 3),
            **self._costs(judge=judge, since=began),
        }
        if task == JudgeRun.Task.SUPPORT:
            report["not_extracted"] = n_not_extracted(judge=judge, responses=subjects)
        if options["json"]:
            self.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        else:
            self._print(report)

    def _counts(
        self, *, judge: Judge, task: str, subjects: Sequence[Any], before: Mapping[int, Counts], repeats: int
    ) -> dict[str, int]:
        """What is missing and waits for no worker has failed."""
        after = TASKS[task].counts(judge=judge, subjects=subjects, repeats=repeats)
        waiting = set(runs.waiting_items(judge=judge, task=task).values_list(TASKS[task].subject, flat=True))
        missing = {pk: one.n_asked - one.n_there for pk, one in after.items()}
        cached = sum(one.n_there for one in before.values())
        return {
            "calls": sum(one.n_there for one in after.values()) - cached,
            "cached": cached,
            "failed": sum(count for pk, count in missing.items() if pk not in waiting),
            "held_elsewhere": sum(count for pk, count in missing.items() if pk in waiting),
            "invalid": TASKS[task].n_invalid(judge=judge, subjects=subjects),
        }

    def _subjects(self, options: dict[str, Any]) -> Sequence[Any]:
        if options["task"] == JudgeRun.Task.COVERAGE:
            return self._summaries(
                haystack=options["haystack"], dataset=options["dataset"], everything=options["all"]
            )
        questions = self._questions(dataset=options["dataset"])
        if TASKS[options["task"]].subject == "key_point":
            points = KeyPoint.objects.filter(question__in=questions).select_related("question")
            return list(points.order_by("question", "number"))
        return list(Response.objects.filter(question__in=questions).order_by("question", "pk"))

    def _questions(self, *, dataset: str | None) -> QuestionQuerySet:
        questions = Question.objects.of(dataset=dataset or "").filter(archived_at=None)
        if dataset and not questions.exists():
            raise CommandError(f"No question was imported as “{dataset}”; see the page of questions for names.")
        return questions

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
            names = sorted(
                {OFFLINE, *Judge.objects.exclude(kind=Judge.Kind.IMPORTED).values_list("name", flat=True)}
            )
            asked = name if version is None else f"{name} v{version}"
            raise CommandError(f"There is no judge “{asked}”; there is: {', '.join(names)}.")
        return judge

    def _summaries(self, *, haystack: str | None, dataset: str | None, everything: bool) -> list[Summary]:
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
        return list(summaries if everything else summaries.of_systems())

    def _say(self, run: JudgeRun, done: RunProgress) -> None:
        subjects = TASKS[run.task].subjects.replace("_", " ")
        failed = f", {done.n_failed:,} failed" if done.n_failed else ""
        self.stderr.write(f"{done.n_done:,} of {done.n_total:,} {subjects.replace('_', ' ')} judged{failed}")

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
