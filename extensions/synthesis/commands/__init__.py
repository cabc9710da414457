"""What `manage.py synthesize NAME` can do: one module each, listed here."""

from __future__ import annotations

from extensions.synthesis.commands.base import Subcommand
from extensions.synthesis.commands.check import CHECK
from extensions.synthesis.commands.from_documents import FROM_DOCUMENTS
from extensions.synthesis.commands.haystack import HAYSTACK
from extensions.synthesis.commands.lint import LINT
from extensions.synthesis.commands.pack import PACK
from extensions.synthesis.commands.questions import QUESTIONS_COMMAND

SUBCOMMANDS: tuple[Subcommand, ...] = (CHECK, FROM_DOCUMENTS, HAYSTACK, LINT, PACK, QUESTIONS_COMMAND)
