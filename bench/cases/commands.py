"""Imports, offline judge, retrievers, figures and files from nothing, each command in a fresh process."""

from __future__ import annotations

import resource
import time
from io import StringIO
from typing import Any

from django.core.management import call_command

from bench import world
from bench.driver import Case, Figure, Row
from bench.site import Site

HAYSTACK, STUDY = f"--haystack {world.KEY}", f"--study {world.LABELS}"
COMMANDS = {
    "import of a haystack": (3, "import_dataset summhay FOLDER/again.json"),
    "offline judge on all summaries of one": (2.5, f"run_judge lexical-2 {HAYSTACK}"),
    "TF-IDF on one": (1, f"retrieve {HAYSTACK} --retriever tfidf"),
    "BM25 on one": (1, f"retrieve {HAYSTACK} --retriever bm25"),
    "agreement": (5, f"report agreement {STUDY}"),
    "judges beside people": (10, f"report judges {STUDY}"),
    "replaceability": (5, f"report replaceability {STUDY}"),
    "leaderboard with intervals": (20, f"report leaderboard {HAYSTACK} --intervals"),
    "position of content": (20, f"report context {HAYSTACK}"),
    "verification dealt and answered": (10, "simulate_labels --study new --dataset demo --error-rate ben=.1"),
    "archive of a study": (15, f"export_study {STUDY} --out FOLDER/study.zip"),
}
"""The most seconds that each may take, and its words."""


def measure(site: Site, _prepared: Any) -> Row:
    """All commands one after another, on the same database."""
    rows = {name: site.call(__name__, "timed", words, str(site.folder)) for name, (_s, words) in COMMANDS.items()}
    return {**{name: row["s"] for name, row in rows.items()}, "mib": max(row["mib"] for row in rows.values())}


def timed(words: str, folder: str) -> Row:
    """Seconds and most memory of a command in a process that has loaded nothing but Django and models."""
    world.haystack_file(folder, "again")
    began = time.perf_counter()
    call_command(*words.replace("FOLDER", folder).split(), stdout=StringIO(), stderr=StringIO())
    seconds = time.perf_counter() - began
    return {"s": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10}


FIGURES = [Figure(name, name, "s", most) for name, (most, _words) in COMMANDS.items()]
CASE = Case("demo", [*FIGURES, Figure("mib", "most memory of one of them", "MiB", 1024)], measure)
