"""Write `docs/papers.md` from published data: `make papers DATA=FOLDER`. A test compares the two."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import django

django.setup()  # for what follows

from extensions.papers.making import SUMMHAY, reproduce, scratch_database  # noqa: E402
from extensions.papers.parts import NOTHING, PAPERS, Cell, Part, counted, head, numbers, shown  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
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


def page(data: Path) -> str:
    """The whole page: one paper on published files, the others on an empty site."""
    parts: dict[str, Sequence[Part]] = {SUMMHAY: reproduce(SUMMHAY, data=data)}
    with scratch_database():
        parts |= {paper: reproduce(paper) for paper in PAPERS if paper != SUMMHAY}
    return written(parts)


def written(papers: dict[str, Sequence[Part]]) -> str:
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
        names = "; ".join(head(part) for part in parts if part.reason == reason)
        yield f"| {names} | {reason} |"


def _section(part: Part) -> Iterator[str]:
    yield from (f"### {head(part)}", "")
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
    paper, ours, _difference = numbers(cell)
    return f"{paper} / {ours}"


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])))
