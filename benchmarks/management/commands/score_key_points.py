"""`manage.py score_key_points JUDGE`: AutoDS scores of key points, from a model's log-probabilities."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks import autods, costs, judging, model_tasks
from benchmarks.model_judging import CallFailed
from benchmarks.models import Judge, JudgeCall, JudgeRun, KeyPoint


class Command(BaseCommand):
    """Queue the key points that have no score yet and finish them; a second run takes up where one stopped."""

    help = "Ask a model whether each key point is key, and store how far it prefers yes (the AutoDS score)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Arguments."""
        parser.add_argument("judge", metavar="JUDGE", help="a judge behind an OpenAI-compatible address, by name")
        parser.add_argument("--dataset", default="", metavar="NAME", help="only key points of this question set")
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="at most so many")
        parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at a time")
        parser.add_argument("--budget", metavar="DOLLARS", help="stop before this is spent")
        parser.add_argument("--json", action="store_true", help="print counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Score and count."""
        judges = Judge.objects.filter(name=options["judge"], kind=Judge.Kind.OPENAI, archived_at=None)
        judge = judges.order_by("-version").first()
        if judge is None:
            raise CommandError(f"There is no model judge “{options['judge']}”.")
        if not 1 <= options["concurrency"] <= 256 or (options["limit"] is not None and options["limit"] < 1):
            raise CommandError("--limit and --concurrency are whole numbers from 1 on, --concurrency up to 256.")
        points = KeyPoint.objects.filter(autods=None, question__archived_at=None).select_related("question")
        if options["dataset"]:
            points = points.filter(question__dataset=options["dataset"])
        chosen = points.order_by("question", "number")[: options["limit"]]
        options_of_run = judging.ModelOptions(
            concurrency=options["concurrency"], budget=_budget(options["budget"])
        )
        try:
            judging.request_autods_run(
                judge=judge, key_points=chosen, reason="command", now=timezone.now(), options=options_of_run
            )
        except judging.JudgeUnavailable as problem:
            raise CommandError(str(problem)) from problem
        runs = self._work(judge)
        found = autods.scored(runs=runs, config=model_tasks.config_of(judge))
        cost = costs.cost_of(JudgeCall.objects.filter(run__in=runs))
        self._tell(found, cost, as_json=options["json"])
        for run in runs:
            run.refresh_from_db()
            if run.state == JudgeRun.State.PAUSED:
                raise CommandError(f"It is paused; what was scored stays. {run.message}")

    def _work(self, judge: Judge) -> list[JudgeRun]:
        """Finish what was asked for now, and what earlier commands left."""
        uids = judging.unfinished_runs(now=timezone.now(), judge=judge, task=JudgeRun.Task.AUTODS)
        runs = list(JudgeRun.objects.filter(uid__in=uids).select_related("judge"))
        for run in runs:
            for _attempt in range(judging.MAX_ATTEMPTS):
                try:
                    judging.run_pending(run=run, clock=timezone.now)
                    break
                except CallFailed as error:
                    self.stderr.write(str(error))
            judging.run_pending(run=run, clock=timezone.now)
        return runs

    def _tell(self, found: autods.Scored, cost: costs.Cost, *, as_json: bool) -> None:
        if as_json:
            dollars = None if cost.dollars is None else float(cost.dollars)
            told = {**asdict(found), "cost": dollars, **({"cost_unknown": cost.reason} if cost.reason else {})}
            self.stdout.write(json.dumps(told))
            return
        paid = f"not known: {cost.reason}" if cost.dollars is None else f"${cost.dollars:.4f}"
        self.stdout.write(
            f"{found.n_scored} scored, {found.n_bounded} with one answer listed only, {found.n_unanswered} with "
            f"neither, {found.n_failed} without a reply; {found.n_asked} asked now; cost {paid}"
        )


def _budget(text: str | None) -> Decimal | None:
    """US dollars, or None for no limit."""
    try:
        budget = Decimal(text) if text else None
    except InvalidOperation:
        budget = Decimal("NaN")
    if budget is not None and not (budget.is_finite() and budget >= 0):
        raise CommandError(f"--budget {text} is not a number of dollars.")
    return budget
