"""`manage.py report kpr`: key point recall, precision and F of responses, over all or verified key points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from annotation.agreement.recall_source import measured_in, verified_by
from annotation.agreement.reports import Report, ReportRefused, aligned, with_interval
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.validation.results import results_of
from annotation.verification.datasets import NoVersion
from benchmarks.io.schemas.plain_labels import split_categories
from benchmarks.management import judges as judges_argument
from benchmarks.models import Judge, Question, System
from benchmarks.recall import conditions, figures, plain
from benchmarks.recall.people import Verified
from benchmarks.recall.systems import PARTS, as_json
from benchmarks.scoring.stat import stat_json

COLUMNS = ("kpr_macro", "kpr_micro", "kpp", "kpf", "kpp_key_points", "kpf_key_points")


def _arguments(parser: Any) -> None:
    parser.add_argument("--dataset", default="", metavar="NAME", help="questions imported under this name")
    parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")
    parser.add_argument("--system", default="", metavar="A,B", help="only responses of these systems")
    parser.add_argument("--category", default="")
    parser.add_argument("--domain", default="")
    parser.add_argument(
        "--study", default="", metavar="NAME", help="only key points that this verification study keeps"
    )
    parser.add_argument(
        "--version",
        type=int,
        default=None,
        metavar="N",
        help="of --study: this version of its dataset, else the newest",
    )
    parser.add_argument(
        "--by",
        choices=("system", "documents"),
        default="",
        help="each system by category, domain, lengths and judge, and how alike judges rank the systems; or each "
        "model by what it was shown of the documents",
    )
    parser.add_argument(
        "--all-questions",
        action="store_true",
        help="of --by: count questions too that some of the systems have not answered",
    )


def _make(options: Mapping[str, Any]) -> Any:
    names = ("dataset", "judge", "system", "category", "domain")
    chosen = {name: options[name] for name in names}
    if chosen["judge"]:
        judges_argument.chosen(chosen["judge"], Judge.objects.all())
    systems = split_categories(chosen["system"])
    _check(chosen, systems)
    verified = _verified(options)
    table = figures.table(
        figures.ResponseFilter(
            **{name: value for name, value in chosen.items() if name != "system"},
            systems=systems,
            key_points=verified.key_points if verified else None,
            questions=verified.questions if verified else None,
        )
    )
    found = plain.report(table)
    if options["by"] == "documents":
        found["conditions"] = conditions.as_json(table, only_common=not options["all_questions"])
    if options["by"] == "system":
        found["systems"] = as_json(table, only_common=not options["all_questions"])
    return {
        **found,
        "validation": [
            row for judge in Judge.objects.all() if str(judge) in table.judges for row in _measured(judge)
        ],
        "filters": {name: value for name, value in chosen.items() if value},
        "verified": verified
        and {
            "study": verified.version.study,
            "version": verified.version.number,
            "n_kept": len(verified.key_points),
        },
    }


def _verified(options: Mapping[str, Any]) -> Verified | None:
    if not options["study"]:
        if options["version"] is not None:
            raise ReportRefused("--version is of a verification study: name it with --study.")
        return None
    study = find_study(options["study"])
    if study.kind != Study.Kind.VERIFICATION:
        raise ReportRefused(f"“{study.name}” verifies no key points; name a verification study.")
    try:
        return verified_by(study, number=options["version"])
    except NoVersion as problem:
        raise ReportRefused(str(problem)) from problem


def _measured(judge: Judge) -> list[dict[str, Any]]:
    """What validation studies found of a judge."""
    return [
        {
            "judge": str(judge),
            "study": one.study,
            "protocol": "verdict shown" if one.is_shown else "blind",
            "n_answered": one.n_answered,
            **stat_json({"accuracy": one.accuracy, "weighted": one.weighted, "people": one.people}),
        }
        for one in measured_in(Study.objects.all(), judge, results_of=partial(results_of, public=True))
    ]


def _check(chosen: Mapping[str, str], systems: Sequence[str]) -> None:
    """A name that nothing has is a mistake, not an empty report."""
    if chosen["dataset"] and not Question.objects.of(dataset=chosen["dataset"]).exists():
        raise ReportRefused(f"No question was imported as “{chosen['dataset']}”.")
    for name in systems:
        if not System.objects.filter(key=name, responses__isnull=False).exists():
            raise ReportRefused(f"No system “{name}” has responses.")


def _lines(values: dict[str, Any]) -> list[str]:
    overall = values["overall"]
    lines = [f"{name:<15}{with_interval(overall, name)}" for name in COLUMNS]
    lines += [f"{name:<15}{overall['reasons'][name]}" for name in COLUMNS if overall[name] is None]
    lines.append(
        f"judge: {overall['judge'] or ', '.join(values['judges']) or '—'}; "
        f"{values['n_responses']} responses, {values['n_not_judged']} not judged"
    )
    for dimension, rows in values["by"].items():
        if rows:
            head = [dimension.replace("_", " "), "judge", "questions", "key points", *COLUMNS]
            body = [
                [
                    row["name"],
                    row["judge"],
                    str(row["n_questions"]),
                    str(row["n_key_points"]),
                    *(with_interval(row, name) for name in COLUMNS),
                ]
                for row in rows
            ]
            lines += ["", *aligned([head, *body])]
    for one in values["validation"]:
        lines.append(
            f"people against {one['judge']} ({one['study']}, {one['protocol']}, n = {one['n_answered']}): "
            f"accuracy {with_interval(one, 'accuracy')}, people among themselves {with_interval(one, 'people')}"
        )
    lines += _condition_lines(values["conditions"]) if "conditions" in values else []
    return lines + (_system_lines(values["systems"]) if "systems" in values else [])


def _condition_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return ["", "no two conditions: all responses were written from the same of the documents"]
    head = ["model", "documents", "judge", "questions", "kpr_macro", "difference", "words", "words shown"]
    body = [
        [
            row["model"],
            row["name"],
            row["judge"],
            str(row["n_questions"]),
            with_interval(row, "kpr_macro"),
            with_interval(row, "difference"),
            f"{row['response_words']:.0f}",
            "—" if row["shown_words"] is None else f"{row['shown_words']:.0f}",
        ]
        for row in rows
    ]
    return ["", *aligned([head, *body])]


def _system_lines(systems: dict[str, Any]) -> list[str]:
    counted = ", ".join(
        f"{n} of {systems['n_judged_questions'][judge]} by {judge}" for judge, n in systems["n_questions"].items()
    )
    which = "questions that all of them answered" if systems["only_common"] else "all questions"
    lines = ["", f"systems on {which}: {counted}"]
    for part in ("all", *PARTS):
        if rows := systems[part]:
            head = ["system", "judge", "" if part == "all" else part.replace("_", " "), "questions", *COLUMNS[:2]]
            body = [
                [
                    row["system"],
                    row["judge"],
                    "" if part == "all" else row["name"],
                    str(row["n_questions"]),
                    *(with_interval(row, name) for name in COLUMNS[:2]),
                ]
                for row in rows
            ]
            lines += ["", *aligned([head, *body])]
    for pair in systems["ranking"]:
        swapped = "; ".join(" and ".join(names) for names in pair["swapped"]) or "none"
        lines += [
            "",
            f"{pair['first']} – {pair['second']}: {pair['n_systems']} systems, {pair['n_questions']} questions, "
            f"Kendall {with_interval(pair, 'kendall')}, Spearman {with_interval(pair, 'spearman')}; "
            f"swapped: {swapped}",
        ]
    return lines


REPORT = Report("recall, precision and F of key points in responses", _arguments, _make, _lines)
