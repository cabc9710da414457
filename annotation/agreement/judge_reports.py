"""Reports on judges beside people: `manage.py report judges`, `bias`, `approval` and `replaceability`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from django.core.management.base import CommandError

from annotation.agreement.label_reports import add_reference, add_scope, filters_of, judged_table
from annotation.approvals.computing import ApprovalLook, Approvals, approvals_on, as_json
from annotation.approvals.sheet import sheet
from annotation.coverage.look import Look
from annotation.coverage.page import judges_json
from annotation.coverage.sheet import OTHER_LENGTHS
from annotation.coverage.systems import as_json as bias_json
from annotation.coverage.systems import bias_report, consistency, corrected, judged_summaries, rankings
from annotation.models import CoverageLabel
from annotation.results.judges import as_json as judges_rows
from annotation.results.judges import judge_report
from annotation.results.reports import Report, bounds_of, number, with_interval
from annotation.results.table import LabelTable
from benchmarks.results.writing import aligned
from benchmarks.scoring.approval import STANDARD, Thresholds
from benchmarks.scoring.replaceability import EPSILON, Distance, LeftOut, TooLittle, replaceability


def _judges_arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument(
        "--full",
        action="store_true",
        help="with --json: an object of judges, people, differences, ranking, corrected and consistency",
    )
    parser.add_argument(
        "--random-labels",
        action="store_true",
        help="declare the labelled summaries of each system a random draw, which corrected scores need",
    )


def _judges_make(options: Mapping[str, Any]) -> Any:
    table, reference = judged_table(options), options["reference"]
    table = replace(table, is_random=table.is_random or options["random_labels"])
    report = judge_report(table, reference=reference, with_differences=options["full"])
    if not options["full"]:
        return judges_rows(report)
    labels = CoverageLabel.objects.filter(summary__in=[info.pk for info in table.summaries])
    judged = judged_summaries(table, filters_of(options)) if table.summaries else {}
    return judges_json(
        report,
        consistency(labels, table) if table.summaries else (),
        rankings(table, reference=reference) if table.summaries else (),
        corrected(table, judged, reference=reference) if table.summaries else (),
    )


def _judges_lines(values: Any) -> list[str]:
    rows: list[dict[str, Any]] = values["judges"] if isinstance(values, dict) else values
    head = ["judge", "Pearson", "exact", "quadratic κ", "covered κ", "linking", "authors' rule", "strict", "n"]
    table = [head]
    for row in rows:
        linking = [
            f"{row[rule]['hits']}/{row[rule]['n']}{bounds_of(row['intervals'].get(rule))}"
            for rule in ("linking", "linking_authors", "linking_strict")
        ]
        table.append(
            [
                row["judge"],
                with_interval(row, "pearson"),
                with_interval(row, "exact_agreement"),
                with_interval(row, "quadratic_kappa"),
                number(row["covered"].get("kappa")) + bounds_of(row["intervals"].get("covered.kappa")),
                *linking,
                str(row["n_insights"]),
            ]
        )
    fitted = [row["judge"] for row in rows if row["fitted_here"]]
    caution = [f"Fitted on labels of these haystacks, so too good here: {', '.join(fitted)}."] if fitted else []
    return [*aligned(table), *caution]


JUDGES = Report("judges beside people on the same insights", _judges_arguments, _judges_make, _judges_lines)


OURS, AUTHORS = "ours", "authors"
LENGTHS = {"bullets": "words per bullet", **OTHER_LENGTHS}


def _bias_arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument(
        "--rule",
        choices=(OURS, AUTHORS),
        default=OURS,
        help="ours (the default): three averages and four lengths; or what the authors of Table 4 take: the mean "
        "over summarizers, and words of all lines as spaces part them",
    )


def _bias_make(options: Mapping[str, Any]) -> Any:
    rows = bias_json(bias_report(judged_table(options), reference=options["reference"]))
    return [_by_authors(row) for row in rows] if options["rule"] == AUTHORS else rows


def _by_authors(row: dict[str, Any]) -> dict[str, Any]:
    """A judge's figures as Table 4 has them."""
    kept = {name: row[name] for name in ("judge", "reference", "n_summaries", "summarizers")}
    intervals = row["overall"]["intervals"]
    average = {"average": row["overall"]["over_summarizers"], "intervals": {}}
    if "over_summarizers" in intervals:
        average["intervals"] = {"average": intervals["over_summarizers"]}
    return {**kept, "rule": AUTHORS, **average, "length": {AUTHORS: row["length"][AUTHORS]}}


