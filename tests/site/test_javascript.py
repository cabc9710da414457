"""Every script can be parsed, imports only what is there, leaves talking to the server to one module, and has
no words of its own.

A parser finds what is no JavaScript at all; what only a browser refuses, `tests/e2e/test_scripts.py` finds.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*ROOT.glob("static/js/**/*.js"), *ROOT.glob("extensions/*/static/js/**/*.js")])
PARSER = Parser(Language(tree_sitter_javascript.language()))
TALK = ROOT / "static/js/talk.js"


def _id(path: Path) -> str:
    return path.as_posix().rpartition("/static/js/")[2]


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def broken_lines(source: str) -> list[int]:
    """Where the source is no JavaScript, as lines from 1."""
    root = PARSER.parse(source.encode()).root_node
    return sorted({node.start_point.row + 1 for node in _nodes(root) if node.is_error or node.is_missing})


def exports(source: str) -> set[str]:
    """The names that a module exports."""
    found: set[str] = set()
    for statement in PARSER.parse(source.encode()).root_node.children:
        if statement.type == "export_statement":
            declared = statement.child_by_field_name("declaration")
            parts = [declared, *declared.children] if declared else list(_nodes(statement))
            found |= {_text(part.child_by_field_name("name")) for part in parts}
    return found - {""}


def imports(source: str) -> Iterator[tuple[str, set[str]]]:
    """The modules that are imported, or exported again, with the names that are taken from each."""
    for node in _nodes(PARSER.parse(source.encode()).root_node):
        where = node.child_by_field_name("source")
        if node.type in {"import_statement", "export_statement"} and where is not None:
            specifiers = (part for part in _nodes(node) if part.type in {"import_specifier", "export_specifier"})
            yield _text(where).strip("\"'"), {_text(part.child_by_field_name("name")) for part in specifiers}


@pytest.mark.parametrize("path", SCRIPTS, ids=_id)
def test_a_script_can_be_parsed(path: Path) -> None:
    assert broken_lines(path.read_text()) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=_id)
def test_what_a_script_imports_is_there(path: Path) -> None:
    for module, names in imports(path.read_text()):
        served = os.path.normpath(Path(_id(path)).parent / module)
        target = next((script for script in SCRIPTS if _id(script) == served), None)
        assert target, module
        assert names <= exports(target.read_text()), module


def test_one_module_talks_to_the_server() -> None:
    talking = re.compile(r"\bfetch\(|XMLHttpRequest|sendBeacon")
    assert [path for path in SCRIPTS if talking.search(path.read_text())] == [TALK]


@pytest.mark.parametrize("source", ["const a = ;", "function f( { }", "if (a) { b(); ", "let x = [1, 2;"])
def test_the_parser_finds_what_is_broken(source: str) -> None:
    assert broken_lines(source) == [1]


SHOWN = {"textContent", "innerText", "innerHTML", "title", "placeholder", "ariaLabel"}


def spoken_by(source: str) -> list[str]:
    """Words of our own that a script puts on the page; the names of sentences in calls are none."""
    found = []
    for node in _nodes(PARSER.parse(source.encode()).root_node):
        target = node.child_by_field_name("left") or node.child_by_field_name("key")
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        name = (target.text or b"").decode().rsplit(".", 1)[-1] if target else ""
        if value is not None and name in SHOWN:
            found += [text for text in _literals(value) if re.search(r"[^\W\d_]{2,}", text)]
    return found


def _literals(node: Node) -> Iterator[str]:
    if node.type == "string_fragment":
        yield (node.text or b"").decode()
    if node.type not in {"call_expression", "subscript_expression", "template_substitution"}:
        for child in node.children:
            yield from _literals(child)


def test_scripts_take_their_words_from_the_page() -> None:
    assert {_id(path): said for path in SCRIPTS if (said := spoken_by(path.read_text()))} == {}


@pytest.mark.parametrize(
    "script",
    ["box.textContent = 'Not saved';", "box.title = `Hit ${n} of ${all}`;", "make({ textContent: 'Close' });"],
)
def test_a_script_with_words_of_its_own_is_found(script: str) -> None:
    assert spoken_by(script)
