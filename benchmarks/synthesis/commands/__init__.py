"""What `manage.py synthesize NAME` can do: one module each, listed here."""

from __future__ import annotations

from benchmarks.synthesis.commands.base import Subcommand
from benchmarks.synthesis.commands.check import CHECK
from benchmarks.synthesis.commands.from_documents import FROM_DOCUMENTS
from benchmarks.synthesis.commands.haystack import HAYSTACK
from benchmarks.synthesis.commands.lint import LINT
from benchmarks.synthesis.commands.pack import PACK
from benchmarks.synthesis.commands.questions import QUESTIONS_COMMAND

SUBCOMMANDS: tuple[Subcommand, ...] = (CHECK, FROM_DOCUMENTS, HAYSTACK, LINT, PACK, QUESTIONS_COMMAND)
