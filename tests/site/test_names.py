"""Names in product code and templates say what they hold."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "bench", "benchmarks", "extensions", "summhay_site")
SAY_NOTHING = {"around", "asked", "found", "given", "looked", "one", "own", "standing"}
"""Of anything that was looked for, asked for or given: whoever reads on has to keep in mind what it was."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of all that a module binds, but for fields of classes, whose names are stored."""
    nodes = list(ast.walk(tree))
    fields = {
        target
        for body in nodes
        if isinstance(body, ast.ClassDef)
        for row in body.body
        for target in (row.targets if isinstance(row, ast.Assign) else [getattr(row, "target", None)])
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


MAYBE = re.compile(rf"\b_*({'|'.join(sorted(SAY_NOTHING))})_*\b", re.IGNORECASE)
"""What is in the text of a module that binds such a name; others need not be parsed."""


def test_no_name_says_only_that_something_was_found_asked_or_given() -> None:
    bound = [
        f"{path.relative_to(ROOT).as_posix()}:{line} {name}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
        if MAYBE.search(text := path.read_text())
        for line, name in bound_names(ast.parse(text))
        if name.strip("_").lower() in SAY_NOTHING
    ]
    assert bound == []


TEMPLATE_TAG = re.compile(r"\{% *(\w+)([^%]*)%\}")
IN_LOOP = re.compile(r"\s*(.+?)\s+in\s")
ASSIGNED = re.compile(r"(\w+)=|\bas (\w+)\s*$")


def bound_in_template(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of all that the tags of a template bind: of loops, of `with`, of `as`."""
    for tag in TEMPLATE_TAG.finditer(text):
        line = text.count("\n", 0, tag.start()) + 1
        if tag[1] == "for" and (names := IN_LOOP.match(tag[2])):
            yield from ((line, name.strip()) for name in names[1].split(","))
        yield from ((line, name[1] or name[2]) for name in ASSIGNED.finditer(tag[2]))


def test_no_name_of_a_template_says_only_that_something_was_found_asked_or_given() -> None:
    assert list(bound_in_template("{% for at, one in rows %}\n{% include 'x' with found=page %}")) == [
        (1, "at"), (1, "one"), (2, "found")
    ]  # fmt: skip
    bound = [
        f"{path.relative_to(ROOT).as_posix()}:{line} {name}"
        for path in sorted([*ROOT.glob("templates/**/*"), *ROOT.glob("extensions/*/templates/**/*")])
        if path.is_file()
        for line, name in bound_in_template(path.read_text())
        if name in SAY_NOTHING
    ]
    assert bound == []
