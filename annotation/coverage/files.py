"""The figures of agreement as plain values, as files and reports hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from annotation.coverage import systems
from annotation.coverage.page import Figures
from annotation.coverage.systems import Corrected, Ranking
from annotation.results import judges, people
from annotation.results.judges import Consistency, JudgeReport
from benchmarks.scoring.comparison import Correction
from benchmarks.scoring.stat import stat_json


def everything(figures: Figures) -> dict[str, Any]:
    """All figures as plain values, with how one looked."""
    look = figures.look
    result: dict[str, Any] = {
        "filters": asdict(look.filters),
        "reference": figures.reference,
        "clusters": look.clusters,
        "score": look.score.value,
        "people": people.as_json(figures.people),
        "judges": [],
        "bias": [],
    }
    if figures.judges is not None and figures.bias is not None:
        compared = judges_json(figures.judges, figures.consistency, figures.rankings, figures.corrected)
        result |= {**compared, "people": result["people"], "ceiling": compared["people"]}
        result["bias"] = systems.as_json(figures.bias)
    return result


def judges_json(
    report: JudgeReport,
    consistency: Sequence[Consistency],
    rankings: Sequence[Ranking],
    corrected: Sequence[Corrected],
) -> dict[str, Any]:
    """Judges beside people: each judge, people among themselves, and what follows from both."""
    people_row = None
    if report.ceiling is not None:
        reference = "majority of the others" if report.is_against_rest else "people"
        people_row = judges.row_json(report.ceiling, reference=reference)
        if report.highest is not None:
            people_row["highest_correlation"] = stat_json({"pearson": report.highest})
    return {
        "judges": judges.as_json(report),
        "people": people_row,
        "differences": [
            {"first": difference.first, "second": difference.second, **stat_json(difference.stats)}
            for difference in report.all_differences
        ],
        "consistency": [
            {
                "judge": row.judge,
                "repeats": row.n_repeats,
                **stat_json({"percent": row.percent, "randolph": row.randolph}),
            }
            for row in consistency
        ],
        "ranking": [
            {"judge": ranking.judge, **stat_json({"tau_b": ranking.tau}), "means": ranking.means}
            for ranking in rankings
        ],
        "corrected": [
            {
                "judge": row.judge,
                **_correction(row.overall),
                "by_system": {name: _correction(correction) for name, correction in row.by_summarizer.items()},
                "assumes": ASSUMES,
            }
            for row in corrected
        ],
    }


ASSUMES = "the labelled summaries of each system are a random draw of those that the judge saw"


def _correction(correction: Correction) -> dict[str, Any]:
    stats = {"raw": correction.raw, "corrected": correction.corrected, "powered": correction.powered}
    return {"n_labelled": correction.n_labelled, "weight": correction.weight, **stat_json(stats)}
