"""A rush of log-ins, and heartbeats of busy workers, on a copy of the load: `python -m bench.two_years.live`."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.cases import logins
from bench.chaos.crew import Crew
from bench.processes import ending_in_order, fake_model
from bench.site import Site

MODEL_DELAY_S = 0.05


def main() -> None:
    """Copy the database that DATABASE_URL names, measure on the copy, drop it."""
    parser = ArgumentParser(prog="python -m bench.two_years.live", description=__doc__)
    parser.add_argument("--seconds", type=int, default=120, help="for which workers are busy")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures are written")
    options = parser.parse_args()
    source = os.environ["DATABASE_URL"]
    server = urlsplit(source)._replace(path="/postgres").geturl() if source.startswith("postgres") else ""
    site = Site(database_url=server)
    try:
        site.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"])
        with site.copy_of(source):
            site.call("bench.world", "haystack", str(site.folder), 0)
            figures = {
                "logins": logins.measure(site, logins.prepare(site)),
                "workers": busy(site, options.seconds),
            }
    finally:
        site.close()
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


def busy(site: Site, seconds: int) -> dict[str, Any]:
    """The longest silence of each worker while models, figures and imports run, and how much of that was done."""
    with fake_model(MODEL_DELAY_S) as address:
        crew = Crew(site, address)
        try:
            crew.start()
            options = (str(site.folder), address, seconds)
            silences: dict[str, Any] = site.call("bench.two_years.work", "busy", *options, **crew.shared)
        finally:
            crew.stop()
    return silences


if __name__ == "__main__":
    with ending_in_order():
        main()
