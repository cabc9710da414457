"""Compiles tables with the TeX of the machine, in two columns as most venues have, and says what is wrong "
"with them."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PREAMBLE = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,array,longtable}
\setlength{\textwidth}{455pt}
\setlength{\columnsep}{17pt}
\setlength{\oddsidemargin}{0pt}
\begin{document}
"""
LONGEST_S = 300
WRONG = re.compile(r"^(?:! .*|Overfull \\hbox \((?:[1-9]|0\.[5-9]).*|.*undefined references.*)", re.MULTILINE)


def is_there() -> bool:
    """Whether there is a TeX."""
    return shutil.which("pdflatex") is not None


def compiled(tables: Sequence[Path], folder: Path) -> list[str]:
    """Errors and boxes that are too wide, with the file that they are in; the document is `folder`/tables.pdf."""
    floats = [path for path in tables if "longtable" not in path.read_text()]
    long = [path for path in tables if path not in floats]
    lines = [PREAMBLE]
    for path in floats:
        lines += [rf"\typeout{{FILE {path}}}", path.read_text(), r"\clearpage"]
    lines.append(r"\onecolumn")
    for path in long:
        lines += [rf"\typeout{{FILE {path}}}", path.read_text(), r"\clearpage"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.tex").write_text("\n".join([*lines, r"\end{document}", ""]))
    for _run in range(2):  # a longtable learns the widths of its columns from the first
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "tables.tex"],
            cwd=folder,
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    log = (folder / "tables.log").read_text(errors="replace")
    problems = []
    for part in log.split("FILE ")[1:]:
        name = part.partition("\n")[0]
        problems += [f"{Path(name).name}: {found}" for found in WRONG.findall(part)]
    return problems
