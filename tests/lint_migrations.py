"""`python -m tests.lint_migrations`: which migrations the version before could not run beside.

A column that may not be empty needs a default that the database knows (`db_default`): the program of before does
not name it. Only the statements for PostgreSQL say that, so one must be there. Left out are migrations that stand
for a released version as a whole.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import django
from django.db import OperationalError, connection
from django_migration_linter import MessageType, MigrationLinter

ROOT = Path(__file__).resolve().parents[1]
APPS = ["annotation", "benchmarks", "summhay_site", "synthesis"]
RELEASED = ["0001_initial", "0002_since_0_2"]
BEFORE_THIS_RULE = [
    "0003_parallel_forms",
    "0003_syntheses",
    "0004_accounts_of_institutions",
    "0004_synthesis_verdicts",
    "0006_tasks_of_sources",
    "0006_trials",
    "0007_label_next",
    "0007_cut_documents",
    "0010_synthesis_questions",
    "0019_ratings_by_aspect",
    "0020_ratings_in_one_field",
]
"""The step from 0.2 needs a stop, and 0.2 has no ratings; nothing is added here."""
QUIET = [MessageType.OK, MessageType.IGNORE]


def main(path: Path = ROOT) -> int:
    """Print what is wrong; returns 1 if anything is."""
    django.setup()
    try:
        connection.ensure_connection()
    except OperationalError as error:
        print(f"Migrations were not compared with the version before, which needs PostgreSQL: {error}")
        return 0
    logging.getLogger("django_migration_linter").setLevel(logging.WARNING)
    linter = MigrationLinter(
        str(path), include_apps=APPS, ignore_name=RELEASED + BEFORE_THIS_RULE, no_cache=True, quiet=QUIET
    )
    linter.lint_all_migrations()
    linter.print_summary()
    return int(linter.has_errors)


if __name__ == "__main__":
    sys.exit(main())
