"""Tables for papers in the manner of booktabs: text as LaTeX prints it, how wide it gets, floats and long tables.

Widths are estimates from above, by those of Computer Modern, for a text block of two columns as most venues have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

SPECIAL = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
SYMBOLS = {
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "λ": r"$\lambda$",
    "Δ": r"$\Delta$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "×": r"$\times$",
    "−": r"$-$",
    "±": r"$\pm$",
    "√": r"$\surd$",
    "½": r"\textonehalf{}",
    "·": r"$\cdot$",
    "∞": r"$\infty$",
    "²": r"$^2$",
    "₁": r"$_1$",
    "₂": r"$_2$",
    "ₑ": r"$_e$",
    "…": r"\dots{}",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "†": r"$\dagger$",
    "\u00a0": "~",
    "\u202f": r"\,",
}
COLUMN_PT, PAGE_PT = 219.0, 455.0
"""The width of a column and of both, as in the styles of ACL."""
MOST_LINES = 45
"""A table with more lines goes over pages."""
GAP_PT = 6.0
STYLE = rf"\footnotesize\setlength{{\tabcolsep}}{{{GAP_PT / 2:g}pt}}"
SIZES = {"body": 8 * 1.062, "small": 7 * 1.139}
"""The em of `\\footnotesize` and `\\scriptsize`, with what small fonts are wider by."""
WIDTHS = {
    **dict.fromkeys("ijl.,;:'!|‘’· ", 0.30),
    **dict.fromkeys("ftrs()[]/-I", 0.40),
    **dict.fromkeys("cez?", 0.46),
    **dict.fromkeys("mwM%@−+±×&≥≤→=<>√", 0.88),
    **dict.fromkeys("W—…", 1.05),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ_", 0.78),
}
OTHER_LETTER, OTHER = 0.57, 1.0
LONGEST_WORD = 12
"""A word that is longer may be broken where a column has lines."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed cell: its text, with what stands beside it in small print."""

    text: str
    small: str = ""
    is_bold: bool = False

    @property
    def width(self) -> float:
        """How wide it gets, in points."""
        main = width(self.text) * (1.15 if self.is_bold else 1)
        return main + (width(f" {self.small}", "small") if self.small else 0)

    def code(self, *, may_break: bool) -> str:
        """The cell in LaTeX; where its column has lines, long words may break."""
        main = " ".join(map(_breakable, self.text.split(" "))) if may_break else title(self.text)
        main = rf"\textbf{{{main}}}" if self.is_bold else main
        return rf"{main} {{\scriptsize {title(self.small)}}}" if self.small else main


@dataclass(frozen=True, slots=True)
class Column:
    """A column under its head; those of a `group` stand together under one more."""

    head: str
    cells: Sequence[Cell]
    is_name: bool = False
    group: str = ""
    wrapped_pt: float = 0.0
    """The width of its lines where it has several, 0 where it has one."""

    @property
    def natural(self) -> float:
        """The width of its widest cell, or of the widest word of its head."""
        return max((cell.width for cell in self.cells), default=0.0)

    @property
    def head_lines(self) -> list[str]:
        """The head, in as many lines as it takes to be about as wide as the cells."""
        wide = self.wrapped_pt or max(self.natural, 34.0)
        lines: list[str] = []
        for word in self.head.split(" "):
            if lines and width(f"{lines[-1]} {word}") <= wide:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines

    @property
    def width(self) -> float:
        return max(self.wrapped_pt or self.natural, max(map(width, self.head_lines), default=0.0))

    def at_most(self, limit: float) -> Column:
        """The column with lines where it would be wider than that."""
        return self if self.natural <= limit else replace(self, wrapped_pt=limit)

    @property
    def spec(self) -> str:
        """How a tabular sets it."""
        if self.wrapped_pt:
            return rf">{{\raggedright\arraybackslash}}p{{{self.wrapped_pt:.0f}pt}}"
        return "l" if self.is_name else "r"

    def lines_of(self, at: int) -> int:
        """About how many lines a cell has."""
        return math.ceil(1.15 * self.cells[at].width / self.wrapped_pt) if self.wrapped_pt else 1


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def comment(text: str) -> str:
    """A line that LaTeX skips, whatever the text has in it: a break would let the rest of it be compiled."""
    return f"% {' '.join(text.split())}\n"


def title(text: str) -> str:
    """A text in words: with Greek letters, dashes and signs as LaTeX has them."""
    return "".join(SYMBOLS.get(letter) or SPECIAL.get(letter, letter) for letter in text)


def _breakable(word: str) -> str:
    """A long word may break after what is no letter, or anywhere."""
    if len(word) <= LONGEST_WORD:
        return title(word)
    pieces = re.findall(rf"[^\W_]{{1,{LONGEST_WORD}}}|[\W_]", word)
    return r"\allowbreak{}".join(map(title, pieces))


def width(text: str, size: str = "body") -> float:
    """About how wide a text is, in points, rather too wide than too narrow."""
    return SIZES[size] * sum(
        WIDTHS.get(letter, OTHER_LETTER if letter.isalnum() and letter < "\u0250" else OTHER) for letter in text
    )


