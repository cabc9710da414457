"""The figures of key points as plain values: by name, with intervals and reasons beside them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.recall.figures import DIMENSIONS, Group, Table, by_dimension, overall
from benchmarks.scoring.draws import shared_draws
from benchmarks.scoring.keypoints import KeyPointScores, SupportedBy
from benchmarks.scoring.stat import Stat, stat_json

FIGURES = ("kpr_macro", "kpr_micro", "kpp", "kpf", "kpp_key_points", "kpf_key_points")
SEVERAL = "several judges have verdicts here; name one, or read by.judge"
NONE = "no judge has verdicts here"


def stats(found: KeyPointScores) -> dict[str, Stat]:
    """Named figures; `kpp` and `kpf` are the paper's, of points supported by the documents."""
    documents, key_points = SupportedBy.DOCUMENTS, SupportedBy.KEY_POINTS
    return {
        "kpr_macro": found.kpr_macro,
        "kpr_micro": found.kpr_micro,
        "kpp": found.kpp[documents],
        "kpf": found.kpf[documents],
        "kpp_key_points": found.kpp[key_points],
        "kpf_key_points": found.kpf[key_points],
    }


def row_json(
    found: KeyPointScores, *, more: Mapping[str, Stat] = MappingProxyType({}), **named: Any
) -> dict[str, Any]:
    """One row: figures, `more` of them too, as numbers or null, their intervals and reasons, and all counts."""
    return {
        **named,
        "n_questions": found.n_questions,
        "n_key_points": found.n_key_points,
        "n_responses": found.n_answers,
        **stat_json({**stats(found), **more}),
        "n_unjudged": found.n_unjudged,
        "n_without_key_points": found.n_without_key_points,
        "n_not_extracted": found.n_not_extracted,
        "n_without_points": found.n_without_points,
        "n_points_unjudged": {by.value: count for by, count in found.n_points_unjudged.items()},
    }


def group_json(group: Group) -> dict[str, Any]:
    """A row of a split."""
    return row_json(group.scores, name=group.name, judge=group.judge)


def report(table: Table) -> dict[str, Any]:
    """{overall, by: {dimension: rows}}: figures of several judges are never mixed, every row names its judge."""
    with shared_draws():
        judge = table.single_judge
        figures = row_json(overall(table.rows), judge=judge) if judge else _no_overall(table)
        by = {name: [group_json(group) for group in by_dimension(table.rows, name)] for name in DIMENSIONS}
    return {
        "overall": figures,
        "by": by,
        "judges": list(table.judges),
        "n_responses": table.n_responses,
        "n_not_judged": table.n_not_judged,
        "supported_by": {"kpp": "documents", "kpf": "documents"},
    }


def _no_overall(table: Table) -> dict[str, Any]:
    reason = SEVERAL if table.judges else NONE
    return {
        "judge": None,
        "n_questions": len({row.answer.question for row in table.rows}),
        "n_key_points": None,
        "n_responses": table.n_responses,
        **dict.fromkeys(FIGURES),
        "intervals": {},
        "reasons": dict.fromkeys(FIGURES, reason),
    }
