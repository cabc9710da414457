"""All tables and figures of a paper beside ours, from what is on the site, or from published files in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from statistics import fmean

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from annotation.results.reports import find_study
from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import import_files
from benchmarks.management import named
from benchmarks.models import Judge
from extensions.papers.long2rag import Long2Rag
from extensions.papers.middlesum import MiddleSum
from extensions.papers.parts import FIGURE, TABLE, TEXT, Cell, Paper, Part, Printed, find, printed
from extensions.papers.summhay import SummHay
from summhay_site.operations.engines import in_its_place

SUMMHAY, MIDDLESUM = "summhay", "middlesum"
MADE_BY: dict[str, type[Paper]] = {SUMMHAY: SummHay, "long2rag": Long2Rag, MIDDLESUM: MiddleSum}
PUBLISHED = {"summhay": "topic_*.json", "summhay-eval-benchmark": "eval_benchmark*.json"}
"""Formats of the files of Summary of a Haystack, and how the files are called."""


@contextmanager
def scratch_database() -> Iterator[None]:
    """All tables, empty, in memory and of this thread, in place of the site's database."""
    with in_its_place(Path(":memory:")) as memory:
        with memory.constraint_checks_disabled(), memory.schema_editor() as editor:
            for model in apps.get_models():
                if model._meta.can_migrate(memory):
                    editor.create_model(model)
        yield