def float_of(columns: Sequence[Column], *, caption: str, label: str, groups: Sequence[str] = ()) -> str:
    """A table with its caption, which is LaTeX already: in a column, over both, or over pages where it is long.

    What is too wide for a page comes in several parts, each with the names. `groups` are titles of rows, one for
    each; those of a group follow each other.
    """
    n_rows = len(columns[0].cells) if columns else 0
    titles = list(groups) if any(groups) else [""] * n_rows
    parts = _parts([*columns], PAGE_PT)
    n_lines = sum(_n_lines(part, n_rows) for part in parts) + len(set(filter(None, titles)))
    if n_lines > MOST_LINES:
        return _long(parts, titles, caption, label)
    narrow = _parts([*columns], COLUMN_PT)
    is_narrow = len(narrow) == 1 and not any(titles)
    star = "" if is_narrow else "*"
    inside = "\n\\par\\medskip\n".join(_inside(part, titles) for part in (narrow if is_narrow else parts))
    return (
        f"\\begin{{table{star}}}\n\\centering{STYLE}\n{inside}\n"
        f"\\caption{{{caption}}}\n\\label{{{label}}}\n\\end{{table{star}}}\n"
    )


def _long(parts: Sequence[Sequence[Column]], titles: Sequence[str], caption: str, label: str) -> str:
    """Tables that go over pages, each with its head on every page."""
    made = ["% A longtable needs one column: put it after \\onecolumn, as into an appendix.\n"]
    for at, part in enumerate(parts):
        first = f"\\caption{{{caption}}}\\label{{{label}}}\\\\\n" if not at else ""
        again = "\\caption[]{(further columns)}\\\\\n" if at else ""
        back = "\\addtocounter{table}{-1}\n" if at else ""
        made.append(
            f"{{{back}{STYLE}\\setlength{{\\LTcapwidth}}{{\\textwidth}}\n"
            f"\\begin{{longtable}}{{{_spec(part)}}}\n{first}{again}"
            f"\\toprule\n{_head(part)}\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n"
            f"{_body(part, titles)}\n\\end{{longtable}}}}\n"
        )
    return "".join(made)


def _inside(part: Sequence[Column], titles: Sequence[str]) -> str:
    return (
        f"\\begin{{tabular}}{{{_spec(part)}}}\n\\toprule\n{_head(part)}\n\\midrule\n{_body(part, titles)}\n"
        "\\bottomrule\n\\end{tabular}"
    )


def _spec(part: Sequence[Column]) -> str:
    return "@{}" + "".join(column.spec for column in part) + "@{}"


def _head(part: Sequence[Column]) -> str:
    lines = []
    if any(column.group for column in part):
        cells, rules, at = [], [], 1
        for group, columns in groupby(part, key=lambda column: column.group):
            n = len(list(columns))
            cells.append(rf"\multicolumn{{{n}}}{{c}}{{{title(group)}}}" if group else " & " * (n - 1))
            rules += [rf"\cmidrule(lr){{{at}-{at + n - 1}}}"] if group else []
            at += n
        lines.append(" & ".join(cells) + r" \\ " + "".join(rules))
    return "\n".join([*lines, _row([_head_cell(column) for column in part])])


def _head_cell(column: Column) -> str:
    lines = [title(line) for line in column.head_lines]
    if len(lines) == 1:
        return lines[0]
    side = "l" if column.is_name else "r"
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}" + r"\\".join(map(_guarded, lines)) + r"\end{tabular}"


def _body(part: Sequence[Column], titles: Sequence[str]) -> str:
    wide = sum(column.width for column in part) + GAP_PT * (len(part) - 1)
    lines, before = [], ""
    for at, heading in enumerate(titles):
        if heading != before:
            lines += [r"\addlinespace"] if before or at else []
            spec = f"@{{}}p{{{wide:.0f}pt}}@{{}}"
            lines += [rf"\multicolumn{{{len(part)}}}{{{spec}}}{{\emph{{{title(heading)}}}}} \\"]
            before = heading
        lines.append(_row([column.cells[at].code(may_break=column.wrapped_pt > 0) for column in part]))
    return "\n".join(lines)


def _parts(columns: Sequence[Column], limit: float) -> list[list[Column]]:
    """The columns in as many parts as a width asks for; groups stay together where that is possible."""
    names = [column for column in columns if column.is_name]
    most = limit * (0.5 if len(columns) > len(names) else 0.98) / max(1, len(names))
    names = [column.at_most(most) for column in names]
    room = limit - sum(column.width + GAP_PT for column in names)
    parts: list[list[Column]] = [[]]
    used = 0.0
    for _group, members in groupby(
        (column for column in columns if not column.is_name), key=lambda column: column.group
    ):
        cut = [column.at_most(room / 2) for column in members]
        needed = sum(column.width + GAP_PT for column in cut)
        if parts[-1] and used + needed > room and needed <= room:
            parts, used = [*parts, []], 0.0
        for column in cut:
            if parts[-1] and used + column.width + GAP_PT > room:
                parts, used = [*parts, []], 0.0
            parts[-1].append(column)
            used += column.width + GAP_PT
    return [[*names, *part] for part in parts]


def _n_lines(part: Sequence[Column], n_rows: int) -> int:
    return 3 + sum(max((column.lines_of(at) for column in part), default=1) for at in range(n_rows))


def _guarded(line: str) -> str:
    r"""One that begins with `[` or `*` is not read as an argument of the `\\` or the rule before it."""
    return ("{}" if line.lstrip().startswith(("[", "*")) else "") + line


def _row(cells: Sequence[str]) -> str:
    return _guarded(" & ".join(cells)) + r" \\"
