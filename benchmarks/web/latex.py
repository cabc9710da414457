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
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)
