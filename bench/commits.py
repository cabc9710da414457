"""The floor of writing: `python -m bench.commits PK COUNT` commits so often, one row each time."""

from __future__ import annotations

import json
import sys
import time

import django


def commit(*, pk: int, count: int) -> dict[str, float]:
    """Small transactions on one connection with the settings of the site; gives how many a second."""
    from django.db import connection, transaction

    from annotation.models import Annotator

    table = connection.ops.quote_name(Annotator._meta.db_table)
    statement = f"UPDATE {table} SET accommodation_note = %s WHERE id = %s"  # noqa: S608 - our own table
    began = time.perf_counter()
    with connection.cursor() as cursor:
        for number in range(count):
            with transaction.atomic():
                cursor.execute(statement, [f"note {number}", pk])
    return {"per_second": count / (time.perf_counter() - began)}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(commit(pk=int(sys.argv[1]), count=int(sys.argv[2]))))
