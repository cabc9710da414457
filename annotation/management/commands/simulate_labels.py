"""Fill a new study of label work with answers of simulated people: `manage.py simulate_labels --study NAME …`."""

from __future__ import annotations

from argparse import ArgumentTypeError
from decimal import Decimal
from typing import Any

import orjson
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.kinds import kind_named, label_kinds
from annotation.labelling.kind import LabelWork
from annotation.labelling.simulating import Chosen, RateOutOfRange, Rates, Simulation, StudyExists, simulate
from annotation.studies.kind import NotPossible
from benchmarks.management import named
from benchmarks.models import Haystack


class Command(BaseCommand):
    """Make a study of simulated annotators with known error rates, to see what the figures make of them."""

    help = (
        "Make a closed study of any kind of label work and answer all of it as people of known error rates would."
        " Never writes into a study that exists."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="of the study to make; must be new")
        parser.add_argument(
            "--kind", choices=label_kinds(), default="verification", help="(default: verification)"
        )
        parser.add_argument(
            "--dataset", default="", metavar="NAME", help="the question set, for verification and validation"
        )
        parser.add_argument(
            "--haystack", action="append", default=[], metavar="NAME",
            help="by file, id or title, for linking and rating; repeat for each",
        )  # fmt: skip
        parser.add_argument("--judge", default="", metavar="NAME", help="whose verdicts are validated")
        parser.add_argument(
            "--sample", type=int, metavar="N", help="draw so many questions, summaries or verdicts"
        )
        parser.add_argument(
            "--error-rate",
            action="append",
            default=[],
            type=_rates,
            metavar="PERSON=RATE[,RATE]",
            help="how often this person says something else than what is true: of a point whether it is in the"
            " text, and whether it is key; of an insight the coverage, and the bullet; of a pair the answer; of a"
            " summary each rating (of two, the first rate again if there is one only); repeat for each person",
        )
        parser.add_argument(
            "--careless", action="append", default=[], metavar="PERSON", help="somebody who answers by lot, fast"
        )
        parser.add_argument(
            "--researcher",
            action="append",
            default=[],
            metavar="USERNAME",
            help="whose study it is; repeat for each (default: every researcher's)",
        )
        parser.add_argument(
            "--control-share", type=Decimal, default=Decimal("0.1"),
            help="of the questions or, in linking, summaries: everyone gets them (default: 0.1)",
        )  # fmt: skip
        parser.add_argument(
            "--people-per-item", "--people-per-question", dest="people_per_item", type=int, default=1, metavar="N"
        )
        parser.add_argument("--attention-checks", type=int, default=0, metavar="N", help="in verification")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        kind = kind_named(options["kind"])
        if not isinstance(kind, LabelWork) or kind.simulated is None:
            raise CommandError(f"Nobody can be simulated in a study of {kind.label}.")
        careless = dict.fromkeys(options["careless"], kind.simulated.careless)
        people = dict(options["error_rate"]) | careless
        if len(people) < len(options["error_rate"]) + len(options["careless"]) or not people:
            raise CommandError("Name each person once, with --error-rate PERSON=RATE or --careless PERSON.")
        if not 0 <= options["control_share"] <= 1 or options["people_per_item"] < 1:
            raise CommandError("The control share is from 0 to 1, and each item needs a person.")
        try:
            made = simulate(
                kind=kind.answers,
                simulated=kind.simulated,
                chosen=_chosen(options),
                name=options["study"],
                people=people,
                researchers=_researchers(options["researcher"]),
                seed=options["seed"],
                now=timezone.now(),
            )
        except (StudyExists, NotPossible) as problem:
            raise CommandError(str(problem)) from problem
        self._report(made, as_json=options["json"])

    def _report(self, made: Simulation, *, as_json: bool) -> None:
        people = [
            {"annotator": row.label, "n": row.n, **{f"wrong_{part}": n for part, n in row.wrong.items()}}
            for row in made.people
        ]
        names = sorted(person.username for person in made.study.researchers.all())
        if as_json:
            values = {
                "study": made.study.name,
                "researchers": names,
                "n_answers": made.n_answers,
                "truth": made.truth,
                "people": people,
            }
            self.stdout.write(orjson.dumps(values, option=orjson.OPT_INDENT_2).decode())
            return
        self.stdout.write(f"“{made.study.name}”, of {', '.join(names) or 'nobody: only admins see it'}")
        for part, counts in made.truth.items():
            shares = ", ".join(f"{value} {n:,}" for value, n in sorted(counts.items()))
            self.stdout.write(f"truth of {made.n_answers:,}, {part}: {shares}")
        for row in made.people:
            wrong = ", ".join(f"{part} {n:,}" for part, n in row.wrong.items())
            self.stdout.write(f"{row.label}: {row.n:,} answers, of them wrong: {wrong}")


def _chosen(options: dict[str, Any]) -> Chosen:
    haystacks = []
    for name in options["haystack"]:
        rows = list(Haystack.objects.named(name)[:2])
        if len(rows) != 1:
            raise CommandError(f"“{name}” is the name of {'several haystacks' if rows else 'no haystack'}.")
        haystacks += rows
    return Chosen(
        dataset=options["dataset"],
        haystacks=haystacks,
        judge=named.judge_called(options["judge"]) if options["judge"] else None,
        n_items=options["sample"],
        people_per_item=options["people_per_item"],
        control_share=options["control_share"],
        n_attention_checks=options["attention_checks"],
    )


def _researchers(names: list[str]) -> list[Any]:
    """The accounts of these names, by default of everybody who can be a researcher of a study."""
    may_work = Permission.objects.filter(content_type__app_label="annotation", codename="change_study")
    people = get_user_model().objects.filter(is_active=True, groups__permissions__in=may_work).distinct()
    if not names:
        return list(people)
    researchers = list(people.filter(username__in=names))
    if missing := set(names) - {person.get_username() for person in researchers}:
        known = ", ".join(sorted(person.get_username() for person in people))
        raise CommandError(f"There is no researcher “{sorted(missing)[0]}”; there are: {known or 'none'}.")
    return researchers


def _rates(text: str) -> tuple[str, Rates]:
    name, _sign, values = text.partition("=")
    try:
        rates = [float(value) for value in values.split(",")]
        if not name or len(rates) > 2:
            raise ValueError(text)
        return name, Rates(rates[0], rates[-1])
    except (ValueError, RateOutOfRange) as problem:
        raise ArgumentTypeError(f"“{text}” is not like ben=0.1 or ben=0.1,0.2, rates from 0 to 1") from problem
