"""Write a dataset to a file in a format that `import_dataset` reads."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.exchange import long2rag
from benchmarks.exporting_questions import questions_of
from benchmarks.models import Question


class Command(BaseCommand):
    """`manage.py export_dataset long2rag --dataset NAME --out FILE`"""

    help = "Writes the questions of a dataset as JSONL; importing the file again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("format", choices=["long2rag"], help="format of the file")
        parser.add_argument("--dataset", required=True, metavar="NAME", help="whose questions")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write question by question beside the file, which takes its place once it is whole."""
        rows = Question.objects.of(dataset=options["dataset"])
        n_rows = rows.count()
        if not n_rows:
            names = sorted(set(Question.objects.order_by().values_list("dataset", flat=True)))
            raise CommandError(
                f"There is no dataset “{options['dataset']}” of questions; there is: {', '.join(names) or 'none'}."
            )
        out: Path = options["out"]
        part = out.with_name(out.name + ".part")
        try:
            with part.open("wb") as file:
                file.writelines(long2rag.dump(questions_of(rows)))
            part.replace(out)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{n_rows:,} questions in {out}")
