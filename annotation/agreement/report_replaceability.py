"""`manage.py report replaceability`: may a judge take an annotator's place? (the alternative annotator test)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned
from annotation.agreement.scope import add_scope, judged_table
from annotation.figures.table import LabelTable
from benchmarks.scoring.replaceability import EPSILON, LeftOut, TooLittle, replaceability


def _arguments(parser: ArgumentParser) -> None:
    add_scope(parser)
    parser.add_argument(
        "--epsilon",
        type=float,
        default=EPSILON,
        help=f"how far a judge may stand behind an annotator, from 0 to under 1 (default: {EPSILON})",
    )
    parser.add_argument(
        "--exact", action="store_true", help="labels are equal or not; none is nearer than another"
    )


def _make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not 0 <= options["epsilon"] < 1:
        raise ReportRefused("--epsilon is a number from 0 up to, but not, 1.")
    table = judged_table(options).anonymous()
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
            "left_out": _left_out(table, problem.left_out),
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
        "left_out": _left_out(table, found.left_out),
        "reason": "",
    }


def _left_out(table: LabelTable, left_out: Sequence[LeftOut]) -> list[dict[str, Any]]:
    return [
        {"annotator": table.people[one.annotator].name, "n_items": one.n_items, "reason": one.reason}
        for one in left_out
    ]


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    table = [["judge", "may replace", "winning rate", "advantage", "note"]]
    for row in rows:
        if row["passes"] is None:
            table.append([row["judge"], "—", "—", "—", _note(row)])
            continue
        answer = "yes" if row["passes"] else "no"
        table.append([row["judge"], answer, f"{row['winning_rate']:.2f}", f"{row['advantage']:.3f}", _note(row)])
    return aligned(table)


def _note(row: Mapping[str, Any]) -> str:
    """Why there is no answer, and who was not tested."""
    named = [f"{one['annotator']} ({one['n_items']}: {one['reason']})" for one in row["left_out"]]
    notes = [row["reason"], f"left out: {', '.join(named)}" if named else ""]
    return "; ".join(note for note in notes if note)


REPORT = Report("may a judge take an annotator's place", _arguments, _make, _lines)
