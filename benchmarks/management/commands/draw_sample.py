"""`manage.py draw_sample NAME --part DATASET=N …`: draw a sample of sources by seed."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.leaderboard import sampling
from benchmarks.management import named
from benchmarks.models import SourceSample
from benchmarks.scoring.position import LATE_FROM


def _part(text: str) -> tuple[str, int]:
    dataset, _equals, n = text.rpartition("=")
    if not dataset or not n.isdecimal() or int(n) < 1:
        raise ArgumentTypeError(f"“{text}” is not DATASET=N with a number from 1 on")
    return dataset, int(n)


class Command(BaseCommand):
    """Draw now, without a worker."""

    help = (
        "Draw so many sources of each of some datasets by seed, of all or of those whose content lies late "
        "(MiddleSum). The sample is then fixed, and stands wherever a dataset of sources may."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="what it is called; no dataset or sample has this name")
        parser.add_argument(
            "--part", action="append", required=True, type=_part, metavar="DATASET=N", help="repeatable"
        )
        parser.add_argument(
            "--late",
            action="store_true",
            help=f"only sources whose reference follows no sentence before word {LATE_FROM:,}",
        )
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="%(default)s by default")
        parser.add_argument("--json", action="store_true", help="print the sample with its members")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            sample = sampling.request_sample(
                name=options["name"],
                parts=dict(options["part"]),
                rule=SourceSample.Rule.LATE if options["late"] else SourceSample.Rule.ANY,
                seed=options["seed"],
                by=None,
                now=now,
            )
        except sampling.BadSample as bad:
            raise CommandError(str(bad)) from bad
        sample = sampling.draw(sample=sample, now=now)
        if sample.problem:
            sampling.delete_sample(sample=sample, by=None, now=now)
            raise CommandError(sample.problem)
        keys = list(sample.members.order_by("key").values_list("key", flat=True))
        plain = {"name": sample.name, "rule": sample.rule, "seed": sample.seed, "parts": sample.parts}
        text = f"{sample.name}: {len(keys):,} sources, {sample.rule}, seed {sample.seed}."
        self.stdout.write(named.printed({**plain, "sources": keys}, text, options))
