"""`manage.py report context` and `experiments`: where texts take content from, and scores by its position."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned, number, with_interval
from annotation.leaderboard.experiments import as_json as experiments_as_json
from annotation.leaderboard.experiments import experiments
from annotation.leaderboard.positions import Scope, as_json, rows_of, texts_in
from annotation.models import Study
from benchmarks.engine.naming import judges_called
from benchmarks.management import haystacks as haystacks_argument
from benchmarks.management import judges as judges_argument
from benchmarks.models import Judge
from benchmarks.summarizers.arrangements import POSITION

DEFAULT_JUDGE = "published"
SHOWN_SCORES = ("coverage", "joint", "rouge1")


def _add_common(parser: ArgumentParser) -> None:
    """The arguments that choose texts and the judge of the scores."""
    haystacks_argument.add_argument(parser)
    parser.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME",
        help="the name of a summarizer, or people; repeatable (default: all)",
    )
    parser.add_argument(
        "--judge", default="", metavar="NAME", help=f"whose scores are correlated (default: {DEFAULT_JUDGE})"
    )


def add_arguments(parser: ArgumentParser) -> None:
    """These, and the rule of MiddleSum."""
    _add_common(parser)
    parser.add_argument(
        "--late",
        action="store_true",
        help="only texts whose reference follows no sentence before word 1,200 (MiddleSum)",
    )


def make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for every system and retriever, people last."""
    scope = _scope(options)
    rows = as_json(rows_of(scope, texts_in(scope)))
    missing = set(options["system"]) - {row["system"] for row in rows}
    if missing:
        raise ReportRefused(f"No summary here is by {', '.join(sorted(missing))}.")
    if not rows:
        raise ReportRefused("There is no summary of a system and no text of a person here.")
    return rows


def _scope(options: Mapping[str, Any]) -> Scope:
    haystacks = haystacks_argument.chosen(options)
    judge: Judge | None = None
    if options["judge"]:
        judge = judges_argument.chosen(options["judge"])
    else:
        found = judges_called(DEFAULT_JUDGE, Judge.objects.counted())
        judge = found[0] if found else None
    studies = Study.objects.filter(kind=Study.Kind.WRITING)
    return Scope(haystacks, studies, judge, tuple(options["system"]), options.get("late", False))


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """A table for a console: shares at the beginning and the end, the test, and correlations with the position."""
    head = ["system", "retriever", "first 20 %", "last 20 %", "KS", "p", "first tenth", "last tenth"]
    table = [[*head, *(f"ρ {name}" for name in SHOWN_SCORES), "summaries", "order unknown"]]
    table += [
        [row["system"], row["retriever"], *_cells(row), str(row["n_summaries"]), str(row["n_unknown_order"])]
        for row in rows
    ]
    return [
        *aligned(table),
        "First and last 20 %: share of the summaries' pairs of words there, 0.200 if evenly spread.",
        "KS: against the reference. Tenths: share of the sentences that summaries follow.",
        "ρ: mean position of the reference's content with a score, in brackets where p > .05.",
    ]


def _cells(row: dict[str, Any]) -> list[str]:
    if not row["n_summaries"]:
        return ["—"] * (6 + len(SHOWN_SCORES))
    pairs, sentences = row["bigrams"], row["sentences"]
    bins, tenths = pairs["bins"], sentences["bins"]
    return [
        number(sum(bins[:4]) if bins else None),
        number(sum(bins[-4:]) if bins else None),
        number(pairs["ks"]),
        number(pairs["p"]),
        number(tenths[0] if tenths else None),
        number(tenths[-1] if tenths else None),
        *(_rho(row["rq3"].get(name)) for name in SHOWN_SCORES),
    ]


def _rho(found: dict[str, Any] | None) -> str:
    if found is None or found["rho"] is None:
        return "—"
    return number(found["rho"]) if found["is_significant"] else f"({number(found['rho'])})"


REPORT = Report("where systems and people take their content from", add_arguments, make, lines)


def make_experiments(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every experiment of position, by system."""
    found = experiments_as_json(experiments(_scope(options)))
    if not found:
        raise ReportRefused("There is no experiment here: run manage.py summarize --order position-of-5.")
    return found


def experiment_lines(rows: list[dict[str, Any]]) -> list[str]:
    """A table for a console: a line for each arrangement, and one for the references of other sources."""
    names = ("rouge1", "rouge2", "rougeL")
    table = [["system", "arrangement", *names, "of all", "sources"]]
    for row in rows:
        arms = [(arm["name"], arm, arm["relative"]) for arm in row["arrangements"]]
        by_chance = [("by chance", row["by_chance"], None)] if row["experiment"] == POSITION else []
        for name, values, share in (*arms, *by_chance):
            scores = [with_interval(values, score) for score in names]
            table.append([row["system"], name, *scores, number(share), str(row["n"])])
    return [*aligned(table), "Of all: mean over all scores of their share of those with all documents."]


EXPERIMENTS = Report(
    "scores by where the relevant document stood", _add_common, make_experiments, experiment_lines
)
