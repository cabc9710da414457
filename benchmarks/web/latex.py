"""Tables for papers: text as LaTeX prints it, and a `tabular` in the manner of booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SPECIAL = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
GREEK = {"κ": r"$\kappa$", "α": r"$\alpha$", "τ": r"$\tau$"}


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def title(text: str) -> str:
    """The title of a column, with Greek letters as mathematics."""
    return "".join(GREEK.get(letter, letter) for letter in escaped(text))


def tabular(head: Sequence[str], rows: Iterable[Sequence[str]], *, n_names: int) -> str:
    """A table whose first `n_names` columns are names, the others numbers; cells are LaTeX already."""
    lines = [
        r"\begin{tabular}{" + "l" * n_names + "r" * (len(head) - n_names) + "}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    r"""A row; one that begins with `[` or `*` is not read as an argument of the `\\` or the rule before it."""
    row = " & ".join(cells)
    return ("{}" if row.lstrip().startswith(("[", "*")) else "") + row + r" \\"
