"""What `manage.py synthesize NAME` can do: one module each, listed here."""

from __future__ import annotations

from benchmarks.synthesis.commands.base import Subcommand
from benchmarks.synthesis.commands.check import CHECK
from benchmarks.synthesis.commands.from_documents import FROM_DOCUMENTS
from benchmarks.synthesis.commands.haystack import HAYSTACK

SUBCOMMANDS: tuple[Subcommand, ...] = (CHECK, FROM_DOCUMENTS, HAYSTACK)
