"""Write a dataset to a file in a format that `import_dataset` reads; of a verification study also its labels."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model
from django.utils import timezone

from annotation.exports.archive import written
from annotation.exports.studies import peoples_texts
from annotation.kinds import kinds
from annotation.management.export_files import add_reader
from annotation.results.reports import find_study
from annotation.studies.kind import NotPossible, works
from annotation.studies.rows import Tally
from benchmarks import audit
from benchmarks.io.schemas import long2rag, sources, summhay
from benchmarks.io.writers import questions_of, sources_of, topic_of
from benchmarks.models import Haystack, Question


class Command(BaseCommand):
    """`manage.py export_dataset FORMAT (--dataset NAME | --study NAME | --haystack NAME) --out FILE`"""

    help = (
        "Writes long2rag: the questions of a dataset, or with --study those whose key points were verified with"
        " the key points that are kept; summhay: a haystack; summhay-eval-benchmark: the summaries of a linking"
        " study with people's labels and judges' predictions; sources: documents with their reference and other"
        " summaries. Importing the file again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", choices=list(WRITERS), help="format of the file")
        parser.add_argument("--dataset", default="", metavar="NAME", help="whose questions or sources")
        parser.add_argument(
            "--study", default="", metavar="NAME", help="a verification or linking study, by name or id"
        )
        parser.add_argument("--haystack", default="", metavar="NAME", help="by file, id or title")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument(
            "--people", action="store_true", help="with a haystack: the final texts of sessions that count too"
        )
        parser.add_argument(
            "--annotator",
            default="",
            metavar="NAME",
            help="of a linking study: the labels of this pseudonym only, as the published files hold them",
        )
        parser.add_argument("--dataset-version", type=int, metavar="N", help="of the study; by default the newest")
        add_reader(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--csv", action="store_true", help="the kept key points as a table instead")
        what.add_argument(
            "--all-points", action="store_true", help="all key points as a table, with what became of them"
        )
        what.add_argument(
            "--labels",
            choices=sorted({which for work in works() for which, _title in work.label_files}),
            help="the labels instead: current ones, first answers, or every row; JSONL by FILE's ending, else CSV",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        about, line, detail = WRITERS[options["format"]](options)
        audit.record_export(target=about, files=[options["out"].name], now=timezone.now(), **detail)
        self.stdout.write(line)


Done = tuple[Model | None, str, dict[str, Any]]
"""The subject of a file, what was written, and what else the audit log keeps."""


def _haystack(options: dict[str, Any]) -> Done:
    name = options["haystack"]
    haystacks: list[Haystack] = list(Haystack.objects.named(name)[:2]) if name else []
    if name and not haystacks:
        raise CommandError(f"There is no haystack “{name}”.")
    if len(haystacks) != 1:
        raise CommandError("Name one haystack with --haystack, by its file, id or title.")
    further = peoples_texts(haystacks[0]) if options["people"] else {}
    written(options["out"], summhay.dump(topic_of(haystacks[0], further=further)))
    n_texts = sum(map(len, further.values()))
    line = f"“{haystacks[0].title}” in {options['out']}"
    return haystacks[0], f"{line}, with {n_texts:,} texts of people" if options["people"] else line, {}


def _of_study(options: dict[str, Any]) -> Done:
    """A study of the kind that is written in this format."""
    if not options["study"]:
        raise CommandError("Name a study with --study.")
    study = find_study(options["study"])
    [kind] = [kind for kind in kinds() if kind.dataset_format == options["format"]]
    if study.kind != kind.value:
        raise CommandError(f"“{study.name}” is a study of {study.get_kind_display()}, not of {kind.label}.")
    try:
        return study, kind.export_dataset(study, options, written), {}
    except NotPossible as problem:
        raise CommandError(str(problem)) from problem


def _questions(options: dict[str, Any]) -> Done:
    if options["study"]:
        return _of_study(options)
    if not options["dataset"]:
        raise CommandError("Name a dataset with --dataset, or a study with --study.")
    needs_study = [name for name in ("csv", "all_points", "labels", "dataset_version") if options[name]]
    if needs_study:
        raise CommandError(f"--{needs_study[0].replace('_', '-')} is of a study: name it with --study.")
    rows = Question.objects.of(dataset=options["dataset"])
    n_rows = rows.count()
    if not n_rows:
        names = ", ".join(sorted(set(Question.objects.order_by().values_list("dataset", flat=True))))
        raise CommandError(
            f"There is no dataset “{options['dataset']}” of questions; known datasets: {names or 'none'}."
        )
    written(options["out"], long2rag.dump(questions_of(rows)))
    return None, f"{n_rows:,} questions in {options['out']}", {"dataset": options["dataset"]}


def _sources(options: dict[str, Any]) -> Done:
    name = options["dataset"]
    rows = Tally(sources_of(Haystack.objects.filter(dataset=name)))
    if not name or not Haystack.objects.sources().filter(dataset=name).exists():
        raise CommandError("Name a dataset of documents with reference summaries with --dataset.")
    written(options["out"], sources.dump(rows))
    return None, f"{rows.n:,} sources in {options['out']}", {"dataset": name}


WRITERS: dict[str, Callable[[dict[str, Any]], Done]] = {
    "long2rag": _questions,
    "sources": _sources,
    "summhay": _haystack,
    "summhay-eval-benchmark": _of_study,
}
