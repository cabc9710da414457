"""What people of this site found on key points and on the judge of recall, beside what Long²RAG reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotation.agreement import report_results
from annotation.kinds import kind_named
from annotation.models import Study
from annotation.reproduction.reported import reported
from annotation.verification.datasets import dataset_of
from benchmarks.scoring.retention import Task

COLUMN = "paper"


@dataclass(frozen=True, slots=True)
class OfStudy:
    """Figures of a study by row and column, and what they are of."""

    values: dict[tuple[str, str], float | None] = field(default_factory=dict)
    of: str = ""


def only_study(kind: str, name: str) -> Study | None:
    """The study of this kind that is named, or the only one there is; None where there are several."""
    studies = list(Study.objects.filter(kind=kind))
    named = [study for study in studies if study.name == name] or studies
    return named[0] if len(named) == 1 else None


def verified(name: str) -> OfStudy:
    """What was kept of the key points of a verification study, and how far people agree on keeping."""
    study = only_study(Study.Kind.VERIFICATION, name)
    if study is None:
        return OfStudy()
    dataset, share = dataset_of(study), dataset_of(study).overall().share.value
    figures: dict[str, Any] = reported(report_results.REPORT, "--study", study.name).values or {}
    agreement = figures.get("tasks", {}).get(Task.KEEP.value, {})
    values = {
        "key points extracted": float(len(dataset.table.points)) or None,
        "key points kept": float(len(dataset.kept_points)) if share is not None else None,
        "share kept, %": None if share is None else 100 * share,
        "kappa of annotators (Randolph)": agreement.get("randolph"),
    }
    return OfStudy({(row, COLUMN): value for row, value in values.items()}, f"“{study.name}”")


def validated(name: str) -> OfStudy:
    """How often people agree with the judge of recall in a validation study, and with each other."""
    study = only_study(Study.Kind.VALIDATION, name)
    if study is None:
        return OfStudy()
    report = kind_named(study.kind).reports["validation"]
    figures: dict[str, Any] = reported(report, "--study", study.name).values or {}
    accuracy = figures.get("mean", {}).get("accuracy")
    values = {
        "accuracy, %": None if accuracy is None else 100 * accuracy,
        "kappa of annotators (Cohen)": figures.get("ceiling", {}).get("cohen"),
    }
    return OfStudy({(row, COLUMN): value for row, value in values.items()}, f"“{study.name}”")
