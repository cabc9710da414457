"""What was reproduced as lines for a console, and as the page `docs/papers.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotation.reproduction.parts import Cell, Part
from annotation.reproduction.printed import PAPERS
from benchmarks.results.writing import aligned

NOTHING = "—"


def console(parts: Sequence[Part], *, is_whole: bool) -> list[str]:
    """Each part with its numbers; of one that has nothing of ours only the reason, unless it was asked for."""
    lines: list[str] = []
    for part in parts:
        lines += ["", f"{_head(part)}", *_about(part)]
        if part.has_ours or is_whole:
            lines += _rows(part)
    return lines[1:]


def _head(part: Part) -> str:
    return ". ".join(filter(None, (part.printed.name if part.printed.number else "", part.printed.title)))


def _about(part: Part) -> list[str]:
    said = [f"Ours are of {part.of}." if part.of and part.has_ours else "", part.note]
    said += [f"Not here: {part.reason}." if part.reason else "", counted(part)]
    said += [f"With intervals: manage.py {part.report}" if part.report else ""]
    return [line for line in said if line]


def counted(part: Part) -> str:
    """How many of the numbers are the same in as many digits as the paper prints."""
    compared = [cell for cell in part.cells if cell.is_equal is not None]
    if not compared:
        return ""
    n_equal = sum(bool(cell.is_equal) for cell in compared)
    return f"{n_equal} of {len(compared)} numbers are equal in the digits printed." if n_equal else ""


def _rows(part: Part) -> list[str]:
    if not part.cells:
        return []
    rows = [["", "", "paper", "ours", "difference"]]
    rows += [[cell.row, cell.column, *_numbers(cell)] for cell in shown(part)]
    reasons = dict.fromkeys(cell.reason for cell in part.cells if cell.reason and cell.reason != part.reason)
    return [*aligned(rows), *(f"{NOTHING} {reason}." for reason in reasons)]


def shown(part: Part) -> list[Cell]:
    """The cells that are told one by one: of what the printed numbers give only what differs."""
    if part.printed.number:
        return list(part.cells)
    return [cell for cell in part.cells if not cell.is_equal]


def _numbers(cell: Cell) -> tuple[str, str, str]:
    paper = NOTHING if cell.paper is None else f"{cell.paper}"
    return paper, _number(cell.ours, cell.decimals), _number(cell.difference, cell.decimals, sign="+")


def _number(value: float | None, decimals: int, *, sign: str = "") -> str:
    return NOTHING if value is None else f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"


# The page


HEAD = """# The papers, number by number

This page is made by `make papers` from what `manage.py reproduce` gives. A cell has the paper's number, then ours
on the data at hand: a part of what is published with Summary of a Haystack (the haystack *news 1* with its
summaries and verdicts, and the 114 annotated summaries of the two conversation topics), and nothing of the other
two papers.

The authors publish all 200 annotated summaries, of which only those 114 may be shared here. With their whole file
`reproduce` gave 12 of 12 correlations and shares of Table 1, and 36 of 36 numbers of Table 4 as in their notebook,
in the digits printed: counts of one such run, while all below is of the part at hand and made with this page.
BERTScore, A3CU and SummaC need models that are not part of this program: they are imported, never computed here.

```
manage.py reproduce summhay --data FOLDER     published files, in a database in memory of which nothing is kept
manage.py reproduce summhay                   what is on the site; likewise long2rag and middlesum
manage.py reproduce summhay --table 4 --json  one table, unrounded, with the reason of each number that is missing
```

Ours come from the reports named with each table, which have intervals too. A difference from a paper's table is an
error only where all of its data are here. Names of systems, judges and data sets are compared by their letters and
digits. Figures that print no numbers have ours alone, where something was imported.
"""


def page(papers: dict[str, Sequence[Part]]) -> str:
    """The whole page, as Markdown."""
    lines = [HEAD]
    for paper, parts in papers.items():
        lines += [f"## {PAPERS[paper]}", "", f"`manage.py reproduce {paper}`", ""]
        lines += [line for part in parts if part.has_ours for line in _section(part)]
        if absent := [part for part in parts if not part.has_ours]:
            lines += ["| not here | why |", "|---|---|", *_absent(absent), ""]
    return "\n".join(lines)


def _absent(parts: Sequence[Part]) -> Iterator[str]:
    """A row for each reason, with all that it holds for."""
    for reason in dict.fromkeys(part.reason for part in parts):
        names = "; ".join(_head(part) for part in parts if part.reason == reason)
        yield f"| {names} | {reason} |"


def _section(part: Part) -> Iterator[str]:
    yield from (f"### {_head(part)}", "")
    said = [f"Ours are of {part.of}." if part.of else "", part.note, counted(part)]
    said.append(f"`{part.report}`" if part.report else "")
    yield from (" ".join(filter(None, said)), "")
    cells = shown(part)
    yield from _matrix(cells)
    reasons = dict.fromkeys(cell.reason for cell in cells if cell.reason)
    yield from (f"{NOTHING}: {reason}." for reason in reasons)
    yield from ("",) if reasons else ()


def _matrix(cells: Sequence[Cell]) -> Iterator[str]:
    """Rows and columns of a table, in each cell the paper's number and ours."""
    if not cells:
        return
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.row, cell.column): cell for cell in cells}
    yield f"| | {' | '.join(columns)} |"
    yield "|---" * (1 + len(columns)) + "|"
    for row in dict.fromkeys(cell.row for cell in cells):
        values = [_pair(by_place.get((row, column))) for column in columns]
        yield f"| {row} | {' | '.join(values)} |"
    yield ""


def _pair(cell: Cell | None) -> str:
    if cell is None:
        return ""
    paper, ours, _difference = _numbers(cell)
    return f"{paper} / {ours}"
