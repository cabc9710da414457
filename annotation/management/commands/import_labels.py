"""Import plain labels made elsewhere: `manage.py import_labels FILE.csv --study NAME [--categories a,b,c]`."""

from __future__ import annotations

from benchmarks.management.commands import import_dataset


class Command(import_dataset.Command):
    """`import_dataset` for this one format."""

    help = "Import labels made elsewhere (CSV or JSONL): all or nothing; the same file again changes nothing."
    format_name = "labels"
