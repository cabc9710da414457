"""`python -m tests.lint_migrations`: which migrations the version before could not run beside.

A column that may not be empty needs a default that the database knows (`db_default`): the program of before does
not name it. Only the statements for PostgreSQL say that, so one must be there. Left out is the step from 0.2,
which needs a stop.
"""

import logging
import sys
from pathlib import Path

import django
from django.db import OperationalError, connection
from django_migration_linter import MessageType, MigrationLinter

ROOT = Path(__file__).resolve().parents[1]
APPS = ["annotation", "benchmarks", "summhay_site", "synthesis"]
STOPPED = ["0001_initial", "0002_release_0_3_0"]
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
    linter = MigrationLinter(str(path), include_apps=APPS, ignore_name=STOPPED, no_cache=True, quiet=QUIET)
    linter.lint_all_migrations()
    linter.print_summary()
    return int(linter.has_errors)


if __name__ == "__main__":
    sys.exit(main())
