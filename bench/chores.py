"""One import or one run of the judge, on an empty database: `python -m bench.chores NAME FILE`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import django


def time_import(path: Path) -> dict[str, float]:
    """Seconds of the command, rows that it made, and seconds to read the same file."""
    import io

    from django.core.management import call_command

    began = time.perf_counter()
    json.loads(path.read_bytes())
    read_s = time.perf_counter() - began
    printed = io.StringIO()
    began = time.perf_counter()
    call_command("import_dataset", "summhay", str(path), "--json", stdout=printed, stderr=io.StringIO())
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "read_s": read_s, "rows": sum(json.loads(printed.getvalue())["created"].values())}


def time_judge(path: Path) -> dict[str, float]:
    """Seconds to judge every summary of the file, verdicts stored, and seconds to split their lines into words."""
    from django.utils import timezone

    from benchmarks.engine import judging
    from benchmarks.models import Summary, Verdict

    time_import(path)
    summaries = list(Summary.objects.select_related("subtopic"))
    began = time.perf_counter()
    for summary in summaries:
        for line in summary.lines:
            line.lower().split()
    split_s = time.perf_counter() - began
    judge = judging.default_judge(now=timezone.now())
    began = time.perf_counter()
    run = judging.request_run(judge=judge, subjects=summaries, reason="bench", now=timezone.now())
    if run is None:
        raise SystemExit("there was nothing to judge")
    judging.run_pending(run=run, clock=timezone.now)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "split_s": split_s, "verdicts": Verdict.objects.filter(run=run).count()}


CHORES = {"import": time_import, "judge": time_judge}

if __name__ == "__main__":
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    print(json.dumps(CHORES[sys.argv[1]](Path(sys.argv[2]))))
