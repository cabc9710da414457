"""Import plain labels made elsewhere: `manage.py import_labels FILE.csv --study NAME [--categories a,b,c]`."""

from __future__ import annotations

from benchmarks.management.commands import import_dataset


class Command(import_dataset.Command):
    help = "Import labels made elsewhere (CSV or JSONL): all or nothing; the same file again changes nothing."
    format_name = "labels"
