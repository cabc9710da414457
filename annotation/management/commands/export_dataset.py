"""Write a dataset to a file in a format that `import_dataset` reads; of a verification study also its labels."""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.agreement.reports import ReportRefused
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.verification import datasets, exports
from benchmarks import audit
from benchmarks.exchange import long2rag
from benchmarks.exporting_questions import questions_of
from benchmarks.models import Question
from benchmarks.web.downloads import csv_lines, json_lines


class Command(BaseCommand):
    """`manage.py export_dataset long2rag (--dataset NAME | --study NAME) --out FILE`"""

    help = (
        "Writes the questions of a dataset, or with --study those whose key points were verified with the key"
        " points that are kept, as JSONL; importing the file again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("format", choices=["long2rag"], help="format of the file")
        parser.add_argument("--dataset", default="", metavar="NAME", help="whose questions")
        parser.add_argument("--study", default="", metavar="NAME", help="a verification study, by name or id")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument(
            "--dataset-version", type=int, default=None, metavar="N", help="of the study; by default the newest"
        )
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--csv", action="store_true", help="the kept key points as a table instead")
        what.add_argument(
            "--all-points", action="store_true", help="all key points as a table, with what became of them"
        )
        what.add_argument(
            "--labels",
            choices=exports.WHICH,
            default=None,
            help="the labels instead: current ones, first answers, or every row; JSONL by FILE's ending, else CSV",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write beside the file, and move it there once it is complete."""
        if not (options["study"] or options["dataset"]):
            raise CommandError("Name a dataset with --dataset, or a study with --study.")
        if options["study"]:
            study = self._study(options)
            audit.record_export(target=study, files=[options["out"].name], now=timezone.now())
            return
        needs_study = [name for name in ("csv", "all_points", "labels", "dataset_version") if options[name]]
        if needs_study:
            raise CommandError(f"--{needs_study[0].replace('_', '-')} is of a study: name it with --study.")
        self._dataset(options)
        name = options["out"].name
        audit.record_export(target=None, files=[name], now=timezone.now(), dataset=options["dataset"])

    def _dataset(self, options: dict[str, Any]) -> None:
        rows = Question.objects.of(dataset=options["dataset"])
        n_rows = rows.count()
        if not n_rows:
            names = sorted(set(Question.objects.order_by().values_list("dataset", flat=True)))
            raise CommandError(
                f"There is no dataset “{options['dataset']}” of questions; there is: {', '.join(names) or 'none'}."
            )
        written(options["out"], long2rag.dump(questions_of(rows)))
        self.stdout.write(f"{n_rows:,} questions in {options['out']}")

    def _study(self, options: dict[str, Any]) -> Study:
        study, out = _verification(options["study"]), options["out"]
        if options["labels"]:
            n = Tally(exports.label_rows(study, which=options["labels"]))
            written(out, _table(out, exports.LABEL_COLUMNS, n))
            self.stdout.write(f"{n.n:,} judgments in {out}")
            return study
        try:
            found = datasets.dataset_of(study, number=options["dataset_version"])
            exports.check_keys(exports.questions_in(study, dataset=options["dataset"]))
        except (datasets.NoVersion, exports.SameKeys) as problem:
            raise CommandError(str(problem)) from problem
        if options["csv"] or options["all_points"]:
            n = Tally(exports.point_rows(study, found, only_kept=not options["all_points"]))
            written(out, _table(out, exports.POINT_COLUMNS, n))
            self.stdout.write(f"{n.n:,} key points in {out}")
            return study
        sha256 = written(out, exports.lines(study, found, dataset=options["dataset"]))
        manifest = exports.manifest(
            study, found, dataset=options["dataset"], sha256=sha256, name=out.name, now=timezone.now()
        )
        beside = out.with_name(out.name + ".manifest.json")
        written(beside, [orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
        overall, counts = found.overall(), manifest["counts"]
        self.stdout.write(
            f"{counts['questions']:,} questions with {counts['key_points_kept']:,} key points"
            f" in {out}; kept {overall.n_kept:,} of {overall.n_decided:,} decided, {found.table.n_items:,} in all"
        )
        return study


class Tally:
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.rows, self.n = rows, 0

    def __iter__(self) -> Iterator[Sequence[Any]]:
        for row in self.rows:
            self.n += 1
            yield row


def written(path: Path, content: Iterable[bytes]) -> str:
    """Write a file and give the SHA-256 of its bytes; an existing file stays until the new one is complete."""
    part, digest = path.with_name(path.name + ".part"), hashlib.sha256()
    try:
        with part.open("wb") as file:
            for piece in content:
                digest.update(piece)
                file.write(piece)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    return digest.hexdigest()


def _table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return json_lines(dict(zip(columns, row, strict=True)) for row in rows)
    return (text.encode() for text in csv_lines(columns, rows))


def _verification(name: str) -> Study:
    try:
        study = find_study(name)
    except ReportRefused as problem:
        raise CommandError(str(problem)) from problem
    if study.kind != Study.Kind.VERIFICATION:
        raise CommandError(
            f"“{study.name}” is a study of {study.get_kind_display()}, not of key point verification."
        )
    return study
