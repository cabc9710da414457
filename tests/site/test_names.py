"""Names in product code say what they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "bench", "benchmarks", "summhay_site")
SAY_NOTHING = {"around", "asked", "found", "given", "looked", "one", "own", "standing"}
"""Of anything that was looked for, asked for or given: whoever reads on has to keep in mind what it was."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of all that a module binds, but for fields of classes, whose names are stored."""
    fields = {
        target
        for body in ast.walk(tree)
        if isinstance(body, ast.ClassDef)
        for row in body.body
        for target in (row.targets if isinstance(row, ast.Assign) else [getattr(row, "target", None)])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def test_no_name_says_only_that_something_was_found_asked_or_given() -> None:
    bound = [
        f"{path.relative_to(ROOT).as_posix()}:{line} {name}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
        for line, name in bound_names(ast.parse(path.read_text()))
        if name.strip("_").lower() in SAY_NOTHING
    ]
    assert bound == []
