"""The figures of agreement as plain values, as files and reports hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from annotation.figures import biases, judges, people
from annotation.figures.judges import JudgeReport
from annotation.figures.page import Figures
from annotation.figures.repeats import Consistency
from annotation.figures.systems import Corrected, Ranking
from benchmarks.scoring.correction import Correction
from benchmarks.scoring.stat import stat_json


def everything(found: Figures) -> dict[str, Any]:
    """All figures as plain values, with how one looked."""
    look = found.look
    result: dict[str, Any] = {
        "filters": asdict(look.filters),
        "reference": found.reference,
        "clusters": look.clusters,
        "score": look.score.value,
        "people": people.as_json(found.people),
        "judges": [],
        "bias": [],
    }
    if found.judges is not None and found.bias is not None:
        compared = judges_json(found.judges, found.consistency, found.rankings, found.corrected)
        result |= {**compared, "people": result["people"], "ceiling": compared["people"]}
        result["bias"] = biases.as_json(found.bias)
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
            {"first": one.first, "second": one.second, **stat_json(one.stats)} for one in report.all_differences
        ],
        "consistency": [
            {
                "judge": one.judge,
                "repeats": one.n_repeats,
                **stat_json({"percent": one.percent, "randolph": one.randolph}),
            }
            for one in consistency
        ],
        "ranking": [{"judge": one.judge, **stat_json({"tau_b": one.tau}), "means": one.means} for one in rankings],
        "corrected": [
            {
                "judge": one.judge,
                **_correction(one.overall),
                "by_system": {name: _correction(found) for name, found in one.by_summarizer.items()},
                "assumes": ASSUMES,
            }
            for one in corrected
        ],
    }


ASSUMES = "the labelled summaries of each system are a random draw of those that the judge saw"


def _correction(found: Correction) -> dict[str, Any]:
    return {"n_labelled": found.n_labelled, **stat_json({"raw": found.raw, "corrected": found.corrected})}
