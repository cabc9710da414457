"""The pure functions behind figures: agreement with intervals, joint scores, documents indexed for positions."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.driver import Case, Figure, Row
from bench.site import Site
from benchmarks.scoring.agreement import krippendorff_alpha, randolph_kappa
from benchmarks.scoring.draws import DEFAULT
from benchmarks.scoring.position.source import Documents
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.summhay import Coverage, Verdict, score_summary
from benchmarks.scoring.text import lines_from_text

N_ITEMS, N_SUMMARIES = 8_457, 700
RATERS = tuple("uvwxyz")


def work() -> Row:
    """Milliseconds of each, after a first call that does not count."""
    dice = random.Random(7)  # noqa: S311  invented answers are no secret
    codes = np.array(dice.choices((0, 1, 2), k=N_ITEMS * len(RATERS))).reshape(N_ITEMS, len(RATERS))
    ratings = Ratings(codes, ("a", "b", "c"), RATERS, tuple(at % 560 for at in range(N_ITEMS)))
    insights = [(str(at), frozenset(dice.sample(range(1, 101), k=6))) for at in range(7)]
    verdicts = {key: Verdict(Coverage.FULL, (at + 1,)) for at, (key, _gold) in enumerate(insights)}
    words = [f"word{at}" for at in range(4_000)]
    text = "\n".join(f"- {' '.join(dice.choices(words, k=25))} [{at}, {at + 30}]" for at in range(1, 8))
    documents = {at: " ".join(dice.choices(words, k=800)) + "." for at in range(1, 101)}
    return {
        "randolph": _timed(lambda: randolph_kappa(ratings, resampling=DEFAULT)),
        "alpha": _timed(lambda: krippendorff_alpha(ratings, resampling=DEFAULT)),
        "joint": _timed(lambda: score_summary(insights, verdicts, lines_from_text(text)), times=N_SUMMARIES),
        "documents": _timed(lambda: Documents(documents)),
    }


def _timed(action: Callable[[], Any], *, times: int = 1) -> float:
    action()
    began = time.perf_counter()
    for _ in range(times):
        action()
    return (time.perf_counter() - began) * 1000


def measure(site: Site, _prepared: Any) -> Row:
    """All of them in one process."""
    return dict(site.call(__name__, "work"))


FIGURES = [
    Figure("randolph", f"Randolph's kappa of {N_ITEMS:,} items, interval", "ms", most=100),
    Figure("alpha", f"Krippendorff's alpha of {N_ITEMS:,} items, interval", "ms", most=100),
    Figure("joint", f"joint scores of {N_SUMMARIES} summaries", "ms", most=250),
    Figure("documents", "100 documents indexed for positions", "ms", most=250),
]
CASE = Case("empty", FIGURES, measure)
