"""`manage.py report replaceability`: may a judge take an annotator's place? (the alternative annotator test)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, aligned
from annotation.agreement.scope import add_scope, judged_table
from annotation.figures.table import LabelTable
from benchmarks.scoring.replaceability import EPSILON, TooLittle, replaceability


def _arguments(parser: ArgumentParser) -> None:
    add_scope(parser)
    parser.add_argument(
        "--epsilon",
        type=float,
        default=EPSILON,
        help=f"how far a judge may stand behind an annotator, 0 to 1 (default: {EPSILON})",
    )
    parser.add_argument(
        "--exact", action="store_true", help="labels are equal or not; none is nearer than another"
    )


def _make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    table = judged_table(options)
    return [
        _of_judge(table, index, epsilon=options["epsilon"], exact=options["exact"])
        for index in range(len(table.judges))
    ]


def _of_judge(table: LabelTable, index: int, *, epsilon: float, exact: bool) -> dict[str, Any]:
    """One judge against each annotator left out; null, with the reason, where there is too little for the test."""
    row: dict[str, Any] = {"judge": table.judges[index].name, "epsilon": epsilon}
    try:
        found = replaceability(
            table.codes[:, : table.n_people],
            table.column_of_judge(index).codes,
            worth=None if exact else table.worth,
            clusters=table.clusters.tolist(),
            epsilon=epsilon,
        )
    except TooLittle as problem:
        return row | {
            "passes": None,
            "winning_rate": None,
            "advantage": None,
            "against": [],
            "reason": str(problem),
        }
    return row | {
        "passes": found.passes,
        "winning_rate": found.winning_rate,
        "advantage": found.advantage,
        "against": [
            {
                "annotator": table.people[one.annotator].name,
                "n_items": one.n_items,
                "clusters": one.n_clusters,
                "judge": one.judge,
                "human": one.human,
                "p": one.p,
                "is_won": one.is_won,
            }
            for one in found.against
        ],
        "reason": "",
    }


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    table = [["judge", "may replace", "winning rate", "advantage", "note"]]
    for row in rows:
        if row["passes"] is None:
            table.append([row["judge"], "—", "—", "—", row["reason"]])
            continue
        answer = "yes" if row["passes"] else "no"
        table.append([row["judge"], answer, f"{row['winning_rate']:.2f}", f"{row['advantage']:.3f}", ""])
    return aligned(table)


REPORT = Report("may a judge take an annotator's place", _arguments, _make, _lines)
