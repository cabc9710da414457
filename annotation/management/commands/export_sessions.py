"""Write the files of a writing study into a folder, as the results page offers them, with a manifest."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.exports.archive import written
from annotation.management.export_files import add_reader
from annotation.models import Study
from annotation.writing import files as outgoing
from annotation.writing import settling
from annotation.writing.kind import KIND
from annotation.writing.scoring import judge_of
from benchmarks import audit
from benchmarks.management import named
from benchmarks.models import Judge


class Command(BaseCommand):
    """`manage.py export_sessions --study NAME --out FOLDER`"""

    help = "Writes every file of a writing study, from sessions to curves and late texts, with a manifest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME")
        parser.add_argument("--out", required=True, type=Path, metavar="FOLDER")
        parser.add_argument(
            "--judge",
            metavar="NAME",
            help="whose verdicts score the curves (default: the offline judge of the study)",
        )
        add_reader(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Settle the study's sessions, then write every file."""
        now = timezone.now()
        study = Study.objects.filter(name=options["study"], kind=KIND.value).first()
        if study is None:
            raise CommandError(f"There is no writing study named “{options['study']}”.")
        name = options["judge"]
        judge = named.judge_called(name, Judge.objects.all()) if name else judge_of(study=study.pk, now=now)
        settling.settle_study(study=study, now=now)
        folder: Path = options["out"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{folder} cannot be made a folder: {error.strerror}.") from error
        files = outgoing.files(study, judge, now)
        manifest = outgoing.manifest(study, judge, now=now)
        for file in files.values():
            written(folder / file.name, file.content(reader=options["reader"]))
        written(folder / "manifest.json", [orjson.dumps(manifest, option=orjson.OPT_INDENT_2)])
        audit.record_export(target=study, files=[*files, "manifest.json"], now=now)
        self.stdout.write(f"{len(files) + 1} files in {folder}")
