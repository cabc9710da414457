"""The program of the command line: `manage.py` of a checkout, `summhay-manage` of an installed wheel."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the management command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
    execute_from_command_line(sys.argv)
