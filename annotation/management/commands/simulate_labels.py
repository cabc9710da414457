"""Fill a new verification study with answers of simulated people: `manage.py simulate_labels --study NAME …`."""

from __future__ import annotations

from argparse import ArgumentTypeError
from decimal import Decimal
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.verification.planning import NoRoomForChecks, VerificationValues
from annotation.verification.simulating import Simulation, StudyExists, simulate
from annotation.verification.simulation import CARELESS, RateOutOfRange, Rates
from benchmarks.models import Question


class Command(BaseCommand):
    """Make a study of simulated annotators with known error rates, to see what the figures make of them."""

    help = (
        "Make a closed verification study on a question set and answer all of it as people of known error rates"
        " would. Never writes into a study that exists."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="of the study to make; must be new")
        parser.add_argument("--dataset", required=True, metavar="NAME", help="the question set")
        parser.add_argument(
            "--error-rate",
            action="append",
            default=[],
            type=_rates,
            metavar="PERSON=RATE[,RATE]",
            help="how often this person turns yes and no around, and takes another of agree, neutral and disagree"
            " (the first rate again if there is one only); repeat for each person",
        )
        parser.add_argument(
            "--careless", action="append", default=[], metavar="PERSON", help="somebody who answers by lot, fast"
        )
        parser.add_argument("--control-share", type=Decimal, default=Decimal("0.1"), help="of the questions")
        parser.add_argument("--people-per-question", type=int, default=1)
        parser.add_argument("--attention-checks", type=int, default=0)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        people = dict(options["error_rate"]) | dict.fromkeys(options["careless"], CARELESS)
        if len(people) < len(options["error_rate"]) + len(options["careless"]) or not people:
            raise CommandError("Name each person once, with --error-rate PERSON=RATE or --careless PERSON.")
        questions = list(Question.objects.of(dataset=options["dataset"]))
        if not questions:
            raise CommandError(f"There is no question set “{options['dataset']}”.")
        if not 0 <= options["control_share"] <= 1 or options["people_per_question"] < 1:
            raise CommandError("The control share is from 0 to 1, and each question needs a person.")
        try:
            made = simulate(
                name=options["study"],
                questions=questions,
                people=people,
                plan=VerificationValues(
                    control_share=options["control_share"],
                    people_per_question=options["people_per_question"],
                    n_attention_checks=options["attention_checks"],
                ),
                seed=options["seed"],
                by=None,
                now=timezone.now(),
            )
        except (StudyExists, NoRoomForChecks) as problem:
            raise CommandError(str(problem)) from problem
        self._report(made, as_json=options["json"])

    def _report(self, made: Simulation, *, as_json: bool) -> None:
        people = [
            {
                "annotator": row.label,
                "n": row.n,
                "wrong_grounded": row.n_wrong_grounded,
                "wrong_keep": row.n_wrong_keep,
            }
            for row in made.people
        ]
        if as_json:
            values = {
                "study": made.study.name,
                "n_key_points": made.n_points,
                "n_truly_kept": made.n_truly_kept,
                "people": people,
            }
            self.stdout.write(orjson.dumps(values, option=orjson.OPT_INDENT_2).decode())
            return
        self.stdout.write(f"“{made.study.name}”: {made.n_points:,} key points, {made.n_truly_kept:,} truly kept")
        for row in people:
            self.stdout.write(
                f"{row['annotator']}: {row['n']:,} answers, {row['wrong_grounded']:,} wrong on whether the point"
                f" is in the text, {row['wrong_keep']:,} wrong on whether it is kept"
            )


def _rates(text: str) -> tuple[str, Rates]:
    name, _sign, values = text.partition("=")
    try:
        found = [float(value) for value in values.split(",")]
        if not name or len(found) > 2:
            raise ValueError(text)
        return name, Rates(found[0], found[-1])
    except (ValueError, RateOutOfRange) as problem:
        raise ArgumentTypeError(f"“{text}” is not like ben=0.1 or ben=0.1,0.2, rates from 0 to 1") from problem
