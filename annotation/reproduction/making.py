"""All tables and figures of a paper beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from django.core.management.base import CommandError

from annotation.reproduction.identities import identities
from annotation.reproduction.long2rag import Long2Rag
from annotation.reproduction.middlesum import MiddleSum
from annotation.reproduction.parts import Part
from annotation.reproduction.printed import Printed, printed
from annotation.reproduction.scratch import import_published, scratch_database
from annotation.reproduction.summhay import SummHay
from annotation.results.reports import find_study
from benchmarks.management import judges as judges_argument
from benchmarks.models import Judge

SUMMHAY, MIDDLESUM = "summhay", "middlesum"
Maker = Callable[[Printed], Part]
MAKERS: Mapping[str, Callable[[str, str], Maker]] = {
    SUMMHAY: lambda judge, study: SummHay(judge=judge, study=study).part,
    "long2rag": lambda judge, study: Long2Rag(judge=judge, study=study).part,
    MIDDLESUM: lambda _judge, _study: MiddleSum().part,
}


def reproduce(
    paper: str,
    *,
    judge: str = "",
    study: str = "",
    wanted: Callable[[Printed], bool] = lambda table: True,
    data: Path | None = None,
) -> list[Part]:
    """The tables and figures that are wanted, and what the printed numbers give where all are.

    With `data` from published files alone, in memory; otherwise from what is on the site. `judge` and `study` name
    whose verdicts and labels stand for those of the paper.

    Raises:
        CommandError: there are no such files, or one was refused; there is no such judge; the paper takes none.
        ReportRefused: there is no such study.
    """
    if data is not None:
        with scratch_database():
            import_published(data)
            return reproduce(paper, judge=judge, study=study, wanted=wanted)
    if paper == MIDDLESUM and (judge or study):
        raise CommandError("middlesum takes neither verdicts of judges nor labels: leave out --judge and --study.")
    if judge:
        judges_argument.chosen(judge, Judge.objects.all())
    if study:
        study = find_study(study).name
    tables = printed(paper)
    make = MAKERS[paper](judge, study)
    parts = [make(table) for table in tables if wanted(table)]
    return [*parts, identities(paper, tables)] if len(parts) == len(tables) else parts
