"""`manage.py score_key_points JUDGE`: AutoDS scores of key points, from a model's log-probabilities."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db.models import Max
from django.utils import timezone

from benchmarks.engine import costs, judging
from benchmarks.engine.tasks import key_points
from benchmarks.management import named
from benchmarks.models import Judge, JudgeCall, JudgeRun, KeyPoint


class Command(BaseCommand):
    """Queue the key points without a score of this judge and finish them; a second run takes up what is left."""

    help = "Ask a model whether each key point is key, and store how far it prefers yes (the AutoDS score)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("judge", metavar="JUDGE", help="a judge behind an OpenAI-compatible address, by name")
        parser.add_argument("--dataset", default="", metavar="NAME", help="only key points of this question set")
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="at most so many")
        parser.add_argument(
            "--again", action="store_true", help="ask about scored key points once more; the newest score counts"
        )
        parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at a time")
        parser.add_argument("--budget", metavar="DOLLARS", help="stop before this is spent")
        parser.add_argument("--json", action="store_true", help="print counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        models = Judge.objects.filter(kind=Judge.Kind.OPENAI, archived_at=None)
        judge = named.judge_called(options["judge"], models, what="model judge")
        if options["limit"] is not None and options["limit"] < 1:
            raise CommandError("--limit is a whole number from 1 on.")
        points = KeyPoint.objects.filter(question__archived_at=None).select_related("question")
        if options["dataset"]:
            points = points.filter(question__dataset=options["dataset"])
        before = judge.autods_scores.filter(key_point__in=points)
        repeats = 1
        if options["again"]:
            points = points.filter(pk__in=before.values("key_point"))
            repeats += (before.aggregate(last=Max("repeat"))["last"] or 0) + 1
        else:
            points = points.exclude(pk__in=before.values("key_point"))
        chosen = points.order_by("question", "number")[: options["limit"]]
        try:
            judging.request_run(
                judge=judge,
                task=JudgeRun.Task.AUTODS,
                subjects=chosen,
                reason="command",
                now=timezone.now(),
                options=judging.ModelOptions.checked(
                    concurrency=options["concurrency"], budget=options["budget"], repeats=repeats
                ),
            )
        except (judging.JudgeUnavailable, ValueError) as problem:
            raise CommandError(str(problem)) from problem
        finished = judging.finish_runs(
            judge=judge, task=JudgeRun.Task.AUTODS, clock=timezone.now, say=self.stderr.write
        )
        cost = costs.cost_of(JudgeCall.objects.filter(run__in=finished))
        paid = f"not known: {cost.reason}" if cost.dollars is None else f"${cost.dollars:.4f}"
        report = key_points.scored(finished)
        text = (
            "{n_scored} scored, {n_bounded} with one answer listed only, {n_unanswered} with neither, "
            "{n_failed} without a reply; {n_asked} asked now; cost {paid}"
        )
        self.stdout.write(named.printed({**report, **cost.as_json}, text.format(**report, paid=paid), options))
        for run in finished:
            run.refresh_from_db()
            if run.state == JudgeRun.State.PAUSED:
                raise CommandError(f"It is paused; what was scored stays. {run.message}")
