"""What new studies are planned by before there are labels here is what the published files say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from annotation.coverage.results import RESULTS as COVERAGE
from benchmarks.scoring.planning import variances_of_agreement
from tests.judges.real_data import FOLDER, HUMAN, MODEL, needs_data


def equal_labels(entry: dict[str, Any]) -> list[bool]:
    """Whether people and GPT-4o gave the same coverage, of each insight that both judged."""
    people = {each["insight_id"]: HUMAN[each["coverage"]] for each in entry["annotation"]}
    model = {each["insight_id"]: each["coverage"] for each in entry["predictions_prompted_gpt-4o"]}
    return [said == MODEL[model[key]] for key, said in people.items() if model.get(key) in MODEL]


@needs_data
def test_linking_is_planned_by_the_published_labels() -> None:
    entries = json.loads((FOLDER / "eval_benchmark_conversations.json").read_text())
    rows = [(entry["subtopic_id"], same) for entry in entries for same in equal_labels(entry)]
    same = np.array([value for _subtopic, value in rows], dtype=float)
    _names, of = np.unique([subtopic for subtopic, _value in rows], return_inverse=True)
    sizes = np.bincount(of)
    means = np.bincount(of, same) / sizes
    n, k = len(same), len(sizes)
    between = (sizes * (means - same.mean()) ** 2).sum() / (k - 1)
    within = ((same - means[of]) ** 2).sum() / (n - k)
    size = (n - (sizes**2).sum() / n) / (k - 1)
    alike = (between - within) / (between + (size - 1) * within)
    assert same.mean() == pytest.approx(0.67, abs=0.01)
    assert 0 <= alike <= 0.03
    assert COVERAGE.published is not None
    planned, measured = COVERAGE.published.of(30.0).items, float(means.var(ddof=1)) * 1.5**2
    assert planned == pytest.approx(measured, rel=0.35)
    assert COVERAGE.published.of(1.0) == variances_of_agreement(0.67, q=3, size=1.0, alike=0.01)