def import_published(folder: Path) -> None:
    """Import the published files of a folder, or of the folders in it.

    Raises:
        CommandError: there are none, or one was refused.
    """
    paths = {
        name: sorted({*folder.glob(pattern), *folder.glob(f"*/{pattern}")}) for name, pattern in PUBLISHED.items()
    }
    if not any(paths.values()):
        raise CommandError(f"{folder} has no {' or '.join(PUBLISHED.values())}.")
    for name, of_dataset in paths.items():
        if not of_dataset:
            continue
        entry = get_format(name)
        files = [File(path, path.name, settings.UPLOAD_LIMIT_BYTES) for path in of_dataset]
        options = {option.name: option.default for option in entry.options}
        report = import_files(entry, files, request=ImportRequest(now=timezone.now(), options=options))
        for error in report.problems.errors:
            raise CommandError(f"{error.file}: {error}")


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
        CommandError: there are no such files, or one was refused; there is no such judge or study; the paper takes
            none.
    """
    if data is not None:
        with scratch_database():
            import_published(data)
            return reproduce(paper, judge=judge, study=study, wanted=wanted)
    if paper == MIDDLESUM and (judge or study):
        raise CommandError("middlesum takes neither verdicts of judges nor labels: leave out --judge and --study.")
    if judge:
        named.judge_called(judge, Judge.objects.all())
    if study:
        study = find_study(study).name
    tables, ours = printed(paper), MADE_BY[paper](judge=judge, study=study)
    parts = [ours.part(table) for table in tables if wanted(table)]
    return [*parts, identities(paper, tables)] if len(parts) == len(tables) else parts


# What the printed numbers say of each other: means of rows, shares, ranks, distances


COLUMN = "printed"
Row = tuple[str, Decimal, float]
Papers = tuple[Printed, ...]


def identities(paper: str, papers: Papers) -> Part:
    """Numbers that follow from the printed ones, beside those that are printed."""
    cells = tuple(Cell(name, COLUMN, printed, value) for name, printed, value in _PAPERS[paper](papers))
    rows = tuple((cell.row, (cell.paper,)) for cell in cells)
    table = Printed(TEXT, "", "", "What the printed numbers say of each other", (COLUMN,), rows)
    return Part(table, cells, of="the printed numbers")


def _summhay(papers: Papers) -> Iterator[Row]:
    orders = find(papers, TABLE, "3")
    for name, _values in orders.rows:
        joint = orders.of_row(name)
        distances = [abs(joint[order] - joint["Random"]) for order in ("Top", "Bottom")]
        yield f"Table 3, sensitivity of {name}", joint["Sensitivity"], float(max(distances))
    bias = find(papers, TABLE, "4", "as printed")
    for judge in bias.columns:
        column = bias.of_column(judge)
        rows = [
            value for row, value in column.items() if row not in {"Average", "Length to score", "Length to delta"}
        ]
        yield f"Table 4, average of {judge}", column["Average"], fmean(map(float, rows))
    citation, table_5 = find(papers, TABLE, "2", "citation"), find(papers, TABLE, "5")
    for retriever in ("Orac", "Full"):
        for name, value in table_5.of_column(f"F1, {retriever}").items():
            if retriever in citation.of_row(name):
                yield (
                    f"Table 5, F1 of {name} with {retriever}, as in Table 2",
                    value,
                    float(citation.of_row(name)[retriever]),
                )
    people, figure_3 = table_5.of_row("Human Perf."), find(papers, FIGURE, "3").of_row("after 120 minutes")
    for name in ("Precision", "Recall"):
        value = people[f"{name.lower()}, Orac"]
        yield f"Table 5, {name.lower()} of people, as in Figure 3", value, float(100 * figure_3[name])
    size = find(papers, TEXT, "3.4").of_column("paper")
    yield "§3.4, subtopics a haystack", size["subtopics a haystack"], float(size["subtopics"] / size["haystacks"])
    costs = find(papers, TABLE, "1").of_column("cost, $")
    yield "§4.3, cost of 13 hours at $25", costs["Manual Annot."], 13 * 25.0


def _long2rag(papers: Papers) -> Iterator[Row]:
    by_category = find(papers, TABLE, "1")
    for name, _values in by_category.rows:
        row = by_category.of_row(name)
        categories = [float(value) for column, value in row.items() if column != "Average"]
        yield f"Table 1, average of {name} as the mean of its categories", row["Average"], fmean(categories)
    shown, judges, more = (find(papers, TABLE, number) for number in ("2", "3", "4"))
    for name in ("GPT-4o", "Qwen2-72B"):
        average = by_category.of_row(name)["Average"]
        yield f"Table 2, {name} without truncation, as in Table 1", shown.of_row(name)["N/A"], float(average)
    for name, value in judges.of_column("GPT-4o").items():
        yield f"Table 3, {name} by GPT-4o, as in Table 1", value, float(by_category.of_row(name)["Average"])
    ranks = {judge: _ranks(judges.of_column(judge)) for judge in judges.columns}
    for name in ranks["GPT-4o"]:
        yield (
            f"Table 3, rank of {name} by Llama3-70B, as by GPT-4o",
            Decimal(ranks["Llama3-70B"][name]),
            float(ranks["GPT-4o"][name]),
        )
    for name, _values in more.rows:
        means = {column: float(value) for column, value in more.of_row(name).items()}
        harmonic = 2 * means["KPP"] * means["KPR"] / (means["KPP"] + means["KPR"])
        yield f"Table 4, KPF of {name} as the harmonic mean of its means", more.of_row(name)["KPF"], harmonic
    made = find(papers, TEXT, "3").of_column("paper")
    share = 100 * made["key points kept"] / made["key points extracted"]
    yield "§3.3, share of key points kept, %", made["share kept, %"], float(share)


def _ranks(values: Mapping[str, Decimal]) -> dict[str, int]:
    return {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}


def _middlesum(papers: Papers) -> Iterator[Row]:
    for table in papers:
        if table.kind == TABLE and table.number in {"2", "5"}:
            yield from _averages(table)
        if table.kind == TABLE and table.number == "3":
            yield from _relative(table)
        if table.kind == TABLE and table.number == "8":
            yield from _overall(table)
    yield from _of_middlesum(find(papers, TABLE, "7"))


def _averages(table: Printed) -> Iterator[Row]:
    """Means over the five data sets before each average."""
    for name, values in table.rows:
        for at in (5, 11):
            data = [float(value) for value in values[at - 5 : at] if value is not None]
            if (printed := values[at]) is not None and len(data) == 5:
                yield f"{table.name}: {table.columns[at]} of {name}", printed, fmean(data)


def _relative(table: Printed) -> Iterator[Row]:
    """Means over the measures of the share of what the model reaches with all documents."""
    whole: tuple[Decimal | None, ...] = ()
    for name, values in table.rows:
        whole = values if name.endswith(", all") else whole
        shares = [float(100 * a / b) for a, b in zip(values[:-1], whole[:-1], strict=True) if a is not None and b]
        if values[-1] is not None:
            yield f"{table.name}: % of {name}", values[-1], fmean(shares)


SOURCES = {"Arxiv": 50, "PubMed": 50, "GovReport": 50, "SummScreen": 25, "Multi-News": 50}
"""How many sources of each MiddleSum has."""


def _overall(table: Printed) -> Iterator[Row]:
    """Means over the sources of MiddleSum, from those of its five parts."""
    for name, _values in table.rows:
        row = table.of_row(name)
        total = sum(n * row[part] for part, n in SOURCES.items())
        yield f"{table.name}: MiddleSum of {name}", row["MiddleSum"], float(total / sum(SOURCES.values()))


def _of_middlesum(table: Printed) -> Iterator[Row]:
    """The last row from the others."""
    n = table.of_column("sources")
    for column in table.columns:
        values = table.of_column(column)
        overall = values.pop("Overall")
        total = (
            sum(values.values())
            if column == "sources"
            else sum(n[row] * value for row, value in values.items()) / n["Overall"]
        )
        yield f"Table 7: {column} over all", overall, float(total)


_PAPERS: Mapping[str, Callable[[Papers], Iterable[Row]]] = {
    "summhay": _summhay,
    "long2rag": _long2rag,
    "middlesum": _middlesum,
}
