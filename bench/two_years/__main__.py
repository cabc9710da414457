"""Fill the database that DATABASE_URL names, which must be empty."""

from __future__ import annotations

import random
import time
from argparse import ArgumentParser

from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Study
from bench.two_years import labelling, scene, sql, writing


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.two_years", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of two years; 0.2 for SQLite")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    call_command("migrate", verbosity=0)
    if Study.objects.exists():
        parser.error("there are studies in this database already")
    world = scene.Scene(options.share, random.Random(options.seed), timezone.now())  # noqa: S311 - no secret
    for what, step in (("corpora", scene.set_up), ("labels", labelling.fill), ("sessions", writing.fill)):
        began = time.monotonic()
        with transaction.atomic():
            step(world)
        print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)
    # what a PostgreSQL that runs for two years has done by itself; without it no index answers alone
    sql.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


if __name__ == "__main__":
    main()
