"""Make a jury of other judges, and run it on what all of them have judged."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks.engine import judging, versions
from benchmarks.engine.versions import judges_called
from benchmarks.judges.registry import JuryRule, WrongJury
from benchmarks.management import named
from benchmarks.models import Judge, Summary


class Command(BaseCommand):
    """Store the jury, then run it; running it again takes up what its members have judged since."""

    help = (
        "Make a judge of other judges: the mean of their labels or expectations, and the bullet that most of them "
        "link. It asks nothing itself. Later, run_judge NAME takes up what its members have judged since."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument(
            "--of",
            action="append",
            required=True,
            metavar="NAME,NAME",
            help="its members, separated by commas; of several versions the newest, or “NAME v2”; repeatable, so "
            "that a name with a comma can stand by itself",
        )
        parser.add_argument(
            "--score",
            choices=[rule.value for rule in JuryRule],
            default=JuryRule.LABEL.value,
            help="the mean of the members' labels (the default), of what they expect, where they say, or of two "
            "thirds what the offline judge expects and one third the mean of the others' labels",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, run it, and say what came of it."""
        names = [name for text in options["of"] for name in self._names(text)]
        members = [named.of_any_kind(name) for name in names]
        try:
            jury = versions.save_jury(
                name=options["name"],
                members=members,
                rule=JuryRule(options["score"]),
                must_judge=True,
                now=timezone.now(),
            )
        except WrongJury as error:
            raise CommandError(str(error)) from error
        judging.request_run(
            judge=jury, subjects=Summary.objects.only("pk").order_by("pk"), reason="command", now=timezone.now()
        )
        judging.finish_runs(judge=jury, clock=timezone.now, say=self.stderr.write)
        report = {
            "judge": str(jury),
            "members": [str(member) for member in members],
            "score": options["score"],
            "verdicts": jury.verdicts.count(),
            "invalid": jury.verdicts.filter(is_valid=False).count(),
            "without_link": versions.n_split(jury),
        }
        text = (
            f"{jury} of {', '.join(report['members'])}: {report['verdicts']:,} verdicts, {report['invalid']:,} "
            f"unusable, {report['without_link']:,} covered without a bullet, as members link different ones."
        )
        self.stdout.write(named.printed(report, text, options))

    def _names(self, text: str) -> list[str]:
        """Names between commas, unless the whole is the name of a judge."""
        if judges_called(text.strip(), Judge.objects.filter(archived_at=None)):
            return [text.strip()]
        return [name.strip() for name in text.split(",") if name.strip()]
