"""`manage.py score_key_points JUDGE`: AutoDS scores of key points, from a model's log-probabilities."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.judges.openai import AddressNotAllowed
from benchmarks.judges.questions import BadConfiguration
from benchmarks.keyness import ScoringStopped, score_key_points
from benchmarks.models import Judge, KeyPoint


class Command(BaseCommand):
    """Score the key points that have no score yet."""

    help = "Ask a model whether each key point is key, and store how far it prefers yes (the AutoDS score)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Arguments."""
        parser.add_argument("judge", metavar="JUDGE", help="a judge behind an OpenAI-compatible address, by name")
        parser.add_argument("--dataset", default="", metavar="NAME", help="only key points of this question set")
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="at most so many")
        parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at a time")
        parser.add_argument("--json", action="store_true", help="print counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Score and count."""
        judges = Judge.objects.filter(name=options["judge"], kind=Judge.Kind.OPENAI, archived_at=None)
        judge = judges.order_by("-version").first()
        if judge is None:
            raise CommandError(f"There is no model judge “{options['judge']}”.")
        if options["concurrency"] < 1 or (options["limit"] is not None and options["limit"] < 1):
            raise CommandError("--limit and --concurrency are whole numbers from 1 on.")
        points = KeyPoint.objects.filter(autods=None, question__archived_at=None).select_related("question")
        if options["dataset"]:
            points = points.filter(question__dataset=options["dataset"])
        chosen = points.order_by("question", "number")[: options["limit"]]
        try:
            found = score_key_points(
                judge=judge, key_points=chosen, clock=timezone.now, concurrency=options["concurrency"]
            )
        except (BadConfiguration, AddressNotAllowed, ScoringStopped) as problem:
            raise CommandError(str(problem)) from problem
        if options["json"]:
            self.stdout.write(json.dumps(asdict(found)))
            return
        self.stdout.write(
            f"{found.n_scored} scored, {found.n_bounded} with one answer listed only, {found.n_unanswered} with "
            f"neither, {found.n_failed} without a reply; {found.n_asked} asked now"
        )
