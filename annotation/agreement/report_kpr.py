"""`manage.py report kpr`: key point recall, precision and F of responses, over all or verified key points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned, with_interval
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.verification.datasets import dataset_of
from benchmarks.models import Judge, Question, System
from benchmarks.recall import figures, plain

COLUMNS = ("kpr_macro", "kpr_micro", "kpp", "kpf", "kpp_key_points", "kpf_key_points")


def _arguments(parser: Any) -> None:
    parser.add_argument("--dataset", default="", metavar="NAME", help="questions imported under this name")
    parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")
    parser.add_argument("--system", default="", metavar="NAME", help="only responses of this system")
    parser.add_argument("--category", default="")
    parser.add_argument("--domain", default="")
    parser.add_argument(
        "--study", default="", metavar="NAME", help="only key points that this verification study keeps"
    )


def _make(options: Mapping[str, Any]) -> Any:
    names = ("dataset", "judge", "system", "category", "domain")
    chosen = {name: options[name] for name in names}
    _check(chosen)
    kept, questions, verified = None, None, None
    if options["study"]:
        study = find_study(options["study"])
        if study.kind != Study.Kind.VERIFICATION:
            raise ReportRefused(f"“{study.name}” verifies no key points; name a verification study.")
        dataset = dataset_of(study)
        kept = dataset.kept_points
        questions = frozenset(study.label_items.order_by().values_list("question", flat=True).distinct())
        verified = {"study": study.name, "version": dataset.choice.number, "n_kept": len(kept)}
    found = plain.report(figures.table(figures.ResponseFilter(**chosen, key_points=kept, questions=questions)))
    return {**found, "filters": {name: value for name, value in chosen.items() if value}, "verified": verified}


def _check(chosen: Mapping[str, str]) -> None:
    """A name that nothing has is a mistake, not an empty report."""
    if chosen["dataset"] and not Question.objects.of(dataset=chosen["dataset"]).exists():
        raise ReportRefused(f"No question was imported as “{chosen['dataset']}”.")
    if chosen["system"] and not System.objects.filter(key=chosen["system"], responses__isnull=False).exists():
        raise ReportRefused(f"No system “{chosen['system']}” has responses.")
    if chosen["judge"] and chosen["judge"] not in {
        name for judge in Judge.objects.all() for name in (judge.name, str(judge))
    }:
        raise ReportRefused(f"There is no judge “{chosen['judge']}”.")


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
    return lines


REPORT = Report("recall, precision and F of key points in responses", _arguments, _make, _lines)
