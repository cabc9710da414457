"""All tables and figures of a paper beside ours, from what is on the site, or from published files in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.utils import timezone

from annotation.results.reports import find_study
from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import import_files
from benchmarks.management import named
from benchmarks.models import Judge
from extensions.papers.identities import identities
from extensions.papers.long2rag import Long2Rag
from extensions.papers.middlesum import MiddleSum
from extensions.papers.parts import Paper, Part, Printed, printed
from extensions.papers.summhay import SummHay

SUMMHAY, MIDDLESUM = "summhay", "middlesum"
MADE_BY: dict[str, type[Paper]] = {SUMMHAY: SummHay, "long2rag": Long2Rag, MIDDLESUM: MiddleSum}
PUBLISHED = {"summhay": "topic_*.json", "summhay-eval-benchmark": "eval_benchmark*.json"}
"""Formats of the files of Summary of a Haystack, and how the files are called."""


@contextmanager
def scratch_database() -> Iterator[None]:
    """All tables, empty, in memory and of this thread, in place of the site's database."""
    site = connections[DEFAULT_DB_ALIAS]
    memory = DatabaseWrapper({**site.settings_dict, "NAME": ":memory:", "OPTIONS": {}}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = memory
    ContentType.objects.clear_cache()
    try:
        with memory.constraint_checks_disabled(), memory.schema_editor() as editor:
            for model in apps.get_models():
                if model._meta.can_migrate(memory):
                    editor.create_model(model)
        yield
    finally:
        memory.close()
        connections[DEFAULT_DB_ALIAS] = site
        ContentType.objects.clear_cache()


def import_published(folder: Path) -> None:
    """Import the published files of a folder, or of the folders in it.

    Raises:
        CommandError: there are none, or one was refused.
    """
    paths = {
        name: sorted({*folder.glob(pattern), *folder.glob(f"*/{pattern}")}) for name, pattern in PUBLISHED.items()
    }
    if not any(paths.values()):
        raise CommandError(f"{folder} has no {' or '.join(PUBLISHED.values())}.")
    for name, of_dataset in paths.items():
        if not of_dataset:
            continue
        entry = get_format(name)
        files = [File(path, path.name, settings.UPLOAD_LIMIT_BYTES) for path in of_dataset]
        options = {option.name: option.default for option in entry.options}
        report = import_files(entry, files, request=ImportRequest(now=timezone.now(), options=options))
        for error in report.problems.errors:
            raise CommandError(f"{error.file}: {error}")


def reproduce(
    paper: str,
    *,
    judge: str = "",
    study: str = "",
    wanted: Callable[[Printed], bool] = lambda table: True,
    data: Path | None = None,
) -> list[Part]:
    """The tables and figures that are wanted, and what the printed numbers give where all are.

    With `data` from published files alone, in memory; otherwise from what is on the site. `judge` and `study` name
    whose verdicts and labels stand for those of the paper.

    Raises:
        CommandError: there are no such files, or one was refused; there is no such judge; the paper takes none.
        ReportRefused: there is no such study.
    """
    if data is not None:
        with scratch_database():
            import_published(data)
            return reproduce(paper, judge=judge, study=study, wanted=wanted)
    if paper == MIDDLESUM and (judge or study):
        raise CommandError("middlesum takes neither verdicts of judges nor labels: leave out --judge and --study.")
    if judge:
        named.judge_called(judge, Judge.objects.all())
    if study:
        study = find_study(study).name
    tables, ours = printed(paper), MADE_BY[paper](judge=judge, study=study)
    parts = [ours.part(table) for table in tables if wanted(table)]
    return [*parts, identities(paper, tables)] if len(parts) == len(tables) else parts