def _bias_lines(rows: list[dict[str, Any]]) -> list[str]:
    deltas = [
        {
            mean["summarizer"]: (mean["delta"], number(mean["delta"]) + bounds_of(mean))
            for mean in row["summarizers"]
        }
        for row in rows
    ]
    table = [["summarizer", *(row["judge"] for row in rows)]]
    by_authors = any("rule" in row for row in rows)
    names = sorted({name for of_judge in deltas for name in of_judge})
    if by_authors:
        names.sort(key=lambda name: fmean(of_judge[name][0] for of_judge in deltas if name in of_judge))
    table += [[name, *(of_judge.get(name, (0.0, number(None)))[1] for of_judge in deltas)] for name in names]
    if by_authors:
        averages = {"average": "average"}
    else:
        averages = {
            average: average.replace("_", " ")
            for average in ("over_summarizers", "over_summaries", "over_insights")
        }
    for average, words in averages.items():
        table.append([words, *(with_interval(row if by_authors else row["overall"], average) for row in rows)])
    for kind, words in LENGTHS.items():
        for side in ("score", "difference"):
            if all(kind in row["length"] for row in rows):
                table.append([f"{words} and {side}", *(with_interval(row["length"][kind], side) for row in rows)])
    return aligned(table)


BIAS = Report("judge minus human coverage, by summarizer and by length", _bias_arguments, _bias_make, _bias_lines)


def _approval_arguments(parser: ArgumentParser) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")
    for name, help_text in (
        ("bias", "points that it may be from people on average"),
        ("spread", "points that its bias may vary between systems"),
        ("concordance", "percent of the gaps between systems that it must order as people do"),
    ):
        usual = 100 * getattr(STANDARD, name)
        parser.add_argument(f"--{name}", type=float, default=usual, help=f"{help_text} (default: {usual:g})")
    parser.add_argument(
        "--epsilon", type=float, default=EPSILON, help=f"of the alternative annotator test (default: {EPSILON})"
    )


def _approval_make(options: Mapping[str, Any]) -> Approvals:
    if not 0 <= options["epsilon"] < 1:
        raise CommandError("--epsilon is a number from 0 up to, but not, 1.")
    if not (0 < options["bias"] <= 100 and 0 < options["spread"] <= 100 and 0 < options["concordance"] <= 100):
        raise CommandError("--bias, --spread and --concordance are above 0 and at most 100.")
    table = judged_table(options).anonymous()
    limits = Thresholds(options["bias"] / 100, options["spread"] / 100, options["concordance"] / 100)
    look = ApprovalLook(Look(reference=options["reference"], score=table.score), limits, options["epsilon"])
    approvals = approvals_on(table, look)
    if not options["judge"]:
        return approvals
    if options["judge"] not in {row.name for row in approvals.rows}:
        known = ", ".join(row.name for row in approvals.rows) or "none"
        raise CommandError(f"There is no judge “{options['judge']}” here; there are: {known}.")
    return approvals.only(options["judge"])


APPROVAL = Report(
    "may a judge stand in for people", _approval_arguments, _approval_make, sheet=sheet, as_json=as_json
)


def _replaceability_arguments(parser: ArgumentParser) -> None:
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


def _replaceability_make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not 0 <= options["epsilon"] < 1:
        raise CommandError("--epsilon is a number from 0 up to, but not, 1.")
    table = judged_table(options).anonymous()
    distance = Distance.EXACT if options["exact"] else Distance(options["distance"])
    return [
        _of_judge(table, index, epsilon=options["epsilon"], distance=distance)
        for index in range(len(table.judges))
    ]


def _of_judge(table: LabelTable, index: int, *, epsilon: float, distance: Distance) -> dict[str, Any]:
    """One judge against each annotator left out; null, with the reason, where there is too little for the test."""
    row = {"judge": table.judges[index].name, "epsilon": epsilon, "distance": distance.value}
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
        unknown = dict.fromkeys(("passes", "winning_rate", "advantage", "advantage_interval", "power"))
        left_out, reason = _left_out(table, problem.left_out), str(problem)
        return {**row, **unknown, "against": [], "left_out": left_out, "reason": reason}
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


def _replaceability_lines(rows: list[dict[str, Any]]) -> list[str]:
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


REPLACEABILITY = Report(
    "may a judge take an annotator's place", _replaceability_arguments, _replaceability_make, _replaceability_lines
)
