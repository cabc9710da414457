"""A database in memory for published files: nothing of it is kept, and nothing of the site's is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.utils import timezone

from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import import_files

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
