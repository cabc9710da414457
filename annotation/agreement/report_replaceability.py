"""`manage.py report replaceability`: may a judge take an annotator's place? (the alternative annotator test)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.agreement.scope import add_scope, judged_table
from annotation.results.reports import Report, ReportRefused
from annotation.results.table import LabelTable
from benchmarks.results.writing import aligned
from benchmarks.scoring.replaceability import EPSILON, Distance, LeftOut, TooLittle, replaceability


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
    parser.add_argument(
        "--distance",
        choices=[Distance.ABSOLUTE.value, Distance.RMSE.value],
        default=Distance.ABSOLUTE.value,
        help="from the other people, by what labels are worth: on average (the default), or its root mean square,"
        " which the paper takes for ordered labels",
    )


def _make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not 0 <= options["epsilon"] < 1:
        raise ReportRefused("--epsilon is a number from 0 up to, but not, 1.")
    table = judged_table(options).anonymous()
    distance = Distance.EXACT if options["exact"] else Distance(options["distance"])
    return [
        _of_judge(table, index, epsilon=options["epsilon"], distance=distance)
        for index in range(len(table.judges))
    ]


def _of_judge(table: LabelTable, index: int, *, epsilon: float, distance: Distance) -> dict[str, Any]:
    """One judge against each annotator left out; null, with the reason, where there is too little for the test."""
    row: dict[str, Any] = {
        "judge": table.judges[index].name,
        "epsilon": epsilon,
        "distance": distance.value,
    }
    try:
        result = replaceability(
            table.codes[:, : table.n_people],
            table.column_of_judge(index).codes,
            worth=None if distance is Distance.EXACT else table.worth,
            clusters=table.clusters.tolist(),
            epsilon=epsilon,
            distance=distance,
        )
    except TooLittle as problem:
        return row | {
            "passes": None,
            "winning_rate": None,
            "advantage": None,
            "advantage_interval": None,
            "power": None,
            "against": [],
            "left_out": _left_out(table, problem.left_out),
            "reason": str(problem),
        }
    return row | {
        "passes": result.passes,
        "winning_rate": result.winning_rate,
        "advantage": result.advantage,
        "advantage_interval": None if result.low is None else [result.low, result.high],
        "power": result.power,
        "against": [
            {
                "annotator": table.people[comparison.annotator].name,
                "n_items": comparison.n_items,
                "clusters": comparison.n_clusters,
                "judge": comparison.judge,
                "human": comparison.human,
                "p": comparison.p,
                "is_won": comparison.is_won,
            }
            for comparison in result.against
        ],
        "left_out": _left_out(table, result.left_out),
        "reason": "",
    }


def _left_out(table: LabelTable, left_out: Sequence[LeftOut]) -> list[dict[str, Any]]:
    return [
        {"annotator": table.people[person.annotator].name, "n_items": person.n_items, "reason": person.reason}
        for person in left_out
    ]


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    table = [["judge", "may replace", "winning rate", "advantage", "power", "note"]]
    for row in rows:
        if row["passes"] is None:
            table.append([row["judge"], "—", "—", "—", "—", _note(row)])
            continue
        answer = "yes" if row["passes"] else "no"
        ends = row["advantage_interval"]
        advantage = f"{row['advantage']:.3f}" + ("" if ends is None else f" [{ends[0]:.3f}, {ends[1]:.3f}]")
        rate, power = f"{row['winning_rate']:.2f}", f"{row['power']:.2f}"
        table.append([row["judge"], answer, rate, advantage, power, _note(row)])
    return [
        *aligned(table),
        "In brackets: 95 % interval over clusters. Power: how often a judge that is as near to people as they are"
        " to each other would pass; where it is low, a no says little.",
    ]


def _note(row: Mapping[str, Any]) -> str:
    """Why there is no answer, and who was not tested."""
    named = [f"{person['annotator']} ({person['n_items']}: {person['reason']})" for person in row["left_out"]]
    notes = [row["reason"], f"left out: {', '.join(named)}" if named else ""]
    return "; ".join(note for note in notes if note)


REPORT = Report("may a judge take an annotator's place", _arguments, _make, _lines)
