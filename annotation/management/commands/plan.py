"""Print how many more labels, people or sessions bring a study's figures to which width."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand

from annotation.results.plan_sheet import as_json, sheet
from annotation.results.planning import PLAN
from annotation.results.reports import find_study
from annotation.results.study import OfStudy
from benchmarks.results.writing import console


class Command(BaseCommand):
    """`manage.py plan --study NAME [--json]`"""

    help = (
        "How many more labels are enough: the width of each headline of a study with more people and items, with"
        " the range that its labels leave open, and the hours and cost on top."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="by name or id")
        parser.add_argument("--json", action="store_true", help="print plain values")

    def handle(self, *args: Any, **options: Any) -> None:
        plan = PLAN.compute(OfStudy(find_study(options["study"]).pk))
        as_bytes = orjson.dumps(as_json(plan), option=orjson.OPT_INDENT_2)
        self.stdout.write(as_bytes.decode() if options["json"] else "\n".join(console(sheet(plan))))
