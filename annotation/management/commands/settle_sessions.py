"""Bring every writing session to now, as the worker does about every 20 seconds."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.writing import scoring, settling
from benchmarks.engine import judging


class Command(BaseCommand):
    help = "Close what time has ended and make the snapshots that are due; safe to run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--score", action="store_true", help="score new snapshots by the offline judge, too")
        parser.add_argument("--json", action="store_true", help="Print {settled} as JSON, and {scored}.")

    def handle(self, *args: Any, **options: Any) -> None:
        settled = settling.settle_due(now=timezone.now())
        counts = {"settled": settled}
        if options["score"]:
            runs = scoring.score_snapshots(now=timezone.now())
            for run in runs:
                judging.run_pending(run=run, clock=timezone.now)
            counts["scored"] = sum(run.items.count() for run in runs)
        said = ", ".join(f"{n} {what}" for what, n in counts.items())
        self.stdout.write(json.dumps(counts) if options["json"] else said)
